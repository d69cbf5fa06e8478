/* C = A B of N x N doubles on one thread, by rivals in turns:
 *
 *     matmul [N [SECONDS]]
 *
 *     blas     one call of dgemm
 *     dome     dvec_matmul as in examples/matmul.c: rows of A and C in blocks of 256, a call of dgemm for each
 *     narrow   the same in blocks of 64 rows: B is made ready for each of them */
#include "case.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef HAVE_CBLAS
#include <cblas.h>

static void product(size_t rows, size_t n, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)n, (int)n, 1, a, (int)n, b, (int)n, 0, c, (int)n);
}

static dvec *matrix(dome_env *env, const char *name, size_t n, size_t block, uint64_t seed)
{
    dvec *x = dvec_new_with(env, name, DOME_F64, n, DVEC_OPTIONS(.width = n, .block = block));
    dvec_random(x, seed);
    return x;
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)atof(argv[1]) : 2000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    dvec *a = matrix(env, "a", n, 256, 1), *c = matrix(env, "c", n, 256, 0);
    dvec *narrow_a = matrix(env, "narrow a", n, 64, 1), *narrow_c = matrix(env, "narrow c", n, 64, 0);
    dvec *b = dvec_new_with(env, "b", DOME_F64, n, DVEC_OPTIONS(.distribution = DOME_WHOLE, .width = n));
    dvec_random(b, 2);
    double *plain = case_array(n * n);
    dvec_span span[2];
    dvec_local_spans_const(a, span);
    const double *whole = span[0].data;

    int turns = case_turns(6e-11 * (double)n * (double)n * (double)n * 3, budget);
    for (int turn = -1; turn < turns; turn++) {
        double t[4] = {case_now()};
        product(n, n, whole, dvec_allgather(b), plain);
        t[1] = case_now();
        dvec_matmul(c, a, b);
        t[2] = case_now();
        dvec_matmul(narrow_c, narrow_a, b);
        t[3] = case_now();
        for (int k = 0; k < 3 && turn >= 0; k++)
            case_note(&times, ((const char *const[]){"blas", "dome", "narrow"})[k], turn, t[k + 1] - t[k]);
    }
    dvec_local_spans_const(c, span);
    for (size_t i = 0; i < n * n; i++)
        if (!(fabs(((const double *)span[0].data)[i] - plain[i]) <= 1e-9 * fabs(plain[i])))
            dome_abort(env, "value %zu differs", i);
    case_print(&times);
    free(plain);
    return dome_finalize(env);
}
#else
int main(void)
{
    fprintf(stderr, "matmul: built without a BLAS\n");
    return 77;
}
#endif
