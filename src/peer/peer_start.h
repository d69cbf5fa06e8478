/* The service channel of a program: env->peer. */
#ifndef DOME_SRC_PEER_START_H
#define DOME_SRC_PEER_START_H

#include "core/environment.h"
#include "peer/peer.h"

/* Starts it, if it does not run yet; there is none with a single task. Collective. Fails by dome__fail: the connections for
 * `what` cannot be made. */
int dome__peer_start(dome_env *env, const char *what);

/* What waits for other tasks must be over. */
void dome__peer_stop(dome_env *env);

#endif
