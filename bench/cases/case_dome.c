#include "case_dome.h"

#include "core/environment.h"
#include "transport/collective.h"

#include <math.h>

/* Rounds before the first turn: storage is there then, and code for chains that come back. */
enum { WARM = 7 };

dvec *case_random(dome_env *env, const char *name, size_t n, uint64_t seed)
{
    dvec *x = dvec_new(env, name, DOME_F64, n);
    dvec_random(x, seed);
    dvec_adds(x, x, 1);
    return x;
}

static void add(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)count, (void)ctx;
    *(double *)inout += *(const double *)in;
}

double case_everyones(dome_env *env, double mine)
{
    dome__allreduce(env->transport, DOME_F64, &mine, 1, add, NULL);
    return mine;
}

static double timed(dome_env *env, const case_rival *rival, struct vectors *v, int repeats)
{
    dome_barrier(env);
    double begin = case_now();
    for (int k = 0; k < repeats; k++)
        rival->run(v);
    double took = (case_now() - begin) / repeats;
    dome_bcast(env, 0, DOME_F64, &took, 1);
    return took;
}

/* Seconds of a round of all. */
static double warm_up(dome_env *env, const case_rival *rivals, int count, struct vectors *v)
{
    double value[CASE_RIVALS], took = 0;
    for (int round = 0; round < WARM; round++) {
        took = 0;
        for (int k = 0; k < count; k++) {
            double begin = case_now(), expect;
            value[k] = rivals[k].run(v);
            took += case_now() - begin;
            expect = value[rivals[k].like];
            if (!(fabs(value[k] - expect) <= 1e-9 * fabs(expect)))
                dome_abort(env, "%s: %.17g, and %.17g by %s", rivals[k].name, value[k], expect, rivals[rivals[k].like].name);
        }
    }
    dome_bcast(env, 0, DOME_F64, &took, 1);
    return took;
}

void case_compete(dome_env *env, const case_rival *rivals, int count, struct vectors *v, int repeats, int parts, double budget)
{
    static case_times times;
    int turns = case_turns(warm_up(env, rivals, count, v) * repeats, budget);
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < count; k++)
            case_note(&times, rivals[k].name, turn, timed(env, &rivals[k], v, repeats) / parts);
    if (dome_rank(env) == 0)
        case_print(&times);
}

/* ---- conjugate gradients ---- */

void case_cg_new(case_cg *cg, dome_env *env, size_t m)
{
    dvec_options rows = {.size = sizeof rows, .width = m};
    *cg = (case_cg){m, dvec_new_with(env, "x", DOME_F64, m, &rows), dvec_new_with(env, "r", DOME_F64, m, &rows),
                    dvec_new_with(env, "p", DOME_F64, m, &rows), dvec_new_with(env, "q", DOME_F64, m, &rows)};
}

double case_cg_start(const case_cg *cg)
{
    dvec_fill(cg->x, 0);
    dvec_fill(cg->r, 1);
    dvec_copy(cg->p, cg->r);
    return dvec_dot(cg->r, cg->r);
}

/* q = A p */
static void multiply(const case_cg *cg)
{
    size_t m = cg->m;
    dvec_halo_span rows[2];
    dvec_span out[2];
    dvec_halo_elements(cg->p, 1, 1, false, rows);
    dvec_local_spans(cg->q, out);
    for (int s = 0; s < 2; s++) {
        const double *in = rows[s].local.data;
        const size_t count = rows[s].local.count;
        for (size_t i = 0; i < count; i++) {
            const double *below = i > 0 ? in + (i - 1) * m : rows[s].nbelow ? rows[s].below : NULL;
            const double *above = i + 1 < count ? in + (i + 1) * m : rows[s].nabove ? rows[s].above : NULL;
            hand_stencil(m, (double *)out[s].data + i * m, below, in + i * m, above);
        }
    }
}

double case_cg_iterate(const case_cg *cg, int iterations, double rr)
{
    for (int k = 0; k < iterations; k++) {
        multiply(cg);
        double alpha = rr / dvec_dot(cg->p, cg->q);
        dvec_axpy(cg->x, alpha, cg->p);
        dvec_axpy(cg->r, -alpha, cg->q);
        double next = dvec_dot(cg->r, cg->r);
        dvec_muls(cg->p, cg->p, next / rr);
        dvec_add(cg->p, cg->p, cg->r);
        rr = next;
    }
    return rr;
}
