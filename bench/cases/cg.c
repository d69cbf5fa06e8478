/* Conjugate gradients on the 5-point Poisson matrix of an M x M grid, right-hand side 1, without preconditioner: seconds for an
 * iteration, and the residual's square after 100 of them, which has to be the same for all rivals.
 *
 *     cg [M [SECONDS]]
 */
#include "case.h"

#include <dome/dome.h>
#include <stdlib.h>

enum { ITERATIONS = 100 };

/* Row q = (A p)'s row, from the rows below, at and above. Missing neighbours are 0. */
static void stencil(size_t m, double *restrict q, const double *below, const double *p, const double *above)
{
    for (size_t j = 0; j < m; j++)
        q[j] = 4 * p[j];
    if (below)
        for (size_t j = 0; j < m; j++)
            q[j] -= below[j];
    if (above)
        for (size_t j = 0; j < m; j++)
            q[j] -= above[j];
    for (size_t j = 1; j < m; j++)
        q[j] -= p[j - 1];
    for (size_t j = 0; j + 1 < m; j++)
        q[j] -= p[j + 1];
}

static void multiply(dvec *q, dvec *p, size_t m)
{
    dvec_halo_span rows[2];
    dvec_span out[2];
    int spans = dvec_halo(p, 1, 1, false, rows);
    dvec_local(q, out);
    for (int s = 0; s < spans; s++) {
        const double *in = rows[s].local.data;
        const size_t count = rows[s].local.count;
        for (size_t i = 0; i < count; i++) {
            const double *below = i > 0 ? in + (i - 1) * m : rows[s].nbelow ? rows[s].below : NULL;
            const double *above = i + 1 < count ? in + (i + 1) * m : rows[s].nabove ? rows[s].above : NULL;
            stencil(m, (double *)out[s].data + i * m, below, in + i * m, above);
        }
    }
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    size_t m = argc > 1 ? (size_t)atof(argv[1]) : 1000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    dvec_options o = {.width = m};
    dvec *x = dvec_new_with(env, "x", DOME_F64, m, &o), *r = dvec_new_with(env, "r", DOME_F64, m, &o);
    dvec *p = dvec_new_with(env, "p", DOME_F64, m, &o), *q = dvec_new_with(env, "q", DOME_F64, m, &o);
    int turns = case_turns(ITERATIONS * 4e-9 * (double)m * (double)m, budget);
    double rr = 0;
    for (int turn = -1; turn < turns; turn++) {
        dvec_fill(x, 0);
        dvec_fill(r, 1);
        dvec_copy(p, r);
        rr = dvec_dot(r, r);
        dome_barrier(env);
        double begin = case_now();
        for (int k = 0; k < ITERATIONS; k++) {
            multiply(q, p, m);
            double alpha = rr / dvec_dot(p, q);
            dvec_axpy(x, alpha, p);
            dvec_axpy(r, -alpha, q);
            double next = dvec_dot(r, r);
            dvec_muls(p, p, next / rr);
            dvec_add(p, p, r);
            rr = next;
        }
        if (turn >= 0) {
            case_note(&times, "dome", turn, (case_now() - begin) / ITERATIONS);
            case_note(&times, "rr", turn, rr);
        }
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
