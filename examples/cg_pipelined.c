/* Pipelined conjugate gradients: solves A x = b for the 5-point Poisson matrix of an M x M grid and b = (1, ..., 1).
 *
 *     cg_pipelined [M [TOLERANCE]]
 *
 * cg.c waits for all tasks three times in an iteration. Here an iteration has one exchange, of two dot products, and it runs
 * while the tasks multiply by the matrix. (P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned
 * Conjugate Gradient algorithm", Parallel Computing 40 (2014), pp. 224-238, algorithm 3.) The price is three more vectors to
 * update, and that the residual of the recurrence drifts sooner from the true one, which is printed. */
#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void poisson(void *ctx, uint64_t i, dsparse_row *row)
{
    const uint64_t m = *(const uint64_t *)ctx, x = i % m, y = i / m;
    dsparse_row_add(row, i, 4);
    if (x > 0)
        dsparse_row_add(row, i - 1, -1);
    if (x + 1 < m)
        dsparse_row_add(row, i + 1, -1);
    if (y > 0)
        dsparse_row_add(row, i - m, -1);
    if (y + 1 < m)
        dsparse_row_add(row, i + m, -1);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    uint64_t m = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, n = m * m;
    double tolerance = argc > 2 ? strtod(argv[2], NULL) : 1e-8;
    if (m == 0 || m > 30000 || !(tolerance > 0 && tolerance < 1)) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "cg_pipelined: usage: cg_pipelined [M [TOLERANCE]]\n");
        dome_finalize(env);
        return 2;
    }
    dsparse *a = dsparse_new(env, NULL, n, n);
    dsparse_fill_rows(a, poisson, &m);

    dvec *x = dvec_new(env, "x", DOME_F64, n), *r = dvec_new(env, "r", DOME_F64, n), *w = dvec_new(env, "A r", DOME_F64, n);
    dvec *p = dvec_new(env, "p", DOME_F64, n), *s = dvec_new(env, "A p", DOME_F64, n), *z = dvec_new(env, "A A p", DOME_F64, n);
    dvec *q = dvec_new(env, NULL, DOME_F64, n);
    dscalar *gamma = dscalar_new(env, "r r", DOME_F64), *delta = dscalar_new(env, "w r", DOME_F64);
    dscalar *alpha = dscalar_new(env, "alpha", DOME_F64), *beta = dscalar_new(env, "beta", DOME_F64);
    dscalar *before = dscalar_new(env, "r r before", DOME_F64), *t = dscalar_new(env, "t", DOME_F64);
    dscalar *iterations = dscalar_new(env, "iterations", DOME_I64);
    if (!dome_is_restarting(env)) {
        dvec_fill(r, 1); /* b - A 0 */
        dsparse_multiply(w, a, r);
        dscalar_set_f64(before, INFINITY); /* so that beta is 0 at first */
        dscalar_set_f64(alpha, 1);
    }

    for (;;) {
        dvec_dot_into(gamma, r, r);
        dvec_dot_into(delta, w, r);
        dsparse_multiply(q, a, w); /* meanwhile the two travel, in one message */
        if (sqrt(dscalar_get_f64(gamma) / (double)n) <= tolerance)
            break;

        dscalar_div(beta, gamma, before);
        dscalar_div(t, beta, alpha);
        dscalar_mul(t, t, gamma);
        dscalar_sub(t, delta, t);
        dscalar_div(alpha, gamma, t); /* alpha = gamma / (delta - beta gamma / alpha) */
        dscalar_copy(before, gamma);

        dvec_aypx_by(z, beta, q); /* z = q + beta z */
        dvec_aypx_by(s, beta, w);
        dvec_aypx_by(p, beta, r);
        dvec_axpy_by(x, alpha, p); /* x = x + alpha p */
        dscalar_neg(t, alpha);
        dvec_axpy_by(r, t, s);
        dvec_axpy_by(w, t, z);
        dscalar_set_i64(iterations, dscalar_get_i64(iterations) + 1);
        dome_checkpoint(env);
    }

    dsparse_multiply(q, a, x);
    dvec_rsubs(q, q, 1); /* b - A x */
    double residual = dvec_norm2(q) / sqrt((double)n), norm = dvec_norm2(x);
    dome_print(env, "iterations:             %ld\n", (long)dscalar_get_i64(iterations));
    dome_print(env, "relative residual:      %.6e  %a\n", residual, residual);
    dome_print(env, "norm of the solution:   %.15e  %a\n", norm, norm);
    return dome_finalize(env);
}
