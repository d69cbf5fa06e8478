/* single: thread 0's. */
#include "openmp/barrier.h"
#include "openmp/shared.h"
#include "openmp/team.h"

bool GOMP_single_start(void)
{
    return dome__omp_self()->number == 0;
}

void *GOMP_single_copy_start(void)
{
    if (dome__omp_self()->number == 0)
        return NULL;
    dome__omp_barrier();
    if (dome__omp_tasks.rank != 0)
        dome__omp_tasks.take_locals();
    return (void *)(uintptr_t)dome__omp_shared()->copyprivate;
}

void GOMP_single_copy_end(void *data)
{
    if (!dome__omp_has_others(dome__omp_self()))
        return;
    dome__omp_tasks.give_locals(); /* the data may name variables of its own */
    dome__omp_shared()->copyprivate = (uint64_t)(uintptr_t)data;
    dome__omp_barrier();
}
