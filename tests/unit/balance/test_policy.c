/* Balancing policies as functions of numbers. */
#include "balance/balance_private.h"
#include "balance/policy.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct fixture {
    uint64_t counts[MOST], next[MOST];
    double rates[MOST], costs[4096];
    dome_flow flow[MOST];
    dome_load load;
    dome_division division;
} fixture;

static void prepare(fixture *f, int ranks, uint64_t blocks, dome_topology topology)
{
    memset(f, 0, sizeof *f);
    for (int r = 0; r < ranks; r++) {
        f->counts[r] = blocks / (uint64_t)ranks + ((uint64_t)r < blocks % (uint64_t)ranks);
        f->rates[r] = 1;
    }
    f->load = (dome_load){.ranks = ranks, .blocks = blocks, .counts = f->counts, .rates = f->rates, .topology = topology};
    f->division.counts = f->next;
}

static void check_whole(const fixture *f)
{
    uint64_t sum = 0;
    for (int r = 0; r < f->load.ranks; r++)
        sum += f->next[r];
    g_assert_cmpuint(sum, ==, f->load.blocks);
    g_assert_true(f->load.blocks == 0 || f->division.start < f->load.blocks);
    if (f->load.topology == DOME_LINEAR)
        g_assert_cmpuint(f->division.start, ==, f->load.start);
}

static void take(fixture *f)
{
    memcpy(f->counts, f->next, sizeof f->counts);
    f->load.start = f->division.start;
}

static int owner(uint64_t blocks, int ranks, uint64_t start, const uint64_t *counts, uint64_t block)
{
    uint64_t place = (block + blocks - start) % blocks;
    for (int r = 0; r < ranks; r++) {
        if (place < counts[r])
            return r;
        place -= counts[r];
    }
    g_assert_not_reached();
}

static void test_equal(void)
{
    fixture f;
    for (int topology = DOME_RING; topology <= DOME_LINEAR; topology++) {
        prepare(&f, 6, 240, (dome_topology)topology);
        dome__policy_global(&f.load, &f.division);
        check_whole(&f);
        uint64_t busiest;
        g_assert_cmpuint(dome__division_moves(&f.load, &f.division, &busiest), ==, 0);
        g_assert_cmpuint(busiest, ==, 0);
    }
}

static void test_one_slow(void)
{
    fixture f;
    prepare(&f, 6, 960, DOME_RING);
    f.rates[2] = 1.0 / 3;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpfloat(dome__division_time(&f.load, &f.division), <, 1.01 * dome__oracle_time(&f.load));
    g_assert_cmpuint(f.next[2], ==, 60);
}

/* The integer division is optimal: no other has a smaller time. */
static void test_best_of_all(void)
{
    fixture f;
    GRand *random = g_rand_new_with_seed(7);
    for (int round = 0; round < 200; round++) {
        uint64_t blocks = (uint64_t)g_rand_int_range(random, 0, 14);
        prepare(&f, 3, blocks, DOME_LINEAR);
        for (int r = 0; r < 3; r++)
            f.rates[r] = 0.05 + g_rand_double(random) * (r + 1);
        for (uint64_t b = 0; b < blocks; b++)
            f.costs[b] = g_rand_double(random) < 0.2 ? 0 : g_rand_double(random);
        f.load.costs = round % 2 && blocks ? f.costs : NULL;
        dome__policy_global(&f.load, &f.division);
        check_whole(&f);
        double got = dome__division_time(&f.load, &f.division), best = INFINITY;
        for (uint64_t a = 0; a <= blocks; a++)
            for (uint64_t b = 0; a + b <= blocks; b++) {
                uint64_t counts[3] = {a, b, blocks - a - b};
                best = fmin(best, dome__division_time(&f.load, &(dome_division){0, counts}));
            }
        g_assert_cmpfloat(got, <=, best * 1.001 + 1e-12);
    }
    g_rand_free(random);
}

static void test_bad_cases(void)
{
    fixture f;
    prepare(&f, 1, 100, DOME_RING);
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    prepare(&f, 5, 0, DOME_RING);
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    prepare(&f, 8, 3, DOME_RING); /* fewer blocks than ranks */
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpfloat(dome__division_time(&f.load, &f.division), ==, 1);
    prepare(&f, 4, 400, DOME_LINEAR); /* nothing measured yet */
    memset(f.rates, 0, sizeof f.rates);
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    for (int r = 0; r < 4; r++)
        g_assert_cmpuint(f.next[r], ==, 100);
    f.rates[1] = NAN;
    f.rates[2] = INFINITY;
    f.rates[3] = -1;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    prepare(&f, 4, 400, DOME_RING); /* one at a hundredth of the others' speed */
    f.rates[0] = 0.01;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpfloat(dome__division_time(&f.load, &f.division), <, 1.02 * dome__oracle_time(&f.load));
    prepare(&f, 4, 400, DOME_RING); /* blocks that have cost nothing */
    f.load.costs = f.costs;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
}

/* With the ring policy data moves to the next rank at most, and over the ends only on a ring. */
static void test_ring_neighbours(void)
{
    fixture f;
    GRand *random = g_rand_new_with_seed(11);
    for (int round = 0; round < 300; round++) {
        int ranks = g_rand_int_range(random, 2, 12);
        uint64_t blocks = (uint64_t)g_rand_int_range(random, 1, 600);
        prepare(&f, ranks, blocks, round % 2 ? DOME_RING : DOME_LINEAR);
        if (round % 2)
            f.load.start = (uint64_t)g_rand_int_range(random, 0, (gint32)blocks);
        for (int phase = 0; phase < 20; phase++) {
            for (int r = 0; r < ranks; r++)
                f.rates[r] = 0.1 + g_rand_double(random);
            dome__policy_groups(&f.load, 1, f.flow, &f.division);
            check_whole(&f);
            for (uint64_t b = 0; b < blocks; b++) {
                int was = owner(blocks, ranks, f.load.start, f.counts, b);
                int is = owner(blocks, ranks, f.division.start, f.next, b), way = abs(is - was);
                g_assert_true(way <= 1 || (f.load.topology == DOME_RING && way == ranks - 1));
            }
            take(&f);
        }
    }
    g_rand_free(random);
}

static void test_ring_converges(void)
{
    fixture f;
    for (int topology = DOME_RING; topology <= DOME_LINEAR; topology++) {
        prepare(&f, 6, 960, (dome_topology)topology);
        f.rates[0] = 1.0 / 3;
        for (int phase = 0; phase < (topology == DOME_RING ? 10 : 25); phase++) {
            dome__policy_groups(&f.load, 1, f.flow, &f.division);
            check_whole(&f);
            take(&f);
        }
        g_assert_cmpfloat(dome__load_time(&f.load), <, 1.1 * dome__oracle_time(&f.load));
    }
}

/* One of six slowed to a third, from 96 to 512 blocks: after ten phases the ring is within a block of the oracle. */
static void test_ring_anchor(void)
{
    fixture f;
    for (uint64_t blocks = 96; blocks <= 512; blocks++) {
        prepare(&f, 6, blocks, DOME_RING);
        f.rates[blocks % 6] = 1.0 / 3;
        f.load.start = blocks / 3;
        for (int phase = 0; phase < 10; phase++) {
            dome__policy_groups(&f.load, 1, f.flow, &f.division);
            check_whole(&f);
            take(&f);
        }
        g_assert_cmpfloat(dome__load_time(&f.load), <=, 1.1 * dome__oracle_time(&f.load) + 1);
    }
}

/* From any start the ring settles: no block moves to and fro for ever. */
static void test_ring_rests(void)
{
    fixture f;
    GRand *random = g_rand_new_with_seed(3);
    for (int round = 0; round < 300; round++) {
        int ranks = g_rand_int_range(random, 2, 40);
        uint64_t blocks = (uint64_t)g_rand_int_range(random, 1, 20 * ranks), moved = 0, busiest;
        prepare(&f, ranks, blocks, round % 2 ? DOME_RING : DOME_LINEAR);
        for (int r = 0; r < ranks; r++)
            f.rates[r] = pow(10, 2 * g_rand_double(random));
        for (int phase = 0; phase < 1000; phase++) {
            dome__policy_groups(&f.load, 1, f.flow, &f.division);
            if (phase >= 900)
                moved += dome__division_moves(&f.load, &f.division, &busiest);
            take(&f);
        }
        g_assert_cmpuint(moved, ==, 0);
    }
    g_rand_free(random);
}

/* The policy consists of functions that a rank can use if it knows only its neighbours. */
static void test_ring_parts(void)
{
    fixture f;
    prepare(&f, 5, 200, DOME_RING);
    dome_flow flow[5] = {0};
    dome_side side[5];
    for (int r = 0; r < 5; r++)
        f.rates[r] = 1 + r;
    for (int phase = 0; phase < 6; phase++) {
        int64_t up[5] = {0};
        double wanted[5];
        for (int r = 0; r < 5; r++)
            side[r] = (dome_side){f.rates[r], (double)f.counts[r], 0};
        for (int r = 0; r < 5; r++) {
            int below = (r + 4) % 5;
            wanted[r] = dome__ring_flow(&side[below], &side[r], &flow[r]);
        }
        for (int r = 0; r < 5; r++) {
            int below = (r + 4) % 5, above = (r + 1) % 5;
            uint64_t half = f.counts[r] - f.counts[r] / 2, gone = 0;
            if (wanted[above] > 0)
                up[above] = (int64_t)(gone = dome__ring_blocks(&side[r], &side[above], true, NULL, 1, half, wanted[above]));
            if (wanted[r] < 0)
                up[r] = -(int64_t)dome__ring_blocks(&side[r], &side[below], false, NULL, 1, MIN(half, f.counts[r] - gone),
                                                    -wanted[r]);
        }
        dome__policy_groups(&f.load, 1, f.flow, &f.division);
        for (int r = 0; r < 5; r++)
            g_assert_cmpint((int64_t)f.next[r], ==, (int64_t)f.counts[r] + up[r] - up[(r + 1) % 5]);
        take(&f);
    }
}

static void test_ring_flow(void)
{
    dome_side fast = {3, 30, 0}, slow = {1, 30, 0}, nothing = {1, 0, 0}, one = {0.01, 1, 0};
    dome_flow flow = 0, other = 0;
    double down = dome__ring_flow(&slow, &fast, &flow);
    g_assert_cmpfloat(down, >, 0); /* to the fast one */
    g_assert_cmpfloat(dome__ring_flow(&fast, &slow, &other), ==, -down);
    g_assert_cmpfloat(dome__ring_flow(&slow, &fast, &flow), >, down); /* momentum */
    flow = 0;
    g_assert_cmpfloat(dome__ring_flow(&fast, &nothing, &flow), >, 0); /* a rank without blocks can get some */
    flow = 0;
    double last = dome__ring_flow(&one, &nothing, &flow);
    g_assert_cmpuint(dome__ring_blocks(&one, &nothing, true, NULL, 1, 1, last), ==, 1); /* a rank with one block can lose it */
    flow = 0;
    g_assert_cmpfloat(dome__ring_flow(&(dome_side){0, 5, 0}, &(dome_side){NAN, 5, 0}, &flow), ==, 0); /* nothing known */
}

static void test_ring_blocks(void)
{
    const dome_side a = {1, 10, 0}, b = {1, 10, 0}, slow = {0.01, 0, 0};
    const double costs[] = {1, 0, 4, 1};
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, NULL, 1, 10, 2.4), ==, 2);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, NULL, 1, 10, 2.6), ==, 3);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, false, NULL, 1, 10, 2.6), ==, 2); /* more reluctant downwards */
    g_assert_cmpuint(dome__ring_blocks(&a, &b, false, NULL, 1, 10, 2.8), ==, 3);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, NULL, 1, 2, 2.6), ==, 2);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, NULL, 1, 10, -1), ==, 0);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, NULL, 0, 10, 1), ==, 0);
    g_assert_cmpuint(dome__ring_blocks(&a, &slow, true, NULL, 1, 10, 0.9), ==, 0); /* it would delay both */
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, costs, 0, 4, 1.5), ==, 1);    /* the block that costs nothing stays */
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, costs, 0, 4, 3.5), ==, 3);
    g_assert_cmpuint(dome__ring_blocks(&a, &b, true, costs, 0, 4, 100), ==, 4);
}

/* Unequal costs: the division is near the optimum, and moves no more than needed. */
static void test_costs_move_little(void)
{
    fixture f;
    for (int topology = DOME_RING; topology <= DOME_LINEAR; topology++) {
        prepare(&f, 6, 240, (dome_topology)topology);
        for (int b = 0; b < 240; b++)
            f.costs[b] = 1 + 0.001 * (b % 7);
        f.costs[100] = 20; /* rank 2 */
        f.load.costs = f.costs;
        uint64_t busiest;
        double now = dome__load_time(&f.load), oracle = dome__oracle_time(&f.load);
        dome__policy_global(&f.load, &f.division);
        check_whole(&f);
        g_assert_cmpfloat(now, >, 1.3 * oracle);
        g_assert_cmpfloat(dome__division_time(&f.load, &f.division), <, 1.03 * oracle);
        take(&f);
        dome__policy_global(&f.load, &f.division);
        g_assert_cmpuint(dome__division_moves(&f.load, &f.division, &busiest), ==, 0);
    }
    prepare(&f, 6, 240, DOME_RING); /* all in one block */
    for (int b = 0; b < 240; b++)
        f.costs[b] = b == 17 ? 1e9 : 1;
    f.load.costs = f.costs;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpfloat(dome__division_time(&f.load, &f.division), <, 1e9 + 1e6);
    g_assert_cmpfloat(dome__oracle_time(&f.load), ==, 1e9);
    f.rates[3] = 2;
    g_assert_cmpfloat(dome__oracle_time(&f.load), ==, 5e8);
}

/* A hundred thousand ranks. */
static void test_many(void)
{
    enum { RANKS = 100000 };
    const uint64_t blocks = 16 * RANKS;
    uint64_t *counts = g_new(uint64_t, RANKS), *next = g_new(uint64_t, RANKS);
    double *rates = g_new(double, RANKS), *costs = g_new(double, blocks);
    dome_flow *flow = g_new0(dome_flow, RANKS);
    GRand *random = g_rand_new_with_seed(5);
    for (int r = 0; r < RANKS; r++) {
        counts[r] = 16;
        rates[r] = pow(4, g_rand_double(random));
    }
    for (uint64_t b = 0; b < blocks; b++)
        costs[b] = 1 + (double)(b % 3);
    dome_load load = {.ranks = RANKS, .blocks = blocks, .counts = counts, .rates = rates, .topology = DOME_RING};
    dome_division division = {0, next};
    for (int group = 1; group <= RANKS; group = group == 1 ? 500 : group * 200) {
        for (int unequal = 0; unequal < 2; unequal++) {
            load.costs = unequal ? costs : NULL;
            dome__policy_groups(&load, group, flow, &division);
            double then = dome__division_time(&load, &division);
            g_assert_cmpfloat(then, <, dome__load_time(&load));
            if (group == RANKS)
                g_assert_cmpfloat(then, <, 1.2 * dome__oracle_time(&load)); /* a single block is a large part here */
        }
    }
    g_rand_free(random);
    g_free(flow);
    g_free(costs);
    g_free(rates);
    g_free(next);
    g_free(counts);
}

/* Differences within the noise of measurement move nothing. */
static void test_noises(void)
{
    fixture f;
    double noises[6] = {0};
    dome_schedule s;
    dome__schedule_init(&s);
    s.interval = 10;
    prepare(&f, 6, 960, DOME_RING);
    f.load.noises = noises;
    f.rates[2] = 0.8;
    noises[3] = 0.2; /* of another */
    dome__policy_global(&f.load, &f.division);
    double then = dome__division_time(&f.load, &f.division);
    g_assert_true(dome__division_pays(&s, &f.load, &f.division, then, 0, NULL));
    noises[2] = 0.15;
    g_assert_false(dome__division_pays(&s, &f.load, &f.division, then, 0, NULL));
    for (int r = 0; r < 6; r++)
        noises[r] = 0.6;
    dome__policy_groups(&f.load, 1, f.flow, &f.division);
    g_assert_cmpmem(f.next, 6 * sizeof *f.next, f.counts, 6 * sizeof *f.counts);
}

/* A rank without blocks does not get its whole share at once, and the trial pays though it gains nothing. */
static void test_trial(void)
{
    fixture f;
    prepare(&f, 6, 384, DOME_RING);
    f.counts[3] = 0;
    f.counts[4] = 128;
    f.rates[4] = 2;
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpuint(f.next[3], >=, 1);
    g_assert_cmpuint(f.next[3], <=, 2);
    dome_schedule s;
    dome__schedule_init(&s);
    double then = dome__division_time(&f.load, &f.division);
    g_assert_false(dome__schedule_pays(&s, dome__load_time(&f.load), then, 0));
    g_assert_true(dome__division_pays(&s, &f.load, &f.division, then, 0, NULL));
    g_assert_false(dome__division_pays(&s, &f.load, &f.division, then, 0.01, NULL));
    memcpy(f.next, f.counts, sizeof f.next);
    f.division.start = f.load.start;
    g_assert_false(dome__division_pays(&s, &f.load, &f.division, then, 0, NULL));
}

/* Data that moves again and again though no speed changes must win more each time; a change ends that, and so does time. */
static void test_caution(void)
{
    fixture f;
    double noises[6];
    dome_schedule s;
    dome__schedule_init(&s);
    prepare(&f, 6, 960, DOME_RING);
    f.load.noises = noises;
    f.rates[2] = 0.8;
    for (int r = 0; r < 6; r++)
        noises[r] = 0.05;
    dome__policy_global(&f.load, &f.division);
    double then = dome__division_time(&f.load, &f.division);
    int moves = 0;
    for (; moves < 20 && dome__division_pays(&s, &f.load, &f.division, then, 0, NULL); moves++)
        dome__schedule_next(&s, true, false);
    g_assert_cmpint(moves, >, 0);
    g_assert_cmpint(moves, <, 5);
    dome_schedule later = s;
    s.changed = true;
    dome__schedule_next(&s, false, false);
    dome__schedule_next(&s, false, false);
    g_assert_true(dome__division_pays(&s, &f.load, &f.division, then, 0, NULL));
    for (int i = 0; i < 1000; i++)
        dome__schedule_next(&later, false, false);
    g_assert_true(dome__division_pays(&later, &f.load, &f.division, then, 0, NULL));
}

/* A gain that lasts wins against caution once what was lost exceeds what moving takes; one that comes and goes does not. */
static void test_lasting(void)
{
    fixture f;
    double noises[6], lost = 0;
    dome_schedule s;
    dome__schedule_init(&s);
    prepare(&f, 6, 960, DOME_RING);
    f.load.noises = noises;
    f.rates[2] = 0.8;
    for (int r = 0; r < 6; r++)
        noises[r] = 0.03;
    dome__policy_global(&f.load, &f.division);
    double now = dome__load_time(&f.load), then = dome__division_time(&f.load, &f.division);
    s.caution = 8;
    s.interval = 0.5;
    g_assert_false(dome__division_pays(&s, &f.load, &f.division, then, 0.1, NULL));
    for (int i = 0; i < 100; i++)
        g_assert_false(dome__division_pays(&s, &f.load, &f.division, i % 2 ? now : then, 0.1, &lost));
    int phases = 0;
    for (lost = 0; phases < 10 && !dome__division_pays(&s, &f.load, &f.division, then, 0.1, &lost); phases++)
        continue;
    g_assert_cmpint(phases, ==, 2); /* of 0.04 s each */
}

/* Whether a phase that measures these rates, over 0.1 s each, moves blocks that are fetched later and take `moving` seconds. */
static bool moves_followed(fixture *f, dome_speed *speeds, const double *measured, double moving, double *lost)
{
    double noises[MOST];
    dome_schedule s;
    dome__schedule_init(&s);
    s.interval = 0.1;
    for (int r = 0; r < f->load.ranks; r++) {
        dome__speed_update(&speeds[r], measured[r], 0.1, 1);
        f->rates[r] = speeds[r].rate;
        noises[r] = speeds[r].noise;
    }
    f->load.noises = noises;
    dome__policy_global(&f->load, &f->division);
    const double then = dome__division_time(&f->load, &f->division);
    const bool pays =
        !dome__speeds_in_doubt(speeds, f->load.ranks) && dome__division_has_paid(&s, &f->load, &f->division, then, moving, lost);
    f->load.noises = NULL;
    return pays;
}

/* Two equal ranks with a block each keep them, though the first measurements say that one is slow. */
static void test_followed_noise(void)
{
    fixture f;
    dome_speed speeds[2] = {{0}};
    double lost = 0;
    GRand *random = g_rand_new_with_seed(7);
    prepare(&f, 2, 2, DOME_LINEAR);
    g_assert_false(moves_followed(&f, speeds, (double[]){1, 0.2}, 0.08, &lost));
    g_assert_cmpuint(f.next[0], ==, 2); /* which the policy alone would have done */
    for (int phase = 0; phase < 1000; phase++) {
        const double measured[] = {g_rand_double_range(random, 0.7, 1.4), g_rand_double_range(random, 0.7, 1.4)};
        g_assert_false(moves_followed(&f, speeds, measured, 0.08, &lost));
    }
    g_rand_free(random);
}

/* A slow rank loses blocks as soon as it has cost as much time as the move. */
static void test_followed_slow(void)
{
    fixture f;
    dome_speed speeds[4] = {{0}};
    double lost = 0, cheap = 0;
    int phases = 1;
    prepare(&f, 4, 64, DOME_LINEAR);
    g_assert_true(moves_followed(&f, speeds, (double[]){1, 1, 1, 0.5}, 0.001, &cheap));
    memset(speeds, 0, sizeof speeds);
    while (phases < 100 && !moves_followed(&f, speeds, (double[]){1, 1, 1, 0.5}, 0.2, &lost))
        phases++;
    g_assert_cmpint(phases, >, 3);
    g_assert_cmpint(phases, <, 10);
    g_assert_cmpuint(f.next[3], <=, 10);
    g_assert_cmpuint(f.next[3], >=, 8);
    lost = 0;
    for (phases = 0; phases < 100; phases++) /* within the horizon it would not pay at all */
        g_assert_false(moves_followed(&f, speeds, (double[]){1, 1, 1, 0.5}, 30, &lost));
}

static void test_speed(void)
{
    dome_speed s = {0};
    g_assert_false(dome__speed_update(&s, 0, 1, 1)); /* nothing is known */
    g_assert_cmpfloat(s.rate, ==, 0);
    g_assert_false(dome__speed_update(&s, 5, 1, 9));
    g_assert_cmpfloat(s.rate, ==, 5);
    g_assert_false(dome__speed_update(&s, 5.5, 1, 9));
    g_assert_cmpfloat(s.rate, ==, 5.25); /* both counted for one second */
    g_assert_cmpfloat(s.noise, >, 0);
    g_assert_cmpfloat(s.noise, <, 0.2);
    g_assert_false(dome__speed_update(&s, 5.5, 0, 9)); /* a measurement over no time means nothing */
    g_assert_cmpfloat(s.rate, ==, 5.25);
    g_assert_true(dome__speed_update(&s, 1, 1, 9)); /* a task stopped for a moment */
    g_assert_cmpfloat(s.rate, ==, 5.25);
    g_assert_false(dome__speed_update(&s, 5.25, 1, 9));
    g_assert_cmpfloat(s.rate, ==, 5.25);
    g_assert_true(dome__speed_update(&s, 1, 1, 9)); /* it is slow now */
    g_assert_false(dome__speed_update(&s, 0.8, 1, 9));
    g_assert_cmpfloat(s.rate, ==, 0.8);
    g_assert_true(dome__speed_update(&s, 4, 1, 9)); /* first to one side, then to the other: nothing is confirmed */
    dome__speed_update(&s, 0.2, 1, 9);
    g_assert_cmpfloat(s.rate, ==, 0.8);
    bool doubt = true;
    for (int i = 0; i < 10; i++)
        doubt = dome__speed_update(&s, i % 2 ? 0.2 : 4, 1, 9);
    g_assert_cmpfloat(s.rate, ==, 0.8);
    g_assert_false(doubt); /* noise must not cause phase after phase for ever */
}

/* Longer measurements make the estimate more accurate, and a difference within noise over a short time is significant over a long
 * one. */
static void test_speed_noise(void)
{
    GRand *random = g_rand_new_with_seed(3);
    for (double seconds = 0.05; seconds < 2; seconds *= 2) {
        dome_speed s = {0};
        double worst = 0, noise = 0;
        for (int i = 0; i < 400; i++) {
            double error = 0.02 / sqrt(seconds) * sqrt(12) * (g_rand_double(random) - 0.5); /* 2 % over a second */
            dome__speed_update(&s, 1 + error, seconds, 1);
            if (i < 200)
                continue;
            worst = MAX(worst, fabs(s.rate - 1));
            noise += s.noise / 200;
        }
        g_assert_cmpfloat(noise, >, 0.009); /* 2 % over the square root of 2 s is 1.4 % */
        g_assert_cmpfloat(noise, <, 0.02);
        g_assert_cmpfloat(worst, <, 0.06);
    }
    g_rand_free(random);
    dome_speed s = {0};
    for (int i = 0; i < 50; i++)
        dome__speed_update(&s, 1 + 0.02 * (i % 2 ? 1 : -1), 1, 1);
    g_assert_false(dome__speed_update(&s, 0.9, 0.1, 1));
    g_assert_true(dome__speed_update(&s, 0.8, 10, 1));
    g_assert_false(dome__speed_update(&s, 0.8, 10, 1));
    g_assert_cmpfloat(s.rate, ==, 0.8);
}

/* The mean square of the relative errors of an estimate in a series of speeds; kind: of the series. */
static double error_of(dome_speed *s, GRand *random, int kind)
{
    double sum = 0, speed = 1;
    for (int i = 0; i < 600; i++) {
        double noise = 0.02 * sqrt(12) * (g_rand_double(random) - 0.5);
        if (kind == 1) /* outliers */
            noise += g_rand_double(random) < 0.15 ? -0.12 : 0;
        else if (kind == 2) /* grows steadily */
            speed = 1 / (1 + 0.01 * i);
        else if (kind == 3) /* walks, faster than noise */
            speed *= 1 + 0.08 * (g_rand_double(random) - 0.5);
        noise /= kind > 1 ? 20 : 1;
        if (i >= 100)
            sum += (s->rate / speed - 1) * (s->rate / speed - 1) / 500;
        dome__speed_update(s, speed * (1 + noise), 0.5, 1);
    }
    return sum;
}

/* A series gets a model that suits it, and is not estimated worse than by the mean of the last seconds. */
static void test_models(void)
{
    const bool suits[4][DOME_MODELS] = {{[DOME_MODEL_LONG] = true},
                                        {[DOME_MODEL_MEDIAN] = true, [DOME_MODEL_LONG] = true},
                                        {[DOME_MODEL_TREND] = true},
                                        {[DOME_MODEL_LAST] = true, [DOME_MODEL_TREND] = true}};
    GRand *random = g_rand_new_with_seed(21);
    for (int kind = 0; kind < 4; kind++) {
        dome_speed s = {0}, mean = {0};
        double error = error_of(&s, random, kind);
        g_assert_true(s.models.used == DOME_MODEL_MEAN || suits[kind][s.models.used]);
        if (kind == 2)
            g_assert_cmpint(s.models.used, ==, DOME_MODEL_TREND);
        for (int k = 1; k < DOME_MODELS; k++)
            mean.models.error[k] = INFINITY; /* never used */
        double plain = error_of(&mean, random, kind);
        g_assert_cmpint(mean.models.used, ==, DOME_MODEL_MEAN);
        g_assert_cmpfloat(error, <, plain * (kind == 2 ? 0.3 : 1.05));
    }
    g_rand_free(random);
}

/* A steady change is told from noise, and says what the speed will be. */
static void test_growth(void)
{
    GRand *random = g_rand_new_with_seed(5);
    int seen = 0;
    dome_speed still = {0}, slower = {0};
    for (int i = 0; i < 400; i++) {
        double noise = 1 + 0.02 * sqrt(12) * (g_rand_double(random) - 0.5), time = 0.5 * i;
        dome__speed_update(&still, noise, 0.5, 1);
        dome__speed_update(&slower, noise / (1 + 0.03 * (time + 0.25)), 0.5, 1);
        seen += still.growth != 0;
        if (i > 50) {
            double ahead = 1 / (1 + 0.03 * (time + 0.5 + 10));
            g_assert_cmpfloat(dome__speed_ahead(&slower, 10), >, 0.9 * ahead);
            g_assert_cmpfloat(dome__speed_ahead(&slower, 10), <, 1.1 * ahead);
        }
    }
    g_assert_cmpint(seen, <, 20);
    g_assert_cmpfloat(dome__speed_ahead(&slower, 1e9), >, 0); /* within limits */
    g_assert_true(dome__speed_update(&slower, 1, 0.5, 1));
    dome__speed_update(&slower, 1, 0.5, 1); /* a change ends it */
    g_assert_cmpfloat(slower.growth, ==, 0);
    g_assert_true(slower.changed);
    g_rand_free(random);
}

/* Rates that change in the time for which a division is made: it is the best in the mean over that time. */
static void test_later(void)
{
    fixture f;
    double later[4] = {0.5, 1, 1, 1};
    prepare(&f, 4, 4000, DOME_LINEAR);
    dome__policy_global(&f.load, &f.division);
    f.load.later = later;
    double now = dome__division_time(&f.load, &f.division), end;
    g_assert_cmpfloat_with_epsilon(now, 1500, 1e-6); /* 1000 at first, 2000 at last */
    dome__policy_global(&f.load, &f.division);
    check_whole(&f);
    g_assert_cmpfloat(dome__division_time(&f.load, &f.division), <, 0.82 * now);
    for (int k = 0; k < 4; k++)
        later[k] = k == 1 ? NAN : 1; /* not known, or as now */
    memcpy(f.next, f.counts, sizeof f.next);
    end = dome__division_time(&f.load, &f.division);
    f.load.later = NULL;
    g_assert_cmpfloat(end, ==, dome__division_time(&f.load, &f.division));
}

/* Phases until the estimate has reached `share` of the mean. */
static int idle_phases(dome_speed *s, double share)
{
    int phases = 0;
    for (; s->rate < share && phases < 1000000; phases++)
        g_assert_false(dome__speed_update(s, phases % 2 ? 0 : NAN, 1, 1));
    return phases;
}

static void test_speed_trials(void)
{
    dome_speed s = {0};
    int first = 0, before = 0;
    dome__speed_update(&s, 0.01, 1, 1);
    for (int trial = 0; trial < 30; trial++) {
        int phases = idle_phases(&s, 0.1);
        g_assert_cmpint(phases, >, 0);
        g_assert_cmpint(phases, <, 10000); /* the patience is bounded */
        g_assert_cmpint(phases, >=, before);
        first = first ? first : phases;
        before = phases;
        dome__speed_update(&s, 0.01, 1, 1); /* still slow */
        g_assert_cmpfloat(s.rate, ==, 0.01);
    }
    g_assert_cmpint(before, >, 50 * first);
    idle_phases(&s, 0.1);
    dome__speed_update(&s, 1, 1, 1); /* recovered: used at once */
    g_assert_cmpfloat(s.rate, ==, 1);
    dome__speed_update(&s, NAN, 1, 0.5);
    g_assert_cmpfloat(s.rate, ==, 1);
    dome_speed dead = {.rate = 1e-300}; /* stood still when it was measured */
    g_assert_cmpint(idle_phases(&dead, 0.1), <, 50);
    for (int i = 0; i < 100; i++)
        dome__speed_update(&dead, 0, 1, 1);
    g_assert_cmpfloat(dead.rate, ==, 1);
    dome__speed_update(&dead, 0, 1, NAN);
    g_assert_cmpfloat(dead.rate, ==, 1);
}

/* A rank at a hundredth of the others' speed for long, and then as fast as they are: it has few trials, and gets its share back.
 */
static void test_recovery(void)
{
    for (int group = 1; group <= 6; group += 5) {
        fixture f;
        dome_speed speeds[6] = {0};
        dome_schedule s;
        int trials = 0, slow = 2000, phase = 0;
        prepare(&f, 6, 384, DOME_RING);
        dome__schedule_init(&s);
        for (; phase < slow || (f.counts[0] < 60 && phase < slow + 500); phase++) {
            for (int r = 0; r < 6; r++) {
                double speed = r == 0 && phase < slow ? 0.01 : 1;
                bool doubt = dome__speed_update(&speeds[r], f.counts[r] ? speed : 0, s.interval, 1);
                f.rates[r] = speeds[r].rate;
                dome__schedule_next(&s, false, doubt);
            }
            dome__policy_groups(&f.load, group, f.flow, &f.division);
            check_whole(&f);
            double then = group == 6 ? dome__division_time(&f.load, &f.division) : dome__oracle_time(&f.load);
            if (dome__division_pays(&s, &f.load, &f.division, then, 1e-6, NULL)) {
                trials += f.counts[0] == 0 && f.next[0] > 0;
                take(&f);
            }
            if (phase == slow - 1)
                g_assert_cmpint(trials, <, slow / 20);
        }
        g_assert_cmpuint(f.counts[0], >=, 60);
    }
}

static void test_pays(void)
{
    dome_schedule s;
    dome__schedule_init(&s);
    s.interval = 10;
    g_assert_true(dome__schedule_pays(&s, 1, 0.5, 1));
    g_assert_false(dome__schedule_pays(&s, 1, 0.5, 16));   /* costs more than it saves */
    g_assert_true(dome__schedule_pays(&s, 1e-6, 5e-7, 1)); /* in any unit */
    g_assert_false(dome__schedule_pays(&s, 1, 0.999, 0));  /* the gain is too small */
    g_assert_false(dome__schedule_pays(&s, 1, 1, 0));
    g_assert_false(dome__schedule_pays(&s, 0, 0, 0));
    g_assert_true(dome__schedule_pays(&s, 1, 0.9, 0));
    s.noise = 0.06;
    g_assert_false(dome__schedule_pays(&s, 1, 0.9, 0)); /* may be noise */
}

/* Expensive moving is done in the end, before waiting has cost much more than moving does. */
static void test_pays_later(void)
{
    dome_schedule s;
    for (double moving = 0.1; moving < 20; moving *= 1.7) {
        double lost = 0;
        dome__schedule_init(&s);
        s.phase = 0.01;
        while (!dome__schedule_pays(&s, 1, 0.5, moving)) {
            dome__schedule_next(&s, false, false);
            lost += 0.5 * s.interval;
            g_assert_cmpfloat(lost, <, 2.5 * moving);
        }
    }
}

static void test_schedule(void)
{
    dome_schedule s;
    dome__schedule_init(&s);
    s.phase = 0.001;
    g_assert_cmpfloat(s.interval, ==, s.shortest);
    double calm = 0, before = s.interval, horizon = dome__schedule_horizon(&s);
    for (int i = 0; i < 1000; i++, before = s.interval) {
        calm += s.interval;
        dome__schedule_next(&s, false, false);
        g_assert_cmpfloat(s.interval, >=, before);
        g_assert_cmpfloat(s.interval, <=, 1.5 * before);
        g_assert_cmpfloat(dome__schedule_horizon(&s), >=, horizon);
        horizon = dome__schedule_horizon(&s);
    }
    g_assert_cmpfloat(horizon, >, calm / 2); /* it grows for ever */
    g_assert_cmpfloat(horizon, <, calm);
    g_assert_cmpfloat(s.interval, >, 0.9 * sqrt(2 * 0.001 * horizon / 0.3)); /* Young's */
    g_assert_cmpfloat(s.interval, <, 1.1 * sqrt(2 * 0.001 * horizon / 0.3));
    dome__schedule_next(&s, false, true);
    g_assert_cmpfloat(s.interval, ==, s.shortest);
    for (double time = 0, next = 3; time < 300; time += s.interval) { /* speeds change every 3 s */
        s.changed = time >= next;
        next += s.changed ? 3 : 0;
        dome__schedule_next(&s, s.changed, false);
    }
    g_assert_cmpfloat(s.interval, <, 0.2);
    g_assert_cmpfloat(dome__schedule_horizon(&s), >, 2.5);
    g_assert_cmpfloat(dome__schedule_horizon(&s), <, 5);
    for (int i = 0; i < 100; i++) { /* all of them within a second: one change */
        s.changed = i % 2;
        s.interval = 0.01;
        dome__schedule_next(&s, false, true);
    }
    g_assert_cmpfloat(dome__schedule_horizon(&s), >, 2.5);
    s.changed = false;
    s.spread = 0.05; /* noise is smaller over a longer time */
    dome__schedule_next(&s, true, false);
    g_assert_cmpfloat(s.interval, >, 0.24);
    g_assert_cmpfloat(s.interval, <, 0.26);
    s.spread = 10;
    dome__schedule_next(&s, true, false);
    g_assert_cmpfloat(s.interval, <, s.longest);
    s.spread = 0;
    s.phase = 0.2;
    dome__schedule_next(&s, true, false);
    g_assert_cmpfloat(s.interval, ==, 0.2);
    s.phase = 50; /* measured while a task stood still: the limit holds */
    dome__schedule_next(&s, true, false);
    g_assert_cmpfloat(s.interval, ==, s.longest);
}

/* Six ranks on three hosts in two clusters: moves are as long as the busiest rank's, by the kinds of its links. */
static void test_moving(void)
{
    fixture f;
    const int host[6] = {0, 0, 1, 1, 2, 2}, cluster[6] = {0, 0, 0, 0, 1, 1};
    dome_moving m = {0.5, {1, 10, 100}, host, cluster};
    double parts[DOME_REACHES];
    prepare(&f, 6, 60, DOME_RING);
    memcpy(f.next, f.counts, sizeof f.next);
    g_assert_cmpfloat(dome__moving_seconds(&f.load, &f.division, &m, NULL), ==, 0);
    f.next[0] = 8; /* two blocks within a host, one between hosts: rank 1 is busy with 3, in 2 + 10 seconds */
    f.next[1] = 11;
    f.next[2] = 11;
    g_assert_cmpfloat(dome__moving_seconds(&f.load, &f.division, &m, parts), ==, 12.5);
    g_assert_cmpfloat(parts[DOME_REACH_HOST], ==, 2);
    g_assert_cmpfloat(parts[DOME_REACH_CLUSTER], ==, 10);
    f.next[2] = 10;
    f.next[4] = 11; /* the same as before, and one to the other cluster */
    g_assert_cmpfloat(dome__moving_seconds(&f.load, &f.division, &m, parts), ==, 101.5);
    g_assert_cmpfloat(parts[DOME_REACH_FAR], ==, 100);
    f.division.start = 1; /* all turned by one: each takes one and gives one, rank 0 takes from rank 5's end */
    memcpy(f.next, f.counts, sizeof f.next);
    g_assert_cmpfloat(dome__moving_seconds(&f.load, &f.division, &m, NULL), ==, 101.5);
    m.host = m.cluster = NULL;
    g_assert_cmpfloat(dome__moving_seconds(&f.load, &f.division, &m, NULL), ==, 20.5);
}

/* A kind of link that becomes slow is noticed by the first move over it, and others keep their figures. */
static void test_moving_learn(void)
{
    dome_moving m = {0, {1, 10, 100}, NULL, NULL};
    dome__moving_learn(&m, (double[]){2, 0, 0}, 6);
    g_assert_cmpfloat_with_epsilon(m.each[0], 3, 0.05);
    g_assert_cmpfloat(m.each[1], ==, 10);
    dome__moving_learn(&m, (double[]){1, 0, 9}, 50);
    g_assert_cmpfloat(m.each[2], >, 400);
    g_assert_cmpfloat(m.each[0], <, 5);
    dome__moving_learn(&m, (double[]){0, 0, 9}, 9.0 / 8);
    g_assert_cmpfloat(m.each[2], <, 100);
    m.each[1] = 10;
    dome__moving_learn(&m, (double[]){0, 0.0001, 0}, 0.0005); /* says little */
    g_assert_cmpfloat(m.each[1], <, 14);
    for (int k = 0; k < 3; k++) /* nothing has moved, or was measured */
        dome__moving_learn(&m, (double[]){0, k, 0}, (double[]){1, 0, NAN}[k]);
    g_assert_cmpfloat(m.each[1], <, 14);
}

/* Between the present layout and the balanced one: the shorter the horizon, the less moves, and never to a loss. */
static void test_spare(void)
{
    fixture f;
    GRand *random = g_rand_new_with_seed(17);
    for (int round = 0; round < 200; round++) {
        int ranks = g_rand_int_range(random, 2, 12);
        prepare(&f, ranks, (uint64_t)g_rand_int_range(random, ranks, 600), round % 2 ? DOME_RING : DOME_LINEAR);
        for (int r = 0; r < ranks; r++)
            f.rates[r] = 0.2 + g_rand_double(random);
        for (int b = 0; b < (int)f.load.blocks; b++)
            f.costs[b] = g_rand_double(random);
        f.load.costs = round % 4 > 1 ? f.costs : NULL;
        dome_moving m = {0, {1, 1, 1}, NULL, NULL};
        double now = dome__load_time(&f.load), before = INFINITY;
        for (double horizon = 1e6; horizon > 0.1; horizon /= 10) {
            dome__policy_global(&f.load, &f.division);
            double then = dome__division_time(&f.load, &f.division),
                   moving = dome__moving_seconds(&f.load, &f.division, &m, NULL);
            dome__policy_spare(&f.load, &m, horizon, &f.division);
            check_whole(&f);
            double spared = dome__division_time(&f.load, &f.division),
                   less = dome__moving_seconds(&f.load, &f.division, &m, NULL);
            g_assert_cmpfloat(horizon * spared / now + less, <=, (horizon * then / now + moving) * (1 + 1e-9));
            g_assert_cmpfloat(less, <=, before);
            before = less;
            if (horizon == 1e6)
                g_assert_cmpfloat(spared, <=, then * 1.001);
        }
    }
    g_rand_free(random);
    const int cluster[4] = {0, 0, 1, 1}; /* as good with moves in the clusters, which a slow link joins */
    prepare(&f, 4, 400, DOME_LINEAR);
    dome_moving m = {0, {0.001, 0.001, 1}, NULL, cluster};
    f.rates[0] = 1.5;
    f.rates[2] = 1.5;
    f.rates[3] = 1.1;
    dome__policy_global(&f.load, &f.division);
    g_assert_cmpuint(f.next[0] + f.next[1], !=, 200);
    dome__policy_spare(&f.load, &m, 10, &f.division);
    g_assert_cmpuint(f.next[0] + f.next[1], ==, 200);
    g_assert_cmpuint(f.next[0], >, 110);
}

/* ---- measurements of ranks that wait ---- */

/* Folds `phases` measurements of a rank that did `least` and could have done `most`; returns the estimate. */
static double between(dome_speed *speed, double least, double most, int phases)
{
    for (int k = 0; k < phases; k++)
        dome__speed_between(speed, least, most, 0.2, 0.2);
    return speed->rate;
}

/* A rank that waits for others looks fast while it computes. That does not change what is known of it. */
static void waiting_says_little(void)
{
    dome_speed speed = {0};
    g_assert_cmpfloat(between(&speed, 0.15, 0.15, 3), ==, 0.15); /* the others wait for it */
    g_assert_cmpfloat(between(&speed, 0.08, 0.9, 50), ==, 0.15);
    g_assert_cmpfloat(between(&speed, 0.12, 0.3, 50), ==, 0.15);
}

/* A rank that all others wait for shows what it can do: it has become slower. One that does more than is known can do more. */
static void bounds_count(void)
{
    dome_speed speed = {0};
    between(&speed, 0.15, 0.15, 3);
    g_assert_cmpfloat(fabs(between(&speed, 0.05, 0.06, 3) - 0.06), <, 0.01);
    g_assert_cmpfloat(fabs(between(&speed, 0.14, 0.9, 3) - 0.14), <, 0.01);
}

/* A rank has become four times as fast, and waits now more and now less. */
static void waits_now_and_then(void)
{
    dome_speed speed = {0};
    between(&speed, 0.25, 0.25, 20);
    for (int phase = 0; phase < 6; phase++)
        if (phase % 2)
            between(&speed, 0.2, 0.98, 1);
        else
            dome__speed_update(&speed, 1, 0.2, 1);
    g_assert_cmpfloat(speed.rate, >, 0.9);
}

/* A rank that has become faster than is known is found out in steps; one that has not delays the others ever more rarely. */
static void trials(void)
{
    dome_speed faster = {0}, same = {0};
    between(&faster, 0.1, 0.1, 3);
    between(&same, 0.1, 0.1, 3);
    int raised = 0, phases = 0;
    for (; phases < 40 && faster.rate < 0.3; phases++) /* it gets what it is estimated to do, and needs less time for it */
        between(&faster, MIN(faster.rate, 0.3), MAX(0.3, faster.rate) * 1.9, 1);
    g_assert_cmpint(phases, <, 30);
    for (int k = 0; k < 400; k++) {
        double before = same.rate;
        if (before > 0.11)
            between(&same, 0.1, 0.1, 1);
        else
            between(&same, MIN(before, 0.1), 1, 1);
        raised += same.rate > 1.1 * before;
    }
    g_assert_cmpint(raised, >=, 2);
    g_assert_cmpint(raised, <=, 16);
}

/* A task that was stopped while it handled messages was busy, though the calls' clock says that it waited. */
static void stopped_in_messages(void)
{
    const moment from = {.ns = 1000000000, .wait_ns = 50, .processor_ns = 70, .wanted_ns = 90};
    moment to = {.ns = 3000000000, .wait_ns = 50 + 1800000000, .processor_ns = 70 + 300000000, .wanted_ns = 90 + 1200000000};
    g_assert_cmpfloat_with_epsilon(dome__busy_seconds(&from, &to, false), 1.5, 1e-9);
    g_assert_cmpfloat_with_epsilon(dome__busy_seconds(&from, &to, true), 0.2, 1e-9);
    to.helped_ns = 100000000; /* blocks of others */
    g_assert_cmpfloat_with_epsilon(dome__busy_seconds(&from, &to, false), 1.4, 1e-9);
    to.wanted_ns = from.wanted_ns; /* not known: what it computed, and the processor time of messages */
    g_assert_cmpfloat_with_epsilon(dome__busy_seconds(&from, &to, false), 0.2, 1e-9);
    to.wanted_ns = 90 + UINT64_C(9000000000); /* no longer than time has passed */
    g_assert_cmpfloat_with_epsilon(dome__busy_seconds(&from, &to, false), 2, 1e-9);
    to.ns = 0; /* a clock that jumped */
    g_assert_cmpfloat(dome__busy_seconds(&from, &to, false), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/policy/equal", test_equal);
    g_test_add_func("/policy/one-slow", test_one_slow);
    g_test_add_func("/policy/best-of-all", test_best_of_all);
    g_test_add_func("/policy/bad-cases", test_bad_cases);
    g_test_add_func("/policy/ring-neighbours", test_ring_neighbours);
    g_test_add_func("/policy/ring-converges", test_ring_converges);
    g_test_add_func("/policy/ring-anchor", test_ring_anchor);
    g_test_add_func("/policy/ring-rests", test_ring_rests);
    g_test_add_func("/policy/ring-parts", test_ring_parts);
    g_test_add_func("/policy/ring-flow", test_ring_flow);
    g_test_add_func("/policy/ring-blocks", test_ring_blocks);
    g_test_add_func("/policy/costs-move-little", test_costs_move_little);
    g_test_add_func("/policy/many", test_many);
    g_test_add_func("/policy/moving", test_moving);
    g_test_add_func("/policy/moving-learn", test_moving_learn);
    g_test_add_func("/policy/spare", test_spare);
    g_test_add_func("/policy/speed-noise", test_speed_noise);
    g_test_add_func("/policy/noises", test_noises);
    g_test_add_func("/policy/models", test_models);
    g_test_add_func("/policy/growth", test_growth);
    g_test_add_func("/policy/later", test_later);
    g_test_add_func("/policy/caution", test_caution);
    g_test_add_func("/policy/lasting", test_lasting);
    g_test_add_func("/policy/followed-noise", test_followed_noise);
    g_test_add_func("/policy/followed-slow", test_followed_slow);
    g_test_add_func("/policy/trial", test_trial);
    g_test_add_func("/policy/speed", test_speed);
    g_test_add_func("/policy/speed-trials", test_speed_trials);
    g_test_add_func("/policy/recovery", test_recovery);
    g_test_add_func("/policy/pays", test_pays);
    g_test_add_func("/policy/pays-later", test_pays_later);
    g_test_add_func("/policy/schedule", test_schedule);
    g_test_add_func("/policy/waiting-says-little", waiting_says_little);
    g_test_add_func("/policy/bounds-count", bounds_count);
    g_test_add_func("/policy/waits-now-and-then", waits_now_and_then);
    g_test_add_func("/policy/trials", trials);
    g_test_add_func("/policy/stopped-in-messages", stopped_in_messages);
    return g_test_run();
}
