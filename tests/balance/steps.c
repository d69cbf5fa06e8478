/* A program for the profile test: as many steps as its argument says, of one call each of several kinds. Task 1 computes longer
 * for its blocks. With a second argument each task prints how long the steps had a processor. */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 4096 }; /* blocks of 16 */

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    double seconds = *(const double *)ctx * (double)count / N;
    (void)first, (void)out, (void)in;
    for (double until = dome_wtime() + seconds; dome_wtime() < until;)
        continue;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 1;
    double seconds = dome_rank(env) == 1 ? 20e-3 : 1e-3; /* for all elements */
    dvec *x = dvec_new(env, "x", DOME_F64, N), *y = dvec_new(env, "y", DOME_F64, N);
    clock_t begin = clock();
    dvec_fill(x, 0);
    for (int k = 0; k < steps; k++) {
        dvec_adds(x, x, 1);
        dvec_map(y, kernel, &seconds, 0, NULL);
        if (dvec_sum(x) != N * (k + 1.0))
            dome_abort(env, "the sum is wrong in step %d", k);
        dome_barrier(env);
    }
    if (argc > 2)
        fprintf(stderr, "processor of task %d: %.6f s\n", dome_rank(env), (double)(clock() - begin) / CLOCKS_PER_SEC);
    return dome_finalize(env);
}
