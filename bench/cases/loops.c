/* Single operations over N values beside the loops one would write by hand, by rivals in turns:
 *
 *     loops N [SECONDS] [--dome-tasks 2]
 *
 * For OP inner (multiply, then sum), axpy, dot, norm, sum: OP.hand and OP.dome. The hand's sums are in any order and rounded as
 * they come; Dome's are exact beyond blocks. */
#include "case.h"

#include "runtime/environment.h"
#include "transport/collective.h"

#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>

typedef struct vectors {
    dome_env *env;
    dvec *x, *y;
    size_t n;
} vectors;

static void add(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)count, (void)ctx;
    *(double *)inout += *(const double *)in;
}

static double everyones(dome_env *env, double mine)
{
    dome__allreduce(env->transport, DOME_F64, &mine, 1, add, NULL);
    return mine;
}

static double inner_hand(vectors *v)
{
    dvec_span x[2], y[2];
    double sum = 0;
    int n = dvec_local_const(v->x, x);
    dvec_local_const(v->y, y);
    for (int k = 0; k < n; k++)
        sum += hand_inner(x[k].count, x[k].data, y[k].data);
    return everyones(v->env, sum);
}

static double inner_dome(vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n);
    dvec_mul(t, v->x, v->y);
    double sum = dvec_sum(t);
    dvec_free(t);
    return sum;
}

static double dot_dome(vectors *v)
{
    return dvec_dot(v->x, v->y);
}

static double norm_hand(vectors *v)
{
    dvec_span x[2];
    double sum = 0;
    int n = dvec_local_const(v->x, x);
    for (int k = 0; k < n; k++)
        sum += hand_squares(x[k].count, x[k].data);
    return sqrt(everyones(v->env, sum));
}

static double norm_dome(vectors *v)
{
    return dvec_norm2(v->x);
}

static double sum_hand(vectors *v)
{
    dvec_span x[2];
    double sum = 0;
    int n = dvec_local_const(v->x, x);
    for (int k = 0; k < n; k++)
        sum += hand_sum(x[k].count, x[k].data);
    return everyones(v->env, sum);
}

static double sum_dome(vectors *v)
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

static double axpy_hand(vectors *v)
{
    dvec_span x[2], y[2];
    double a = axpy_factor();
    int n = dvec_local_const(v->x, x);
    dvec_local(v->y, y);
    for (int k = 0; k < n; k++)
        hand_axpy(x[k].count, y[k].data, a, x[k].data);
    return 0;
}

static double axpy_dome(vectors *v)
{
    dvec_span y[2];
    dvec_axpy(v->y, axpy_factor(), v->x);
    dvec_local(v->y, y); /* so that it is done now */
    return 0;
}

static const struct {
    const char *name;
    double (*run)(vectors *v);
} rivals[] = {
    {"inner.hand", inner_hand}, {"inner.dome", inner_dome}, {"dot.hand", inner_hand}, {"dot.dome", dot_dome},
    {"norm.hand", norm_hand},   {"norm.dome", norm_dome},   {"sum.hand", sum_hand},   {"sum.dome", sum_dome},
    {"axpy.hand", axpy_hand},   {"axpy.dome", axpy_dome},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };

static dvec *random_vector(dome_env *env, const char *name, size_t n, uint64_t seed)
{
    dvec *x = dvec_new(env, name, DOME_F64, n);
    dvec_random(x, seed);
    dvec_adds(x, x, 1);
    return x;
}

static double timed(vectors *v, int rival, int repeats)
{
    dome_barrier(v->env);
    double begin = case_now();
    for (int k = 0; k < repeats; k++)
        rivals[rival].run(v);
    double took = (case_now() - begin) / repeats;
    dome_bcast(v->env, 0, DOME_F64, &took, 1);
    return took;
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 2)
        dome_abort(env, "usage: loops N [SECONDS]");
    vectors v = {.env = env, .n = (size_t)atof(argv[1])};
    double budget = argc > 2 ? atof(argv[2]) : 3;
    v.x = random_vector(env, "x", v.n, 1);
    v.y = random_vector(env, "y", v.n, 2);

    double hand = 0, took = 0;
    for (int k = 0; k < RIVALS; k++) {
        rivals[k].run(&v);
        double begin = case_now(), value = rivals[k].run(&v);
        took += case_now() - begin;
        if (k % 2 == 0)
            hand = value;
        else if (!(fabs(value - hand) <= 1e-9 * fabs(hand)))
            dome_abort(env, "%s: %.17g, by hand it is %.17g", rivals[k].name, value, hand);
    }
    dome_bcast(env, 0, DOME_F64, &took, 1);
    int repeats = 2 * case_repeats(v.n), turns = case_turns(took * repeats, budget);
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < RIVALS; k++)
            case_note(&times, rivals[k].name, turn, timed(&v, k, repeats));
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
