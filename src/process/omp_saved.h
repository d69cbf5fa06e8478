/* The program's memory as an object of checkpoints, and of the state that goes from one view of the program to the next. It is
 * taken where task 0 begins a parallel region, when all tasks know of the region and none has begun it:
 *
 *     task 0     main ... GOMP_parallel                       the other tasks
 *                fork  ----------------------------------->   await_fork
 *                dome__omp_saved_boundary                     dome__omp_saved_boundary
 *                    is something due? then each task packs its share of the memory, which is equal everywhere
 *                threads of the region                        threads of the region
 *
 *     a program that goes on: task 0's memory is as it was there, and it begins the same region once more
 *
 * Addresses stand in the memory as they are, so the same build of the program goes on, with the same libraries, on processors
 * that are alike, on any number of tasks. What the C library keeps for itself is not there: open files and streams, what atexit
 * was given, a jmp_buf that setjmp has filled before. The stacks of threads other than 0 are not saved: where a region begins
 * they hold nothing. */
#ifndef DOME_SRC_PROCESS_OMP_SAVED_H
#define DOME_SRC_PROCESS_OMP_SAVED_H

#include <dome/env.h>

#include <stdbool.h>

/* All that is shared is shared, and nothing of the program has run but constructors. True: the program goes on from where it was
 * taken, and task 0 has its memory. Collective. Ends the program with one line if it cannot. */
bool dome__omp_saved_begin(dome_env *env);

/* A loop boundary of the program. Collective, in the tasks' own contexts. Does not return if the program enters another view. */
void dome__omp_saved_boundary(void);

/* Whether the program may be saved at all. */
bool dome__omp_is_saved(void);

#endif
