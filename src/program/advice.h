/* One line of advice at the end of a profile, where the figures clearly ask for it. */
#ifndef DOME_SRC_ADVICE_H
#define DOME_SRC_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Shares are of all tasks' time together. */
typedef struct dome_figures {
    int tasks, crowd, processors;           /* crowd: tasks on the host of task 0, which has so many processors */
    const char *host;                       /* that host */
    double seconds;                         /* the program ran for */
    double waiting, balancing, checkpoints; /* shares; waiting for slower tasks in a phase is no balancing */
    double imbalance;                       /* largest computing time over mean */
    int slowest;                            /* the task with it */
    bool balances;                          /* load balancing is on */
    bool random;                            /* at random */
    uint64_t every;                         /* operations from phase to phase, as given; 0: not given */
    bool automatic;                         /* checkpoints are written as often as pays */
    uint64_t phases;
    double between; /* seconds of computing from one communication to the next, mean of a task */
} dome_figures;

/* g_free'd by the caller; NULL: there is none to give. */
char *dome__advice(const dome_figures *f);

#endif
