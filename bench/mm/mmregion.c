/* C = A B again and again, as in Matmult of Stardust, with A, B and C in memory that all tasks share: mmsave.c by regions.
 *
 *   build/bench/mm/mmregion [--rows N] [--k N] [--products N] [--between N]
 *
 * It prints what mmsave prints; after a restart the seconds of "begin" are those in which all tasks make the regions, touch each
 * page that their products need, and wait for each other. */
#include "mm_between.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>

struct matrices {
    dome_region *region;
    double *values;
};

static struct matrices make(dome_env *env, const char *name, size_t rows, size_t k)
{
    dome_region *region = dome_region_new(env, name, DOME_F64, rows, DOME_REGION_OPTIONS(.width = k, .block = 2));
    return (struct matrices){region, dome_region_data(region)};
}

/* Loads a value of each page of these rows. */
static double touch(const double *values, size_t rows, size_t k)
{
    enum { PAGE = 4096 / sizeof(double) };
    double sum = 0;
    for (size_t i = 0; i < rows * k; i += PAGE)
        sum += ((const volatile double *)values)[i];
    return sum;
}

/* The rows of A and C that are this task's, and all of B: made, or after a restart touched. */
static void prepare(const mm_options *o, struct matrices a, struct matrices b, struct matrices c, bool restarting)
{
    dome_span spans[2];
    for (int s = 0, count = dome_region_spans(a.region, spans); s < count; s++) {
        double *own = a.values + spans[s].first * o->k;
        if (restarting) {
            touch(own, spans[s].count, o->k);
            touch(c.values + spans[s].first * o->k, spans[s].count, o->k);
        } else
            mm_fill_x(own, spans[s].first, spans[s].count, o->k);
    }
    if (restarting)
        touch(b.values, o->k, o->k);
    else if (dome_rank(dome_region_env(b.region)) == 0)
        mm_fill_b(b.values, o->k);
}

/* C = A B / products: C changes with each product. */
static void compute(struct matrices c, struct matrices a, struct matrices b, const mm_options *o, long products)
{
    dome_span spans[2];
    for (int s = 0, count = dome_region_spans(c.region, spans); s < count; s++)
        mm_multiply(c.values + spans[s].first * o->k, a.values + spans[s].first * o->k, b.values, spans[s].count, o->k,
                    1.0 / (double)products);
}

static void multiply_all(dome_env *env, const mm_options *o, int between, mm_clock *clock, struct matrices a, struct matrices b,
                         struct matrices c)
{
    dscalar *done = dscalar_new(env, "products", DOME_I64);
    for (long p = dscalar_get_i64(done) + 1; p <= o->products; p++) {
        compute(c, a, b, o, p);
        mm_tick(clock, o, (int)p);
        if (p % between != 0 && p != o->products)
            continue;
        dscalar_set_i64(done, p);
        dome_checkpoint(env);
        if (dome_rank(env) == 0) {
            printf("product %ld\n", p);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const bool first = dome_rank(env) == 0;
    mm_options o;
    const int between = mm_take_between(&argc, argv, first);
    if (between < 1 || !mm_parse(&o, argc, argv, first)) {
        dome_finalize(env);
        return 2;
    }
    const double begin = dome_wtime();
    const bool restarting = dome_is_restarting(env);
    const struct matrices a = make(env, "A", o.rows, o.k), b = make(env, "B", o.k, o.k), c = make(env, "C", o.rows, o.k);
    prepare(&o, a, b, c, restarting);
    dome_barrier(env);
    if (first)
        printf("begin %.6f\n", dome_wtime() - begin);
    mm_clock clock;
    mm_begin(&clock, false);
    multiply_all(env, &o, between, &clock, a, b, c);
    dome_barrier(env);
    mm_end(&clock);
    if (first) {
        dome_region_want(c.region, 0, o.rows, false);
        mm_print(&clock, sqrt(mm_squares(c.values, o.rows, o.k)), clock.processor);
    }
    return dome_finalize(env);
}
