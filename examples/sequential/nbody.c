/* Bodies that attract one another: the sequential twin of ../nbody.c. */
#include "../random_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double DT = 0.001, SOFTENING = 0.05;

/* The acceleration that n bodies, all of them, give one at x; returns its potential. */
static double pull(long n, const double all[][3], const double m[], const double x[3], double a[3])
{
    double potential = 0;
    a[0] = a[1] = a[2] = 0;
    for (long j = 0; j < n; j++) {
        double d[3] = {all[j][0] - x[0], all[j][1] - x[1], all[j][2] - x[2]};
        double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING * SOFTENING;
        double part = m[j] / sqrt(square);
        potential -= part;
        for (int k = 0; k < 3; k++)
            a[k] += d[k] * (part / square);
    }
    return potential;
}

static void report(long step, long n, const double x[][3], const double v[][3], const double mass[])
{
    double sum[5] = {0}, none[3];
    for (long i = 0; i < n; i++) {
        sum[0] += mass[i] * (v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]) / 2;
        sum[1] += mass[i] * pull(n, x, mass, x[i], none) / 2; /* half to each of a pair */
        for (int k = 0; k < 3; k++)
            sum[2 + k] += mass[i] * x[i][k];
    }
    printf("step %ld: kinetic %.9g, potential %.9g, ", step, sum[0], sum[1]);
    printf("centre %.6f %.6f %.6f\n", sum[2], sum[3], sum[4]);
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? atol(argv[1]) : 1000, steps = argc > 2 ? atol(argv[2]) : 100;
    if (n < 1 || steps < 0) {
        fprintf(stderr, "usage: nbody [BODIES [STEPS]] with at least 1 body\n");
        return 1;
    }
    double(*x)[3] = malloc((size_t)n * sizeof *x), (*v)[3] = calloc((size_t)n, sizeof *v);
    double *mass = malloc((size_t)n * sizeof *mass);
    if (!x || !v || !mass) {
        fprintf(stderr, "nbody: out of memory\n");
        return 1;
    }
    for (long i = 0; i < n; i++)
        mass[i] = random_number(2, (uint64_t)i) * (2 / (double)n);
    for (long i = 0; i < 3 * n; i++)
        x[i / 3][i % 3] = random_number(1, (uint64_t)i);
    for (long step = 0; step < steps; step++) {
        if (step % 50 == 0)
            report(step, n, x, v, mass);
        for (long i = 0; i < n; i++) {
            double a[3];
            pull(n, x, mass, x[i], a);
            for (int k = 0; k < 3; k++)
                v[i][k] += DT * a[k];
        }
        for (long i = 0; i < 3 * n; i++)
            x[i / 3][i % 3] += DT * v[i / 3][i % 3];
    }
    report(steps, n, x, v, mass);
    free(x);
    free(v);
    free(mass);
    return 0;
}
