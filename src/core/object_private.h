/* The registry's inner side. */
#ifndef DOME_SRC_OBJECT_PRIVATE_H
#define DOME_SRC_OBJECT_PRIVATE_H

#include "core/environment.h"

/* Makes layout the one that dynamic objects of its length and block size share. Takes a reference of its own. */
void dome__env_set_layout(dome_env *env, const dome_layout *layout);

/* Deferred work of this object is done by hooks->settle, with that of others. why: why its values cannot be computed, NULL if
 * they can. */
void dome__object_defers(dome_object *object, const char *(*why)(const dome_object *object));

/* Completes all deferred work. The first object for which that has failed with *status, or NULL. Values that cannot be computed
 * are no failure here: they are one of the operation that needs them. Not collective. */
dome_object *dome__env_unsettled(dome_env *env, int *status);

/* The same: whether nothing has failed. */
bool dome__env_settle(dome_env *env);

/* The same, but some objects may put off to compute again what was computed for others. */
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
