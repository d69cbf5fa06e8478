/* Threads that look again and again at what another thread is to change: that one must run, so they give way. */
#ifndef DOME_SRC_OPENMP_SPIN_H
#define DOME_SRC_OPENMP_SPIN_H

#include "openmp/team.h"

/* The thread has found this value there. */
void dome__omp_looked(dome_omp_thread *t, const volatile void *address, uint64_t value);

/* The thread is about to enter a section that one thread is in at a time. It may look there for what others are to do, so after
 * many entries others run: as many whatever the number of tasks is, since the order must not depend on that. */
void dome__omp_entered(dome_omp_thread *t);

/* The thread has changed something, or called what is no look. */
static inline void dome__omp_acted(dome_omp_thread *t)
{
    t->spins = 0;
}

#endif
