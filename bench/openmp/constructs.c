/* What a barrier, a critical section, a reduction and a region of a microsecond take, in the manner of EPCC's benchmarks (J. M.
 * Bull, "Measuring synchronisation and scheduling overheads in OpenMP", EWOMP 1999): many of them, less the time of the same work
 * without them.
 *
 *     constructs [TIMES]         2000; prints a line of name and microseconds for each */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5 };

static int times = 2000;
static long turns_of_us; /* of the loop below, in a microsecond */

static void delay(long turns)
{
    volatile double x = 0;
    for (long k = 0; k < turns; k++)
        x = x + (double)k;
}

static double of_delays(int count)
{
    const double begin = omp_get_wtime();
    for (int k = 0; k < count; k++)
        delay(turns_of_us);
    return omp_get_wtime() - begin;
}

static void find_turns(void)
{
    double best = 1;
    for (int k = 0; k < ROUNDS; k++) {
        const double begin = omp_get_wtime();
        delay(1000000);
        const double took = omp_get_wtime() - begin;
        best = took < best ? took : best;
    }
    turns_of_us = (long)(1 / best) + 1;
}

static double regions(void)
{
    const long turns = turns_of_us;
    const double begin = omp_get_wtime();
    for (int k = 0; k < times; k++) {
#pragma omp parallel
        delay(turns);
    }
    return omp_get_wtime() - begin;
}

static double barriers(void)
{
    const long turns = turns_of_us;
    const int count = times;
    const double begin = omp_get_wtime();
#pragma omp parallel
    for (int k = 0; k < count; k++) {
        delay(turns);
#pragma omp barrier
    }
    return omp_get_wtime() - begin;
}

static double sections(void)
{
    const long turns = turns_of_us;
    const int count = times;
    const double begin = omp_get_wtime();
#pragma omp parallel
    for (int k = 0; k < count / omp_get_num_threads(); k++) {
#pragma omp critical
        delay(turns);
    }
    return omp_get_wtime() - begin;
}

static double reductions(void)
{
    const long turns = turns_of_us;
    long sum = 0;
    const double begin = omp_get_wtime();
    for (int k = 0; k < times; k++) {
#pragma omp parallel reduction(+ : sum)
        {
            delay(turns);
            sum += 1;
        }
    }
    const double took = omp_get_wtime() - begin;
    if (sum != (long)times * omp_get_max_threads()) {
        fprintf(stderr, "constructs: the sum is %ld\n", sum);
        exit(1);
    }
    return took;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } all[] = {{"region", regions}, {"barrier", barriers}, {"critical", sections}, {"reduction", reductions}};
    times = argc > 1 ? atoi(argv[1]) : times;
    if (times < 1) {
        fputs("usage: constructs [TIMES]\n", stderr);
        return 2;
    }
    find_turns();
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double best = 0;
        all[k].run();
        for (int r = 0; r < ROUNDS; r++) {
            const double took = 1e6 * (all[k].run() - of_delays(times)) / times;
            best = r == 0 || took < best ? took : best;
        }
        printf("%s %.3f\n", all[k].name, best);
    }
    return 0;
}
