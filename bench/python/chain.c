/* The chain of table.py by the library alone: chain N TURNS. Prints the processor time of each turn, in seconds. */
#include <dome/dome.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc != 3)
        dome_abort(env, "usage: chain N TURNS");
    dvec *x = dvec_new(env, NULL, DOME_F64, strtoull(argv[1], NULL, 10)), *y = dvec_new_like(x, NULL);
    dvec_iota(x);
    dvec_iota(y);
    dvec_span spans[2]; /* asked for, or the values would be computed in each turn, not read */
    dvec_local_spans_const(x, spans);
    dvec_local_spans_const(y, spans);
    double sum = 0;
    for (int turn = 0; turn < atoi(argv[2]); turn++) {
        const double begin = now();
        dvec *z = dvec_new_like(x, NULL);
        dvec_add(z, x, y);
        dvec_muls(z, z, 0.5);
        dvec_sub(z, z, y);
        dvec_mul(z, z, x);
        dvec_adds(z, z, 1.0);
        dvec_muls(z, z, 0.25);
        dvec_add(z, z, y);
        sum = dvec_sum(z);
        dvec_free(z);
        dome_print(env, "%.6f ", now() - begin);
    }
    if (!(sum > 0))
        dome_abort(env, "the sum is %g", sum);
    dome_print(env, "\n");
    return dome_finalize(env);
}
