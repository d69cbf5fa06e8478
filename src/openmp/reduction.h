/* Reductions over tasks (task_reduction, in_reduction, reduction(task, ...)), and memory that the threads of a work-sharing
 * construct have in common. The compiler describes reductions by words:
 *
 *     [0] how many  [1] bytes for a thread  [2] alignment; then: address  [3] allocator  [4] the next such block
 *     [5] not 0 where a list of blocks begins  [6] end of the memory  then for each: [0] the variable, [1] offset, [2] its block
 */
#ifndef DOME_SRC_OPENMP_REDUCTION_H
#define DOME_SRC_OPENMP_REDUCTION_H

#include "openmp/team.h"

/* Memory for `threads` threads, zeroed. */
void dome__omp_reductions_allocate(uintptr_t *reductions, unsigned threads);

/* At the start of a work-sharing construct: enters the reductions, if there are some, as those of thread 0;
 * *memory, if there is: how many bytes are asked for, then where they are. */
void dome__omp_sharing_memory(dome_omp_thread *t, uintptr_t *reductions, void **memory);

#endif
