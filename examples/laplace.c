/* Solves A x = b for the 5-point Laplacian of a grid of M x N points by conjugate gradients with diagonal preconditioning, as
 * PETSc's tutorial KSP ex2 does with -ksp_type cg -pc_type jacobi. b belongs to the solution (1, ..., 1), so that the error is
 * known. The program can be restarted.
 *
 *     laplace [M [N]] [--dome-tasks T]
 */
#include <dome/dome.h>
#include <stdlib.h>

typedef struct grid {
    uint64_t m, n;
} grid;

static void five_points(void *ctx, uint64_t point, dsparse_row *row)
{
    const grid *g = ctx;
    const uint64_t i = point / g->n, j = point % g->n;
    dsparse_row_add(row, point, 4);
    if (i > 0)
        dsparse_row_add(row, point - g->n, -1);
    if (i + 1 < g->m)
        dsparse_row_add(row, point + g->n, -1);
    if (j > 0)
        dsparse_row_add(row, point - 1, -1);
    if (j + 1 < g->n)
        dsparse_row_add(row, point + 1, -1);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const long m = argc > 1 ? atol(argv[1]) : 100, n = argc > 2 ? atol(argv[2]) : m, largest = 30000;
    if (m < 1 || n < 1 || m > largest || n > largest)
        dome_abort(env, "usage: laplace [M [N]] with 1 to %ld points", largest);
    grid g = {(uint64_t)m, (uint64_t)n};
    const uint64_t points = g.m * g.n;
    dsparse *a = dsparse_new(env, NULL, points, points);
    dvec *x = dvec_new(env, "x", DOME_F64, points), *r = dvec_new(env, "r", DOME_F64, points),
         *p = dvec_new(env, "p", DOME_F64, points);
    dvec *solution = dvec_new_like(x, NULL), *b = dvec_new_like(x, NULL), *inverse = dvec_new_like(x, NULL);
    dvec *z = dvec_new_like(x, NULL), *q = dvec_new_like(x, NULL);
    dscalar *done = dscalar_new(env, "iterations", DOME_I64), *rz = dscalar_new(env, "r z", DOME_F64);
    dsparse_fill_rows(a, five_points, &g);
    dvec_fill(solution, 1);
    dsparse_multiply(b, a, solution);
    dsparse_diagonal(inverse, a);
    dvec_rdivs(inverse, inverse, 1);
    const double limit = 1e-2 / (double)((m + 1) * (n + 1)) * dvec_norm2(b);
    if (!dome_is_restarting(env)) {
        dvec_copy(r, b);
        dvec_mul(p, r, inverse);
        dscalar_set_f64(rz, dvec_dot(r, p));
    }
    while (dvec_norm2(r) > limit) {
        const double old = dscalar_get_f64(rz);
        dsparse_multiply(q, a, p);
        const double alpha = old / dvec_dot(p, q);
        dvec_axpy(x, alpha, p);
        dvec_axpy(r, -alpha, q);
        dvec_mul(z, r, inverse);
        dscalar_set_f64(rz, dvec_dot(r, z));
        dvec_axpby(p, 1, z, dscalar_get_f64(rz) / old);
        dscalar_set_i64(done, dscalar_get_i64(done) + 1);
        dome_checkpoint(env);
    }
    dvec_sub(z, x, solution);
    const double error = dvec_norm2(z);
    dome_print(env, "iterations:        %d\n", (int)dscalar_get_i64(done));
    dome_print(env, "norm of the error: %.6e  %a\n", error, error);
    return dome_finalize(env);
}
