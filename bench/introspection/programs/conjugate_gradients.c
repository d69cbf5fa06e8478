/* Conjugate gradients: a sparse matrix by rows, five entries in each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
    int n;
    int *begin, *column;
    double *value;
};

static void poisson(struct matrix *m, int side)
{
    int k = 0;
    m->n = side * side;
    m->begin = malloc((m->n + 1) * sizeof(int));
    m->column = malloc(5 * (size_t)m->n * sizeof(int));
    m->value = malloc(5 * (size_t)m->n * sizeof(double));
    if (!m->begin || !m->column || !m->value)
        exit(1);
    for (int i = 0; i < m->n; i++) {
        m->begin[i] = k;
        int x = i % side, y = i / side;
        const int next[5] = {y > 0 ? i - side : -1, x > 0 ? i - 1 : -1, i, x < side - 1 ? i + 1 : -1,
                             y < side - 1 ? i + side : -1};
        for (int d = 0; d < 5; d++)
            if (next[d] >= 0) {
                m->column[k] = next[d];
                m->value[k++] = next[d] == i ? 4 : -1;
            }
    }
    m->begin[m->n] = k;
}

static void apply(const struct matrix *m, const double *x, double *y)
{
    for (int i = 0; i < m->n; i++) {
        double s = 0;
        for (int k = m->begin[i]; k < m->begin[i + 1]; k++)
            s += m->value[k] * x[m->column[k]];
        y[i] = s;
    }
}

static double dot(const double *x, const double *y, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

static void add(double *y, double a, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 400, most = argc > 2 ? atoi(argv[2]) : 600, steps = 0;
    struct matrix m;
    poisson(&m, side);
    double *x = calloc(m.n, sizeof(double)), *r = malloc(m.n * sizeof(double)), *p = malloc(m.n * sizeof(double));
    double *q = malloc(m.n * sizeof(double));
    if (!x || !r || !p || !q)
        return 1;
    for (int i = 0; i < m.n; i++)
        p[i] = r[i] = i % 7 - 3;
    double rho = dot(r, r, m.n);
    while (steps < most && rho > 1e-20) {
        apply(&m, p, q);
        double alpha = rho / dot(p, q, m.n), before = rho;
        add(x, alpha, p, m.n);
        add(r, -alpha, q, m.n);
        rho = dot(r, r, m.n);
        for (int i = 0; i < m.n; i++)
            p[i] = r[i] + rho / before * p[i];
        steps++;
    }
    printf("%d %.6e %.12g\n", steps, rho, x[m.n / 2]);
    return 0;
}
