/* The paths that have to be short, each walked a fixed number of times between two notes to callgrind (hot_paths.py). The numbers
 * are of instructions, so they do not depend on the machine's speed; --dome-kernels baseline makes them independent of its
 * vectors. */
#include <dome/dome.h>
#include <stdio.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

#ifdef CALLGRIND_ZERO_STATS
#define BEGIN     CALLGRIND_ZERO_STATS
#define END(name) CALLGRIND_DUMP_STATS_AT(name)
#define KNOWN     1
#else
#define BEGIN     (void)0
#define END(name) (void)name
#define KNOWN     0
#endif

enum { SMALL = 16, LARGE = 1 << 17, CALLS = 200, PASSES = 4 };

static double checked; /* so that nothing can be left out */

static void scale(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const double *x = in[0], a = *(double *)ctx;
    double *z = out;
    (void)first;
    for (size_t i = 0; i < count; i++)
        z[i] = a * x[i];
}

static void chain(dvec *d, const dvec *a, const dvec *b, dvec *t, dvec *u)
{
    dvec_mul(t, a, a);
    dvec_mul(u, b, b);
    dvec_add(t, t, u);
    dvec_sqrt(t, t);
    dvec_div(u, a, b);
    dvec_sub(t, t, u);
    dvec_muls(u, b, 0.5);
    dvec_add(d, t, u);
}

static void small_paths(dome_env *env)
{
    dvec *x = dvec_new(env, "small x", DOME_F64, SMALL), *y = dvec_new(env, "small y", DOME_F64, SMALL);
    dvec *t = dvec_new(env, "small t", DOME_F64, SMALL), *u = dvec_new(env, "small u", DOME_F64, SMALL);
    dvec *d = dvec_new(env, "small d", DOME_F64, SMALL);
    dvec_span span[2];
    dvec_random(x, 1);
    dvec_random(y, 2);
    dvec_adds(y, y, 1);
    for (int pass = 0; pass < 2; pass++) { /* the first makes everything warm */
        BEGIN;
        for (int k = 0; k < CALLS; k++) {
            dvec_add(x, x, y);
            dvec_local_spans_const(x, span);
        }
        END("small.one");
        BEGIN;
        for (int k = 0; k < CALLS; k++) {
            chain(d, x, y, t, u);
            dvec_local_spans_const(d, span);
        }
        END("small.chain");
        BEGIN;
        for (int k = 0; k < CALLS; k++)
            checked += dvec_dot(x, y);
        END("small.dot");
        BEGIN;
        for (int k = 0; k < CALLS; k++)
            checked += dvec_sum(x);
        END("small.sum");
    }
}

static void large_paths(dome_env *env)
{
    dvec *x = dvec_new(env, "x", DOME_F64, LARGE), *y = dvec_new(env, "y", DOME_F64, LARGE);
    dvec *t = dvec_new(env, "t", DOME_F64, LARGE), *u = dvec_new(env, "u", DOME_F64, LARGE);
    dvec *d = dvec_new(env, "d", DOME_F64, LARGE), *index = dvec_new(env, "index", DOME_I64, LARGE);
    dvec_span span[2];
    double factor = 1.5;
    dvec_random(x, 1);
    dvec_random(y, 2);
    dvec_adds(y, y, 1);
    dvec_iota(index);
    checked += dvec_sum(x) + dvec_sum(y) + dvec_sum(index);
    for (int pass = 0; pass < 2; pass++) {
        BEGIN;
        for (int k = 0; k < PASSES; k++) {
            chain(d, x, y, t, u);
            checked += dvec_sum(d);
        }
        END("large.chain");
        dvec_local_spans_const(d, span); /* what nobody has read may not have been stored */
        BEGIN;
        for (int k = 0; k < PASSES; k++) {
            dvec_axpy(d, 0.25, x);
            dvec_local_spans_const(d, span);
        }
        END("large.axpy");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            checked += dvec_sum(x);
        END("large.sum");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            checked += dvec_dot(x, y);
        END("large.dot");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            checked += dvec_norm2(x);
        END("large.norm2");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            checked += dvec_min_value(x);
        END("large.min_value");
        dvec_map(d, scale, &factor, 1, &x); /* adds up the blocks, in case the program asks for the sum again */
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            dvec_map(d, scale, &factor, 1, &x);
        END("large.map");
        BEGIN;
        for (int k = 0; k < PASSES; k++) {
            dvec_map(d, scale, &factor, 1, &x);
            checked += dvec_sum(d);
        }
        END("large.map_sum");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            dvec_scan(d, x);
        END("large.scan");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            dvec_roll(d, x, 1000);
        END("large.shift");
        dvec_local_spans_const(index, span);
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            dvec_gather(d, x, index);
        END("large.gather");
        BEGIN;
        for (int k = 0; k < PASSES; k++)
            dvec_scatter(d, x, index);
        END("large.scatter");
    }
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    small_paths(env);
    large_paths(env);
    dome_print(env, "%d %g %d %d\n", KNOWN, checked, SMALL * CALLS, LARGE * PASSES);
    return dome_finalize(env);
}
