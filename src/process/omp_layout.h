/* Which task runs which threads. The threads of a team are an object whose elements balancing deals to tasks in runs, as those of
 * a vector (balance/balance.h): by the tasks' speeds, and by what single threads cost where they differ.
 *
 *     task 0                                  the other tasks
 *     fork  ------------------------------->  await_fork
 *     dome__omp_layout_fork(64, bytes)        dome__omp_layout_fork(64, bytes)     an operation before which data may move
 *     threads 0 to 36                         threads 37 to 63              each pass over them is timed
 *
 * What moves with a thread are its own variables (omp_locals.h). What it has in shared memory follows as it is used, and its
 * stack holds nothing between regions. There is one such object for each size of team. */
#ifndef DOME_SRC_PROCESS_OMP_LAYOUT_H
#define DOME_SRC_PROCESS_OMP_LAYOUT_H

#include "core/environment.h"

/* From now on dome__omp_tasks deals threads by layouts, if there is balancing. Collective. */
void dome__omp_layout_begin(dome_env *env);

/* The memory that threads share, as task 0 knows it: variables, and the heap of thread 0. */
uint64_t dome__omp_layout_bytes(void);

/* A region of so many threads begins: threads move if that pays. bytes: dome__omp_layout_bytes of task 0. Collective. */
void dome__omp_layout_fork(unsigned threads, uint64_t bytes);

#endif
