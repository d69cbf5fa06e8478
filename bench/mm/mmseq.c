/* The computation of mm.h in one process. */
#include "mm.h"

#include <math.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    mm_options o;
    if (!mm_parse(&o, argc, argv, true))
        return 2;
    double *x = mm_matrix(o.rows, o.k), *y = mm_matrix(o.rows, o.k), *b = mm_matrix(o.k, o.k);
    mm_fill_x(x, 0, o.rows, o.k);
    mm_fill_b(b, o.k);

    double norm = 1;
    mm_clock clock;
    mm_begin(&clock, true);
    for (int p = 1; p <= o.products; p++) {
        bool divide = p > 1 && mm_due(&o, p - 1);
        mm_multiply(y, x, b, o.rows, o.k, divide ? 1 / norm : 1);
        double *swap = x;
        x = y;
        y = swap;
        if (mm_due(&o, p))
            norm = sqrt(mm_squares(x, o.rows, o.k));
        mm_tick(&clock, &o, p);
    }
    mm_end(&clock);

    mm_print(&clock, norm, clock.processor);
    free(x);
    free(y);
    free(b);
    return 0;
}
