/* C = A B again and again, as in Matmult of Stardust, for the tables of checkpoints and migration (bench/reports): A, B and C, of
 * which only C changes, and the number of products are in checkpoints.
 *
 *   build/bench/mm/mmsave [--rows N] [--k N] [--products N] [--between N]
 *
 * --between: products from one call of dome_checkpoint to the next (1). Rank 0 prints "begin SECONDS" when the loop begins, with
 * what making the matrices took (after a restart: reading them), "product N" after each call, and the line of mm_print. */
#include "mm_between.h"
#include "mm_kernels.h"

#include <dome/dome.h>
#include <math.h>
#include <stdio.h>

/* C = A B / products: C changes with each product. */
static void compute(dvec *c, dvec *a, const dvec *b, const mm_options *o, long products)
{
    dvec_span spans[2];
    dvec_local_spans_const(b, spans);
    dvec_map_runs(c, multiply, &(struct factors){spans[0].data, o->k, 1.0 / (double)products}, 1, &a);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    bool first = dome_rank(env) == 0;
    mm_options o;
    int between = mm_take_between(&argc, argv, first);
    if (between < 1 || !mm_parse(&o, argc, argv, first)) {
        dome_finalize(env);
        return 2;
    }
    double begin = dome_wtime();
    bool restarting = dome_is_restarting(env);
    const dvec_options *rows = DVEC_OPTIONS(.width = o.k, .block = 2);
    dvec *a = dvec_new_with(env, "A", DOME_F64, o.rows, rows), *c = dvec_new_with(env, "C", DOME_F64, o.rows, rows);
    dvec *b = dvec_new_with(env, "B", DOME_F64, o.k, DVEC_OPTIONS(.width = o.k, .distribution = DOME_WHOLE));
    dscalar *done = dscalar_new(env, "products", DOME_I64);
    if (!restarting) {
        dvec_map(a, fill, &o, 0, NULL);
        dvec_fill(c, 0);
        dvec_span spans[2];
        dvec_local_spans(b, spans);
        mm_fill_b(spans[0].data, o.k);
    }
    dome_barrier(env);
    if (first)
        printf("begin %.6f\n", dome_wtime() - begin);
    mm_clock clock;
    mm_begin(&clock, false);
    for (long p = dscalar_get_i64(done) + 1; p <= o.products; p++) {
        compute(c, a, b, &o, p);
        mm_tick(&clock, &o, (int)p);
        if (p % between != 0 && p != o.products)
            continue;
        dscalar_set_i64(done, p);
        dome_checkpoint(env);
        if (first) {
            printf("product %ld\n", p);
            fflush(stdout);
        }
    }
    double norm = sqrt(dvec_dot(c, c));
    mm_end(&clock);
    if (first)
        mm_print(&clock, norm, clock.processor);
    return dome_finalize(env);
}
