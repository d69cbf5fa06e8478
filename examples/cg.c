/* Conjugate gradients with diagonal preconditioning: solves A x = b for a symmetric positive definite matrix A in
 * Matrix Market format and b = (1, ..., 1).
 *
 *     cg [--tolerance T] [--max-iterations N] MATRIX.mtx
 *
 * The residual in the recurrence drifts away from the true one, which is the one that matters: when the recurrence has
 * converged, b - A x is computed anew, and if that is too large, the iteration restarts from the present x. */
#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(int argc, char **argv, double *tolerance, long *limit, const char **path)
{
    char *end = "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--tolerance") == 0 && i + 1 < argc && !*end)
            *tolerance = strtod(argv[++i], &end);
        else if (strcmp(argv[i], "--max-iterations") == 0 && i + 1 < argc && !*end)
            *limit = strtol(argv[++i], &end, 10);
        else if (argv[i][0] != '-' && !*path)
            *path = argv[i];
        else
            return false;
    return *path && !*end && *tolerance > 0 && *tolerance < 1 && *limit >= 0;
}

static int fail(dome_env *env, int status, const char *text)
{
    if (dome_rank(env) == 0)
        fprintf(stderr, "cg: %s\n", text);
    dome_finalize(env);
    return status;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *path = NULL;
    double tolerance = 1e-10;
    long limit = 100000, iterations = 0;
    if (!parse(argc, argv, &tolerance, &limit, &path))
        return fail(env, 2, "usage: cg [--tolerance T] [--max-iterations N] MATRIX.mtx");
    dsparse *a = dsparse_read(env, NULL, path); /* read again after a restart: not needed in checkpoints */
    if (!dsparse_is_symmetric(a))
        return fail(env, 1, "the matrix is not symmetric");

    uint64_t n = dsparse_rows(a);
    dvec *b = dvec_new(env, "b", DOME_F64, n), *x = dvec_new(env, "x", DOME_F64, n), *r = dvec_new(env, "r", DOME_F64, n);
    dvec *p = dvec_new(env, "p", DOME_F64, n), *inverse = dvec_new(env, "inverse diagonal", DOME_F64, n);
    dvec *z = dvec_new(env, NULL, DOME_F64, n), *q = dvec_new(env, NULL, DOME_F64, n); /* scratch: not needed in
                                                                                        * checkpoints */
    dscalar *saved_iterations = dscalar_new(env, "iterations", DOME_I64), *saved_rz = dscalar_new(env, "r z", DOME_F64);
    dscalar *saved_recurrence = dscalar_new(env, "recurrence", DOME_F64);
    bool goes_on = dome_is_restarting(env);
    if (!goes_on) {
        dsparse_diagonal(inverse, a);
        dvec_rdivs(inverse, inverse, 1);
        if (!(dvec_min_value(inverse) > 0 && dvec_max_value(inverse) < INFINITY))
            return fail(env, 1, "the matrix is not positive definite, or an entry of its diagonal is too small to divide by");
        dvec_fill(b, 1.0);
    }
    double b_norm = dvec_norm2(b), residual;

    for (;;) {
        double rz, recurrence;
        if (goes_on) { /* a restart resumes in the middle of the inner loop */
            iterations = (long)dscalar_get_i64(saved_iterations);
            rz = dscalar_get_f64(saved_rz);
            recurrence = dscalar_get_f64(saved_recurrence);
            goes_on = false;
        } else {
            dsparse_multiply(r, a, x);
            dvec_sub(r, b, r);
            residual = dvec_norm2(r) / b_norm;
            if (residual <= tolerance || iterations >= limit)
                break;
            dvec_mul(z, r, inverse);
            dvec_copy(p, z);
            rz = dvec_dot(r, z);
            recurrence = residual;
        }
        while (!(recurrence <= tolerance / 2) && iterations < limit) {
            dsparse_multiply(q, a, p);
            double pq = dvec_dot(p, q);
            if (!isfinite(pq))
                return fail(env, 1, "the numbers have become too large for double precision; scale the matrix");
            if (pq <= 0)
                return fail(env, 1, "the matrix is not positive definite");
            dvec_axpy(x, rz / pq, p);
            dvec_axpy(r, -rz / pq, q);
            recurrence = dvec_norm2(r) / b_norm;
            dvec_mul(z, r, inverse);
            double next = dvec_dot(r, z);
            dvec_axpby(p, 1, z, next / rz);
            rz = next;
            iterations++;
            dscalar_set_i64(saved_iterations, iterations);
            dscalar_set_f64(saved_rz, rz);
            dscalar_set_f64(saved_recurrence, recurrence);
            dome_checkpoint(env);
        }
    }

    double norm = dvec_norm2(x);
    dome_print(env, "%s: %zu x %zu, %zu entries\n", path, (size_t)n, (size_t)n, (size_t)dsparse_entries(a));
    dome_print(env, "iterations:             %ld\n", iterations);
    dome_print(env, "relative residual:      %.6e  %a\n", residual, residual);
    dome_print(env, "norm of the solution:   %.15e  %a\n", norm, norm);
    return residual <= tolerance ? dome_finalize(env) : fail(env, 1, "the tolerance was not reached");
}
