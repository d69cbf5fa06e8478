/* Pointers to what only another task has: a local variable of a thread that it runs, memory that a library has got there. Such an
 * access ends the program, after one line that says so. */
#ifndef DOME_SRC_PROCESS_OMP_FOREIGN_H
#define DOME_SRC_PROCESS_OMP_FOREIGN_H

void dome__omp_foreign_begin(void);

#endif
