/* The functions of tasks.h for several tasks, over memory that they keep equal. */
#ifndef DOME_SRC_PROCESS_TASKS_SPACE_H
#define DOME_SRC_PROCESS_TASKS_SPACE_H

#include "openmp/tasks.h"
#include "space/space.h"

/* From now on dome__omp_tasks is that of several tasks, if there are several, and these ranges are shared; the end of
 * dome__omp_tasks ends that. Called on a stack that is in no range, by the thread that called dome_init. Collective. Returns a
 * status, after dome__fail. */
dome_status dome__omp_tasks_begin(dome_env *env, const dome_space_range *ranges, unsigned count);

/* NULL: one task. */
dome_space *dome__omp_space(void);

/* Task 0, outside of regions: it has all values, which a child of it can then read, too. */
void dome__omp_collect(void);

/* Before a system call reads the bytes, or writes them. On the task's own context. */
void dome__omp_want(const void *address, uint64_t bytes, bool write);

#endif
