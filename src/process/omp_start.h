/* The beginning and the end of an OpenMP program's process.
 *
 *     ld.so          libraries are there; nothing of the program has run
 *     here           dome_init: this process is one of the tasks (the hub stays in it)
 *                    what must be equal in all tasks is compared
 *     task 0         constructors, main, exit: on the stack of thread 0, which lies at the same place in all tasks
 *     other tasks    constructors, for what they do inside of libraries; then regions (team.h)
 *     at the end     all tasks: dome_finalize
 */
#ifndef DOME_SRC_PROCESS_OMP_START_H
#define DOME_SRC_PROCESS_OMP_START_H

#include <dome/env.h>

/* NULL before dome_init and after dome_finalize. */
dome_env *dome__omp_env(void);

/* Of main's stack: what tasks share, and what is saved. */
char *dome__omp_first_stack_low(void);
char *dome__omp_first_stack_end(void);

/* A task other than 0, whose threads run no more: until the program ends. In its own context. */
void dome__omp_become_other(void) __attribute__((noreturn));

/* What _exit does, for a thread of the program that is in no region. */
void dome__omp_exit_at_once(int status) __attribute__((noreturn));

#endif
