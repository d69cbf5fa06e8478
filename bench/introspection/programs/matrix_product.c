/* The product of two matrices of doubles, rows by columns of the transposed second one's rows. */
#include <stdio.h>
#include <stdlib.h>

static void multiply(double *c, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double x = a[(long)i * n + k];
            for (int j = 0; j < n; j++)
                c[(long)i * n + j] += x * b[(long)k * n + j];
        }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1024;
    double *a = calloc((size_t)n * n, sizeof(double)), *b = calloc((size_t)n * n, sizeof(double));
    double *c = calloc((size_t)n * n, sizeof(double)), sum = 0;
    if (!a || !b || !c)
        return 1;
    for (long i = 0; i < (long)n * n; i++) {
        a[i] = (double)(i % 7) - 3;
        b[i] = (double)(i % 11) - 5;
    }
    multiply(c, a, b, n);
    for (long i = 0; i < (long)n * n; i++)
        sum += c[i] * (double)(i % 3);
    printf("%.0f\n", sum);
    return 0;
}
