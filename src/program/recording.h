/* When a task records: from its start to its end with --dome-trace, or while somebody looks at the program (trace/demand.h). */
#ifndef DOME_SRC_RECORDING_H
#define DOME_SRC_RECORDING_H

#include "core/environment.h"

/* Before this task is watched. arguments: of the program. False with *message (g_free'd): the trace cannot be written. */
bool dome__recording_prepare(dome_env *env, int rank, char **arguments, char **message);

/* The program stands, and its transport is there. */
void dome__recording_stand(dome_env *env);

/* Between operations: begins or ends to record if that is asked for, and says in env->look_at when to ask again. Never waits. */
void dome__recording_look(dome_env *env);

/* The last operation is over: nothing begins any more. */
void dome__recording_finish(dome_env *env);

/* The process is about to end, and its line to the hub, if there is one, is closed. failure: the line that says why, or NULL. */
void dome__recording_close(dome_env *env, int exit_status, const char *failure);

#endif
