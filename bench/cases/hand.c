/* The loops one would write by hand; compiled with -O3 for this processor, additions of a sum in any order. */
#include "case.h"

#include <math.h>

double hand_chain(size_t n, double *restrict d, const double *restrict a, const double *restrict b, const double *restrict c)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        double value = sqrt(a[i] * a[i] + b[i] * b[i]) * c[i] - a[i] / b[i] + b[i] / 2;
        d[i] = value;
        sum += value;
    }
    return sum;
}

double hand_inner(size_t n, const double *restrict x, const double *restrict y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

double hand_sum(size_t n, const double *x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double hand_squares(size_t n, const double *x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

void hand_axpy(size_t n, double *restrict y, double a, const double *restrict x)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}
