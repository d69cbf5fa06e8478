#include "openmp/barrier.h"
#include "openmp/task.h"

bool dome__omp_barrier(void)
{
    dome_omp_thread *t = dome__omp_self();
    dome__omp_tasks_finish(t);
    t->barrier++;
    if (!dome__omp_has_others(t))
        return t->team->cancelled;
    dome__omp_arrive(t, DOME_OMP_ARRIVED);
    return t->cancelled;
}

unsigned dome__omp_row_next(dome_omp_thread *t, dome_omp_row *row, unsigned slots)
{
    if (row->barrier == t->barrier && row->loops == slots) {
        t->barrier++;
        dome__omp_arrive(t, DOME_OMP_ARRIVED);
    }
    if (row->barrier != t->barrier)
        *row = (dome_omp_row){.barrier = t->barrier};
    return row->loops++;
}

void GOMP_barrier(void)
{
    dome__omp_barrier();
}

bool GOMP_barrier_cancel(void)
{
    return dome__omp_barrier();
}
