/* Controls when a task records: from start to end with --dome-trace, or while the program is being viewed (trace/demand.h). */
#ifndef DOME_SRC_RECORDING_H
#define DOME_SRC_RECORDING_H

#include "core/environment.h"

/* Call before the watch starts. arguments: the program's. Returns false with *message (g_free'd) if the trace cannot be
 * written. */
bool dome__recording_prepare(dome_env *env, int rank, char **arguments, char **message);

/* Call when all tasks have started and the transport is open. */
void dome__recording_stand(dome_env *env);

/* Called between operations: begins or ends a recording as requested, and sets env->recording.poll_at to the time of the next
 * check. Never blocks. */
void dome__recording_poll(dome_env *env);

/* Call after the last operation: no recording begins after it. */
void dome__recording_finish(dome_env *env);

/* Call when the process is about to end, after closing its connection to the hub, if any. failure: the line that says why, or
 * NULL. */
void dome__recording_close(dome_env *env, int exit_status, const char *failure);

#endif
