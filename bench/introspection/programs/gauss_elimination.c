/* Gaussian elimination with partial pivoting. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int solve(double *a, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[(long)i * n + k]) > fabs(a[(long)pivot * n + k]))
                pivot = i;
        if (a[(long)pivot * n + k] == 0)
            return 0;
        if (pivot != k) {
            for (int j = k; j < n; j++) {
                double t = a[(long)k * n + j];
                a[(long)k * n + j] = a[(long)pivot * n + j];
                a[(long)pivot * n + j] = t;
            }
            double t = x[k];
            x[k] = x[pivot];
            x[pivot] = t;
        }
        for (int i = k + 1; i < n; i++) {
            double factor = a[(long)i * n + k] / a[(long)k * n + k];
            for (int j = k; j < n; j++)
                a[(long)i * n + j] -= factor * a[(long)k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= a[(long)k * n + j] * x[j];
        x[k] /= a[(long)k * n + k];
    }
    return 1;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1500;
    double *a = malloc((size_t)n * n * sizeof(double)), *x = malloc(n * sizeof(double)), sum = 0;
    unsigned r = 1;
    if (!a || !x)
        return 1;
    for (long i = 0; i < (long)n * n; i++) {
        r = r * 1664525u + 1013904223u;
        a[i] = (double)(r >> 8) / 16777216 - 0.5;
    }
    for (int i = 0; i < n; i++)
        x[i] = i % 13;
    if (!solve(a, x, n))
        return 1;
    for (int i = 0; i < n; i++)
        sum += x[i];
    printf("%.10g\n", sum);
    return 0;
}
