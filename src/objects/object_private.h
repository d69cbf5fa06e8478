/* The registry's inner side. */
#ifndef DOME_SRC_OBJECT_PRIVATE_H
#define DOME_SRC_OBJECT_PRIVATE_H

#include "runtime/environment.h"

/* Makes layout the one that dynamic objects of its length and block size share. Takes a reference of its own. */
void dome__env_set_layout(dome_env *env, const dome_layout *layout);

/* Completes all deferred work. Collective: what one task found is the failure of all. */
int dome__env_sync(dome_env *env);

#endif
