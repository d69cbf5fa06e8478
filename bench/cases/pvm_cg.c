/* cg.c by hand for PVM, over direct connections.
 *
 *     pvm_cg TASKS [M [SECONDS]]
 *
 * Starts a daemon in PVM_TMP if there is none, and halts it. */
#include "case.h"
#include "hand_cg.h"

#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ITERATIONS = 100, WHO = 3 };

/* Rank 0 starts the others and tells them who takes part. */
static int enrol(hand_cg *cg, const char *path, char **arguments, int *started)
{
    *started = 0;
    int parent = -1;
    if (cg->size > 1) {
        if (!getenv("PVM_CG_CHILD")) {
            *started = pvm_start_pvmd(0, NULL, 1) >= 0;
            setenv("PVM_CG_CHILD", "1", 1);
            setenv("PVM_EXPORT", "PVM_CG_CHILD", 1);
        } else {
            parent = 0;
        }
        int me = pvm_mytid();
        if (me < 0)
            return -1;
        pvm_setopt(PvmRoute, PvmRouteDirect);
        if (parent < 0) {
            cg->tids[0] = me;
            if (pvm_spawn((char *)path, arguments, PvmTaskDefault, "", cg->size - 1, cg->tids + 1) != cg->size - 1)
                return -1;
            pvm_initsend(PvmDataRaw);
            pvm_pkint(cg->tids, cg->size, 1);
            pvm_mcast(cg->tids + 1, cg->size - 1, WHO);
        } else {
            pvm_recv(-1, WHO);
            pvm_upkint(cg->tids, cg->size, 1);
            while (cg->tids[cg->rank] != me)
                cg->rank++;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static case_times times;
    hand_cg cg = {.size = argc > 1 ? atoi(argv[1]) : 1};
    size_t m = argc > 2 ? (size_t)atof(argv[2]) : 1000;
    double budget = argc > 3 ? atof(argv[3]) : 3;
    char path[4096] = "";
    int started;
    if (cg.size < 1 || cg.size > HAND_CG_TASKS || readlink("/proc/self/exe", path, sizeof path - 1) < 0 ||
        enrol(&cg, path, argv + 1, &started) < 0) {
        fprintf(stderr, "pvm_cg: the tasks could not be started\n");
        return 1;
    }
    hand_cg_new(&cg, m);
    int turns = case_turns(ITERATIONS * 4e-9 * (double)m * (double)m, budget);
    for (int turn = -1; turn < turns; turn++) {
        double rr = hand_cg_start(&cg), begin = case_now();
        rr = hand_cg_iterate(&cg, ITERATIONS, rr);
        if (turn >= 0) {
            case_note(&times, "pvm", turn, (case_now() - begin) / ITERATIONS);
            case_note(&times, "rr", turn, rr);
        }
    }
    if (cg.rank == 0)
        case_print(&times);
    hand_cg_free(&cg);
    if (cg.size > 1) {
        hand_cg_sum(&cg, 0); /* nobody leaves while others wait */
        pvm_exit();
    }
    if (cg.rank == 0 && cg.size > 1 && started) {
        signal(SIGTERM, SIG_IGN);
        pvm_halt();
    }
    return 0;
}
