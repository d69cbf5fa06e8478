/* Conjugate gradients with diagonal preconditioning: solves A x = b for a symmetric positive definite matrix A in
 * Matrix Market format and b = (1, ..., 1).
 *
 *     cg [--tolerance T] [--max-iterations N] MATRIX.mtx
 *
 * The residual in the recurrence drifts away from the true one, which is the one that matters: when the recurrence has
 * converged, b - A x is computed anew, and if that is too large, the iteration restarts from the present x. */
#include "matrix_market.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    mm_matrix a;
    const double *x; /* all elements of the vector that A is multiplied with */
};

/* out = rows first ... of A times x */
static void multiply_rows(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct problem *problem = ctx;
    const mm_matrix *a = &problem->a;
    double *y = out;
    (void)in;
    for (size_t i = 0; i < count; i++) {
        y[i] = 0;
        for (size_t k = a->row[first + i]; k < a->row[first + i + 1]; k++)
            y[i] += a->value[k] * problem->x[a->column[k]];
    }
}

static void multiply(dvec *y, struct problem *problem, dvec *x)
{
    problem->x = dvec_allgather(x);
    dvec_map(y, multiply_rows, problem, 0, NULL);
}

static void invert_diagonal(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const struct problem *problem = ctx;
    (void)in;
    for (size_t i = 0; i < count; i++)
        ((double *)out)[i] = 1 / mm_at(&problem->a, first + i, first + i);
}

/* Rank 0 reads the file, so only its host needs to have it, and sends the matrix to the others. */
static void read_matrix(dome_env *env, const char *path, mm_matrix *a)
{
    char error[MM_ERROR];
    if (dome_rank(env) == 0 && !mm_read(a, path, error))
        dome_abort(env, "cg: %s", error);
    if (dome_rank(env) == 0 && !mm_check_cg(a, error))
        dome_abort(env, "cg: %s: %s", path, error);
    dome_bcast(env, 0, DOME_U64, &a->n, 1);
    dome_bcast(env, 0, DOME_U64, &a->entries, 1);
    if (dome_rank(env) != 0 && !mm_alloc(a))
        dome_abort(env, "cg: not enough memory for the matrix");
    dome_bcast(env, 0, DOME_U64, a->row, a->n + 1);
    dome_bcast(env, 0, DOME_U64, a->column, a->entries);
    dome_bcast(env, 0, DOME_F64, a->value, a->entries);
}

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
    struct problem problem = {0};
    const char *path = NULL;
    double tolerance = 1e-10;
    long limit = 100000, iterations = 0;
    if (!parse(argc, argv, &tolerance, &limit, &path))
        return fail(env, 2, "usage: cg [--tolerance T] [--max-iterations N] MATRIX.mtx");
    read_matrix(env, path, &problem.a);

    size_t n = problem.a.n;
    dvec *b = dvec_new(env, "b", DOME_F64, n), *x = dvec_new(env, "x", DOME_F64, n), *r = dvec_new(env, "r", DOME_F64, n);
    dvec *p = dvec_new(env, "p", DOME_F64, n), *inverse = dvec_new(env, "inverse diagonal", DOME_F64, n);
    dvec *z = dvec_new(env, NULL, DOME_F64, n), *q = dvec_new(env, NULL, DOME_F64, n); /* scratch: not needed in
                                                                                        * checkpoints */
    dscalar *saved_iterations = dscalar_new(env, "iterations", DOME_I64), *saved_rz = dscalar_new(env, "r z", DOME_F64);
    dscalar *saved_recurrence = dscalar_new(env, "recurrence", DOME_F64);
    bool goes_on = dome_is_restarting(env);
    if (!goes_on) {
        dvec_map(inverse, invert_diagonal, &problem, 0, NULL);
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
            multiply(r, &problem, x);
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
            multiply(q, &problem, p);
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
    dome_print(env, "%s: %zu x %zu, %zu entries\n", path, n, n, (size_t)problem.a.entries);
    dome_print(env, "iterations:             %ld\n", iterations);
    dome_print(env, "relative residual:      %.6e  %a\n", residual, residual);
    dome_print(env, "norm of the solution:   %.15e  %a\n", norm, norm);
    mm_clear(&problem.a);
    return residual <= tolerance ? dome_finalize(env) : fail(env, 1, "the tolerance was not reached");
}
