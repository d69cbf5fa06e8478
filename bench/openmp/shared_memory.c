/* What memory a byte of shared data takes, over all tasks.
 *
 *     shared_memory MEGABYTES own|halo|all
 *
 * Each thread writes its part of an array, in eight regions. own: nobody reads another's part; halo: each reads the edges of its
 * neighbours; all: in each region each thread reads all of what was written before. At the end one thread of each task tells the
 * memory of its process, shared pages by halves (Pss), and the program prints the sum of them in bytes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 256, REGIONS = 8, EDGE = 1024 };

static double *x, *y;
static long count;
static long told[MOST], process[MOST];

static long resident(void)
{
    char line[256];
    long kilobytes = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "Pss: %ld", &kilobytes) != 1)
        ;
    if (!file || kilobytes < 0) {
        fputs("shared_memory: no smaps_rollup\n", stderr);
        exit(1);
    }
    fclose(file);
    return kilobytes << 10;
}

static double sum_of(const double *from, long first, long end)
{
    double sum = 0;
    for (long k = first < 0 ? 0 : first; k < (end > count ? count : end); k++)
        sum += from[k];
    return sum;
}

static double one_region(int region, int all, int halo)
{
    double *to = region % 2 ? x : y, *from = region % 2 ? y : x, total = 0;
#pragma omp parallel reduction(+ : total)
    {
        const long me = omp_get_thread_num(), team = omp_get_num_threads();
        const long first = count * me / team, end = count * (me + 1) / team;
        if (halo)
            total += sum_of(from, first - EDGE, first) + sum_of(from, end, end + EDGE);
        if (all)
            total += sum_of(from, 0, count);
        for (long k = first; k < end; k++)
            to[k] = from[k] + (double)(k % 7) + region;
    }
    return total;
}

int main(int argc, char **argv)
{
    const double megabytes = argc == 3 ? atof(argv[1]) : 0;
    if (megabytes < 0.1) {
        fputs("usage: shared_memory MEGABYTES own|halo|all\n", stderr);
        return 2;
    }
    const int all = strcmp(argv[2], "all") == 0, halo = strcmp(argv[2], "halo") == 0;
    count = (long)(megabytes * 1e6 / 2 / sizeof(double));
    x = calloc((size_t)count, sizeof *x);
    y = calloc((size_t)count, sizeof *y);
    double total = 0;
    for (int region = 0; region < REGIONS; region++)
        total += one_region(region, all, halo);
#pragma omp parallel
    {
        told[omp_get_thread_num()] = resident();
        process[omp_get_thread_num()] = getpid();
    }
    long bytes = 0;
    for (int k = 0; k < omp_get_max_threads(); k++)
        bytes += k == 0 || process[k] != process[k - 1] ? told[k] : 0;
    printf("bytes %ld total %.17g\n", bytes, total);
    free(x);
    free(y);
    return 0;
}
