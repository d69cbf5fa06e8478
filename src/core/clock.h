/* The operation clock: what computing costs this task, by operation, by object and by block.
 *
 * Waiting for other tasks is not computing: the transport counts it, and operation.c subtracts it. A call of an element-wise
 * operation only records it; eval.c times whole lists of them and apportions the time, so that recording one stays cheap. */
#ifndef DOME_SRC_CLOCK_H
#define DOME_SRC_CLOCK_H

#include "system/time.h"

#include <dome/env.h>
#include <dome/layout.h>

#include <glib.h>

struct dome_operation;

/* The costs of one operation. */
typedef struct dome_clock_entry {
    uint64_t count;
    uint64_t compute_ns; /* waiting excluded */
    uint64_t wait_ns;
    uint64_t bytes; /* of vector values read and written */
} dome_clock_entry;

/* The clock of an environment (struct dome_clock) starts when all tasks have started. */
struct dome_clock *dome__clock_new(void);
void dome__clock_free(struct dome_clock *clock);
void dome__clock_start(dome_env *env);
uint64_t dome__clock_ran_ns(const dome_env *env); /* since then */

/* The kernel's counts for a thread. */
typedef struct dome_processor_time {
    uint64_t had_ns;    /* it ran */
    uint64_t wanted_ns; /* it could have run, but others did, or a limit stopped it; both 0: not known */
} dome_processor_time;

/* Of the thread that started the clock, since then, without yields in vain. From any thread. */
dome_processor_time dome__clock_processor(const dome_env *env);

/* Lets other threads run first, if there are any that want to: for the thread of the clock, while it waits for something. Returns
 * how long that took, ns; the caller looks whether the thing is there now, and says so. To the kernel the thread could have run
 * all the time, but until then it had nothing to do: if the thing is there, for half of the time, as far as one can tell. */
uint64_t dome__yield(void);
void dome__yielded(uint64_t ns, bool there);

/* Of the wall time `waited` for which a thread has waited for others: the part in which it really waited. In the rest it could
 * have run, and had no processor. all: a stretch of wall time, in which the thread had a processor for `had`, and wanted one in
 * vain for `wanted`. It slept for the rest of the stretch, and has waited at most that long. Any unit. */
double dome__really_waited(double all, double had, double wanted, double waited);

/* dome__end at a time, by dome__now_ns, that the caller knows already; 0: it does not. */
dome_status dome__end_at(struct dome_operation *op, dome_status status, uint64_t now);

const dome_clock_entry *dome__clock_entry_of(const dome_env *env, uint32_t code);

/* Deferred work ran within another operation: the share of an operation that recorded it, and the time of all shares, which is
 * not the other operation's. */
void dome__clock_charge(dome_env *env, uint32_t code, uint64_t ns, uint64_t bytes);
void dome__clock_charged(dome_env *env, uint64_t ns);

/* A task has waited for so long before an operation began, on behalf of `code`. */
void dome__clock_waited(dome_env *env, uint32_t code, uint64_t ns);

/* Blocks of other tasks were computed, in so much time. */
void dome__clock_helped(dome_env *env, uint64_t ns, uint64_t blocks);
uint64_t dome__clock_helped_blocks(const dome_env *env);

/* This task has worked for so long on what the others have no part in, and wait for: that says nothing about its speed. */
void dome__clock_apart(dome_env *env, uint64_t ns);
uint64_t dome__clock_apart_ns(const dome_env *env);

/* A page fault of the program began at `start`, when the task had waited for start_wait, and ends now: what it took was no
 * computing. Of the thread of the clock alone; a virtual thread that it runs has another pthread_self. */
void dome__clock_faulted(dome_env *env, uint64_t start, uint64_t start_wait);
bool dome__clock_runs_here(const dome_env *env);

/* Time so far that was not spent on this task's own work: it waited, or computed blocks of other tasks. */
uint64_t dome__clock_away_ns(const dome_env *env);

uint64_t dome__processor_ns(void);              /* processor time of this thread */
dome_processor_time dome__processor_time(void); /* of this thread since it began */

/* Speed of the processor while it runs this thread: steps of a fixed computation per nanosecond of processor time. Takes about a
 * millisecond. */
double dome__processor_speed(void);

/* The same steps per second of wall time, measured for so many seconds. */
double dome__speed_now(double seconds);

/* ---- by block ----
 *
 * Elements that a function of the program computes may differ in cost. Such functions are timed in processor time of this thread,
 * so that the relative costs of a task's blocks do not depend on other processes that use the processor (wall time tells the
 * speed of the task as a whole). Reading that clock takes a fraction of a microsecond, so cheap blocks are timed several at a
 * time, and not in every call. */

/* The blocks of all vectors of one length and block size. */
typedef struct dome_block_times {
    uint64_t length, block_size, blocks;
    /* ns: by block of this task, time since the balancer last read it, from calls that timed small enough groups of blocks. */
    double *ns;
    double per_block; /* approximate time of a block in one call; 0: unknown */
    double dearest;   /* the same for the most expensive of the recent calls */
    unsigned calls;
    bool uneven; /* blocks are known to differ: set by learn.c */
} dome_block_times;

/* The block times of a layout, created if missing. */
dome_block_times *dome__block_times(dome_env *env, const dome_layout *layout);
void dome__block_times_forget(dome_env *env, uint64_t length, uint64_t block_size);

typedef struct dome_block_clock {
    dome_block_times *times; /* NULL: this call is not timed */
    const dome_env *env;
    uint64_t first, count; /* elements computed since the clock was read */
    uint64_t stride;       /* elements after which to read it */
    int64_t begin, last;   /* when the call began, when it was last read, ns */
    uint64_t blocks;       /* of the whole call */
    uint64_t local;        /* blocks of this task */
} dome_block_clock;

/* layout: that of a vector whose blocks may move; NULL: nothing is measured. */
void dome__block_clock_start(dome_block_clock *clock, dome_env *env, const dome_layout *layout);
void dome__block_clock_read(dome_block_clock *clock);
void dome__block_clock_stop(dome_block_clock *clock);

/* Notes that `count` elements from `first` on have been computed. They are whole blocks (except for a vector's last block). */
static inline void dome__block_clock_tick(dome_block_clock *clock, uint64_t first, uint64_t count)
{
    if (!clock->times)
        return;
    if (clock->count > 0 && first != clock->first + clock->count)
        dome__block_clock_read(clock);
    if (clock->count == 0)
        clock->first = first;
    clock->count += count;
    if (clock->count >= clock->stride)
        dome__block_clock_read(clock);
}

#endif
