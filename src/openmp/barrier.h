#ifndef DOME_SRC_OPENMP_BARRIER_H
#define DOME_SRC_OPENMP_BARRIER_H

#include <stdbool.h>

/* Waits for all threads of the caller's team. True: the region is cancelled. */
bool dome__omp_barrier(void);

#endif
