#include "openmp/omp_worker.h"

#include "openmp/omp_output.h"
#include "openmp/omp_state.h"
#include "openmp/tasks.h"

/* The functions of memory alone. */
static dome_omp_tasks memory;

static bool await_fork(dome_omp_fork *fork)
{
    dome__omp_state_leave();
    if (!memory.await_fork(fork))
        return false;
    dome__omp_state_take();
    return true;
}

static void meet(uint64_t place)
{
    if (memory.rank != 0)
        dome__omp_output_give();
    memory.meet(place);
    dome__omp_output_print();
}

void dome__omp_worker_begin(void)
{
    memory = dome__omp_tasks;
    dome__omp_tasks.await_fork = await_fork;
    dome__omp_tasks.meet = meet;
}
