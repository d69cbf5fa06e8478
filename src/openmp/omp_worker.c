#include "openmp/omp_worker.h"

#include "openmp/tasks.h"

void dome__omp_worker(void)
{
    dome_omp_fork fork;
    while (dome__omp_tasks.await_fork(&fork))
        ;
}
