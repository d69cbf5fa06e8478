#ifndef DOME_SRC_OPENMP_BARRIER_H
#define DOME_SRC_OPENMP_BARRIER_H

#include "openmp/team.h"

/* Waits for all threads of the caller's team. True: the region is cancelled. */
bool dome__omp_barrier(void);

/* The thread begins the next loop of a row; the loop's slot. The team meets when the row has used all slots, so that no thread
 * takes one of a loop that others are still in. */
unsigned dome__omp_row_next(dome_omp_thread *t, dome_omp_row *row, unsigned slots);

#endif
