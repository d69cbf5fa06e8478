/* ordered(n): iterations that wait for others of the same loop. Each thread posts how far it has come, as the number of the
 * iteration in the order of the nest; who waits for an iteration knows whose it is. */
#ifndef DOME_SRC_OPENMP_DOACROSS_H
#define DOME_SRC_OPENMP_DOACROSS_H

#include "openmp/team.h"

/* After the beginning of the loop over the first dimension. */
void dome__omp_doacross_begin(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts);

/* The same in two steps: the nest; then, behind the beginning of the loop, its slot in a team of several threads. */
void dome__omp_doacross_set(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts);
void dome__omp_doacross_take_slot(dome_omp_thread *t);

/* The thread has come to an iteration; it waits for another thread's. at: for each loop of the nest the number of the iteration.
 */
void dome__omp_doacross_post(dome_omp_thread *t, const uint64_t *at);
void dome__omp_doacross_wait(dome_omp_thread *t, const uint64_t *at);

#endif
