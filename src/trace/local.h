/* The trace of a program of one task, which has no hub: a thread writes it. */
#ifndef DOME_SRC_TRACE_LOCAL_H
#define DOME_SRC_TRACE_LOCAL_H

#include "trace/record.h"
#include "trace/sink.h"

typedef struct dome_trace_local dome_trace_local;

/* Both stay the caller's. */
dome_trace_local *dome__trace_local_start(dome_trace *trace, dome_trace_sink *sink);

/* Passes on what is left. failure: the line that says why the program failed, or NULL. NULL for local is allowed. */
void dome__trace_local_stop(dome_trace_local *local, const char *failure);

#endif
