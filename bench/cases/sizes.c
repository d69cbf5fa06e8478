/* What a value costs as vectors grow: x = x a and its sum, seconds per value for N = 1000 ... MOST.
 *
 *     sizes [MOST [SECONDS]]
 *
 * With MOST of 3e8 there is one vector just below and one just above 2^31 bytes. */
#include "case.h"

#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>

static double timed(dvec *x, size_t n, int repeats)
{
    double begin = case_now(), sum = 0;
    for (int k = 0; k < repeats; k++) {
        dvec_muls(x, x, 1.0000001);
        sum += dvec_sum(x);
    }
    return (case_now() - begin) / repeats / (double)n + 1e-30 * (sum > 0);
}

int main(int argc, char **argv)
{
    static case_times times;
    static const double lengths[] = {1e3, 1e4, 1e5, 1e6, 1e7, 3e7, 1e8, 2.6e8, 2.8e8};
    static char names[sizeof lengths / sizeof *lengths][32];
    dome_env *env = dome_init(&argc, &argv);
    double most = argc > 1 ? atof(argv[1]) : 1e8, budget = argc > 2 ? atof(argv[2]) : 3;
    int turns = case_turns(most * 1.5e-9 * 2, budget);
    for (int turn = 0; turn < turns; turn++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths && lengths[k] <= most; k++) {
            size_t n = (size_t)lengths[k];
            dvec *x = dvec_new(env, "x", DOME_F64, n);
            dvec_fill(x, 1.5);
            dvec_sum(x);
            snprintf(names[k], sizeof names[k], "n=%g", lengths[k]);
            case_note(&times, names[k], turn, timed(x, n, n > 3000000 ? 2 : (int)(10000000 / n)));
            dvec_free(x);
        }
    case_print(&times);
    return dome_finalize(env);
}
