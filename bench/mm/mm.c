#include "mm.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static bool parse_number(const char *text, long *value)
{
    char *end;
    *value = strtol(text, &end, 10);
    return *text && !*end && *value >= 1 && *value <= INT_MAX;
}

bool mm_parse(mm_options *options, int argc, char **argv, bool speak)
{
    *options = (mm_options){.rows = 6144, .k = 512, .products = 240};
    for (int i = 1; i < argc; i += 2) {
        long value;
        bool good = i + 1 < argc && parse_number(argv[i + 1], &value);
        if (good && strcmp(argv[i], "--rows") == 0)
            options->rows = (size_t)value;
        else if (good && strcmp(argv[i], "--k") == 0)
            options->k = (size_t)value;
        else if (good && strcmp(argv[i], "--products") == 0)
            options->products = (int)value;
        else {
            if (speak)
                fprintf(stderr, "%s: usage: [--rows N] [--k N] [--products N], not '%s'\n", argv[0], argv[i]);
            return false;
        }
    }
    return true;
}

/* A number in [-1, 1) for each place of each matrix (the finishing steps of splitmix64). */
static double value_at(uint64_t matrix, uint64_t place)
{
    uint64_t z = (matrix << 60) + (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

void mm_fill_x(double *x, size_t first, size_t count, size_t k)
{
    for (size_t i = 0; i < count * k; i++)
        x[i] = value_at(1, (uint64_t)first * k + i);
}

/* With entries of variance 1 / k a product hardly changes the size of X. */
void mm_fill_b(double *b, size_t k)
{
    double scale = sqrt(3.0 / (double)k);
    for (size_t i = 0; i < k * k; i++)
        b[i] = scale * value_at(2, i);
}

double *mm_matrix(size_t rows, size_t k)
{
    size_t bytes = (rows * k + 1) * sizeof(double);
    double *matrix = malloc(bytes);
    if (!matrix) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memset(matrix, 0, bytes);
}

void mm_multiply(double *y, const double *x, const double *b, size_t rows, size_t k, double factor)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)k, (int)k, factor, x, (int)k, b, (int)k, 0, y, (int)k);
}

double mm_squares(const double *x, size_t rows, size_t k)
{
    return cblas_ddot((int)(rows * k), x, 1, x, 1);
}

bool mm_due(const mm_options *options, int products)
{
    return products % MM_REDUCE == 0 || products == options->products;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double processor_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void mm_begin(mm_clock *clock, bool announce)
{
    if (announce) {
        puts("begin");
        fflush(stdout);
    }
    clock->processor = processor_seconds();
    clock->begin = clock->half = seconds();
}

void mm_tick(mm_clock *clock, const mm_options *options, int products)
{
    if (products == options->products / 2)
        clock->half = seconds();
}

void mm_end(mm_clock *clock)
{
    clock->end = seconds();
    clock->processor = processor_seconds() - clock->processor;
}

void mm_print(const mm_clock *clock, double norm, double processor)
{
    printf("norm %.15e %a seconds %.6f second-half %.6f processor %.6f\n", norm, norm, clock->end - clock->begin,
           clock->end - clock->half, processor);
}
