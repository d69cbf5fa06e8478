/* Functions of the C library that libdome-omp has its own of. */
#ifndef DOME_SRC_PROCESS_OMP_NEXT_H
#define DOME_SRC_PROCESS_OMP_NEXT_H

/* The C library's function of that name; ends the process if it has none. */
void (*dome__omp_next(const char *name))(void);

#endif
