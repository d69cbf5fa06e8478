/* Functions for the rest of the library that concern the program's messages. */
#ifndef DOME_SRC_COMM_COMM_H
#define DOME_SRC_COMM_COMM_H

#include "core/environment.h"

/* NULL is allowed: the environment's part is made by the first message. */
void dome__comm_free(dome_comm *comm);

/* Collective. *text (g_free'd): a message that has been sent and not received, or a request that has not been waited for, with
 * its sender and receiver, the same text on all tasks; NULL if there is none. Nothing is received: a message may be long. Fails
 * by dome__fail, and returns a status. */
int dome__comm_open(dome_env *env, char **text);

/* Collective, in dome_finalize: rank 0 prints a line about the first message that nobody has received, if any. Returns a status.
 */
int dome__comm_finish(dome_env *env);

#endif
