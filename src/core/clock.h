/* The operation clock: what computing costs this task, by operation, by object and by block.
 *
 * Waiting for other tasks is not computing: the transport counts it, and operation.c subtracts it. Element-wise operations are
 * only recorded when they are called; eval.c times whole lists of them and shares the time out, so that recording one stays
 * cheap. */
#ifndef DOME_SRC_CLOCK_H
#define DOME_SRC_CLOCK_H

#include "core/time.h"

#include <dome/env.h>
#include <dome/layout.h>

#include <glib.h>

/* What one operation has cost. */
typedef struct dome_clock_entry {
    uint64_t count;
    uint64_t compute_ns; /* waiting excluded */
    uint64_t wait_ns;
    uint64_t bytes; /* of vectors read and written by computing */
} dome_clock_entry;

uint64_t dome__processor_ns(void); /* that this thread has had */

/* How fast this thread's processor is while it runs the thread: some multiplications and additions per nanosecond. Takes
 * about a millisecond. */
double dome__processor_speed(void);

/* How much of the same this thread gets done in a second of wall time: looks for so many seconds. */
double dome__speed_now(double seconds);

/* ---- by block ----
 *
 * In dvec_map elements may differ in cost. What its kernels take is measured in processor time of this thread: what the blocks
 * of one task cost in relation to each other does not depend on who else uses the processor (wall time says how fast the task is
 * as a whole). Reading that clock takes a fraction of a microsecond, so cheap blocks are timed
 * several at a time, and not in every call. */

/* The blocks of all vectors of one length and block size. */
typedef struct dome_block_times {
    uint64_t length, block_size, blocks;
    double
        *ns; /* by block, of this task's: since balance last looked; from calls that told blocks apart (not of dvec_map_runs) */
    double per_block; /* what a block takes in one call, about; 0: not known */
    double dearest;   /* the same in the dearest of the last calls */
    unsigned calls;
    bool uneven; /* blocks are known to differ: set by learn.c */
} dome_block_times;

/* Those of a layout; made when they are not there. */
dome_block_times *dome__block_times(dome_env *env, const dome_layout *layout);
void dome__block_times_free(void *times);
void dome__block_times_forget(dome_env *env, uint64_t length, uint64_t block_size);

typedef struct dome_block_clock {
    dome_block_times *times; /* NULL: this call is not timed */
    uint64_t first, count;   /* elements computed since the clock was read */
    uint64_t stride;         /* elements after which to read it */
    uint64_t last;           /* what it showed, ns */
    uint64_t begin, blocks;  /* the whole call */
    uint64_t local;          /* blocks of this task */
} dome_block_clock;

/* layout: of a vector whose blocks may move; else NULL, nothing is measured. */
void dome__block_clock_start(dome_block_clock *clock, dome_env *env, const dome_layout *layout);
void dome__block_clock_read(dome_block_clock *clock);
void dome__block_clock_stop(dome_block_clock *clock);

/* `count` elements from `first` on have been computed. They are whole blocks (but for the last of a vector). */
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
