/* Gauss-Seidel sweeps of the Poisson equation on a square grid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double sweep(double *u, const double *f, int n)
{
    double change = 0;
    for (int i = 1; i < n - 1; i++) {
        for (int j = 1; j < n - 1; j++) {
            double *x = &u[i * n + j], old = *x;
            *x = 0.25 * (x[-1] + x[1] + x[-n] + x[n] + f[i * n + j]);
            change += fabs(*x - old);
        }
    }
    return change;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 512, sweeps = argc > 2 ? atoi(argv[2]) : 500;
    double *u = calloc((size_t)n * n, sizeof(double)), *f = calloc((size_t)n * n, sizeof(double)), change = 0;
    if (!u || !f)
        return 1;
    f[n / 2 * n + n / 3] = 1;
    for (int k = 0; k < sweeps; k++)
        change = sweep(u, f, n);
    printf("%.17g %.17g\n", change, u[n / 2 * n + n / 2]);
    return 0;
}
