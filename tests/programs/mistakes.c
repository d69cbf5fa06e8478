/* A program with one of the mistakes that the library finds:
 *
 *     mistakes NAME */
#include <dome/dome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void asking_kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first;
    (void)in;
    memset(out, 0, count * sizeof(double));
    dvec_sum(ctx);
}

static void with_freed(const char *mistake, dome_env *env, dvec *x, dvec *y)
{
    dscalar *s = dscalar_new(env, "s", DOME_F64);
    const dvec *pair[] = {y, x};
    dvec_sum(x);
    dvec_free(x);
    dscalar_free(s);
    for (int k = 0; k < 50; k++) /* its memory is wanted again */
        dvec_free(dvec_new(env, NULL, DOME_F64, 100));
    if (strcmp(mistake, "freed-output") == 0)
        dvec_fill(x, 1);
    else if (strcmp(mistake, "freed-input") == 0)
        dvec_add(y, y, x);
    else if (strcmp(mistake, "freed-reduced") == 0)
        dvec_sum(x);
    else if (strcmp(mistake, "freed-dots") == 0)
        dvec_dots(2, pair, pair, (double[2]){0});
    else if (strcmp(mistake, "freed-twice") == 0)
        dvec_free(x);
    else if (strcmp(mistake, "freed-scalar") == 0)
        dscalar_get_f64(s);
    else if (strcmp(mistake, "freed-lost") == 0)
        dome_lost(dvec_object(x), &(const dome_span *){NULL});
}

/* Rank 0 alone: the tasks no longer know of each other. */
static void after_finalize(const char *mistake, dome_env *env, dvec *x, dvec *y)
{
    if (strcmp(mistake, "late-freed") == 0)
        dvec_free(y);
    int rank = dome_rank(env);
    dome_finalize(env);
    if (rank != 0)
        exit(0);
    if (strcmp(mistake, "late-vector") == 0)
        dvec_sum(x);
    else if (strcmp(mistake, "late-freed") == 0)
        dvec_fill(y, 1);
    else if (strcmp(mistake, "late-new") == 0)
        dvec_new(env, "z", DOME_F64, 100);
    else if (strcmp(mistake, "late-print") == 0)
        dome_print(env, "late\n");
    else if (strcmp(mistake, "late-progress") == 0)
        dome_progress(env, 1, 2, "steps");
    else if (strcmp(mistake, "late-finalize") == 0)
        exit(dome_finalize(env));
    exit(0);
}

/* Leaves a loop before its end, on one task alone. */
static void leave(const char *mistake, dome_env *env, dvec *x)
{
    DVEC_FOR (i, double, x) {
        if (i != 0)
            continue;
        if (strcmp(mistake, "left-break") == 0)
            break;
        if (strcmp(mistake, "left-goto") == 0)
            goto away;
        if (strcmp(mistake, "left-return") == 0)
            return;
    }
    DVEC_FOR_ROWS (i, double, x) {
        if (i == 99 && strcmp(mistake, "left-rows") == 0)
            break;
        *x = 1;
    }
    double s;
    DVEC_FOR_SUM (s, i, const double, x) {
        if (i == 0 && strcmp(mistake, "left-sum") == 0)
            return;
        s = x;
    }
away:
    dome_print(env, "the tasks go on\n");
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *mistake = argc > 1 ? argv[1] : "";
    if (strcmp(mistake, "length") == 0)
        dvec_new(env, "x", DOME_F64, (size_t)-1);
    dvec *x = dvec_new(env, "x", DOME_F64, 100), *y = dvec_new(env, "y", DOME_F64, 100);
    if (strncmp(mistake, "freed", 5) == 0)
        with_freed(mistake, env, x, y);
    if (strcmp(mistake, "kernel") == 0)
        dvec_map(y, asking_kernel, x, 0, NULL);
    if (strcmp(mistake, "shift") == 0)
        dvec_shift(y, dvec_new(env, "z", DOME_F64, 5), 1, NULL);
    if (strcmp(mistake, "second-init") == 0) {
        dome_set_errors_return(env);
        dome_init(&argc, &argv);
    }
    if (strncmp(mistake, "left", 4) == 0)
        leave(mistake, env, x);
    if (strncmp(mistake, "late", 4) == 0)
        after_finalize(mistake, env, x, y);
    if (strcmp(mistake, "exit") == 0)
        exit(0);
    if (strcmp(mistake, "exit-3") == 0)
        exit(3);
    if (strcmp(mistake, "finalize") == 0) { /* nothing asks for the failure before */
        dome_set_errors_return(env);
        dvec *i = dvec_new(env, "i", DOME_I64, 100), *zero = dvec_new(env, "zero", DOME_I64, 100);
        dvec_fill(i, 1);
        dvec_div(i, i, zero);
    }
    return dome_finalize(env);
}
