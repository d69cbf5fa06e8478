/* NAS CG, written anew: the smallest eigenvalue of a sparse random matrix by inverse iteration; each step solves a system by
 * conjugate gradients. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN_A_ROW = 10, SOLVE_STEPS = 25 };
static const double SHIFT = 10;

struct entry {
    struct entry *next; /* of the row, by columns */
    int column;
    double value;
};

struct matrix {
    int n;
    int *begin, *column;
    double *value;
};

static unsigned state = 314159265;

static double uniform(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216;
}

static void add_entry(struct entry **row, int column, double value)
{
    while (*row && (*row)->column < column)
        row = &(*row)->next;
    if (*row && (*row)->column == column) {
        (*row)->value += value;
        return;
    }
    struct entry *e = malloc(sizeof(struct entry));
    if (!e)
        exit(1);
    *e = (struct entry){*row, column, value};
    *row = e;
}

/* A sum of outer products of sparse vectors, with ever smaller weights, and a diagonal: symmetric and positive. */
static struct entry **make_rows(int n)
{
    struct entry **rows = calloc((size_t)n, sizeof(struct entry *));
    int columns[IN_A_ROW];
    double values[IN_A_ROW], weight = 1;
    const double ratio = exp(log(0.1) / n);
    if (!rows)
        exit(1);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < IN_A_ROW; i++) {
            columns[i] = i ? (int)(uniform() * n) : k;
            values[i] = i ? uniform() - 0.5 : 0.5;
        }
        for (int i = 0; i < IN_A_ROW; i++)
            for (int j = 0; j < IN_A_ROW; j++)
                add_entry(&rows[columns[i]], columns[j], weight * values[i] * values[j]);
        weight *= ratio;
    }
    for (int k = 0; k < n; k++)
        add_entry(&rows[k], k, 0.1);
    return rows;
}

static struct matrix pack(struct entry **rows, int n)
{
    long count = 0;
    for (int k = 0; k < n; k++)
        for (const struct entry *e = rows[k]; e; e = e->next)
            count++;
    struct matrix m = {n, malloc((n + 1) * sizeof(int)), malloc(count * sizeof(int)), malloc(count * sizeof(double))};
    if (!m.begin || !m.column || !m.value)
        exit(1);
    int at = 0;
    for (int k = 0; k < n; k++) {
        m.begin[k] = at;
        while (rows[k]) {
            struct entry *e = rows[k];
            m.column[at] = e->column;
            m.value[at++] = e->value;
            rows[k] = e->next;
            free(e);
        }
    }
    m.begin[n] = at;
    free(rows);
    return m;
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

struct work {
    double *r, *p, *q;
};

/* m z = x; the norm of what is left */
static double solve(const struct matrix *m, const double *x, double *z, struct work *w)
{
    const int n = m->n;
    for (int i = 0; i < n; i++) {
        z[i] = 0;
        w->r[i] = w->p[i] = x[i];
    }
    double rho = dot(w->r, w->r, n);
    for (int step = 0; step < SOLVE_STEPS; step++) {
        apply(m, w->p, w->q);
        const double alpha = rho / dot(w->p, w->q, n), before = rho;
        for (int i = 0; i < n; i++) {
            z[i] += alpha * w->p[i];
            w->r[i] -= alpha * w->q[i];
        }
        rho = dot(w->r, w->r, n);
        for (int i = 0; i < n; i++)
            w->p[i] = w->r[i] + rho / before * w->p[i];
    }
    apply(m, z, w->q);
    for (int i = 0; i < n; i++)
        w->q[i] -= x[i];
    return sqrt(dot(w->q, w->q, n));
}

static double *vector_new(int n)
{
    double *x = calloc((size_t)n, sizeof(double));
    if (!x)
        exit(1);
    return x;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 7000, times = argc > 2 ? atoi(argv[2]) : 30;
    struct matrix m = pack(make_rows(n), n);
    struct work w = {vector_new(n), vector_new(n), vector_new(n)};
    double *x = vector_new(n), *z = vector_new(n), zeta = 0, left = 0;
    for (int i = 0; i < n; i++)
        x[i] = 1;
    for (int k = 0; k < times; k++) {
        left = solve(&m, x, z, &w);
        zeta = SHIFT + 1 / dot(x, z, n);
        const double by = 1 / sqrt(dot(z, z, n));
        for (int i = 0; i < n; i++)
            x[i] = by * z[i];
    }
    printf("%d %.10g %.2g\n", m.begin[n], zeta, left < 1e-3 ? 0 : left);
    return 0;
}
