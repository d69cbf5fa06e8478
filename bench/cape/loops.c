/* The programs with OpenMP: as gcc compiles them with and without -fopenmp, and as dome-omp does.
 *
 *     loops matrix 1000 */
#include "programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The result's pages come to task 0, as the other ways bring them there, too. */
static void read_result(const cape_run *run)
{
    enum { PAGE = 4096 };
    const cape_memory last = run->program->written(run->loops - 1, 0, run->program->iterations());
    for (size_t k = 0; k < last.bytes; k += PAGE)
        (void)*(const volatile char *)((const char *)last.at + k);
}

int main(int argc, char **argv)
{
    const cape_run run = cape_arguments(argc, argv);
    const double begin = now();
    run.program->begin(run.size);
    const double filled = now();
    const long iterations = run.program->iterations();
    for (long loop = 0; loop < run.loops; loop++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < iterations; i++)
            run.program->body(loop, i, i + 1);
    }
    const double computed = now();
    read_result(&run);
    const double end = now();
    printf("result %016" PRIx64 " seconds %.6f init %.6f compute %.6f update %.6f\n", cape_result(&run), end - begin,
           filled - begin, computed - filled, end - computed);
    return 0;
}
