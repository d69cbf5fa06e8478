/* What a task records while the program runs, for --dome-trace.
 *
 * The main thread writes lines of text (docs/trace-format.md) into a ring of fixed size; another thread, the watcher or one of
 * the trace's own, takes them out and passes them on, so that what was recorded is safe should the task crash. Operations that
 * are short against the time the program has run are merged, so a trace grows with the logarithm of that time and not with the
 * number of operations. When the ring is full, lines are left out and counted.
 *
 * Every function but dome__trace_take is for the main thread. A trace may be NULL: then nothing happens. */
#ifndef DOME_SRC_TRACE_RECORD_H
#define DOME_SRC_TRACE_RECORD_H

#include <dome/structure.h>

#include <glib.h>

typedef struct dome_trace dome_trace;

/* Bytes of the longest line. */
enum { DOME_TRACE_LINE = 12000 };

/* number: of the recording (trace/demand.h); 0: that of --dome-trace. */
dome_trace *dome__trace_new(int rank, uint32_t number);
uint32_t dome__trace_number(const dome_trace *trace);
void dome__trace_free(dome_trace *trace);

/* The program stands: who this task is. */
void dome__trace_stand(dome_trace *trace, const dome_env *env);

/* What a recording on demand says of the time before it. */
typedef struct dome_trace_before {
    uint64_t ran_ns; /* since the program stood */
    bool checkpoints;
    uint64_t checkpoint, checkpoint_ns; /* the last one written, and how long ago that was */
    double imbalance;                   /* that balancing measured last; 0: none */
} dome_trace_before;

/* The program stands since long: objects and layouts that are there, the totals so far. */
void dome__trace_catch_up(dome_trace *trace, const dome_trace_before *before);

/* The name of an operation that is registered now. */
void dome__trace_operation_name(dome_trace *trace, uint32_t code);

/* An outermost operation has ended. Times in ns, of dome__now_ns. */
void dome__trace_operation(dome_trace *trace, uint32_t code, const dome_object *object, uint64_t start, uint64_t took,
                           uint64_t wait);

/* Within operations. Short ones are not recorded. */
void dome__trace_wait(dome_trace *trace, int rank, uint64_t start, uint64_t took);
void dome__trace_evaluation(dome_trace *trace, unsigned operations, uint64_t start, uint64_t took);

/* Data of one length has moved: what this task has sent. */
void dome__trace_migration(dome_trace *trace, const dome_layout *layout, uint64_t start, uint64_t bytes, uint64_t blocks);

/* A phase of balancing. imbalance: largest computing time over mean since the phase before; elapsed: seconds since then. */
void dome__trace_phase(dome_trace *trace, uint64_t start, bool moved, double imbalance, double elapsed);

/* A checkpoint: the time for which the program stood still for it; written: bytes that this task writes. */
void dome__trace_checkpoint(dome_trace *trace, uint64_t number, uint64_t start, uint64_t written);

/* It could not be written. */
void dome__trace_checkpoint_failed(dome_trace *trace, uint64_t number);

/* The program has been restarted from a checkpoint. */
void dome__trace_restart(dome_trace *trace, uint64_t number);

void dome__trace_object(dome_trace *trace, const dome_object *object);
void dome__trace_object_gone(dome_trace *trace, const dome_object *object);

/* Dynamic objects of its length and block size follow this layout from now on. */
void dome__trace_layout(dome_trace *trace, const dome_layout *layout);

/* Writes what is merged or held back, and the totals of all operations. */
void dome__trace_flush(dome_trace *trace);

/* ---- for the thread that passes lines on ---- */

/* The task's clock as the trace has it. */
uint64_t dome__trace_now(const dome_trace *trace);

/* Appends whole lines, at most about `most` bytes (DOME_TRACE_LINE or more), to `lines`. wait_ns: how long the task has waited
 * for others so far. False when nothing is left. */
bool dome__trace_take(dome_trace *trace, uint64_t wait_ns, bool last, size_t most, GString *lines);

/* A measurement of the clock: the hub's clock was `offset` ahead of the task's at `time`, to within `error`. */
void dome__trace_clock(dome_trace *trace, int64_t offset, uint64_t time, uint64_t error, GString *lines);

/* Seconds until the next measurement of the clock should be begun. */
double dome__trace_clock_due(dome_trace *trace);

/* ---- text ---- */

/* A text as one field of a line: no spaces, no control characters, valid UTF-8. */
void dome__trace_put_text(GString *line, const char *text);

#endif
