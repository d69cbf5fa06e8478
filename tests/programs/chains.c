/* A chain whose result is summed and then read, so many times; tests/scripts/chains.sh counts how often it was computed.
 *
 *     chains [TIMES [rounding]]        rounding: of the functions that make whole numbers, and others that are in generated code
 */
#include <dome/dome.h>
#include <stdlib.h>
#include <string.h>

static void round_off(dvec *d)
{
    dvec_muls(d, d, 1000.5);
    dvec_floor(d, d);
    dvec_rsubs(d, d, 0.25);
    dvec_ceil(d, d);
    dvec_divs(d, d, 3);
    dvec_round(d, d);
    dvec_subs(d, d, 2000.75);
    dvec_trunc(d, d);
    dvec_rdivs(d, d, -1e5);
}

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    int times = argc > 1 ? atoi(argv[1]) : 1;
    const size_t n = 5000;
    dvec *a = dvec_new(env, "a", DOME_F64, n), *d = dvec_new(env, "d", DOME_F64, n);
    dvec_random(a, 1);
    for (int k = 0; k < times; k++) {
        dvec_span span[2];
        dvec_mul(d, a, a);
        dvec_adds(d, d, k);
        if (argc > 2 && strcmp(argv[2], "rounding") == 0)
            round_off(d);
        double sum = dvec_sum(d), own = 0;
        dvec_local_spans_const(d, span);
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < span[s].count; i++)
                own += ((const double *)span[s].data)[i];
        if (!(own >= 0 && own <= sum * (1 + 1e-9)))
            dome_abort(env, "the values have the sum %g, dvec_sum says %g", own, sum);
    }
    return dome_finalize(env);
}
