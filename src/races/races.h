/* Races between threads of an OpenMP program, found by what they leave in memory: bytes that two threads have given different
 * values, without an act of synchronisation between. A read is not seen, and a write of the value that was there neither.
 *
 *     dome__omp_races_begin(&(dome_omp_races_setup){env, space, DOME_RACES_WARN, name});
 *     dome__omp_races_watch(heap, bytes);                 // with one task; the space has the memory of several
 *     ... regions run (dome__omp_watcher) ...
 *     dome__omp_races_end();
 */
#ifndef DOME_SRC_RACES_H
#define DOME_SRC_RACES_H

#include "core/environment.h"
#include "space/space.h"

typedef struct dome_omp_races_setup {
    dome_env *env;
    dome_space *space; /* NULL: one task */
    bool is_error;     /* the first one ends the program */
    /* What is at an address, for a message: g_free'd. bytes: reads memory without a fault; NULL: there is none. */
    char *(*name)(const void *address, const void *(*bytes)(const void *address));
    char *(*function)(const void *address);
} dome_omp_races_setup;

/* From now on races are looked for. NULL, or why they cannot: a static text. */
const char *dome__omp_races_begin(const dome_omp_races_setup *setup);

/* More memory: of the program itself, in whole pages; of the space, with this number. */
const char *dome__omp_races_watch(void *at, uint64_t bytes);
const char *dome__omp_races_watch_part(unsigned part);

/* Whether races are looked for in what is at the address. */
bool dome__omp_races_has(const void *address);

/* A block of memory has got another owner. exempt: it is a library's, which has locks of its own. */
void dome__omp_races_block(const void *address, uint64_t bytes, bool exempt);

/* A line says how many were found, if they were more than have been shown. */
void dome__omp_races_end(void);

#endif
