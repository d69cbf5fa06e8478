/* How long nothing is computed when a program changes its number of tasks: from the end of the last step before the change to the
 * beginning of the first step after it, with all tasks there and all values in place.
 *
 *     elastic MEGABYTES ROUNDS FEW MANY     changes between the two numbers of tasks; prints "FROM TO SECONDS" each time
 *     elastic MEGABYTES LOG                 computes until it is ended, for bench/losses.py: task 0 writes its steps into LOG,
 * and when it has all values in place after a loss; task 1 its process number */
#include <dome/dome.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_of_first(dome_env *env)
{
    double now = dome_wtime();
    dome_bcast(env, 0, DOME_F64, &now, 1);
    return now;
}

/* A line with the time of all processes of this host. */
static void write_line(const char *log, const char *word, int64_t number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *file = fopen(log, "a");
    if (file)
        fprintf(file, "%s %" PRId64 " %.6f\n", word, number, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    if (file)
        fclose(file);
}

static int compute_on(dome_env *env, size_t n, const char *log)
{
    dvec *x = dvec_new(env, "x", DOME_F64, n);
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    if (dome_is_restarting(env))
        dome_barrier(env);
    else
        dvec_fill(x, 1);
    if (dome_rank(env) == 0)
        write_line(log, "begins", dscalar_get_i64(step));
    if (dome_rank(env) == 1)
        write_line(log, "task", getpid());
    for (;;) {
        dvec_muls(x, x, 1.0000001);
        dvec_sum(x);
        dscalar_set_i64(step, dscalar_get_i64(step) + 1);
        if (dome_rank(env) == 0)
            write_line(log, "step", dscalar_get_i64(step));
        dome_checkpoint(env);
    }
    return 0;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    if (argc == 3)
        return compute_on(env, (size_t)atoi(argv[1]) * 1000000 / sizeof(double), argv[2]);
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
