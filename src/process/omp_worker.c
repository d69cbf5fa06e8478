#include "process/omp_worker.h"

#include "changes/changes.h"
#include "core/environment.h"
#include "openmp/tasks.h"
#include "process/omp_layout.h"
#include "process/omp_locals.h"
#include "process/omp_output.h"
#include "process/omp_saved.h"
#include "process/omp_state.h"
#include "process/omp_streams.h"
#include "process/omp_touch.h"

/* The functions of memory alone. */
static dome_omp_tasks memory;

static unsigned threads_of(const dome_omp_fork *fork)
{
    return fork->words[DOME_OMP_FORK_THREADS] & 0xffffffff;
}

/* All tasks know of the region, and none has begun it: a place at which the program can be saved. */
static void fork_tasks(const dome_omp_fork *fork)
{
    dome_omp_fork told = *fork;
    told.words[DOME_OMP_FORK_BYTES] = dome__omp_layout_bytes();
    dome__omp_locals_give();
    memory.fork(&told);
    dome__omp_saved_boundary();
    dome__omp_layout_fork(threads_of(fork), told.words[DOME_OMP_FORK_BYTES]);
}

static bool await_fork(dome_omp_fork *fork)
{
    dome__omp_signals_leave();
    dome__omp_state_leave();
    if (!memory.await_fork(fork))
        return false;
    dome__omp_locals_take();
    dome__omp_saved_boundary();
    dome__omp_state_take();
    dome__omp_signals_take();
    dome__omp_streams_follow();
    dome__omp_layout_fork(threads_of(fork), fork->words[DOME_OMP_FORK_BYTES]);
    return true;
}

static void meet(uint64_t place)
{
    if (memory.rank != 0)
        dome__omp_output_give();
    memory.meet(place);
    dome__omp_output_print();
    if (memory.rank != 0)
        dome__omp_streams_follow();
}

static bool is_kept_equal(const void *at, size_t bytes)
{
    return dome__omp_tasks.size > 1 && (dome__omp_tasks.is_shared(at) || dome__omp_tasks.is_shared((const char *)at + bytes - 1));
}

void dome__omp_worker_begin(const dome_env *env)
{
    dome__changes_taken = is_kept_equal;
    memory = dome__omp_tasks;
    dome__omp_tasks.saves = dome__omp_is_saved();
    dome__omp_tasks.fork = fork_tasks;
    dome__omp_tasks.await_fork = await_fork;
    dome__omp_tasks.meet = meet;
    dome__omp_tasks.any_order = env->options.omp_order == DOME_OMP_ORDER_ANY;
    dome__omp_tasks.at_once = env->options.omp_tasks == DOME_OMP_TASKS_AT_ONCE;
    dome__omp_signals_begin();
    dome__omp_tasks.give_locals = dome__omp_locals_give;
    dome__omp_tasks.take_locals = dome__omp_locals_take;
}
