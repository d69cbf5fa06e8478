/* The same loops in the forms that a program can give them, over N values, by rivals in turns:
 *
 *     forms N [SECONDS] [--dome-tasks 2]
 *
 *     hand-chain         d = sqrt(a a + b b) c - a / b + b / 2 and its sum: one loop, written by hand
 *     line-chain         DVEC_MAP_SUM3
 *     loop-chain         DVEC_FOR_SUM, with d as a second output
 *     hand-inner         the sum of a b
 *     line-inner         DVEC_SUM2
 *     loop-inner         DVEC_FOR_SUM
 *     hand-rows          (n / 4, 4) times (n / 4, 1), one loop over the values of each row
 *     line-rows          DVEC_MAP2, the second operand repeated
 *     loop-rows          DVEC_FOR_ROWS
 *     calls-rows         dvec_mul, the second operand repeated
 */
#include "case_dome.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 4 };

struct vectors {
    dome_env *env;
    dvec *a, *b, *c, *d, *x, *w, *z;
    size_t n;
    double *out;
};

static double hand_of_chain(struct vectors *v)
{
    dvec_span a[2], b[2], c[2];
    double sum = 0;
    size_t at = 0;
    dvec_local_spans_const(v->a, a);
    dvec_local_spans_const(v->b, b);
    dvec_local_spans_const(v->c, c);
    for (int k = 0; k < 2; at += a[k].count, k++)
        sum += hand_chain(a[k].count, v->out + at, a[k].data, b[k].data, c[k].data);
    return case_everyones(v->env, sum);
}

static double line_of_chain(struct vectors *v)
{
    dvec *a = v->a, *b = v->b, *c = v->c;
    double sum;
    DVEC_MAP_SUM3(sum, double, v->d, a, b, c, sqrt(a * a + b * b) * c - a / b + b / 2);
    return sum;
}

static double loop_of_chain(struct vectors *v)
{
    dvec *a = v->a, *b = v->b, *c = v->c, *d = v->d;
    double sum;
    DVEC_FOR_SUM (sum, i, double, d, const double, a, const double, b, const double, c) {
        d = sqrt(a * a + b * b) * c - a / b + b / 2;
        sum = d;
    }
    return sum;
}

static double hand_of_inner(struct vectors *v)
{
    dvec_span a[2], b[2];
    double sum = 0;
    dvec_local_spans_const(v->a, a);
    dvec_local_spans_const(v->b, b);
    for (int k = 0; k < 2; k++)
        sum += hand_inner(a[k].count, a[k].data, b[k].data);
    return case_everyones(v->env, sum);
}

static double line_of_inner(struct vectors *v)
{
    dvec *a = v->a, *b = v->b;
    double sum;
    DVEC_SUM2(sum, double, a, b, a *b);
    return sum;
}

static double loop_of_inner(struct vectors *v)
{
    dvec *a = v->a, *b = v->b;
    double sum;
    DVEC_FOR_SUM (sum, i, const double, a, const double, b)
        sum = a * b;
    return sum;
}

static void scale(size_t rows, double *restrict z, const double *restrict x, const double *restrict w)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < WIDTH; k++)
            z[i * WIDTH + k] = x[i * WIDTH + k] * w[i];
}

static double hand_of_rows(struct vectors *v)
{
    dvec_span x[2], w[2], z[2];
    dvec_local_spans_const(v->x, x);
    dvec_local_spans_const(v->w, w);
    dvec_local_spans(v->z, z);
    for (int k = 0; k < 2; k++)
        scale(x[k].count, z[k].data, x[k].data, w[k].data);
    return 0;
}

static double line_of_rows(struct vectors *v)
{
    dvec *x = v->x, *w = v->w;
    DVEC_MAP2(double, v->z, x, w, x *w);
    return 0;
}

static double loop_of_rows(struct vectors *v)
{
    dvec *x = v->x, *w = v->w, *z = v->z;
    DVEC_FOR_ROWS (i, double, z, const double, x, const double, w)
        for (int k = 0; k < WIDTH; k++)
            z[k] = x[k] * *w;
    return 0;
}

static double calls_of_rows(struct vectors *v)
{
    dvec_span z[2];
    dvec_mul(v->z, v->x, v->w);
    dvec_local_spans_const(v->z, z);
    return 0;
}

static const case_rival rivals[] = {{"hand-chain", hand_of_chain, 0}, {"line-chain", line_of_chain, 0},
                                    {"loop-chain", loop_of_chain, 0}, {"hand-inner", hand_of_inner, 3},
                                    {"line-inner", line_of_inner, 3}, {"loop-inner", loop_of_inner, 3},
                                    {"hand-rows", hand_of_rows, 6},   {"line-rows", line_of_rows, 6},
                                    {"loop-rows", loop_of_rows, 6},   {"calls-rows", calls_of_rows, 6}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 2)
        dome_abort(env, "usage: forms N [SECONDS]");
    struct vectors v = {.env = env, .n = (size_t)atof(argv[1])};
    const size_t rows = v.n / WIDTH;
    v.a = case_random(env, "a", v.n, 1);
    v.b = case_random(env, "b", v.n, 2);
    v.c = case_random(env, "c", v.n, 3);
    v.d = dvec_new(env, "d", DOME_F64, v.n);
    v.w = case_random(env, "w", rows, 4);
    v.x = dvec_new_with(env, "x", DOME_F64, rows, DVEC_OPTIONS(.width = WIDTH));
    v.z = dvec_new_like(v.x, "z");
    dvec_random(v.x, 5);
    v.out = case_array(v.n);
    case_compete(env, rivals, RIVALS, &v, case_repeats(v.n), 1, argc > 2 ? atof(argv[2]) : 3);
    return dome_finalize(env);
}
