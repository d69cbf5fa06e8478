/* ordered: the chunks of an ordered loop take turns, by a word that has the number of the chunk which may. */
#ifndef DOME_SRC_OPENMP_ORDERED_LOOP_H
#define DOME_SRC_OPENMP_ORDERED_LOOP_H

#include "openmp/team.h"

/* After the beginning of the loop. */
void dome__omp_ordered_begin(dome_omp_thread *t);

/* The thread has done its chunk: the next one may. Nothing if it has none. */
void dome__omp_ordered_done(dome_omp_thread *t);

#endif
