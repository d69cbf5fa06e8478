/* ordered(n): iterations that wait for others of the same loop. Each thread posts how far it has come, as the number of the
 * iteration in the order of the nest; who waits for an iteration knows whose it is. */
#ifndef DOME_SRC_OPENMP_DOACROSS_H
#define DOME_SRC_OPENMP_DOACROSS_H

#include "openmp/team.h"

/* After the beginning of the loop over the first dimension. */
void dome__omp_doacross_begin(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts);

#endif
