/* Balancing policies as functions of numbers. */
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
    for (int topology = DOME_LINEAR; topology <= DOME_RING; topology++) {
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

/* The integer division is the best there is: no other has a smaller time. */
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

/* Data of the ring policy moves to the next rank and no further, over the ends only on a ring. */
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
    for (int topology = DOME_LINEAR; topology <= DOME_RING; topology++) {
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

static void test_rates(void)
{
    g_assert_cmpfloat(dome__rate_update(0, 5, 9), ==, 5);
    g_assert_cmpfloat(dome__rate_update(10, 2, 9), ==, 2); /* a large change is believed at once */
    double small = dome__rate_update(10, 10.4, 9);
    g_assert_cmpfloat(small, >, 10);
    g_assert_cmpfloat(small, <, 10.4);
    double rate = 0.1; /* without blocks for long: believed to be like the others in the end */
    for (int i = 0; i < 100; i++)
        rate = dome__rate_update(rate, 0, 1);
    g_assert_cmpfloat(rate, >, 0.9);
    g_assert_cmpfloat(dome__rate_update(1, NAN, 1), ==, 1);
}

static void test_schedule(void)
{
    dome_schedule s = {.interval = 8, .shortest = 4, .longest = 64, .move_seconds = 0.1};
    g_assert_true(dome__schedule_pays(&s, 1, 0.5, 10));
    g_assert_false(dome__schedule_pays(&s, 1, 0.99, 1));  /* within the noise */
    g_assert_false(dome__schedule_pays(&s, 1, 0.5, 100)); /* dearer than what it saves */
    g_assert_false(dome__schedule_pays(&s, 1, 0.5, 0));
    for (int i = 0; i < 10; i++)
        dome__schedule_next(&s, false, 1, 1.01, 1);
    g_assert_cmpuint(s.interval, ==, 64);
    dome__schedule_next(&s, false, 1, 1.5, 1);
    g_assert_cmpuint(s.interval, ==, 32);
    for (int i = 0; i < 10; i++)
        dome__schedule_next(&s, true, 1, 1, 1);
    g_assert_cmpuint(s.interval, ==, 4);
    s.phase_seconds = 0.01; /* a phase must not cost more than a thousandth of what lies between */
    dome__schedule_next(&s, true, 1, 1, 1);
    g_assert_cmpuint(s.interval, ==, 10);
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
    g_test_add_func("/policy/rates", test_rates);
    g_test_add_func("/policy/schedule", test_schedule);
    return g_test_run();
}
