/* clock: what the operation clock costs, at blocks of 1024 doubles.
 *
 *     clock [--dome-tasks 2]
 *
 * dvec_map with a kernel as cheap as they come (y = a x + y) over N blocks, with the clock by block and without, in turns; and
 * chains of element-wise operations on one block, beside what the clock adds to them: two readings for a chain and a share for
 * each operation. */
#include "core/environment.h"

#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1024, BLOCKS = 256, CALLS = 200, ROUNDS = 41, CHAIN = 16 };

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double *y = out, a = *(double *)ctx;
    const double *x = in[0];
    (void)first;
    for (size_t i = 0; i < count; i++)
        y[i] = a * x[i] + y[i];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}

/* Seconds for one block. */
static double map(dvec *y, dvec *x)
{
    double a = 1e-3, begin = dome_wtime();
    for (int k = 0; k < CALLS; k++)
        dvec_map(y, kernel, &a, 1, &x);
    return (dome_wtime() - begin) / CALLS / ((double)dvec_length(y) / BLOCK / dome_size(dvec_env(y)));
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    dome_balancing balance = env->options.balance.policy;
    dvec_options blocks = {.size = sizeof blocks, .block = BLOCK};
    size_t n = (size_t)BLOCK * BLOCKS * (size_t)dome_size(env);
    dvec *x = dvec_new_with(env, "x", DOME_F64, n, &blocks), *y = dvec_new_with(env, "y", DOME_F64, n, &blocks);
    dvec_random(x, 1);
    dvec_fill(y, 0);
    dvec_sum(y);
    if (dome_size(env) == 1)
        dome_print(env, "clock: one task is not balanced, and its blocks are not timed: say --dome-tasks 2\n");

    double with[ROUNDS], without[ROUNDS], ratio[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
        env->options.balance.policy = balance;
        with[k] = map(y, x);
        env->options.balance.policy = DOME_BALANCE_NONE;
        without[k] = map(y, x);
        ratio[k] = with[k] / without[k];
    }
    env->options.balance.policy = balance;

    /* One block, so that a chain is as short as it can be. Its time includes the readings of the clock. */
    dvec_options whole = {.size = sizeof whole, .distribution = DOME_WHOLE, .block = BLOCK};
    dvec *u = dvec_new_with(env, "u", DOME_F64, BLOCK, &whole), *v = dvec_new_with(env, "v", DOME_F64, BLOCK, &whole);
    dvec_random(u, 2);
    dvec_fill(v, 1);
    double chain[ROUNDS], reading[ROUNDS];
    for (int k = 0; k < ROUNDS; k++) {
        dvec_span span[2];
        double begin = dome_wtime();
        for (int call = 0; call < CALLS; call++) {
            for (int op = 0; op < CHAIN; op++)
                dvec_add(v, v, u);
            dvec_local_spans(v, span);
        }
        chain[k] = (dome_wtime() - begin) / CALLS / CHAIN;
        begin = dome_wtime();
        uint64_t keep = 0;
        for (int call = 0; call < CALLS; call++)
            keep += dome__now_ns();
        reading[k] = (dome_wtime() - begin) / CALLS + (double)(keep & 1) * 1e-30;
    }
    double block = median(without, ROUNDS), operation = median(chain, ROUNDS), clock = median(reading, ROUNDS);
    dome_print(env, "%-52s %10.1f ns\n", "a block of 1024 doubles in dvec_map, not timed", block * 1e9);
    dome_print(env, "%-52s %10.1f ns\n", "the same, timed", median(with, ROUNDS) * 1e9);
    dome_print(env, "%-52s %10.1f ns\n", "an element-wise operation on such a block", operation * 1e9);
    dome_print(env, "%-52s %10.1f ns\n", "the clock's part of it, in a chain of 16", 2 * clock / CHAIN * 1e9);
    dome_print(
        env, "the clock costs %.2f %% of dvec_map and %.2f %% of element-wise work at blocks of 1024 doubles (to reach: 1 %%)\n",
        100 * (median(ratio, ROUNDS) - 1), 100 * 2 * clock / CHAIN / operation);
    return dome_finalize(env);
}
