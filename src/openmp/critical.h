/* Sections that one thread is in at a time, by a word that all tasks share: 0, or the number of that thread + 1. */
#ifndef DOME_SRC_OPENMP_CRITICAL_H
#define DOME_SRC_OPENMP_CRITICAL_H

#include <stdint.h>

void dome__omp_enter(uint64_t *word, const char *what);
void dome__omp_leave(uint64_t *word);

#endif
