/* d = sqrt(a a + b b) c - a / b + b / 2 and its sum, over N values, by rivals in turns:
 *
 *     chain N [SECONDS] [--dome-tasks 2]
 *
 *     hand     one loop, written by hand, over this task's part; the tasks' sums added up by an all-reduce
 *     dome     dvec operations, temporaries made and freed on the way, dvec_sum, and a pointer to d, so that d is there as it is
 * by hand kept     the same with temporaries that stay sum      as dome, but nobody asks for d: it need not be written map the
 * loop in a dvec_map, whose sum is taken by dvec_sum runs     the loop in a dvec_map_runs that sums as it goes; sums added up as
 * by hand line     DVEC_MAP_SUM3: one line, and the sum as dvec_sum makes it */
#include "case.h"

#include "runtime/environment.h"
#include "transport/collective.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct vectors {
    dome_env *env;
    dvec *a, *b, *c, *t, *u;
    dvec *d, *kept, *unread, *mapped; /* each rival has its own: the library learns who is read */
    size_t n;
    double *out;
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

static double by_hand(vectors *v)
{
    dvec_span a[2], b[2], c[2];
    double sum = 0;
    size_t at = 0;
    int n = dvec_local_const(v->a, a);
    dvec_local_const(v->b, b);
    dvec_local_const(v->c, c);
    for (int k = 0; k < n; at += a[k].count, k++)
        sum += hand_chain(a[k].count, v->out + at, a[k].data, b[k].data, c[k].data);
    return everyones(v->env, sum);
}

static void chain(vectors *v, dvec *d, dvec *t, dvec *u)
{
    dvec_mul(t, v->a, v->a);
    dvec_mul(u, v->b, v->b);
    dvec_add(t, t, u);
    dvec_sqrt(t, t);
    dvec_mul(t, t, v->c);
    dvec_div(u, v->a, v->b);
    dvec_sub(t, t, u);
    dvec_divs(u, v->b, 2);
    dvec_add(d, t, u);
}

/* Its sum, and d itself in memory. */
static double sum_and_values(const dvec *d)
{
    dvec_span span[2];
    double sum = dvec_sum(d);
    dvec_local_const(d, span);
    return sum;
}

static double by_dome(vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n), *u = dvec_new(v->env, "u", DOME_F64, v->n);
    chain(v, v->d, t, u);
    dvec_free(t);
    dvec_free(u);
    return sum_and_values(v->d);
}

static double by_dome_sum(vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n), *u = dvec_new(v->env, "u", DOME_F64, v->n);
    chain(v, v->unread, t, u);
    dvec_free(t);
    dvec_free(u);
    return dvec_sum(v->unread);
}

static double by_dome_kept(vectors *v)
{
    chain(v, v->kept, v->t, v->u);
    return sum_and_values(v->kept);
}

static void map_kernel(void *ctx, size_t first, size_t count, void *out, const void *const in[])
{
    (void)first;
    double sum = hand_chain(count, out, in[0], in[1], in[2]);
    if (ctx)
        *(double *)ctx += sum;
}

static double by_map(vectors *v)
{
    dvec_map(v->mapped, map_kernel, NULL, 3, (dvec *[]){v->a, v->b, v->c});
    return dvec_sum(v->mapped);
}

static double by_runs(vectors *v)
{
    double sum = 0;
    dvec_map_runs(v->mapped, map_kernel, &sum, 3, (dvec *[]){v->a, v->b, v->c});
    return everyones(v->env, sum);
}

static double by_line(vectors *v)
{
    dvec *a = v->a, *b = v->b, *c = v->c;
    double sum;
    DVEC_MAP_SUM3(sum, double, v->mapped, a, b, c, sqrt(a * a + b * b) * c - a / b + b / 2);
    return sum;
}

static const struct {
    const char *name;
    double (*run)(vectors *v);
} rivals[] = {{"hand", by_hand}, {"dome", by_dome}, {"kept", by_dome_kept}, {"sum", by_dome_sum},
              {"map", by_map},   {"runs", by_runs}, {"line", by_line}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

/* A random vector of [1, 2). */
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
        dome_abort(env, "usage: chain N [SECONDS]");
    vectors v = {.env = env, .n = (size_t)atof(argv[1])};
    double budget = argc > 2 ? atof(argv[2]) : 3;
    v.a = random_vector(env, "a", v.n, 1);
    v.b = random_vector(env, "b", v.n, 2);
    v.c = random_vector(env, "c", v.n, 3);
    v.d = dvec_new(env, "d", DOME_F64, v.n);
    v.kept = dvec_new(env, "d of kept", DOME_F64, v.n);
    v.unread = dvec_new(env, "d of sum", DOME_F64, v.n);
    v.mapped = dvec_new(env, "d of loops", DOME_F64, v.n);
    v.t = dvec_new(env, "kept t", DOME_F64, v.n);
    v.u = dvec_new(env, "kept u", DOME_F64, v.n);
    v.out = case_array(v.n);

    double expect = 0, took = 0;
    for (int warm = 0; warm < 3; warm++) {
        took = 0;
        for (int k = 0; k < RIVALS; k++) {
            double begin = case_now(), sum = rivals[k].run(&v);
            took += case_now() - begin;
            if (k == 0)
                expect = sum;
            else if (!(fabs(sum - expect) <= 1e-9 * fabs(expect)))
                dome_abort(env, "%s: the sum is %.17g, by hand it is %.17g", rivals[k].name, sum, expect);
        }
    }
    dome_bcast(env, 0, DOME_F64, &took, 1);
    int repeats = case_repeats(v.n), turns = case_turns(took * repeats, budget);
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < RIVALS; k++)
            case_note(&times, rivals[k].name, turn, timed(&v, k, repeats));
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
