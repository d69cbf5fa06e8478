/* Regions of equal work: what a slow host costs, and a killed task.
 *
 *     steps REGIONS MILLISECONDS            of a processor, which each region takes
 *
 * Prints a line at each region's end, with seconds since the first one's begin, and last a number that stands for all results. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PARTS = 4096 };

static double value[PARTS];

/* Some steps of a recurrence: the result depends on all of them. */
static double work(double x, long turns)
{
    for (long k = 0; k < turns; k++)
        x = 3.9 * x * (1 - x);
    return x;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int regions = argc == 3 ? atoi(argv[1]) : 0;
    const double milliseconds = argc == 3 ? atof(argv[2]) : 0;
    const char *given = getenv("STEPS_TURNS"); /* the same on all runs that are compared */
    if (regions < 1 || milliseconds <= 0) {
        fputs("usage: steps REGIONS MILLISECONDS\n", stderr);
        return 2;
    }
    const double start = processor_seconds();
    double ignored = work(0.3, 10000000);
    const double per_turn = (processor_seconds() - start) / 1e7;
    const long turns = given ? atol(given) : (long)(milliseconds * 1e-3 / PARTS / per_turn);
    printf("turns %ld of %.3g s%s\n", turns, per_turn, ignored > 2 ? "!" : "");
    fflush(stdout);
    for (int k = 0; k < PARTS; k++)
        value[k] = (k + 1.0) / (PARTS + 2.0);
    const double begin = omp_get_wtime();
    for (int r = 0; r < regions; r++) {
#pragma omp parallel for schedule(static)
        for (int k = 0; k < PARTS; k++)
            value[k] = work(value[k], turns);
        printf("region %d at %.6f\n", r, omp_get_wtime() - begin);
        fflush(stdout);
    }
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += value[k];
    printf("sum %.17g\n", sum);
    return 0;
}
