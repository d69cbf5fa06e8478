/* The registry's inner side. */
#ifndef DOME_SRC_OBJECT_PRIVATE_H
#define DOME_SRC_OBJECT_PRIVATE_H

#include "core/environment.h"

/* Makes layout the one that dynamic objects of its length and block size share. Takes a reference of its own. */
void dome__env_set_layout(dome_env *env, const dome_layout *layout);

/* Completes all deferred work. Values that cannot be computed are no failure here: they are one of the operation that needs them.
 * Collective: what one task found is the failure of all. */
int dome__env_sync(dome_env *env);

/* The same without agreeing or reporting. Whether nothing has failed here. Not collective. */
bool dome__env_settle(dome_env *env);

/* The same, but dvecs may put off to compute again what was computed for others. */
bool dome__env_advance(dome_env *env);

/* Completes the deferred work of one object. NULL, or why it has failed, to be g_free'd. */
char *dome__object_settle(dome_object *object);

/* Whether the object says itself what its blocks cost. */
bool dome__object_has_cost(const dome_object *object);

/* Whether the program gave it its name: only then can it be found again after a restart. */
bool dome__object_is_named(const dome_object *object);

/* Whether it has a form of its own for checkpoints. */
bool dome__object_has_place(const dome_object *object);
bool dome__object_has_write(const dome_object *object);

#endif
