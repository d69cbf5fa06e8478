/* Heat in a plate by Jacobi's method. Each thread has some rows; it reads one row of each neighbour in each step.
 *
 *     dome-omp -O3 stencil.c -o stencil && OMP_NUM_THREADS=8 dome run -n 2 ./stencil 500 200 */
#include <stdio.h>
#include <stdlib.h>

static double *new_plate(int n)
{
    double *x = calloc((size_t)n * (size_t)n, sizeof *x);
    if (!x) {
        fputs("stencil: no memory\n", stderr);
        exit(1);
    }
    for (int j = 0; j < n; j++)
        x[j] = 100; /* the hot side */
    return x;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 200, steps = argc > 2 ? atoi(argv[2]) : 100;
    double *x = new_plate(n), *y = new_plate(n);
    for (int s = 0; s < steps; s++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                y[i * n + j] = 0.25 * (x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1]);
        double *z = x;
        x = y;
        y = z;
    }
    for (int i = 1; i < n; i *= 2)
        printf("%d: %.17g\n", i, x[i * n + n / 2]);
    free(x);
    free(y);
    return 0;
}
