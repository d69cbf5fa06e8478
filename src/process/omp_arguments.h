/* The program's arguments and environment, at a fixed place: pointers to them are the same in all tasks, and so is what they
 * point to. */
#ifndef DOME_SRC_PROCESS_OMP_ARGUMENTS_H
#define DOME_SRC_PROCESS_OMP_ARGUMENTS_H

#include "process/omp_image.h"

/* Collective. Task 0's arguments, which all tasks get, with its environment behind them. Names of the program that the C library
 * keeps lie there, too. */
char **dome__omp_arguments_place(dome_env *env, int *argc, char **argv);

/* Where they lie, in whole pages, with the state that omp_state.h describes at the end. */
dome_omp_part dome__omp_arguments_part(void);

/* A task other than 0 has the program's environment while it runs threads of the program, and else its own. changed: by the
 * program; NULL: it has not. */
void dome__omp_arguments_enter(char **changed);
void dome__omp_arguments_leave(void);

#endif
