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

/* All from one row to the next in one loop where there is a row on both sides. */
void hand_stencil(size_t m, double *restrict q, const double *below, const double *p, const double *above)
{
    if (m >= 2 && below && above) {
        q[0] = 4 * p[0] - below[0] - above[0] - p[1];
        for (size_t j = 1; j + 1 < m; j++)
            q[j] = 4 * p[j] - below[j] - above[j] - p[j - 1] - p[j + 1];
        q[m - 1] = 4 * p[m - 1] - below[m - 1] - above[m - 1] - p[m - 2];
        return;
    }
    for (size_t j = 0; j < m; j++)
        q[j] = 4 * p[j] - (below ? below[j] : 0) - (above ? above[j] : 0) - (j > 0 ? p[j - 1] : 0) - (j + 1 < m ? p[j + 1] : 0);
}

double hand_cg_update(size_t n, double alpha, double *restrict x, double *restrict r, const double *restrict p,
                      const double *restrict q)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

void hand_cg_turn(size_t n, double *restrict p, double beta, const double *restrict r)
{
    for (size_t i = 0; i < n; i++)
        p[i] = r[i] + beta * p[i];
}

void hand_rows(int rows, double *restrict y, const int *restrict start, const int *restrict column, const double *restrict value,
               const double *restrict x)
{
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}
