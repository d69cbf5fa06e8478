/* What happens beside memory where tasks of a program fork and meet. */
#ifndef DOME_SRC_PROCESS_OMP_WORKER_H
#define DOME_SRC_PROCESS_OMP_WORKER_H

#include <dome/env.h>

/* From now on the functions of dome__omp_tasks do it, too. */
void dome__omp_worker_begin(const dome_env *env);

#endif
