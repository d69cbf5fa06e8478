/* What the rest of the library does with the program's messages. */
#ifndef DOME_SRC_COMM_COMM_H
#define DOME_SRC_COMM_COMM_H

#include "core/environment.h"

/* NULL is allowed: the environment's part is made by the first message. */
void dome__comm_free(dome_comm *comm);

/* Collective. Fails on all tasks, with a line that names sender and receiver, if a message has been sent and not received, or a
 * request has not been waited for. */
dome_status dome__comm_settled(dome_env *env);

/* The same without failing: *text (g_free'd) is then that line, the same on all tasks, or NULL. Returns a status of
 * communication. */
int dome__comm_open(dome_env *env, char **text);

/* Collective, in dome_finalize: rank 0 prints a line about the first message that nobody has received, if any. Returns a status.
 */
int dome__comm_finish(dome_env *env);

#endif
