/* ordered(n). The nest is described before the loop begins. */
#include "kmpc/kmpc.h"
#include "openmp/doacross.h"

typedef struct dimension {
    int64_t lower, upper, step; /* clang counts iterations from 0; upper is their number */
} dimension;

void __kmpc_doacross_init(KMPC_PLACE, int32_t dimensions, const dimension *nest)
{
    dome_omp_thread *t = dome__omp_self();
    uint64_t counts[DOME_OMP_DIMENSIONS] = {0};
    dome__kmpc_unused(place, number);
    for (int k = 0; k < dimensions && k < DOME_OMP_DIMENSIONS; k++)
        counts[k] = (uint64_t)(nest[k].upper - nest[k].lower);
    dome__omp_doacross_set(t, (unsigned)dimensions, counts);
    t->asked.doacross = dome__omp_has_others(t);
}

void dome__kmpc_loop_begun(dome_omp_thread *t)
{
    if (t->asked.doacross)
        dome__omp_doacross_take_slot(t);
    t->asked.doacross = false;
}

void __kmpc_doacross_fini(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
}

void __kmpc_doacross_post(KMPC_PLACE, const int64_t *at)
{
    dome__kmpc_unused(place, number);
    dome__omp_doacross_post(dome__omp_self(), (const uint64_t *)at);
}

/* An iteration that there is not need not be waited for. */
void __kmpc_doacross_wait(KMPC_PLACE, const int64_t *at)
{
    dome_omp_thread *t = dome__omp_self();
    dome__kmpc_unused(place, number);
    if (!dome__omp_has_others(t))
        return;
    for (unsigned k = 0; k < t->doacross.dimensions; k++)
        if ((uint64_t)at[k] >= t->doacross.counts[k])
            return;
    dome__omp_doacross_wait(t, (const uint64_t *)at);
}
