/* How long nothing is computed when a program changes its number of tasks: from the end of the last step before the change to the
 * beginning of the first step after it, with all tasks there and all values in place.
 *
 *     elastic MEGABYTES ROUNDS FEW MANY     changes between the two numbers of tasks; prints "FROM TO SECONDS" each time */
#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static double now_of_first(dome_env *env)
{
    double now = dome_wtime();
    dome_bcast(env, 0, DOME_F64, &now, 1);
    return now;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc < 5)
        dome_abort(env, "elastic MEGABYTES ROUNDS FEW MANY");
    const size_t n = (size_t)atoi(argv[1]) * 1000000 / sizeof(double);
    const int rounds = atoi(argv[2]), few = atoi(argv[3]), many = atoi(argv[4]);
    dvec *x = dvec_new(env, "x", DOME_F64, n);
    dscalar *step = dscalar_new(env, "step", DOME_I64), *before = dscalar_new(env, "tasks", DOME_I64),
            *stopped = dscalar_new(env, "stopped", DOME_F64);
    if (dome_is_restarting(env)) {
        dome_barrier(env);
        dome_print(env, "%" PRId64 " %d %.4f\n", dscalar_get_i64(before), dome_size(env),
                   now_of_first(env) - dscalar_get_f64(stopped));
    } else {
        dvec_fill(x, 1);
    }
    for (int64_t k; (k = dscalar_get_i64(step)) < 2 * rounds;) {
        for (int i = 0; i < 3; i++) {
            dvec_muls(x, x, 1.0000001);
            dvec_sum(x);
        }
        dscalar_set_i64(step, k + 1);
        dscalar_set_i64(before, dome_size(env));
        dome_resize(env, k % 2 ? few : many);
        dscalar_set_f64(stopped, now_of_first(env));
        dome_checkpoint(env);
    }
    return dome_finalize(env);
}
