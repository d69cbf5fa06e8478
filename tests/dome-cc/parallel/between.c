/* between STEPS [some|rank]: a program that never calls dome_checkpoint. It is saved behind its operations: in expressions,
 * conditions, recursion, calls by pointers; results of operations that are used behind the poll; local data between two
 * operations. some: at some operations values differ between tasks; rank: at all. */
#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;

static double descend(dome_env *env, dvec *x, int depth)
{
    calls++;
    if (depth == 0)
        return dvec_sum(x);
    dvec_adds(x, x, 0.5);
    const double below = descend(env, x, depth - 1), here = dvec_max_value(x) - dvec_min_value(x) * 0.5;
    return below > here ? below - here : below + dvec_sum(x) * here;
}

/* The tasks go through their own blocks, each as often as it has elements. `most`: with a second value, which differs between
 * tasks when the first one is reduced. */
static double own(dome_env *env, dvec *x, bool most)
{
    int64_t sum = 0;
    double largest = 0;
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    for (int s = 0; s < 2; s++) {
        const double *values = spans[s].data;
        for (size_t k = 0; k < spans[s].count; k++) {
            sum += (int64_t)(values[k] * 1024);
            largest = most && values[k] > largest ? values[k] : largest;
        }
    }
    dome_allreduce(env, DOME_I64, &sum, 1, DOME_SUM);
    if (most)
        dome_allreduce(env, DOME_F64, &largest, 1, DOME_MAX);
    return (double)sum + largest;
}

/* The data is needed behind the reduction, which therefore does not poll. */
static double twice(dome_env *env, dvec *x)
{
    int64_t sum = 0;
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    const int64_t n = (int64_t)dvec_length(x);
    int64_t counted = (int64_t)(spans[0].count + spans[1].count);
    dome_allreduce(env, DOME_I64, &counted, 1, DOME_SUM);
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < spans[s].count; k++)
            sum += (int64_t)(((const double *)spans[s].data)[k] * 1024) + counted - n;
    dome_allreduce(env, DOME_I64, &sum, 1, DOME_SUM);
    return (double)sum;
}

static void grow(dvec *x)
{
    dvec_muls(x, x, 1.25);
}

static void fall(dvec *x)
{
    dvec_muls(x, x, 0.5);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    const bool some = argc > 2 && strcmp(argv[2], "some") == 0;
    const int rank = argc > 2 && strcmp(argv[2], "rank") == 0 ? dome_rank(env) : 0;
    void (*const ways[])(dvec *) = {grow, fall};
    double *kept = calloc(4, sizeof *kept);
    dvec *x = dvec_new(env, NULL, DOME_F64, 1000), *y = dvec_new_like(x, "y");
    dscalar *s = dscalar_new(env, NULL, DOME_F64);
    dvec_fill(x, 1.0);
    dvec_fill(y, 2.0);
    for (int step = 0; step < steps; step++) {
        ways[step % 3 == 1](x);
        kept[step % 4] = descend(env, x, step % 4);
        if (dome_rank(env) == 0)
            dvec_free(NULL); /* does nothing: no operation */
        if (dvec_sum(y) > 1500 && dvec_dot(x, y) > 0)
            dvec_axpy(y, -1e-3, x);
        else
            dvec_copy(y, x);
        dscalar_set_f64(s, dvec_norm2(y));
        dvec *z = dvec_new(env, NULL, DOME_F64, 100);
        dvec_fill(z, dscalar_get_f64(s));
        dome_print(env, "%d: %d %.17g %.17g %.17g %.17g\n", step, calls, kept[step % 4], own(env, x, some), twice(env, y),
                   dvec_sum(z));
        dvec_free(z);
        dvec_mins(x, x, 8);
        dvec_maxs(x, x, 0.125);
    }
    free(kept);
    dome_print(env, "end: %s %.17g\n", dvec_name(y), dvec_sum(y));
    if (rank > dome_size(env))
        return 1;
    return dome_finalize(env);
}
