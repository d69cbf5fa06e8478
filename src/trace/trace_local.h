/* The trace of a program of a single task, which has no hub: a thread of the task writes it. */
#ifndef DOME_SRC_TRACE_TRACE_LOCAL_H
#define DOME_SRC_TRACE_TRACE_LOCAL_H

#include "trace/record.h"
#include "trace/sink.h"

typedef struct dome_trace_local dome_trace_local;

/* The caller keeps both. */
dome_trace_local *dome__trace_local_start(dome_trace *trace, dome_trace_sink *sink);

/* Passes on the remaining lines. failure: the error message with which the program failed, or NULL. `local` may be NULL. */
void dome__trace_local_stop(dome_trace_local *local, const char *failure);

#endif
