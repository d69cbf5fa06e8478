/* Schedules beside what they promise: each iteration is one thread's, once, in ascending order, and the owner is the thread that
 * gets it. Counts of iterations beside loops that run. */
#include "openmp/deal.h"

#include "openmp/team.h"

#include <glib.h>

enum { MOST = 200 };

/* Iterations that thread `number` gets, as owners by iteration. Returns their number. */
static uint64_t take_all(const dome_omp_loop *loop, unsigned number, unsigned threads, unsigned *owners)
{
    dome_omp_thread thread = {.number = number, .variables = {.schedule = DOME_OMP_GUIDED | 0x80000000, .chunk = 3}};
    uint64_t from, to, before = 0, taken = 0;
    dome__omp_loop_begin(&thread, loop);
    g_assert_cmpuint(thread.construct, ==, 1);
    while (dome__omp_loop_next(&thread.loop, number, threads, &from, &to)) {
        g_assert_true(thread.loop.has_chunk);
        g_assert_cmpuint(from, >=, before);
        g_assert_cmpuint(from, <, to);
        g_assert_cmpuint(to, <=, loop->count);
        for (uint64_t k = from; k < to; k++) {
            g_assert_cmpuint(owners[k], ==, UINT_MAX);
            owners[k] = number;
            g_assert_cmpuint(dome__omp_loop_owner(&thread.loop, k, threads), ==, number);
        }
        taken += to - from;
        before = to;
    }
    g_assert_false(thread.loop.has_chunk);
    return taken;
}

static void check_loop(const dome_omp_loop *loop, unsigned threads)
{
    unsigned owners[MOST];
    uint64_t taken = 0, least = UINT64_MAX, most = 0;
    for (int k = 0; k < MOST; k++)
        owners[k] = UINT_MAX;
    for (unsigned t = 0; t < threads; t++) {
        const uint64_t n = take_all(loop, t, threads, owners);
        taken += n;
        least = MIN(least, n);
        most = MAX(most, n);
    }
    g_assert_cmpuint(taken, ==, loop->count);
    if (loop->schedule == DOME_OMP_STATIC && !loop->chunk)
        g_assert_cmpuint(most - least, <=, 1);
}

static void test_schedules(void)
{
    for (int schedule = DOME_OMP_RUNTIME; schedule <= DOME_OMP_GUIDED; schedule++)
        for (unsigned threads = 1; threads <= 9; threads++)
            for (uint64_t count = 0; count < MOST; count += 1 + count / 7)
                for (uint64_t chunk = 0; chunk <= 17; chunk++)
                    check_loop(
                        &(dome_omp_loop){.step = 1, .count = count, .chunk = chunk, .schedule = (dome_omp_schedule)schedule},
                        threads);
}

/* Chunks at the end of the largest loops that there are. */
static void test_largest(void)
{
    dome_omp_loop loop = {.step = 1, .count = UINT64_MAX, .chunk = UINT64_C(1) << 62, .schedule = DOME_OMP_STATIC};
    uint64_t from, to, chunks = 0;
    while (dome__omp_loop_next(&loop, 0, 1, &from, &to))
        chunks++;
    g_assert_cmpuint(chunks, ==, 4);
    g_assert_cmpuint(to, ==, UINT64_MAX);
    g_assert_cmpuint(dome__omp_loop_owner(&loop, UINT64_MAX - 1, 3), ==, 0);
    loop = (dome_omp_loop){.step = 1, .count = UINT64_MAX, .schedule = DOME_OMP_STATIC};
    g_assert_true(dome__omp_loop_next(&loop, 6, 7, &from, &to));
    g_assert_cmpuint(to, ==, UINT64_MAX);
    g_assert_cmpuint(dome__omp_loop_owner(&loop, UINT64_MAX - 1, 7), ==, 6);
}

static void test_counts(void)
{
    for (long start = -6; start <= 6; start++)
        for (long end = -6; end <= 6; end++)
            for (long step = -4; step <= 4; step++) {
                uint64_t n = 0;
                for (long k = start; step && (step > 0 ? k < end : k > end); k += step)
                    n++;
                if (step)
                    g_assert_cmpuint(dome__omp_loop_count(start, end, step), ==, n);
                if (step && start >= 0 && end >= 0)
                    g_assert_cmpuint(dome__omp_loop_count_ull(step > 0, (uint64_t)start, (uint64_t)end, (uint64_t)step), ==, n);
            }
    g_assert_cmpuint(dome__omp_loop_count(LONG_MIN, LONG_MAX, 1), ==, UINT64_MAX);
    g_assert_cmpuint(dome__omp_loop_count(LONG_MAX, LONG_MIN, -1), ==, UINT64_MAX);
    g_assert_cmpuint(dome__omp_loop_count(LONG_MAX, LONG_MIN, LONG_MIN), ==, 2);
    g_assert_cmpuint(dome__omp_loop_count_ull(true, 0, UINT64_MAX, UINT64_MAX), ==, 1);
    g_assert_cmpuint(dome__omp_loop_count_ull(false, UINT64_MAX, 0, UINT64_MAX), ==, UINT64_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deal/schedules", test_schedules);
    g_test_add_func("/deal/largest", test_largest);
    g_test_add_func("/deal/counts", test_counts);
    return g_test_run();
}
