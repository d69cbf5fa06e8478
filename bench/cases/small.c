/* What a call costs where there is little to compute: element-wise operations on vectors of N values (16), recorded and run.
 *
 *     small [N [SECONDS]]
 *
 *     record.run   one operation, in chains of 16 that are run by asking for a pointer
 *     single       one operation and the question for the pointer */
#include "case.h"

#include <dome/dome.h>
#include <stdlib.h>

enum { CHAIN = 16, CALLS = 2000 };

static double chains(dvec *x, dvec *y, int length, int calls)
{
    dvec_span span[2];
    double begin = case_now();
    for (int call = 0; call < calls; call++) {
        for (int op = 0; op < length; op++)
            (op % 2 ? dvec_sub : dvec_add)(x, x, y);
        dvec_local_spans_const(x, span);
    }
    return (case_now() - begin) / calls / length;
}

int main(int argc, char **argv)
{
    static case_times times;
    dome_env *env = dome_init(&argc, &argv);
    size_t n = argc > 1 ? (size_t)atof(argv[1]) : 16;
    dvec *x = dvec_new(env, "x", DOME_F64, n), *y = dvec_new(env, "y", DOME_F64, n);
    dvec_random(x, 1);
    dvec_random(y, 2);
    chains(x, y, CHAIN, 10);
    int turns = case_turns(2 * CALLS * CHAIN * 3e-7, argc > 2 ? atof(argv[2]) : 1);
    for (int turn = 0; turn < turns; turn++) {
        case_note(&times, "record.run", turn, chains(x, y, CHAIN, CALLS));
        case_note(&times, "single", turn, chains(x, y, 1, CALLS));
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
