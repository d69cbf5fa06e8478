/* Conjugate gradients on the 5-point Poisson matrix of an M x M grid, right-hand side 1, without preconditioner: seconds for an
 * iteration, and the residual's square after 100 of them, which has to be the same for all rivals.
 *
 *     cg [M [SECONDS]]
 */
#include "case_dome.h"

#include <stdlib.h>

enum { ITERATIONS = 100 };

int main(int argc, char **argv)
{
    static case_times times;
    case_cg cg;
    dome_env *env = dome_init(&argc, &argv);
    size_t m = argc > 1 ? (size_t)atof(argv[1]) : 1000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    case_cg_new(&cg, env, m);
    int turns = case_turns(ITERATIONS * 4e-9 * (double)m * (double)m, budget);
    for (int turn = -1; turn < turns; turn++) {
        double rr = case_cg_start(&cg);
        dome_barrier(env);
        double begin = case_now();
        rr = case_cg_iterate(&cg, ITERATIONS, rr);
        if (turn >= 0) {
            case_note(&times, "dome", turn, (case_now() - begin) / ITERATIONS);
            case_note(&times, "rr", turn, rr);
        }
    }
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
