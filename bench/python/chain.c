/* The chain of table.py by the library alone: chain N. Prints the smallest of three times, in seconds. */
#include <dome/dome.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc != 2)
        dome_abort(env, "usage: chain N");
    dvec *x = dvec_new(env, NULL, DOME_F64, strtoull(argv[1], NULL, 10)), *y = dvec_new_like(x, NULL);
    dvec_fill(x, 1);
    dvec_fill(y, 1);
    dscalar *total = dscalar_new(env, NULL, DOME_F64);
    double least = 1e300, sum = 0;
    for (int turn = 0; turn < 3; turn++) {
        const double begin = now();
        dvec *z = dvec_new_like(x, NULL);
        dvec_add(z, x, y);
        dvec_muls(z, z, 0.5);
        dvec_sub(z, z, y);
        dvec_mul(z, z, x);
        dvec_adds(z, z, 1.0);
        dvec_muls(z, z, 0.25);
        dvec_add(z, z, y);
        dvec_sum_into(total, z);
        dvec_free(z); /* before the sum is computed, as in Python: then its values are not stored */
        sum = dscalar_get_f64(total);
        const double took = now() - begin;
        least = took < least ? took : least;
    }
    if (!(sum > 0))
        dome_abort(env, "the sum is %g", sum);
    dome_print(env, "%.6f\n", least);
    return dome_finalize(env);
}
