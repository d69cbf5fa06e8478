/* cg as dome-cc saves it: dome_checkpoint stands in a function that main calls in a loop, and nothing in the program is about
 * going on from a checkpoint. It prints what ../cg.c prints.
 *
 *     cg [--tolerance T] [--max-iterations N] MATRIX.mtx */
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

struct system {
    dsparse *a;
    dvec *b, *x, *r, *p, *inverse, *z, *q;
    double b_norm;
};

static double true_residual(struct system *s)
{
    dsparse_multiply(s->r, s->a, s->x);
    dvec_sub(s->r, s->b, s->r);
    return dvec_norm2(s->r) / s->b_norm;
}

/* Until the recurrence has converged. Returns why that cannot be, or NULL. */
static const char *iterate(dome_env *env, struct system *s, double residual, double tolerance, long limit, long *iterations)
{
    dvec_mul(s->z, s->r, s->inverse);
    dvec_copy(s->p, s->z);
    double rz = dvec_dot(s->r, s->z);
    while (!(residual <= tolerance) && *iterations < limit) {
        dsparse_multiply(s->q, s->a, s->p);
        double pq = dvec_dot(s->p, s->q);
        if (!isfinite(pq))
            return "the numbers have become too large for double precision; scale the matrix";
        if (pq <= 0)
            return "the matrix is not positive definite";
        dvec_axpy(s->x, rz / pq, s->p);
        dvec_axpy(s->r, -rz / pq, s->q);
        residual = dvec_norm2(s->r) / s->b_norm;
        dvec_mul(s->z, s->r, s->inverse);
        double next = dvec_dot(s->r, s->z);
        dvec_axpby(s->p, 1, s->z, next / rz);
        rz = next;
        ++*iterations;
        dome_checkpoint(env);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *path = NULL, *problem = NULL;
    double tolerance = 1e-10, residual;
    long limit = 100000, iterations = 0;
    if (!parse(argc, argv, &tolerance, &limit, &path))
        return fail(env, 2, "usage: cg [--tolerance T] [--max-iterations N] MATRIX.mtx");
    struct system s = {.a = dsparse_read(env, NULL, path)};
    if (!dsparse_is_symmetric(s.a))
        return fail(env, 1, "the matrix is not symmetric");

    uint64_t n = dsparse_rows(s.a);
    dvec **all[] = {&s.b, &s.x, &s.r, &s.p, &s.inverse, &s.z, &s.q};
    for (int k = 0; k < 7; k++)
        *all[k] = dvec_new(env, NULL, DOME_F64, n);
    dsparse_diagonal(s.inverse, s.a);
    dvec_rdivs(s.inverse, s.inverse, 1);
    if (!(dvec_min_value(s.inverse) > 0 && dvec_max_value(s.inverse) < INFINITY))
        return fail(env, 1, "the matrix is not positive definite, or an entry of its diagonal is too small to divide by");
    dvec_fill(s.b, 1.0);
    s.b_norm = dvec_norm2(s.b);
    while ((residual = true_residual(&s)) > tolerance && iterations < limit && !problem)
        problem = iterate(env, &s, residual, tolerance / 2, limit, &iterations);
    if (problem)
        return fail(env, 1, problem);

    double norm = dvec_norm2(s.x);
    dome_print(env, "%s: %zu x %zu, %zu entries\n", path, (size_t)n, (size_t)n, (size_t)dsparse_entries(s.a));
    dome_print(env, "iterations:             %ld\n", iterations);
    dome_print(env, "relative residual:      %.6e  %a\n", residual, residual);
    dome_print(env, "norm of the solution:   %.15e  %a\n", norm, norm);
    return residual <= tolerance ? dome_finalize(env) : fail(env, 1, "the tolerance was not reached");
}
