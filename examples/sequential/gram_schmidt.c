/* Modified Gram-Schmidt: the sequential twin of ../gram_schmidt.c. */
#include "../random_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

int main(int argc, char **argv)
{
    size_t vectors = argc > 1 ? (size_t)atol(argv[1]) : 64, n = argc > 2 ? (size_t)atol(argv[2]) : 256;
    double *v = vectors > 0 && n >= vectors ? malloc(vectors * n * sizeof *v) : NULL, norms = 1, worst = 0;
    if (!v) {
        fprintf(stderr, "gram_schmidt: usage: gram_schmidt [VECTORS [LENGTH]], LENGTH not less than VECTORS\n");
        return 2;
    }
    for (size_t i = 0; i < vectors * n; i++)
        v[i] = random_number(1, i);
    for (size_t k = 0; k < vectors; k++) {
        double *q = v + k * n, norm = sqrt(dot(q, q, n));
        norms *= norm;
        for (size_t i = 0; i < n; i++)
            q[i] /= norm;
        for (size_t j = k + 1; j < vectors; j++) {
            double part = dot(q, v + j * n, n);
            for (size_t i = 0; i < n; i++)
                v[j * n + i] -= part * q[i];
        }
    }
    for (size_t j = 0; j < vectors; j++)
        for (size_t k = 0; k < j; k++)
            worst = fmax(worst, fabs(dot(v + j * n, v + k * n, n)));
    printf("%zu vectors of %zu: product of norms %.15g  %a, largest product of two %.1e\n", vectors, n, norms, norms, worst);
    free(v);
    return 0;
}
