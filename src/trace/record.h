/* The records of a task while the program runs, for --dome-trace.
 *
 * The main thread writes lines of text (docs/trace-format.md) into a ring of fixed size. Another thread, the watcher or the
 * trace's own, takes the lines out and passes them on, so that the recorded lines survive a crash of the task. Operations that
 * are short compared with the time the program has run are merged, so a trace grows with the logarithm of that time and not with
 * the number of operations. When the ring is full, lines are left out and counted.
 *
 * All functions but dome__trace_take are for the main thread. With NULL for the trace they do nothing. */
#ifndef DOME_SRC_TRACE_RECORD_H
#define DOME_SRC_TRACE_RECORD_H

#include "trace/element_run.h"

#include <dome/structure.h>

#include <glib.h>

typedef struct dome_trace dome_trace;

/* Length of the longest line, in bytes. */
enum { DOME_TRACE_LINE = 12000 };

/* number: of the recording (trace/demand.h); 0: that of --dome-trace. */
dome_trace *dome__trace_new(int rank, uint32_t number);
uint32_t dome__trace_number(const dome_trace *trace);
void dome__trace_free(dome_trace *trace);

/* Called when the program is set up: records which task this is. */
void dome__trace_stand(dome_trace *trace, const dome_env *env);

/* The statement of a recording on demand about the time before it. */
typedef struct dome_trace_before {
    uint64_t ran_ns; /* since the program was set up */
    bool checkpoints;
    uint64_t checkpoint, checkpoint_ns; /* the last checkpoint written, and its age */
    double imbalance;                   /* last measured by balancing; 0: none */
} dome_trace_before;

/* Begins a recording in a running program: records the present objects and layouts, and the totals so far. */
void dome__trace_catch_up(dome_trace *trace, const dome_trace_before *before);

/* Records the name of an operation that has just been registered. */
void dome__trace_operation_name(dome_trace *trace, uint32_t code);

/* Records an outermost operation that has ended. Times are those of dome__now_ns, in ns. */
void dome__trace_operation(dome_trace *trace, uint32_t code, const dome_object *object, uint64_t start, uint64_t took,
                           uint64_t wait);

/* Records time spent waiting within an operation, unless it is short. */
void dome__trace_wait(dome_trace *trace, int rank, uint64_t start, uint64_t took);
void dome__trace_evaluation(dome_trace *trace, unsigned operations, uint64_t start, uint64_t took);

/* Records that this task has computed blocks of another one, since `start`. */
void dome__trace_help(dome_trace *trace, int rank, uint64_t start, uint64_t blocks);

/* Records a migration of the data of one length: what this task has sent. */
void dome__trace_migration(dome_trace *trace, const dome_layout *layout, uint64_t start, uint64_t bytes, uint64_t blocks);

/* Records a phase of balancing. imbalance: largest computing time over mean since the phase before; elapsed: seconds since then.
 */
void dome__trace_phase(dome_trace *trace, uint64_t start, bool moved, double imbalance, double elapsed);

/* Records a checkpoint: the time for which the program stood still; written: bytes that this task writes. */
void dome__trace_checkpoint(dome_trace *trace, uint64_t number, uint64_t start, uint64_t written);

/* Records that a checkpoint could not be written. */
void dome__trace_checkpoint_failed(dome_trace *trace, uint64_t number);

/* Records a restart from a checkpoint. */
void dome__trace_restart(dome_trace *trace, uint64_t number);

void dome__trace_object(dome_trace *trace, const dome_object *object);
void dome__trace_object_gone(dome_trace *trace, const dome_object *object);

/* Records the layout of the dynamic objects of its length and block size from now on. */
void dome__trace_layout(dome_trace *trace, const dome_layout *layout);

/* The regions of one name, and what this task, for its member, has done to one of their units so far. */
typedef struct dome_trace_region {
    const char *name; /* "": regions without a name */
    uint64_t reads, writes, units, bytes, waited_ns;
} dome_trace_region;
void dome__trace_region(dome_trace *trace, const dome_trace_region *region);

/* A unit of a region: the elements that this task has written, for the task `task`, and those at which it read and had to wait.
 * Left out if it does not fit into a line. */
typedef struct dome_trace_unit {
    const char *name;
    uint64_t region; /* among those of the name */
    uint64_t unit, task, turns;
    const dome_element_run *written, *read;
    uint64_t written_count, read_count;
} dome_trace_unit;
void dome__trace_unit(dome_trace *trace, const dome_trace_unit *unit);

/* Called whenever totals are written: for what other parts have added up. */
typedef void dome_trace_totals(dome_trace *trace, void *ctx);
void dome__trace_on_totals(dome_trace *trace, dome_trace_totals *totals, void *ctx);

/* Writes merged operations and held-back layouts, and the totals of all operations. */
void dome__trace_flush(dome_trace *trace);

/* ---- for the thread that passes lines on ---- */

/* The task's time on the trace's clock. */
uint64_t dome__trace_now(const dome_trace *trace);

/* Appends whole lines, at most about `most` bytes (DOME_TRACE_LINE or more), to `lines`. wait_ns: how long the task has waited
 * for others so far. Returns false when the ring is empty. */
bool dome__trace_take(dome_trace *trace, uint64_t wait_ns, bool last, size_t most, GString *lines);

/* Appends a measurement of the clock: the hub's clock was `offset` ahead of the task's at `time`, to within `error`. */
void dome__trace_clock(dome_trace *trace, int64_t offset, uint64_t time, uint64_t error, GString *lines);

/* Seconds until the next measurement of the clock is due. */
double dome__trace_clock_due(dome_trace *trace);

/* ---- text ---- */

/* Appends text as one field of a line: no spaces, no control characters, valid UTF-8. */
void dome__trace_put_text(GString *line, const char *text);

#endif
