#include "openmp/barrier.h"
#include "openmp/task.h"
#include "openmp/team.h"

bool dome__omp_barrier(void)
{
    dome_omp_thread *t = dome__omp_self();
    dome__omp_tasks_finish(t);
    t->barrier++;
    if (!dome__omp_has_others(t))
        return t->team->cancelled;
    dome__omp_give_way(t, DOME_OMP_ARRIVED);
    return t->cancelled;
}

void GOMP_barrier(void)
{
    dome__omp_barrier();
}

bool GOMP_barrier_cancel(void)
{
    return dome__omp_barrier();
}
