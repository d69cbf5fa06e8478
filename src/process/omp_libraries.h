/* The libraries that are not the program's own: libdome-omp, and all that it needs. */
#ifndef DOME_SRC_PROCESS_OMP_LIBRARIES_H
#define DOME_SRC_PROCESS_OMP_LIBRARIES_H

#include <stdbool.h>

void dome__omp_libraries_begin(void);

/* Whether the code is theirs. */
bool dome__omp_libraries_have(const void *code);

/* Whether it is the C library's. */
bool dome__omp_libraries_is_c(const void *code);

#endif
