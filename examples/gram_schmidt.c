/* Modified Gram-Schmidt: makes vectors orthonormal, in memory that all tasks share. In step k the task that has vector k divides
 * it by its norm; then each task takes the part along vector k from those of its own vectors that come behind it. Vectors are
 * dealt to the tasks in turn, so that all have work until the end.
 *
 *     gram_schmidt [VECTORS [LENGTH]]
 *
 * One of the two programs of Stardust (dome/region.h).
 */
#include "random_number.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double divide_by_norm(double *x, size_t n)
{
    double norm = sqrt(dot(x, x, n));
    for (size_t i = 0; i < n; i++)
        x[i] /= norm;
    return norm;
}

static void subtract(double *x, double part, const double *q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] -= part * q[i];
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    size_t vectors = argc > 1 ? (size_t)atol(argv[1]) : 64, n = argc > 2 ? (size_t)atol(argv[2]) : 256;
    if (vectors == 0 || n < vectors) {
        if (dome_rank(env) == 0)
            fprintf(stderr, "gram_schmidt: usage: gram_schmidt [VECTORS [LENGTH]], LENGTH not less than VECTORS\n");
        dome_finalize(env);
        return 2;
    }

    const size_t rank = (size_t)dome_rank(env), size = (size_t)dome_size(env);
    dome_region *region = dome_region_new(env, "v", DOME_F64, vectors, DOME_REGION_OPTIONS(.width = n));
    double *v = dome_region_data(region);
    double *norm = dome_region_data(dome_region_new(env, "norm", DOME_F64, vectors, NULL)), norms = 1, worst = 0;
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    for (size_t j = rank; j < vectors && !dome_is_restarting(env); j += size)
        for (size_t i = 0; i < n; i++)
            v[j * n + i] = random_number(1, j * n + i);
    for (size_t k = (size_t)dscalar_get_i64(step); k < vectors; k++) {
        double *q = v + k * n;
        const bool own = k % size == rank;
        const double length = own ? divide_by_norm(q, n) : 0;
        dome_barrier(env); /* vector k is there */
        dome_region_want(region, k, 1, false);
        if (own)
            norm[k] = length; /* behind the barrier: nobody waits while this task fetches it */
        for (size_t j = k + 1; j < vectors; j++)
            if (j % size == rank)
                subtract(v + j * n, dot(q, v + j * n, n), q, n);
        dscalar_set_i64(step, (int64_t)k + 1);
        dome_progress(env, k + 1, vectors, "vectors");
        dome_checkpoint(env);
    }
    dome_barrier(env);
    for (size_t k = 0; k < vectors; k++)
        norms *= norm[k];
    for (size_t j = rank; j < vectors; j += size)
        for (size_t k = 0; k < j; k++)
            worst = fmax(worst, fabs(dot(v + j * n, v + k * n, n)));
    dome_allreduce(env, DOME_F64, &worst, 1, DOME_MAX);
    dome_print(env, "%zu vectors of %zu: product of norms %.15g  %a, largest product of two %.1e\n", vectors, n, norms, norms,
               worst);
    return dome_finalize(env);
}
