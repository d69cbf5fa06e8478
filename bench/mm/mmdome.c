/* The computation of mm.h in Dome. Blocks of 8 rows: what can move from one task to another. BLAS gets all rows of a task at
 * once. */
#include "mm_kernels.h"

#include <dome/dome.h>
#include <math.h>
#include <stdlib.h>

static double sum_over_tasks(dome_env *env, double mine)
{
    double sum = 0;
    for (int r = 0; r < dome_size(env); r++) {
        double part = mine;
        dome_bcast(env, r, DOME_F64, &part, 1);
        sum += part;
    }
    return sum;
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    mm_options o;
    if (!mm_parse(&o, argc, argv, dome_rank(env) == 0)) {
        dome_finalize(env);
        return 2;
    }
    dvec_options rows = {.size = sizeof rows, .width = o.k, .block = 8};
    dvec *x = dvec_new_with(env, "x", DOME_F64, o.rows, &rows), *y = dvec_new_with(env, "y", DOME_F64, o.rows, &rows);
    double *b = mm_matrix(o.k, o.k);
    dvec_map(x, fill, &o, 0, NULL);
    dvec_map(y, fill, &o, 0, NULL); /* so that its memory is in place, as in the other programs */
    mm_fill_b(b, o.k);

    double norm = 1;
    mm_clock clock;
    dome_barrier(env);
    mm_begin(&clock, dome_rank(env) == 0);
    for (int p = 1; p <= o.products; p++) {
        bool divide = p > 1 && mm_due(&o, p - 1);
        dvec_map_runs(y, multiply, &(struct factors){b, o.k, divide ? 1 / norm : 1}, 1, &x);
        dvec *swap = x;
        x = y;
        y = swap;
        if (mm_due(&o, p))
            norm = sqrt(dvec_dot(x, x));
        mm_tick(&clock, &o, p);
    }
    mm_end(&clock);

    double processor = sum_over_tasks(env, clock.processor);
    if (dome_rank(env) == 0)
        mm_print(&clock, norm, processor);
    free(b);
    return dome_finalize(env);
}
