/* cg.c and pvm_cg.c in the same tasks, by rivals in turns: seconds for an iteration.
 *
 *     cg_turns [M [SECONDS]] */
#include "case_dome.h"
#include "core/environment.h"
#include "hand_cg.h"
#include "transport/collective.h"

#include <pvm3.h>
#include <stdlib.h>

enum { ITERATIONS = 20 };

struct vectors {
    case_cg dome;
    hand_cg hand;
};

static double by_dome(struct vectors *v)
{
    return case_cg_iterate(&v->dome, ITERATIONS, case_cg_start(&v->dome));
}

static double by_hand(struct vectors *v)
{
    return hand_cg_iterate(&v->hand, ITERATIONS, hand_cg_start(&v->hand));
}

static const case_rival rivals[] = {{"dome", by_dome, 0}, {"hand", by_hand, 0}};

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    size_t m = argc > 1 ? (size_t)atof(argv[1]) : 1000;
    double budget = argc > 2 ? atof(argv[2]) : 3;
    struct vectors v = {.hand = {.rank = dome_rank(env), .size = dome_size(env)}};
    if (v.hand.size > HAND_CG_TASKS)
        dome_abort(env, "at most %d tasks", HAND_CG_TASKS);
    if (v.hand.size > 1) {
        int32_t tid = pvm_mytid(), tids[HAND_CG_TASKS];
        if (dome__allgather(env->transport, DOME_I32, &tid, 1, tids))
            dome_abort(env, "%s", env->transport->reason);
        for (int r = 0; r < v.hand.size; r++)
            v.hand.tids[r] = tids[r];
    }
    case_cg_new(&v.dome, env, m);
    hand_cg_new(&v.hand, m);
    case_compete(env, rivals, 2, &v, 1, ITERATIONS, budget);
    hand_cg_free(&v.hand);
    return dome_finalize(env);
}
