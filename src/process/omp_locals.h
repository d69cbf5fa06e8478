/* The variables that each virtual thread has for itself (threadprivate, thread_local), of the program's own file. Those of a
 * thread lie at the same addresses on all tasks, in memory that tasks do not share. */
#ifndef DOME_SRC_PROCESS_OMP_LOCALS_H
#define DOME_SRC_PROCESS_OMP_LOCALS_H

#include "core/environment.h"
#include "space/space.h"
#include "system/bytes.h"

/* Thread 0 is there. The memory by which task 0 gives thread 0's variables to the others; 0 bytes: the program has none. */
dome_space_range dome__omp_locals_range(void);

/* Before a region begins, on task 0; after that on the others, which then have thread 0's variables at their addresses: copyin
 * reads them there. */
void dome__omp_locals_give(void);
void dome__omp_locals_take(void);

/* The variables of a thread that has been made, and how many bytes they are. */
char *dome__omp_locals_of(unsigned thread);
size_t dome__omp_locals_bytes(void);

/* Appends the variables of all threads that there are, as the tasks have them that ran the threads last. Collective. Returns a
 * status of the transport. */
int dome__omp_locals_collect(dome_env *env, GByteArray *to);

/* Task 0 reads what was collected; all tasks then have the threads with these variables. Collective. *good, on task 0: it is what
 * was collected, of this program. */
int dome__omp_locals_spread(dome_env *env, dome_bytes *from, bool *good);

#endif
