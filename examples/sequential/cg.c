/* Conjugate gradients with diagonal preconditioning: the sequential twin of ../cg.c. */
#include "../matrix_market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void multiply(double *y, const mm_matrix *a, const double *x)
{
    for (size_t i = 0; i < a->n; i++) {
        y[i] = 0;
        for (size_t k = a->row[i]; k < a->row[i + 1]; k++)
            y[i] += a->value[k] * x[a->column[k]];
    }
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double norm2(size_t n, const double *x)
{
    return sqrt(dot(n, x, x));
}

static void axpy(size_t n, double *y, double a, const double *x)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static double *vector(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (!x) {
        fprintf(stderr, "cg: out of memory\n");
        exit(1);
    }
    return x;
}

static bool parse(int argc, char **argv, double *tolerance, long *limit, const char **path)
{
    char *end = "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc && !*end)
            *tolerance = strtod(argv[++i], &end);
        else if (strcmp(argv[i], "--max-iterations") == 0 && i + 1 < argc && !*end)
            *limit = strtol(argv[++i], &end, 10);
        else if (argv[i][0] != '-' && !*path)
            *path = argv[i];
        else
            return false;
    return *path && !*end && *tolerance > 0 && *tolerance < 1 && *limit >= 0;
}

static int fail(int status, const char *text)
{
    fprintf(stderr, "cg: %s\n", text);
    return status;
}

int main(int argc, char **argv)
{
    mm_matrix a;
    char error[MM_ERROR];
    const char *path = NULL;
    double tolerance = 1e-10;
    long limit = 100000, iterations = 0;
    if (!parse(argc, argv, &tolerance, &limit, &path))
        return fail(2, "usage: cg [--tolerance T] [--max-iterations N] MATRIX.mtx");
    if (!mm_read(&a, path, error))
        return fail(1, error);
    if (!mm_check_cg(&a, error))
        return fail(1, error);

    size_t n = a.n;
    double *b = vector(n), *x = vector(n), *r = vector(n), *z = vector(n), *p = vector(n), *q = vector(n), *inverse = vector(n);
    for (size_t i = 0; i < n; i++) {
        inverse[i] = 1 / mm_at(&a, i, i);
        b[i] = 1;
    }
    double b_norm = norm2(n, b), residual;

    for (;;) {
        multiply(r, &a, x);
        for (size_t i = 0; i < n; i++)
            r[i] = b[i] - r[i];
        residual = norm2(n, r) / b_norm;
        if (residual <= tolerance || iterations >= limit)
            break;
        for (size_t i = 0; i < n; i++)
            p[i] = z[i] = r[i] * inverse[i];
        double rz = dot(n, r, z), recurrence = residual;
        while (!(recurrence <= tolerance / 2) && iterations < limit) {
            multiply(q, &a, p);
            double pq = dot(n, p, q);
            if (!isfinite(pq))
                return fail(1, "the numbers have become too large for double precision; scale the matrix");
            if (pq <= 0)
                return fail(1, "the matrix is not positive definite");
            axpy(n, x, rz / pq, p);
            axpy(n, r, -rz / pq, q);
            recurrence = norm2(n, r) / b_norm;
            for (size_t i = 0; i < n; i++)
                z[i] = r[i] * inverse[i];
            double next = dot(n, r, z);
            for (size_t i = 0; i < n; i++)
                p[i] = next / rz * p[i] + z[i];
            rz = next;
            iterations++;
        }
    }

    double norm = norm2(n, x);
    printf("%s: %zu x %zu, %zu entries\n", path, n, n, (size_t)a.entries);
    printf("iterations:             %ld\n", iterations);
    printf("relative residual:      %.6e  %a\n", residual, residual);
    printf("norm of the solution:   %.15e  %a\n", norm, norm);
    mm_clear(&a);
    free(b), free(x), free(r), free(z), free(p), free(q), free(inverse);
    return residual <= tolerance ? 0 : fail(1, "the tolerance was not reached");
}
