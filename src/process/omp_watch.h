/* Races are looked for in the program's variables, heap and stack of main. */
#ifndef DOME_SRC_PROCESS_OMP_WATCH_H
#define DOME_SRC_PROCESS_OMP_WATCH_H

#include "core/environment.h"

/* With one task, before the program has a heap: notes where it is. */
void dome__omp_watch_heap(void);

/* Before main begins, or goes on, on the stack that ends there. Ends the program with a line if races cannot be looked for. */
void dome__omp_watch_begin(dome_env *env, char *stack_end);

#endif
