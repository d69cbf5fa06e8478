/* d = sqrt(a a + b b) c - a / b + b / 2 and its sum, over N values, by rivals in turns:
 *
 *     chain N [SECONDS] [--dome-tasks 2]
 *
 *     hand     one loop, written by hand, over this task's part; the tasks' sums added up by an all-reduce
 *     dome     dvec operations, temporaries made and freed on the way, dvec_sum, and a pointer to d, so that d is there as it is
 * by hand kept     the same with temporaries that stay sum      as dome, but nobody asks for d: it need not be written map the
 * loop in a dvec_map, whose sum is taken by dvec_sum runs     the loop in a dvec_map_runs that sums as it goes; sums added up as
 * by hand line     DVEC_MAP_SUM3: one line, and the sum as dvec_sum makes it
 */
#include "case_dome.h"

#include <math.h>
#include <stdlib.h>

struct vectors {
    dome_env *env;
    dvec *a, *b, *c, *t, *u;
    dvec *d, *kept, *unread, *mapped; /* each rival has its own: the library learns who is read */
    size_t n;
    double *out;
};

static double by_hand(struct vectors *v)
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

static void chain(struct vectors *v, dvec *d, dvec *t, dvec *u)
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
    dvec_local_spans_const(d, span);
    return sum;
}

static double by_dome(struct vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n), *u = dvec_new(v->env, "u", DOME_F64, v->n);
    chain(v, v->d, t, u);
    dvec_free(t);
    dvec_free(u);
    return sum_and_values(v->d);
}

static double by_dome_sum(struct vectors *v)
{
    dvec *t = dvec_new(v->env, "t", DOME_F64, v->n), *u = dvec_new(v->env, "u", DOME_F64, v->n);
    chain(v, v->unread, t, u);
    dvec_free(t);
    dvec_free(u);
    return dvec_sum(v->unread);
}

static double by_dome_kept(struct vectors *v)
{
    chain(v, v->kept, v->t, v->u);
    return sum_and_values(v->kept);
}

static void map_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first;
    double sum = hand_chain(count, out, in[0], in[1], in[2]);
    if (ctx)
        *(double *)ctx += sum;
}

static double by_map(struct vectors *v)
{
    dvec_map(v->mapped, map_kernel, NULL, 3, (dvec *[]){v->a, v->b, v->c});
    return dvec_sum(v->mapped);
}

static double by_runs(struct vectors *v)
{
    double sum = 0;
    dvec_map_runs(v->mapped, map_kernel, &sum, 3, (dvec *[]){v->a, v->b, v->c});
    return case_everyones(v->env, sum);
}

static double by_line(struct vectors *v)
{
    dvec *a = v->a, *b = v->b, *c = v->c;
    double sum;
    DVEC_MAP_SUM3(sum, double, v->mapped, a, b, c, sqrt(a * a + b * b) * c - a / b + b / 2);
    return sum;
}

static const case_rival rivals[] = {{"hand", by_hand, 0},    {"dome", by_dome, 0}, {"kept", by_dome_kept, 0},
                                    {"sum", by_dome_sum, 0}, {"map", by_map, 0},   {"runs", by_runs, 0},
                                    {"line", by_line, 0}};
enum { RIVALS = sizeof rivals / sizeof *rivals };

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 2)
        dome_abort(env, "usage: chain N [SECONDS]");
    struct vectors v = {.env = env, .n = (size_t)atof(argv[1])};
    v.a = case_random(env, "a", v.n, 1);
    v.b = case_random(env, "b", v.n, 2);
    v.c = case_random(env, "c", v.n, 3);
    v.d = dvec_new(env, "d", DOME_F64, v.n);
    v.kept = dvec_new(env, "d of kept", DOME_F64, v.n);
    v.unread = dvec_new(env, "d of sum", DOME_F64, v.n);
    v.mapped = dvec_new(env, "d of loops", DOME_F64, v.n);
    v.t = dvec_new(env, "kept t", DOME_F64, v.n);
    v.u = dvec_new(env, "kept u", DOME_F64, v.n);
    v.out = case_array(v.n);
    case_compete(env, rivals, RIVALS, &v, case_repeats(v.n), 1, argc > 2 ? atof(argv[2]) : 3);
    return dome_finalize(env);
}
