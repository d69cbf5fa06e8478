/* Programs that keep a pointer for too long, and one that does not: for --dome-check-pointers.
 *
 *     pointers WHAT [block|whole]: the distribution */
#include <dome/dome.h>

#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static volatile double sink;
static volatile int *volatile nowhere;

/* The first of this task's values; NULL if it has none. */
static double *first_value(dvec *x)
{
    dvec_span spans[2];
    dvec_local_spans(x, spans);
    return spans[0].count > 0 ? spans[0].data : NULL;
}

static void touch(const double *value)
{
    if (value)
        sink = *value;
}

static void kernel(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    (void)first, (void)in;
    memset(out, 0, count * sizeof(double));
    touch(ctx);
}

/* Asks again after whatever may move data, and has values where they were put. */
static void go_right(dome_env *env, dvec *x, dvec *y)
{
    for (int k = 0; k < 50; k++) {
        dvec_span spans[2], others[2];
        dvec_local_spans(x, spans);
        dvec_local_spans(y, others); /* gives out pointers: those to x stay good */
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < spans[s].count; i++) {
                ((double *)spans[s].data)[i] += 1;
                ((double *)others[s].data)[i] = (double)(spans[s].first + i);
            }
        const double *all = dvec_allgather(x); /* stays while data moves */
        if (dvec_sum(x) != N * (double)(k + 1) || dvec_sum(y) != N * (N - 1.0) / 2)
            dome_abort(env, "values are lost in turn %d", k);
        dome_barrier(env);
        if (all[0] != k + 1 || all[N - 1] != k + 1)
            dome_abort(env, "the copy is lost in turn %d", k);
    }
    dome_print(env, "all is well\n");
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    const char *kind = argc > 2 ? argv[2] : "";
    dvec_options options = {.size = sizeof options,
                            .distribution = strcmp(kind, "block") == 0   ? DOME_BLOCK
                                            : strcmp(kind, "whole") == 0 ? DOME_WHOLE
                                                                         : DOME_DYNAMIC};
    dvec *x = dvec_new_with(env, "x", DOME_F64, N, &options), *y = dvec_new_with(env, "y", DOME_F64, N, &options);
    double *kept = first_value(x);
    if (strcmp(what, "right") == 0) {
        go_right(env, x, y);
    } else if (strcmp(what, "sum") == 0) {
        dvec_sum(y);
        touch(kept);
    } else if (strcmp(what, "write") == 0) {
        dome_barrier(env);
        if (kept)
            *kept = 1;
    } else if (strcmp(what, "map") == 0) {
        dvec_map(y, kernel, kept, 0, NULL);
    } else if (strcmp(what, "shift") == 0) {
        dvec_roll(x, x, 1);
        touch(kept);
    } else if (strcmp(what, "halo") == 0) { /* copies live until the next */
        dvec_halo_span halo[2];
        dvec_halo_elements(x, 2, 0, true, halo);
        const double *below = halo[0].below;
        dvec_sum(y);
        touch(below);
        dvec_halo_elements(x, 3, 0, true, halo);
        touch(below);
    } else if (strcmp(what, "whole") == 0) {
        const double *all = dvec_allgather(x);
        dvec_free(x);
        touch(all);
    } else if (strcmp(what, "freed") == 0) {
        dvec_free(x);
        touch(kept);
    } else if (strcmp(what, "later") == 0) { /* many moves after it */
        for (int k = 0; k < 100; k++)
            dome_barrier(env);
        touch(kept);
    } else if (strcmp(what, "finalized") == 0) {
        int status = dome_finalize(env);
        touch(kept);
        return status;
    } else if (strcmp(what, "null") == 0) { /* a fault that has nothing to do with vectors */
        dome_barrier(env);
        *nowhere = 1;
    } else {
        dome_abort(env, "there is nothing called '%s'", what);
    }
    return dome_finalize(env);
}
