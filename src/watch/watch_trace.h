/* The trace that a task's watch sends to the hub. watch_trace.c alone changes these members. */
#ifndef DOME_SRC_WATCH_TRACE_H
#define DOME_SRC_WATCH_TRACE_H

#include "trace/record.h"
#include "watch/watch_beats.h"
#include "watch/watch_line.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct watch_trace {
    dome_trace *trace;           /* the one that is sent; NULL: none */
    _Atomic(dome_trace *) next;  /* the one to send next; NULL: no change */
    atomic_uint_fast32_t wanted; /* number of the recording on demand that the hub asks for; 0: none */
    double passed_at;            /* when records were last sent */
} watch_trace;

void dome__watch_trace_clear(watch_trace *t);

/* The hub asks for this recording, or for none. */
void dome__watch_trace_want(watch_trace *t, uint32_t number);

/* By the task's own thread: another trace to send, or NULL. False: the one before has not been taken yet. */
bool dome__watch_trace_offer(watch_trace *t, dome_trace *trace);

/* Before the thread starts: the trace to send. */
void dome__watch_trace_begin(watch_trace *t, dome_trace *trace);

/* Takes the trace that was offered. last: sends all records that there are, the last of the trace. */
void dome__watch_trace_take(watch_trace *t, watch_line *line, watch_beats *beats, bool last);

/* At time `now`: sends records if that is due. Returns the seconds until it is due again, at most `wait`. */
double dome__watch_trace_turn(watch_trace *t, watch_line *line, watch_beats *beats, double now, double wait);

/* The hub's answer to the question for its clock. */
void dome__watch_trace_clock(const watch_trace *t, watch_line *line, const dome_wire_clock *clock);

#endif
