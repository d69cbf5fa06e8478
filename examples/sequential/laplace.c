/* The 5-point Laplacian by conjugate gradients: the sequential twin of ../laplace.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct matrix {
    long rows, *start, *column;
    double *value;
} matrix;

static void *array(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        fprintf(stderr, "laplace: out of memory\n");
        exit(1);
    }
    return p;
}

static void five_points(matrix *a, long m, long n)
{
    const size_t points = (size_t)(m * n);
    *a = (matrix){m * n, array(points + 1, sizeof(long)), array(5 * points, sizeof(long)), array(5 * points, sizeof(double))};
    long k = 0;
    for (long point = 0; point < a->rows; point++) {
        const long i = point / n, j = point % n;
        const long column[] = {point - n, point - 1, point, point + 1, point + n};
        const int there[] = {i > 0, j > 0, 1, j + 1 < n, i + 1 < m};
        for (int e = 0; e < 5; e++)
            if (there[e]) {
                a->column[k] = column[e];
                a->value[k++] = e == 2 ? 4 : -1;
            }
        a->start[point + 1] = k;
    }
}

static void multiply(double *y, const matrix *a, const double *x)
{
    for (long i = 0; i < a->rows; i++) {
        y[i] = 0;
        for (long k = a->start[i]; k < a->start[i + 1]; k++)
            y[i] += a->value[k] * x[a->column[k]];
    }
}

static double dot(long n, const double *x, const double *y)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

int main(int argc, char **argv)
{
    const long m = argc > 1 ? atol(argv[1]) : 100, n = argc > 2 ? atol(argv[2]) : m, largest = 30000;
    if (m < 1 || n < 1 || m > largest || n > largest) {
        fprintf(stderr, "usage: laplace [M [N]] with 1 to %ld points\n", largest);
        return 1;
    }
    matrix a;
    five_points(&a, m, n);
    const long points = m * n;
    double *vectors = array(7 * (size_t)points, sizeof *vectors), *x = vectors, *r = x + points, *p = r + points, *q = p + points;
    double *z = q + points, *solution = z + points, *inverse = solution + points;
    int done = 0;
    for (long i = 0; i < points; i++)
        solution[i] = 1;
    multiply(r, &a, solution);
    for (long i = 0; i < points; i++) {
        for (long k = a.start[i]; k < a.start[i + 1]; k++)
            if (a.column[k] == i)
                inverse[i] = 1 / a.value[k];
        p[i] = r[i] * inverse[i];
    }
    const double limit = 1e-2 / (double)((m + 1) * (n + 1)) * sqrt(dot(points, r, r));
    double rz = dot(points, r, p);
    while (sqrt(dot(points, r, r)) > limit) {
        const double old = rz;
        multiply(q, &a, p);
        const double alpha = old / dot(points, p, q);
        for (long i = 0; i < points; i++) {
            x[i] += alpha * p[i];
            r[i] += -alpha * q[i];
            z[i] = r[i] * inverse[i];
        }
        rz = dot(points, r, z);
        for (long i = 0; i < points; i++)
            p[i] = z[i] + rz / old * p[i];
        done++;
    }
    for (long i = 0; i < points; i++)
        z[i] = x[i] - solution[i];
    const double error = sqrt(dot(points, z, z));
    printf("iterations:        %d\n", done);
    printf("norm of the error: %.6e  %a\n", error, error);
    free(a.start);
    free(a.column);
    free(a.value);
    free(vectors);
    return 0;
}
