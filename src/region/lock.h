/* Locks (dome/region.h), for the rest of the library. */
#ifndef DOME_SRC_REGION_LOCK_H
#define DOME_SRC_REGION_LOCK_H

#include "core/environment.h"

/* Fails by dome__fail, on all tasks alike, if a task holds a lock where the state may be saved. Collective, if the program has
 * locks and errors are returned. */
dome_status dome__locks_check(dome_env *env);

/* Frees all locks, when the environment ends. NULL is allowed. */
void dome__locks_free(dome_locks *locks);

#endif
