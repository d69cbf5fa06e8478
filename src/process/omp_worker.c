#include "process/omp_worker.h"

#include "changes/changes.h"
#include "core/environment.h"
#include "openmp/shared.h"
#include "openmp/team.h"
#include "process/omp_layout.h"
#include "process/omp_locals.h"
#include "process/omp_output.h"
#include "process/omp_saved.h"
#include "process/omp_start.h"
#include "process/omp_state.h"
#include "process/omp_streams.h"
#include "process/omp_touch.h"
#include "program/start.h"
#include "system/say.h"
#include "system/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions of memory alone. */
static dome_omp_tasks memory;

static uint64_t meetings; /* of this region, so far */

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
    meetings = 0;
    dome__omp_saved_boundary();
    dome__omp_layout_fork(threads_of(fork), told.words[DOME_OMP_FORK_BYTES]);
}

static bool await_fork(dome_omp_fork *fork)
{
    dome__omp_signals_leave();
    dome__omp_state_leave();
    if (!memory.await_fork(fork))
        return false;
    meetings = 0;
    dome__omp_locals_take();
    dome__omp_saved_boundary();
    dome__omp_state_take();
    dome__omp_signals_take();
    dome__omp_streams_follow();
    dome__omp_layout_fork(threads_of(fork), fork->words[DOME_OMP_FORK_BYTES]);
    return true;
}

static void meet_all(uint64_t place)
{
    if (memory.rank != 0)
        dome__omp_output_give();
    memory.meet(place);
    meetings++;
    dome__omp_output_print();
    dome__omp_state_take();
    if (memory.rank != 0)
        dome__omp_streams_follow();
}

/* ---- the end inside of a region ---- */

/* A thread calls exit. Its task says so in memory that all share, and goes to a meeting, to which the others come as soon as
 * their threads have arrived at one or cannot go on. Behind it task 0 ends the program as if it had called exit, and the others
 * wait. The word has the number of that meeting: a task that comes from the one before may see it already. */
enum { STATUS = 0xff, AT_ONCE = 1 << 8, MEETING_SHIFT = 16, PLACE_OF_END = 0x656e64, PATIENCE = 10 /* seconds */ };

static const dome_env *program;
static int given_up; /* 1: all have met */

static struct {
    int status;
    char *output; /* that other tasks would not see */
    size_t output_bytes;
} ending;

/* One that computes for ever never comes. */
static void *give_up(void *unused)
{
    (void)unused;
    sleep(PATIENCE);
    if (__atomic_exchange_n(&given_up, 1, __ATOMIC_ACQ_REL))
        return NULL;
    char *line = g_strdup_printf("task %d on host %s has called exit (status %d) in a parallel region, and other tasks have come "
                                 "to no barrier for %d seconds: the program ends without what it has registered for its end",
                                 program->rank, program->hosts[program->rank], ending.status, (int)PATIENCE);
    dome__omp_output_show(ending.output, ending.output_bytes);
    dome__start_failed(dome__omp_env(), ending.status, line);
}

/* The first that ends the program by this meeting of the region, from 1; -1: none does. */
static int who_ends_by(uint64_t meeting)
{
    const uint64_t *ends = dome__omp_shared()->ends;
    for (int r = 0; r < memory.size; r++)
        if (ends[r] >> MEETING_SHIFT == meeting)
            return r;
    return -1;
}

static void end_by_first(void)
{
    const uint64_t word = dome__omp_shared()->ends[who_ends_by(meetings)];
    dome__omp_leave_region(dome__omp_running);
    if (word & AT_ONCE)
        dome__omp_exit_at_once((int)(word & STATUS));
    exit((int)(word & STATUS));
}

/* All have met. Returns if a thread of task 0 is about to end the program. */
static void end_together(int who)
{
    if (__atomic_exchange_n(&given_up, 1, __ATOMIC_ACQ_REL))
        for (;;)
            pause();
    if (memory.rank != 0)
        dome__omp_become_other();
    if (who != 0)
        dome__omp_end_by_first(end_by_first);
}

static void meet(uint64_t place)
{
    meet_all(place);
    const int who = who_ends_by(meetings);
    if (who >= 0)
        end_together(who);
}

static void await(uint64_t seen)
{
    if (who_ends_by(meetings + 1) >= 0)
        meet(PLACE_OF_END);
    else
        memory.await(seen);
}

void dome__omp_end_region(int status, bool at_once)
{
    static uint8_t all[DOME_OMP_MAX_TASKS];
    pthread_t thread;
    memset(all, 1, sizeof all);
    ending.status = status & STATUS;
    ending.output = dome__omp_output_kept(&ending.output_bytes);
    memory.enter();
    dome__omp_shared()->ends[memory.rank] = (meetings + 1) << MEETING_SHIFT | (at_once ? AT_ONCE : 0) | (uint64_t)ending.status;
    memory.leave(&(dome_omp_telling){all, false, -1});
    const int error = dome__thread_start(&thread, give_up, NULL);
    if (error)
        dome__say("task %d may wait for ever for the others: %s", memory.rank, strerror(error));
    else
        pthread_detach(thread);
    meet(PLACE_OF_END);
}

/* ---- */

static bool is_kept_equal(const void *at, size_t bytes)
{
    return dome__omp_tasks.size > 1 && (dome__omp_tasks.is_shared(at) || dome__omp_tasks.is_shared((const char *)at + bytes - 1));
}

void dome__omp_worker_begin(const dome_env *env)
{
    dome__changes_taken = is_kept_equal;
    memory = dome__omp_tasks;
    program = env;
    dome__omp_tasks.saves = dome__omp_is_saved();
    dome__omp_tasks.fork = fork_tasks;
    dome__omp_tasks.await_fork = await_fork;
    dome__omp_tasks.meet = meet;
    dome__omp_tasks.await = await;
    dome__omp_tasks.any_order = env->options.omp_order == DOME_OMP_ORDER_ANY;
    dome__omp_tasks.at_once = env->options.omp_tasks == DOME_OMP_TASKS_AT_ONCE;
    dome__omp_signals_begin();
    dome__omp_tasks.give_locals = dome__omp_locals_give;
    dome__omp_tasks.take_locals = dome__omp_locals_take;
}
