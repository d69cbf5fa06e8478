/* Single operations over N values beside the loops one would write by hand, by rivals in turns:
 *
 *     loops N [SECONDS] [--dome-tasks 2]
 *
 * For OP inner (multiply, then sum), axpy, dot, norm, sum: OP.hand and OP.dome. The hand's sums are in any order and rounded as
 * they come; Dome's are exact beyond blocks. */
#include "case_dome.h"

#include <math.h>
#include <stdlib.h>

struct vectors {
    dome_env *env;
    dvec *x, *y;
    size_t n;
};

static double inner_hand(struct vectors *v)
{
    dvec_span x[2], y[2];
    double sum = 0;
    dvec_local_spans_const(v->x, x);
    dvec_local_spans_const(v->y, y);
    for (int k = 0; k < 2; k++)
        sum += hand_inner(x[k].count, x[k].data, y[k].data);
    return case_everyones(v->env, sum);
}

static double inner_dome(struct vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n);
    dvec_mul(t, v->x, v->y);
    double sum = dvec_sum(t);
    dvec_free(t);
    return sum;
}

static double dot_dome(struct vectors *v)
{
    return dvec_dot(v->x, v->y);
}

static double norm_hand(struct vectors *v)
{
    dvec_span x[2];
    double sum = 0;
    dvec_local_spans_const(v->x, x);
    for (int k = 0; k < 2; k++)
        sum += hand_squares(x[k].count, x[k].data);
    return sqrt(case_everyones(v->env, sum));
}

static double norm_dome(struct vectors *v)
{
    return dvec_norm2(v->x);
}

static double sum_hand(struct vectors *v)
{
    dvec_span x[2];
    double sum = 0;
    dvec_local_spans_const(v->x, x);
    for (int k = 0; k < 2; k++)
        sum += hand_sum(x[k].count, x[k].data);
    return case_everyones(v->env, sum);
}

static double sum_dome(struct vectors *v)
{
    return dvec_sum(v->x);
}

/* y grows and shrinks again: every call adds 1e-3 x or takes it away. */
static double axpy_factor(void)
{
    static double a = 1e-3;
    a = -a;
    return a;
}

static double axpy_hand(struct vectors *v)
{
    dvec_span x[2], y[2];
    double a = axpy_factor();
    dvec_local_spans_const(v->x, x);
    dvec_local_spans(v->y, y);
    for (int k = 0; k < 2; k++)
        hand_axpy(x[k].count, y[k].data, a, x[k].data);
    return 0;
}

static double axpy_dome(struct vectors *v)
{
    dvec_span y[2];
    dvec_axpy(v->y, axpy_factor(), v->x);
    dvec_local_spans(v->y, y); /* so that it is done now */
    return 0;
}

static const case_rival rivals[] = {
    {"inner.hand", inner_hand, 0}, {"inner.dome", inner_dome, 0}, {"dot.hand", inner_hand, 2}, {"dot.dome", dot_dome, 2},
    {"norm.hand", norm_hand, 4},   {"norm.dome", norm_dome, 4},   {"sum.hand", sum_hand, 6},   {"sum.dome", sum_dome, 6},
    {"axpy.hand", axpy_hand, 8},   {"axpy.dome", axpy_dome, 8},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 2)
        dome_abort(env, "usage: loops N [SECONDS]");
    struct vectors v = {.env = env, .n = (size_t)atof(argv[1])};
    v.x = case_random(env, "x", v.n, 1);
    v.y = case_random(env, "y", v.n, 2);
    case_compete(env, rivals, RIVALS, &v, 2 * case_repeats(v.n), 1, argc > 2 ? atof(argv[2]) : 3);
    return dome_finalize(env);
}
