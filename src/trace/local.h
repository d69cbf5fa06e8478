/* The trace of a program of one task, which has no hub: a thread writes it. */
#ifndef DOME_SRC_TRACE_LOCAL_H
#define DOME_SRC_TRACE_LOCAL_H

#include "runtime/environment.h"

dome_trace_local *dome__trace_local_start(dome_trace *trace, const char *path, const char *command, bool append);

/* The program is over; failure: the line that says why it failed, or NULL. NULL for local is allowed. */
void dome__trace_local_stop(dome_trace_local *local, int exit_status, const char *failure);

#endif
