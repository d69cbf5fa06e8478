/* What the C library keeps from one call to the next for functions that have no other place for it: in the program's memory, the
 * same on all tasks. */
#ifndef DOME_SRC_CLIB_OMP_LIBRARY_H
#define DOME_SRC_CLIB_OMP_LIBRARY_H

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef struct dome_omp_random {
    bool begun;
    struct random_data data;
    char words[128]; /* as many as the C library has by itself */
} dome_omp_random;

typedef struct dome_omp_library {
    uint64_t lock; /* the holder's number + 1 */
    dome_omp_random random;
    struct drand48_data random48;
    struct hsearch_data table;
    char *tokens; /* where strtok goes on */
    struct tm time;
    char time_text[64];
} dome_omp_library;

/* All zero at first. For threads of the program alone. */
dome_omp_library *dome__omp_library(void);

/* In a region, around what threads may call at the same time: one of them at a time, in the order of threads. */
void dome__omp_library_enter(void);
void dome__omp_library_leave(void);

#endif
