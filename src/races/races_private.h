/* What races.c (what threads do) and races_between.c (what tasks tell each other) share. */
#ifndef DOME_SRC_RACES_PRIVATE_H
#define DOME_SRC_RACES_PRIVATE_H

#include "openmp/tasks.h"
#include "races/races.h"
#include "races/watched.h"

/* Two threads that have written the same bytes. */
typedef struct dome_omp_race {
    const char *at;
    uint64_t bytes;
    uint32_t threads[2];
    int tasks[2];
    const void *function;
} dome_omp_race;

void dome__omp_race_found(const dome_omp_race *race);

/* Where all threads have met: races between threads of different tasks. pages: gint64 *, the numbers of those that threads of
 * this task have written. Collective. Returns a status of the transport. */
int dome__omp_races_between(dome_env *env, const dome_omp_writes *writes, const dome_omp_watched *watched, GHashTable *pages);

#endif
