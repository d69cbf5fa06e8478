/* Conjugate gradients on the 5-point Poisson matrix of an M x M grid, plain and pipelined (examples/cg_pipelined.c), in turns,
 * where every message takes MS milliseconds: seconds for an iteration, and for an all-reduce.
 *
 *     cg_pipelined [M [SECONDS [MS]]] --dome-road pvm */
#include "case_dome.h"
#include "delayed.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 20 };

struct vectors {
    dome_env *env;
    dsparse *a;
    dvec *x, *r, *w, *p, *s, *z, *q;
    dscalar *gamma, *delta, *alpha, *beta, *before, *t;
};

static void poisson(void *ctx, uint64_t i, dsparse_row *row)
{
    const uint64_t m = *(const uint64_t *)ctx;
    dsparse_row_add(row, i, 4);
    if (i % m > 0)
        dsparse_row_add(row, i - 1, -1);
    if (i % m + 1 < m)
        dsparse_row_add(row, i + 1, -1);
    if (i >= m)
        dsparse_row_add(row, i - m, -1);
    if (i + m < m * m)
        dsparse_row_add(row, i + m, -1);
}

static double norm_of_solution(const struct vectors *v)
{
    return dvec_norm2(v->x);
}

/* The loop of examples/cg.c without preconditioner: two exchanges in an iteration. */
static double plain(struct vectors *v)
{
    dvec_fill(v->x, 0);
    dvec_fill(v->r, 1);
    dvec_copy(v->p, v->r);
    double rr = dvec_dot(v->r, v->r);
    for (int k = 0; k < ITERATIONS; k++) {
        dsparse_multiply(v->q, v->a, v->p);
        double alpha = rr / dvec_dot(v->p, v->q);
        dvec_axpy(v->x, alpha, v->p);
        dvec_axpy(v->r, -alpha, v->q);
        double next = dvec_dot(v->r, v->r);
        dvec_axpby(v->p, 1, v->r, next / rr);
        rr = next;
    }
    return norm_of_solution(v);
}

static double pipelined(struct vectors *v)
{
    dvec *const zero[] = {v->x, v->p, v->s, v->z};
    for (size_t k = 0; k < G_N_ELEMENTS(zero); k++)
        dvec_fill(zero[k], 0);
    dvec_fill(v->r, 1);
    dsparse_multiply(v->w, v->a, v->r);
    dscalar_set_f64(v->before, INFINITY);
    dscalar_set_f64(v->alpha, 1);
    for (int k = 0; k < ITERATIONS; k++) {
        dvec_dot_into(v->gamma, v->r, v->r);
        dvec_dot_into(v->delta, v->w, v->r);
        dsparse_multiply(v->q, v->a, v->w);
        dscalar_div(v->beta, v->gamma, v->before);
        dscalar_div(v->t, v->beta, v->alpha);
        dscalar_mul(v->t, v->t, v->gamma);
        dscalar_sub(v->t, v->delta, v->t);
        dscalar_div(v->alpha, v->gamma, v->t);
        dscalar_copy(v->before, v->gamma);
        dvec_aypx_by(v->z, v->beta, v->q);
        dvec_aypx_by(v->s, v->beta, v->w);
        dvec_aypx_by(v->p, v->beta, v->r);
        dvec_axpy_by(v->x, v->alpha, v->p);
        dscalar_neg(v->t, v->alpha);
        dvec_axpy_by(v->r, v->t, v->s);
        dvec_axpy_by(v->w, v->t, v->z);
    }
    return norm_of_solution(v);
}

/* As long as an iteration's share of the others, so that it is printed per all-reduce. */
static double reductions(struct vectors *v)
{
    for (int k = 0; k < ITERATIONS; k++)
        case_everyones(v->env, 1);
    return norm_of_solution(v);
}

static const case_rival rivals[] = {{"plain", plain, 0}, {"pipelined", pipelined, 0}, {"allreduce", reductions, 1}};

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    uint64_t m = argc > 1 ? (uint64_t)atof(argv[1]) : 300, n = m * m;
    double budget = argc > 2 ? atof(argv[2]) : 3, ms = argc > 3 ? atof(argv[3]) : 2;
    struct vectors v = {.env = env, .a = dsparse_new(env, NULL, n, n)};
    dvec **const vectors[] = {&v.x, &v.r, &v.w, &v.p, &v.s, &v.z, &v.q};
    dscalar **const scalars[] = {&v.gamma, &v.delta, &v.alpha, &v.beta, &v.before, &v.t};
    dsparse_fill_rows(v.a, poisson, &m);
    for (size_t k = 0; k < G_N_ELEMENTS(vectors); k++)
        *vectors[k] = dvec_new(env, NULL, DOME_F64, n);
    for (size_t k = 0; k < G_N_ELEMENTS(scalars); k++)
        *scalars[k] = dscalar_new(env, NULL, DOME_F64);
    delayed_begin(env, ms * 1e-3);
    case_compete(env, rivals, G_N_ELEMENTS(rivals), &v, 1, ITERATIONS, budget);
    delayed_end(env);
    return dome_finalize(env);
}
