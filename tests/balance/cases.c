/* Load balancing in running programs: cases that are easy and cases that are bad.
 *
 *     cases NAME [WORD]
 *
 * What computing takes is made up (made_up_time.h), so that what is measured does not depend on the machine the test runs on. The
 * policy and when it acts are given as options; what a case expects holds for all that the table in CMakeLists.txt tries. */
#include "balance/balance_private.h"
#include "core/environment.h"
#include "made_up_time.h"
#include "structure_lists.h"
#include "transport/transport.h"

#include <dome/dome.h>
#include <dome/structure.h>

#include <glib.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;
static int rank, size;
static int step; /* of the case, for messages */

#define EXPECT(condition, ...)                                                                                                   \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char *text_ = g_strdup_printf(__VA_ARGS__);                                                                          \
            dome_abort(env, "step %d: %s", step, text_);                                                                         \
        }                                                                                                                        \
    } while (0)

/* ---- work ---- */

enum { N = 4096, BLOCKS = 256 }; /* 16 elements a block */
enum { SLOWER = 10000 };         /* real time, in cases that judge by made-up times alone */

static double block_seconds = 1e-3; /* on a task of speed 1 */

static int slow_task = -1; /* nobody */
static double slow_factor;
static double (*relative_cost)(size_t first); /* of the block that begins there; NULL: all the same */
static double jump_in_kernel;                 /* of this task's clock, in the next kernel; seconds */
static void make_slow(int task, double factor)
{
    slow_task = task;
    slow_factor = factor;
}

/* Seconds for work of as many blocks. */
static double time_of(int task, double blocks)
{
    return blocks * block_seconds * (task == slow_task ? slow_factor : 1);
}

/* A slow task gets a part of its processor only. */
static void compute(double blocks)
{
    compute_for(blocks * block_seconds, rank == slow_task ? 1 / slow_factor : 1);
}

static double cost_of_block(size_t first)
{
    return relative_cost ? relative_cost(first) : 1;
}

static double value_after(double x)
{
    return x * 0.75 + 1.1;
}

/* A vector that may be moved, and what it should be, in full on every task. */
typedef struct pair {
    dvec *moves, *stays;
    size_t n, block;
} pair;

static pair make(const char *name, size_t n)
{
    pair p = {.n = n, .block = (size_t)dome_block_size(n)};
    p.moves = dvec_new(env, name, DOME_F64, n);
    p.stays = dvec_new_with(env, NULL, DOME_F64, n, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec_iota(p.moves);
    dvec_iota(p.stays);
    return p;
}

/* ctx: the pair whose moving part is computed; NULL: costs nothing. */
static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0];
    double *y = out, cost = 0;
    const pair *p = ctx;
    for (size_t i = 0; i < count; i++)
        y[i] = value_after(x[i]);
    for (size_t i = 0; p && i < count; i += p->block)
        cost += cost_of_block(first + i);
    compute(cost);
    clock_jumps(jump_in_kernel);
    jump_in_kernel = 0;
}

/* What computing on a vector takes each task; all will wait for the slowest. */
static void wait_for_slowest(const pair *p)
{
    const dome_layout *layout = dome_env_layout(env, p->n, 0);
    double times[size], longest = 0;
    for (int r = 0; r < size; r++)
        times[r] = 0;
    for (uint64_t b = 0; b < dome_layout_blocks(layout); b++) {
        int owner = dome_layout_owner(layout, b);
        times[owner] += time_of(owner, cost_of_block((size_t)b * p->block));
        longest = MAX(longest, times[owner]);
    }
    wait_for(longest - times[rank]);
}

static void drop(pair *p)
{
    dvec_free(p->moves);
    dvec_free(p->stays);
}

/* The blocks each task has of vectors of a length. */
static void owned(size_t n, uint64_t counts[])
{
    const dome_layout *layout = dome_env_layout(env, n, 0);
    for (int r = 0; r < size; r++)
        counts[r] = dome_layout_run(layout, r, NULL);
}

static double owned_by(size_t n, int task)
{
    return (double)dome_layout_run(dome_env_layout(env, n, 0), task, NULL);
}

/* ---- where data goes ---- */

typedef enum ways { ANY_WAY, RING_WAYS, LINEAR_WAYS } ways;

static ways allowed;
static dome_layout *last_layout; /* of length N */
static int moves_seen;

static bool may_go(int from, int to)
{
    int distance = abs(from - to);
    return distance <= 1 || (allowed == RING_WAYS && distance == size - 1);
}

/* After each operation: nothing has gone where it may not. */
static void watch_ways(void)
{
    const dome_layout *now = dome_env_layout(env, N, 0);
    bool moved = last_layout && !dome_layout_equal(now, last_layout);
    moves_seen += moved;
    for (uint64_t b = 0; moved && allowed != ANY_WAY && b < BLOCKS; b++) {
        int from = dome_layout_owner(last_layout, b), to = dome_layout_owner(now, b);
        EXPECT(may_go(from, to), "block %llu went from task %d to task %d", (unsigned long long)b, from, to);
    }
    dome_layout_unref(last_layout);
    last_layout = dome_layout_ref(now);
}

static void check(const pair *p)
{
    dvec_span spans[2];
    double is = dvec_sum(p->moves);
    watch_ways();
    double should = dvec_sum(p->stays);
    EXPECT(memcmp(&is, &should, sizeof is) == 0, "the sum of '%s' is %.17g instead of %.17g", dvec_name(p->moves), is, should);
    watch_ways();
    const double *all = dvec_allgather(p->stays);
    dvec_local_spans_const(p->moves, spans);
    for (int s = 0; s < 2; s++)
        EXPECT(memcmp(spans[s].data, all + spans[s].first, spans[s].count * sizeof *all) == 0, "'%s' has other values",
               dvec_name(p->moves));
}

static void work_on(pair *p, bool runs)
{
    step++;
    if (runs)
        dvec_map_runs(p->moves, kernel, p, 1, &p->moves);
    else
        dvec_map(p->moves, kernel, p, 1, &p->moves);
    watch_ways();
    dvec_map(p->stays, kernel, NULL, 1, &p->stays);
    wait_for_slowest(p);
    check(p);
}

static void work(pair *p, int times)
{
    for (int k = 0; k < times; k++)
        work_on(p, false);
}

/* ---- what is expected of layouts ---- */

/* The blocks of length N that each task had, on the average of some more steps. One layout alone may be a trial. */
static void average(pair *p, int times, double counts[])
{
    for (int r = 0; r < size; r++)
        counts[r] = 0;
    for (int k = 0; k < times; k++) {
        work_on(p, false);
        for (int r = 0; r < size; r++)
            counts[r] += owned_by(N, r) / times;
    }
}

static char *in_words(const double counts[])
{
    GString *s = g_string_new(NULL);
    for (int r = 0; r < size; r++)
        g_string_append_printf(s, "%s%.1f", r ? ", " : "", counts[r]);
    return g_string_free(s, FALSE);
}

/* One task has at most `part` of what the others have on average. */
static void expect_less(const double counts[], int task, double part, const char *what)
{
    double others = 0;
    for (int r = 0; r < size; r++)
        others += r == task ? 0 : counts[r] / (size - 1);
    EXPECT(counts[task] <= part * others, "task %d should have less than %g of what others have of %s: %s", task, part, what,
           in_words(counts));
}

/* Nobody has less than `part` of an even share. */
static void expect_even(const double counts[], double part, const char *what)
{
    double even = 0;
    for (int r = 0; r < size; r++)
        even += counts[r] / size;
    for (int r = 0; r < size; r++)
        EXPECT(counts[r] >= part * even, "task %d should have at least %g of an even share %s: %s", r, part, what,
               in_words(counts));
}

static void expect_less_now(size_t n, int task, double part, const char *what)
{
    double *counts = g_new(double, size);
    for (int r = 0; r < size; r++)
        counts[r] = owned_by(n, r);
    expect_less(counts, task, part, what);
    g_free(counts);
}

/* ---- numbers of operations ---- */

static dome_stamp last_stamp;

/* Whenever this task has waited: one number stands for one history. Two tasks with the same number and different histories would
 * be taken for tasks that disagree. */
static void one_history(dome_transport *t, int other, uint64_t start, uint64_t took)
{
    (void)other, (void)start, (void)took;
    EXPECT(t->stamp.sequence != last_stamp.sequence || t->stamp.history == last_stamp.history, "operation %llu has two histories",
           (unsigned long long)t->stamp.sequence);
    last_stamp = t->stamp;
}

/* ---- cases ---- */

/* One task is slow. Vectors of other lengths follow. */
static void slow(double how_much, double part)
{
    pair x = make("x", N), y = make("y", 1000), z = make("z", 50);
    double counts[size];
    make_slow(1, how_much);
    work(&x, 50);
    average(&x, 20, counts);
    expect_less(counts, 1, part, "a vector that is worked on");
    expect_less_now(1000, 1, 0.6, "a vector of another length");
    check(&y);
    check(&z);
    EXPECT(moves_seen > 0, "nothing has moved");
}

/* Phases are asked for, but so rarely that none would come: the first does not wait for that. */
static void case_early(const char *word)
{
    (void)word;
    pair x = make("x", N);
    make_slow(1, 8);
    work(&x, 10);
    expect_less_now(N, 1, 0.6, "x from the first phase on");
    int moved = moves_seen;
    make_slow(1, 1);
    work(&x, 200);
    EXPECT(moves_seen == moved, "a phase came before it was asked for");
}

static void case_slow(const char *word)
{
    (void)word;
    slow(8, 0.5);
}

/* 1 % of the others' speed. */
static void case_crawl(const char *word)
{
    (void)word;
    slow(100, 0.2);
}

/* First one is slow, then another. */
static void case_changes(const char *word)
{
    (void)word;
    pair x = make("x", N);
    double counts[size];
    for (int turn = 0; turn < 3; turn++) {
        int slow_one = turn % size;
        make_slow(slow_one, 8);
        work(&x, 60);
        average(&x, 20, counts);
        expect_less(counts, slow_one, 0.6, "x");
    }
}

/* When all has been well for long, phases are rare. Who has to wait then asks for one. */
static void case_alarm(const char *word)
{
    (void)word;
    pair x = make("x", N);
    work(&x, 1000);
    make_slow(1, 8);
    work(&x, 40);
    expect_less_now(N, 1, 0.6, "x soon after it has become slow");
}

/* Long work between two operations in which tasks wait for each other. */
static void lap(pair *p)
{
    step++;
    for (int k = 0; k < 10; k++) {
        dvec_map(p->moves, kernel, p, 1, &p->moves);
        dvec_map(p->stays, kernel, NULL, 1, &p->stays);
        wait_for_slowest(p);
    }
    check(p);
}

/* A task that gets less of its processor says so when the others wait for it for the first time, and then it loses data. No phase
 * is due by then: phases cost next to nothing here, and would be held many times a lap. */
static void case_laps(const char *word)
{
    (void)word;
    real_time_slows(SLOWER);
    pair x = make("x", N);
    for (int k = 0; k < 20; k++)
        lap(&x);
    dvec *other = dvec_new_with(env, NULL, DOME_F64, 16, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    for (int k = 0; k < 200 && env->balance->ahead.begun; k++)
        dvec_map(other, kernel, NULL, 1, &other);
    EXPECT(!env->balance->ahead.begun, "numbers are always under way");
    env->balance->when.next = env->position.sequence + 1000000;
    dvec_free(other);
    make_slow(1, 4);
    lap(&x);
    dvec_map(x.moves, kernel, &x, 1, &x.moves);
    dvec_map(x.stays, kernel, NULL, 1, &x.stays);
    expect_less_now(N, 1, 0.6, "x, one lap after it has become slow");
    make_slow(-1, 1);
    lap(&x);
    lap(&x);
    double counts[size];
    average(&x, 10, counts);
    expect_even(counts, 0.8, "when all are equally fast again");
}

/* The same without making up times: loops that take longer. */
static void slow_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)first, (void)out, (void)in;
    double until = processor_seconds() + time_of(rank, 0.1 * (double)count * BLOCKS / N);
    while (processor_seconds() < until)
        continue;
}

static void case_real(const char *word)
{
    (void)word;
    pair x = make("x", N);
    double counts[size];
    for (int r = 0; r < size; r++)
        counts[r] = 0;
    make_slow(1, 8);
    for (step = 0; step < 60; step++) {
        dvec_map(x.moves, slow_kernel, NULL, 0, NULL);
        dome_barrier(env);
        for (int r = 0; r < size && step >= 40; r++)
            counts[r] += owned_by(N, r) / 20;
    }
    check(&x);
    expect_less(counts, 1, 0.7, "a vector that is really worked on");
}

/* All are alike: data stays about where it is. */
static void case_equal(const char *word)
{
    (void)word;
    real_time_slows(SLOWER);
    pair x = make("x", N);
    double counts[size];
    work(&x, 20);
    average(&x, 20, counts);
    expect_even(counts, 0.8, "when all are equally fast");
}

/* A task that is stopped for a while is not slow: it keeps most of its data. WORD: seconds of wall time that only this task's
 * clock sees, or "signal". */
static void case_stop(const char *word)
{
    pair x = make("x", N);
    double counts[size];
    work(&x, 20);
    if (rank == 1 && strcmp(word, "signal") != 0) {
        clock_jumps(g_ascii_strtod(word, NULL));
    } else if (rank == 1) {
        pid_t me = getpid(), child = fork();
        if (child == 0) {
            sleep(2);
            kill(me, SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
    }
    average(&x, 20, counts);
    expect_even(counts, 0.5, "after a stop");
    average(&x, 20, counts);
    expect_even(counts, 0.7, "some time after a stop");
}

/* In the middle of a kernel the clock of one task jumps. WORD: seconds. */
static void case_jump(const char *word)
{
    real_time_slows(SLOWER);
    pair x = make("x", N), y = make("y", 1000);
    double counts[size];
    for (int k = 0; k < 4; k++) {
        work(&x, 10);
        work(&y, 2);
        if (rank == k % size)
            jump_in_kernel = g_ascii_strtod(word, NULL);
    }
    average(&x, 40, counts);
    expect_even(counts, 0.6, "after its clock has jumped");
    make_slow(1, 8);
    work(&x, 400); /* phases may have become rare */
    average(&x, 20, counts);
    if (size > 1)
        expect_less(counts, 1, 0.6, "x, balancing having gone on after the jumps");
}

/* Between operations that compute next to nothing task 0 loses its processor for moments: that tells nothing of its speed. */
static void case_moments(const char *word)
{
    (void)word;
    real_time_slows(SLOWER);
    pair x = make("x", N);
    double counts[size];
    for (int r = 0; r < size; r++)
        counts[r] = 0;
    work(&x, 10);
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < 12; i++) {
            dome_barrier(env);
            dvec_sum(x.stays);
            if (rank == 0)
                clock_jumps(0.5e-3);
        }
        work_on(&x, false);
        for (int r = 0; r < size; r++)
            counts[r] += owned_by(N, r) / 40;
    }
    expect_even(counts, 0.6, "having lost its processor for moments");
}

/* A task without a block gets some again. */
static void case_regain(const char *word)
{
    (void)word;
    real_time_slows(SLOWER);
    pair x = make("x", N);
    uint64_t blocks[size];
    double counts[size];
    owned(N, blocks);
    blocks[0] += blocks[1];
    blocks[1] = 0;
    dome_layout *layout = dome_layout_new(N, dome_block_size(N), size, 0, blocks);
    dome_env_relayout(env, layout);
    dome_layout_unref(layout);
    dome_layout_unref(last_layout);
    last_layout = NULL;
    EXPECT(owned_by(N, 1) == 0, "the task has blocks");
    work(&x, 60);
    average(&x, 20, counts);
    expect_even(counts, 0.5, "after it had none");

    /* So slow that it may lose all, then as fast as the others. Such a task is tried again, but more and more rarely. */
    make_slow(1, 1e4);
    work(&x, 60);
    make_slow(1, 1);
    block_seconds = 1;
    for (int k = 0; k < 20000 && owned_by(N, 1) < 0.6 * BLOCKS / size; k++)
        work(&x, 1);
    average(&x, 20, counts);
    expect_even(counts, 0.5, "after it was very slow");
}

/* Fewer blocks than tasks, down to none. */
static void case_few(const char *word)
{
    (void)word;
    pair x[5];
    const size_t lengths[5] = {0, 1, 2, 3, 5};
    for (int k = 0; k < 5; k++)
        x[k] = make(NULL, lengths[k]);
    for (int turn = 0; turn < 40; turn++) {
        make_slow(turn % size, 30);
        for (int k = 0; k < 5; k++)
            work_on(&x[k], turn % 2);
    }
}

/* Nothing is computed, as far as clocks can tell: there is no reason to move anything. */
static void case_nothing(const char *word)
{
    (void)word;
    pair x = make("x", N);
    clock_stands(true);
    watch_ways();
    for (step = 1; step < 100; step++) {
        dome_barrier(env);
        dome_checkpoint(env);
        check(&x);
        work_on(&x, false);
    }
    EXPECT(moves_seen == 0, "data has moved %d times", moves_seen);
    clock_stands(false);
}

/* Nothing is computed, but clocks go. Where data is, is no matter; all must be as it was. */
static void case_idle(const char *word)
{
    (void)word;
    pair x = make("x", N);
    for (step = 1; step < 200; step++) {
        dome_barrier(env);
        watch_ways();
        dome_checkpoint(env);
        watch_ways();
        check(&x);
    }
}

/* Vectors that are made and freed between phases lie as the tasks are fast. */
static void case_later(const char *word)
{
    (void)word;
    pair x = make("x", N);
    make_slow(1, 8);
    work(&x, 50);
    for (int k = 0; k < 20; k++) {
        size_t n = 2000 + 100 * (size_t)k;
        pair y = make("y", n);
        expect_less_now(n, 1, 0.6, "a vector that was just made");
        work_on(&y, true);
        work(&x, 2);
        pair z = make("z", n);
        check(&z);
        drop(&z);
        check(&y);
        drop(&y);
    }
}

/* The program asks for halos, computes, lets data move, and asks again. */
static void case_halo(const char *word)
{
    (void)word;
    enum { BELOW = 3, ABOVE = 20, STEPS = 60 };
    dvec *x = dvec_new(env, "x", DOME_I64, N), *y = dvec_new(env, "y", DOME_I64, N), *low = dvec_new(env, "low", DOME_I64, N),
         *high = dvec_new(env, "high", DOME_I64, N);
    dvec_random(x, 7);
    for (step = 0; step < STEPS; step++) {
        dvec_halo_span halo[2];
        dvec_span out[2];
        make_slow(step / 20 % size, 8);
        if (step % 3 == 1)
            dome_barrier(env); /* data may move while there are halos */
        watch_ways();
        dvec_halo_elements(x, BELOW, ABOVE, true, halo);
        dvec_local_spans(y, out);
        for (int s = 0; s < 2; s++) {
            EXPECT(out[s].first == halo[s].local.first && out[s].count == halo[s].local.count,
                   "vectors of one length have different spans");
            const int64_t *in = halo[s].local.data, *below = halo[s].below, *above = halo[s].above;
            int64_t *to = out[s].data;
            size_t count = halo[s].local.count;
            for (size_t i = 0; i < count; i++)
                to[i] = (int64_t)((uint64_t)(i >= BELOW ? in[i - BELOW] : below[i]) +
                                  (uint64_t)(i + ABOVE < count ? in[i + ABOVE] : above[i + ABOVE - count]));
            compute((double)count * BLOCKS / N);
        }
        dvec_roll(low, x, BELOW);
        watch_ways(); /* each call may bring a phase of its own */
        dvec_roll(high, x, -ABOVE);
        watch_ways();
        dvec_add(low, low, high);
        dvec_sub(low, low, y);
        bool same = dvec_min_value_i64(low) == 0;
        watch_ways();
        same = dvec_max_value_i64(low) == 0 && same;
        watch_ways();
        EXPECT(same, "halos give other values than shifts");
        dvec_copy(x, y);
    }
    EXPECT(size == 1 || moves_seen > 0, "nothing has moved");
}

static void next_to(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)first;
    memcpy(out, in[0], count * sizeof(int64_t));
    compute((double)count * BLOCKS / N);
}

/* A step of a program that exchanges with neighbours alone: each value becomes the sum of the two beside it, and its index. */
static void couple(dvec *x, dvec *y)
{
    dvec_halo_span halo[2];
    dvec_span out[2];
    dvec_halo_elements(x, 1, 1, true, halo);
    dvec_local_spans(y, out);
    for (int s = 0; s < 2; s++) {
        const uint64_t *in = halo[s].local.data, *below = halo[s].below, *above = halo[s].above;
        uint64_t *to = out[s].data;
        for (size_t i = 0, count = halo[s].local.count; i < count; i++)
            to[i] = (i ? in[i - 1] : *below) + (i + 1 < count ? in[i + 1] : *above) + halo[s].local.first + i;
    }
    dvec_map(x, next_to, NULL, 1, &y);
    watch_ways();
}

/* The same, in one piece. */
static void couple_alone(uint64_t *x, uint64_t *y)
{
    for (size_t i = 0; i < N; i++)
        y[i] = x[(i + N - 1) % N] + x[(i + 1) % N] + i;
    memcpy(x, y, N * sizeof *x);
}

static void check_coupled(dvec *x, const uint64_t *whole)
{
    dvec_span spans[2];
    dvec_local_spans_const(x, spans);
    for (int s = 0; s < 2; s++)
        EXPECT(memcmp(spans[s].data, whole + spans[s].first, spans[s].count * sizeof *whole) == 0, "other values");
}

/* No operation of the program makes all tasks wait for each other, and neither do phases. WORD "passes": vectors come and go; a
 * number: the program ends after so many steps, wherever a phase may be. */
static void case_neighbours(const char *word)
{
    const int all = 240, last = atoi(word) ? atoi(word) : all;
    dvec *x = dvec_new(env, "x", DOME_I64, N), *y = dvec_new(env, "y", DOME_I64, N), *z = NULL;
    uint64_t *whole = g_new0(uint64_t, N), *next = g_new(uint64_t, N);
    double counts[size];
    for (int r = 0; r < size; r++)
        counts[r] = 0;
    uint64_t together = env->transport->group.together;
    for (step = 0; step < last; step++) {
        make_slow(step < all / 2 ? 1 : 0, 8);
        couple(x, y);
        couple_alone(whole, next);
        if (strcmp(word, "passes") == 0 && step % 3 == 0) {
            if (z)
                dvec_free(z);
            z = dvec_new(env, "z", DOME_F64, 1000 + (size_t)step % 7);
        }
        for (int r = 0; r < size && step >= all - 20; r++)
            counts[r] += owned_by(N, r) / 20;
    }
    EXPECT(env->transport->group.together == together, "tasks have waited for each other %d times",
           (int)(env->transport->group.together - together));
    check_coupled(x, whole);
    if (size > 1 && last == all)
        expect_less(counts, 0, 0.6, "a vector whose parts exchange with their neighbours");
    g_free(whole);
    g_free(next);
}

/* Checkpoints between the steps of phases; the program resumes from one if there is one. WORD: number of steps. */
static void case_saves(const char *word)
{
    dvec *x = dvec_new(env, "x", DOME_I64, N), *y = dvec_new(env, "y", DOME_I64, N);
    dscalar *done = dscalar_new(env, "done", DOME_I64);
    uint64_t *whole = g_new0(uint64_t, N), *next = g_new(uint64_t, N);
    const int from = (int)dscalar_get_i64(done);
    EXPECT((from > 0) == dome_is_restarting(env), "%d steps have been done", from);
    for (step = 0; step < atoi(word); step++) {
        couple_alone(whole, next);
        if (step < from)
            continue;
        make_slow(step / 10 % size, 8);
        couple(x, y);
        dscalar_set_i64(done, step + 1);
        dome_checkpoint(env);
        watch_ways();
    }
    EXPECT(moves_seen > 0, "nothing has moved");
    check_coupled(x, whole);
    g_free(whole);
    g_free(next);
}

/* Deferred work is under way whenever a phase comes. */
static void case_deferred(const char *word)
{
    (void)word;
    pair x = make("x", N), y = make("y", 300);
    for (step = 0; step < 60; step++) {
        make_slow(1, 8);
        for (int k = 0; k < 2; k++) {
            dvec *a = k ? x.moves : x.stays, *b = k ? y.moves : y.stays;
            dvec_muls(a, a, 0.5);
            dvec_adds(b, b, 1);
            dvec_axpy(a, 1.5, a);
            dvec_mul(b, b, b);
            dvec_divs(b, b, 3 + step);
        }
        compute(owned_by(N, rank));
        dome_checkpoint(env);
        watch_ways();
        dome_barrier(env);
        watch_ways();
        if (step % 3 == 0)
            check(&x);
        if (step % 5 == 0)
            check(&y);
    }
    check(&x);
    check(&y);
}

/* What a failing function leaves behind, without the task that found it. */
static void note(GString *log, const char *what, int status)
{
    const char *message = dome_error_message(env), *end = strstr(message, " (task ");
    int length = end ? (int)(end - message) : (int)strlen(message);
    g_string_append_printf(log, "%s: %s, %s, %.*s\n", what, dome_status_name(status), dome_status_name(dome_error_status(env)),
                           length, message);
    dome_error_clear(env);
}

/* Deferred work that fails is reported by the operation that needs the value, alike on all tasks and whatever moves data. */
static void case_failing(const char *word)
{
    (void)word;
    dome_set_errors_return(env);
    dvec *a = dvec_new(env, "a", DOME_I32, N), *b = dvec_new(env, "b", DOME_I32, N), *c = dvec_new(env, "c", DOME_I32, 900);
    pair x = make("x", N);
    make_slow(1, 8);
    for (int turn = 0; turn < 12; turn++) {
        GString *log = g_string_new(NULL);
        work(&x, 4);
        dvec_iota(a);
        dvec_fill(c, turn);
        note(log, "before", (int)dvec_sum_i64(c) == 900 * turn ? DOME_OK : DOME_ERR_STATE);
        note(log, "div", dvec_div(b, a, a)); /* element 0 is 0 */
        compute(100);
        note(log, "checkpoint", dome_checkpoint(env));
        note(log, "barrier", dome_barrier(env));
        note(log, "other", (int)dvec_sum_i64(c) == 900 * turn ? DOME_OK : DOME_ERR_STATE);
        dvec_sum_i64(b);
        note(log, "sum", DOME_OK);
        dvec_fill(b, 2);
        note(log, "after", (int)dvec_sum_i64(b) == 2 * N ? DOME_OK : DOME_ERR_STATE);
        static const char expected[] = "before: DOME_OK, DOME_OK, \n"
                                       "div: DOME_OK, DOME_OK, \n"
                                       "checkpoint: DOME_OK, DOME_OK, \n"
                                       "barrier: DOME_OK, DOME_OK, \n"
                                       "other: DOME_OK, DOME_OK, \n"
                                       "sum: DOME_OK, DOME_ERR_RANGE, dvec_sum_i64 of 'b': ";
        EXPECT(g_str_has_prefix(log->str, expected) && g_str_has_suffix(log->str, "after: DOME_OK, DOME_OK, \n"),
               "failures come as %s", log->str);
        g_string_free(log, TRUE);
    }
}

/* ---- blocks of different cost ---- */

static double heavy_start(size_t first)
{
    return first < N / 8 ? 30 : 1;
}

/* The largest part of all cost that one task has of vectors of a length; 1 / size would be best. */
static double largest_part_of(size_t n, double (*cost_from)(size_t first))
{
    const dome_layout *layout = dome_env_layout(env, n, 0);
    double cost[size], all = 0, most = 0;
    for (int r = 0; r < size; r++)
        cost[r] = 0;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        double c = cost_from((size_t)b * (n / BLOCKS));
        cost[dome_layout_owner(layout, b)] += c;
        all += c;
    }
    for (int r = 0; r < size; r++)
        most = MAX(most, cost[r]);
    return most / all;
}

static double largest_part(void)
{
    return largest_part_of(N, relative_cost);
}

/* A costly region comes to be spread over more tasks. */
static void case_uneven(const char *word)
{
    (void)word;
    pair x = make("x", N);
    double part = 0;
    relative_cost = heavy_start;
    EXPECT(size == 1 || largest_part() > 1.8 / size, "the case says nothing");
    work(&x, 160);
    for (int k = 0; k < 20; k++) {
        work(&x, 1);
        part += largest_part() / 20;
    }
    EXPECT(part < 1.6 / size, "a task has %.2f of the cost", part);
}

static double heavy_end(size_t first)
{
    return first >= N / 2 - N / 16 ? 30 : 1;
}

static void start_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)count, (void)out, (void)in;
    compute(heavy_start(first));
}

static void end_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)count, (void)out, (void)in;
    compute(heavy_end(first));
}

/* Maps alone: the costs of blocks travel ahead, those of one length after those of the other. */
static void case_apart(const char *word)
{
    (void)word;
    dvec *x = dvec_new(env, "x", DOME_F64, N), *y = dvec_new(env, "y", DOME_F64, N / 2);
    double start = 0, end = 0;
    uint64_t together = env->transport->group.together;
    for (step = 0; step < 200; step++) {
        dvec_map(x, start_kernel, NULL, 0, NULL);
        dvec_map(y, end_kernel, NULL, 0, NULL);
        watch_ways();
        start += step < 180 ? 0 : largest_part_of(N, heavy_start) / 20;
        end += step < 180 ? 0 : largest_part_of(N / 2, heavy_end) / 20;
    }
    EXPECT(env->transport->group.together == together, "tasks have waited for each other");
    EXPECT(start < 1.6 / size && end < 1.6 / size, "a task has %.2f of the cost of one length, one has %.2f of the other", start,
           end);
}

/* Work on vectors that may not move says nothing about the blocks of those that may. */
static void block_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)ctx, (void)first, (void)count, (void)out, (void)in;
    compute(4);
}

static void case_fixed(const char *word)
{
    (void)word;
    pair x = make("x", N);
    dvec *fixed = dvec_new_with(env, "fixed", DOME_F64, N, DVEC_OPTIONS(.distribution = DOME_BLOCK));
    uint64_t counts[size];
    owned(N, counts);
    dome_layout *turned = dome_layout_new(N, x.block, size, counts[0] / 2, counts);
    dome_env_relayout(env, turned);
    dome_layout_unref(turned);
    for (int k = 0; k < 40; k++) {
        dvec_map(fixed, block_kernel, NULL, 0, NULL);
        work_on(&x, false);
    }
    EXPECT(size == 1 || !dome__block_times(env, dome_env_layout(env, N, 0))->uneven,
           "all blocks cost the same, but it is not seen");
}

/* ---- objects of the user's own ---- */

static size_t list_length(size_t i)
{
    return i < N / 8 ? 30 : 0;
}

static void lists_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double cost = 0, *sums = out;
    (void)in;
    for (size_t i = 0; i < count; i++) {
        size_t n;
        const double *values = lists_values(ctx, first + i, &n);
        sums[i] = 0;
        for (size_t k = 0; k < n; k++)
            sums[i] += values[k];
        cost += 1 + (double)n;
    }
    compute(cost / 16);
}

static double lists_block_cost(size_t first)
{
    return 1 + (double)list_length(first);
}

/* The structure says what its blocks cost. */
static void case_lists(const char *word)
{
    (void)word;
    lists *l = lists_new(env, "l", N);
    dvec *sums = dvec_new(env, "sums", DOME_F64, N);
    dome_span spans[2];
    double part = 0;
    for (int s = 0, n = lists_local(l, spans); s < n; s++)
        for (size_t i = spans[s].first; i < spans[s].first + spans[s].count; i++)
            for (size_t k = 0; k < list_length(i); k++)
                lists_push(l, i, (double)(i + k));
    double expected = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < list_length(i); k++)
            expected += (double)(i + k);
    relative_cost = lists_block_cost;
    for (step = 0; step < 80; step++) {
        dvec_map(sums, lists_kernel, l, 0, NULL);
        watch_ways();
        EXPECT(dvec_sum(sums) == expected, "the lists have other values");
        watch_ways();
        if (step >= 60)
            part += largest_part() / 20;
    }
    EXPECT(part < 1.6 / size, "a task has %.2f of the cost", part);
}

/* One number for each element; the table is the least that a structure can have. */
typedef struct ledger {
    dome_layout *layout;
    uint64_t *entry;
} ledger;

static dome_status ledger_describe(const dome_object *object, dome_object_info *info)
{
    const ledger *l = dome_object_content(object);
    *info = (dome_object_info){
        .type = NULL, .length = dome_layout_length(l->layout), .width = 1, .distribution = DOME_DYNAMIC, .layout = l->layout};
    return DOME_OK;
}

static uint64_t ledger_elements(const ledger *l, uint64_t first, uint64_t count)
{
    uint64_t elements = 0;
    for (uint64_t b = first; b < first + count; b++)
        elements += dome_layout_block(l->layout, b).count;
    return elements;
}

static uint64_t *ledger_at(const ledger *l, uint64_t block)
{
    return l->entry + dome_layout_position(l->layout, rank, dome_layout_block(l->layout, block).first);
}

static dome_status ledger_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                       uint64_t *bytes)
{
    *bytes = ledger_elements(dome_object_content(object), first, count) * dome_type_bytes(DOME_U64, format);
    return DOME_OK;
}

static dome_status ledger_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                               uint64_t bytes)
{
    const ledger *l = dome_object_content(object);
    dome_type_pack(DOME_U64, format, buffer, ledger_at(l, first), bytes / dome_type_bytes(DOME_U64, format));
    (void)count;
    return DOME_OK;
}

static dome_status ledger_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                                 uint64_t bytes)
{
    const ledger *l = dome_object_content(object);
    if (bytes != ledger_elements(l, first, count) * dome_type_bytes(DOME_U64, format))
        return DOME_ERR_FORMAT;
    dome_type_unpack(DOME_U64, format, ledger_at(l, first), buffer, bytes / dome_type_bytes(DOME_U64, format));
    return DOME_OK;
}

static dome_status ledger_adopt(dome_object *object, const dome_layout *layout)
{
    ledger *l = dome_object_content(object);
    uint64_t *entry = g_new0(uint64_t, dome_layout_local(layout, rank) + 1);
    dome_span spans[2];
    uint64_t *to = entry;
    for (int s = 0, n = dome_layout_spans(layout, rank, spans); s < n; s++)
        for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++, to++) {
            uint64_t was = dome_layout_position(l->layout, rank, i);
            *to = was == UINT64_MAX ? 0 : l->entry[was];
        }
    g_free(l->entry);
    dome_layout_unref(l->layout);
    *l = (ledger){dome_layout_ref(layout), entry};
    return DOME_OK;
}

static void ledger_destroy(dome_object *object)
{
    ledger *l = dome_object_content(object);
    dome_layout_unref(l->layout);
    g_free(l->entry);
    g_free(l);
}

static const dome_object_ops ledger_ops = {.size = sizeof(dome_object_ops),
                                           .kind = "ledger",
                                           .describe = ledger_describe,
                                           .packed_bytes = ledger_packed_bytes,
                                           .pack = ledger_pack,
                                           .unpack = ledger_unpack,
                                           .adopt = ledger_adopt,
                                           .destroy = ledger_destroy};

/* A structure that says nothing of cost, alone in the program, computed on outside of the library or in an operation of its own.
 */
static void case_ledger(const char *word)
{
    ledger *l = g_new0(ledger, 1);
    double counts[size];
    bool alone = strcmp(word, "alone") == 0; /* nothing but the structure's own operation lets data move */
    dome_operation_code add = dome_operation_register(env, "ledger_add", "step:u", DOME_OPERATION_MOVES);
    l->layout = dome_layout_ref(dome_env_layout(env, N, 0));
    l->entry = g_new0(uint64_t, dome_layout_local(l->layout, rank) + 1);
    dome_object *object = dome_object_new(env, "ledger", &ledger_ops, l);
    EXPECT(object, "no ledger");
    make_slow(1, 8);
    for (int r = 0; r < size; r++)
        counts[r] = 0;
    for (step = 0; step < 80; step++) {
        uint64_t words[] = {(uint64_t)step};
        dome_operation *op = alone ? dome_operation_begin(env, add, object, words, 1) : NULL;
        dome_span spans[2];
        uint64_t *entry = l->entry;
        for (int s = 0, n = dome_layout_spans(l->layout, rank, spans); s < n; s++)
            for (uint64_t i = spans[s].first; i < spans[s].first + spans[s].count; i++, entry++) {
                EXPECT(*entry == (step ? i + (uint64_t)step : 0), "entry %llu is %llu", (unsigned long long)i,
                       (unsigned long long)*entry);
                *entry = i + (uint64_t)step + 1;
            }
        compute(owned_by(N, rank));
        if (alone)
            dome_operation_end(op, DOME_OK);
        else
            dome_checkpoint(env);
        watch_ways();
        for (int r = 0; r < size && step >= 60; r++)
            counts[r] += owned_by(N, r) / 20;
    }
    if (size > 1)
        expect_less(counts, 1, 0.5, "a ledger");
}

/* ---- main ---- */

static const struct {
    const char *name;
    void (*run)(const char *word);
} cases[] = {{"alarm", case_alarm}, {"laps", case_laps},         {"early", case_early},     {"real", case_real},
             {"slow", case_slow},   {"crawl", case_crawl},       {"changes", case_changes}, {"equal", case_equal},
             {"stop", case_stop},   {"jump", case_jump},         {"moments", case_moments}, {"regain", case_regain},
             {"few", case_few},     {"nothing", case_nothing},   {"idle", case_idle},       {"later", case_later},
             {"halo", case_halo},   {"deferred", case_deferred}, {"failing", case_failing}, {"uneven", case_uneven},
             {"fixed", case_fixed}, {"lists", case_lists},       {"ledger", case_ledger},   {"neighbours", case_neighbours},
             {"saves", case_saves}, {"apart", case_apart}};

/* Words after the name: "ring" or "linear", when data may go to neighbours only, then the case's own. */
int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    rank = dome_rank(env);
    size = dome_size(env);
    waiting = &env->transport->account.waiting;
    env->transport->waited = one_history;
    int word = 2;
    if (argc > word && strcmp(argv[word], "ring") == 0)
        allowed = RING_WAYS, word++;
    else if (argc > word && strcmp(argv[word], "linear") == 0)
        allowed = LINEAR_WAYS, word++;
    for (size_t k = 0; argc > 1 && k < G_N_ELEMENTS(cases); k++)
        if (strcmp(argv[1], cases[k].name) == 0) {
            cases[k].run(argc > word ? argv[word] : "");
            dome_layout_unref(last_layout);
            dome_print(env, "ok %s, %d tasks\n", argv[1], size);
            return dome_finalize(env);
        }
    dome_abort(env, "there is no case called '%s'", argc > 1 ? argv[1] : "");
}
