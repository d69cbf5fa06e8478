/* What happens beside memory where tasks of a program fork and meet. */
#ifndef DOME_SRC_PROCESS_OMP_WORKER_H
#define DOME_SRC_PROCESS_OMP_WORKER_H

#include <dome/env.h>

/* From now on the functions of dome__omp_tasks do it, too. */
void dome__omp_worker_begin(const dome_env *env);

/* A thread ends the program inside of a region, of several tasks: at once, by _exit, or by exit. Called in the task's own
 * context. Returns on task 0, if it is a thread of it that may end the program now. */
void dome__omp_end_region(int status, bool at_once);

#endif
