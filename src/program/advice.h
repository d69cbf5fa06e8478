/* One line of advice at the end of a profile, if the figures clearly call for it. */
#ifndef DOME_SRC_ADVICE_H
#define DOME_SRC_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Shares are of the time of all tasks together. */
typedef struct dome_figures {
    int tasks, crowd, processors;           /* crowd: number of tasks on the host of task 0; processors: of that host */
    const char *host;                       /* that host */
    double seconds;                         /* run time of the program */
    double waiting, balancing, checkpoints; /* shares; waiting for slower tasks in a phase does not count as balancing */
    double without;                         /* share of the time in which tasks could have run and had no processor */
    double imbalance;                       /* largest computing time over mean */
    int slowest;                            /* the task with the largest computing time */
    bool balances;                          /* load balancing is on */
    bool random;                            /* --dome-balance random */
    uint64_t every;                         /* --dome-balance-every; 0: not given */
    bool automatic;                         /* --dome-checkpoint-every auto */
    uint64_t phases;
    double between; /* mean seconds of computing between two communications of a task */
} dome_figures;

/* Returns the advice, g_free'd by the caller; NULL if there is none. */
char *dome__advice(const dome_figures *f);

#endif
