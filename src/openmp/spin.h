/* Threads that look again and again at what another thread is to change: that one must run, so they give way. */
#ifndef DOME_SRC_OPENMP_SPIN_H
#define DOME_SRC_OPENMP_SPIN_H

#include "openmp/team.h"

/* The thread has found this value there. */
void dome__omp_looked(dome_omp_thread *t, const volatile void *address, uint64_t value);

/* The thread has changed something, or called what is no look. */
static inline void dome__omp_acted(dome_omp_thread *t)
{
    t->spins = 0;
}

#endif
