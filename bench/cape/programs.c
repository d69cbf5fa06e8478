#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, BLOCK = 1000 };

static cape_memory all[CAPE_MEMORIES];
static int count;
static long n;

static void *add(size_t bytes, unsigned unit)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    void *at = count < CAPE_MEMORIES ? aligned_alloc(PAGE, whole) : NULL;
    if (!at) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    memset(at, 0, whole);
    all[count++] = (cape_memory){at, whole, unit};
    return at;
}

/* ---- a product of matrices ---- */

static float *a, *b, *c;

static void matrix_begin(long size)
{
    n = size;
    a = add((size_t)(n * n) * sizeof *a, sizeof *a);
    b = add((size_t)(n * n) * sizeof *b, sizeof *b);
    c = add((size_t)(n * n) * sizeof *c, sizeof *c);
    for (long i = 0; i < n * n; i++) {
        a[i] = (float)(i % 17 + 1);
        b[i] = (float)(i % 13) / 13;
    }
}

static long lines(void)
{
    return n;
}

static void matrix_body(long loop, long first, long end)
{
    (void)loop;
    for (long i = first; i < end; i++) {
        float *row = c + i * n;
        for (long k = 0; k < n; k++) {
            const float factor = a[i * n + k], *from = b + k * n;
            for (long j = 0; j < n; j++)
                row[j] += factor * from[j];
        }
    }
}

static cape_memory matrix_written(long loop, long first, long end)
{
    (void)loop;
    return (cape_memory){c + first * n, (size_t)((end - first) * n) * sizeof *c, sizeof *c};
}

/* ---- Jacobi's method: iteration i is row i + 1 ---- */

static double *plate[2];

static void jacobi_begin(long size)
{
    n = size;
    for (int k = 0; k < 2; k++)
        plate[k] = add((size_t)(n * n) * sizeof(double), sizeof(double));
    for (long i = 0; i < n * n; i++)
        plate[0][i] = plate[1][i] = (double)(i % 101);
}

static long inner_lines(void)
{
    return n - 2;
}

static void jacobi_body(long loop, long first, long end)
{
    const double *x = plate[loop % 2];
    double *y = plate[1 - loop % 2];
    for (long i = first + 1; i < end + 1; i++)
        for (long j = 1; j < n - 1; j++)
            y[i * n + j] = 0.25 * (x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1]);
}

static cape_memory jacobi_written(long loop, long first, long end)
{
    return (cape_memory){plate[1 - loop % 2] + (first + 1) * n, (size_t)((end - first) * n) * sizeof(double), sizeof(double)};
}

/* ---- primes: iteration i is the i-th block of numbers ---- */

static int32_t *primes;

static void primes_begin(long size)
{
    n = size;
    primes = add((size_t)(n / BLOCK + 1) * sizeof *primes, sizeof *primes);
}

static long blocks(void)
{
    return n / BLOCK;
}

static int is_prime(long x)
{
    for (long d = 2; d * d <= x; d++)
        if (x % d == 0)
            return 0;
    return x > 1;
}

static void primes_body(long loop, long first, long end)
{
    (void)loop;
    for (long i = first; i < end; i++)
        for (long x = i * BLOCK; x < (i + 1) * BLOCK; x++)
            primes[i] += is_prime(x);
}

static cape_memory primes_written(long loop, long first, long end)
{
    (void)loop;
    return (cape_memory){primes + first, (size_t)(end - first) * sizeof *primes, sizeof *primes};
}

/* ---- all ---- */

static const cape_program programs[] = {{"matrix", matrix_begin, lines, matrix_body, matrix_written, 0},
                                        {"jacobi", jacobi_begin, inner_lines, jacobi_body, jacobi_written, 1},
                                        {"primes", primes_begin, blocks, primes_body, primes_written, 0}};

cape_run cape_arguments(int argc, char **argv)
{
    cape_run run = {.loops = argc == 4 ? atol(argv[3]) : 1, .size = argc > 2 ? atol(argv[2]) : 0};
    for (size_t k = 0; k < sizeof programs / sizeof *programs && argc > 2; k++)
        if (strcmp(argv[1], programs[k].name) == 0)
            run.program = &programs[k];
    if (run.program && argc <= 4 && run.size >= 3 && run.size <= 100000000 && run.loops >= 1 &&
        (run.loops == 1 || run.program->halo))
        return run;
    fprintf(stderr, "usage: %s matrix SIZE | jacobi SIZE SWEEPS | primes SIZE\n", argv[0]);
    exit(2);
}

int cape_memories(cape_memory memories[CAPE_MEMORIES])
{
    memcpy(memories, all, sizeof all);
    return count;
}

uint64_t cape_result(const cape_run *run)
{
    const cape_memory last = run->program->written(run->loops - 1, 0, run->program->iterations());
    uint64_t bits = 0xcbf29ce484222325;
    for (size_t k = 0; k < last.bytes; k++)
        bits = (bits ^ ((const unsigned char *)last.at)[k]) * 0x100000001b3;
    return bits;
}
