/* The product of two matrices, C = A B: the sequential twin of ../matmul.c.
 *
 *     matmul A.npy B.npy C.npy
 */
#include "../npy_f64.h"

#ifdef HAVE_CBLAS
#include <cblas.h>
#endif
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void multiply(npy_matrix *c, const npy_matrix *a, const npy_matrix *b)
{
#ifdef HAVE_CBLAS
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)a->rows, (int)b->columns, (int)a->columns, 1, a->value,
                (int)a->columns, b->value, (int)b->columns, 0, c->value, (int)b->columns);
#else
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < b->rows; k++)
            for (size_t j = 0; j < b->columns; j++)
                c->value[i * c->columns + j] += a->value[i * a->columns + k] * b->value[k * b->columns + j];
#endif
}

static int fail(int status, const char *text)
{
    fprintf(stderr, "matmul: %s\n", text);
    return status;
}

int main(int argc, char **argv)
{
    npy_matrix a, b;
    char error[NPY_ERROR];
    if (argc != 4 || argv[1][0] == '-')
        return fail(2, "usage: matmul A.npy B.npy C.npy");
    if (!npy_read(&a, argv[1], error) || !npy_read(&b, argv[2], error))
        return fail(1, error);
    if (a.columns != b.rows)
        return fail(1, "A has not as many columns as B has rows");
    if (a.rows > INT_MAX || a.columns > INT_MAX || b.columns > INT_MAX)
        return fail(1, "the matrices are too large for BLAS");

    npy_matrix c = {a.rows, b.columns, calloc(a.rows * b.columns + 1, sizeof(double))};
    if (!c.value)
        return fail(1, "out of memory");
    multiply(&c, &a, &b);

    if (!npy_write(&c, argv[3], error))
        return fail(1, error);
    double sum = 0;
    for (size_t i = 0; i < c.rows * c.columns; i++)
        sum += c.value[i] * c.value[i];
    printf("%s: %zu x %zu, norm %.15e  %a\n", argv[3], c.rows, c.columns, sqrt(sum), sqrt(sum));
    free(a.value);
    free(b.value);
    free(c.value);
    return 0;
}
