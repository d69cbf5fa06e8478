/* Internal functions of the registry. */
#ifndef DOME_SRC_OBJECT_PRIVATE_H
#define DOME_SRC_OBJECT_PRIVATE_H

#include "core/environment.h"

/* The id of the newest object; and so that the next ones get larger ids than that. */
uint64_t dome__registry_last_id(const dome_env *env);
void dome__registry_skip(dome_env *env, uint64_t last_id);

/* Sets the layout that dynamic objects of its length and block size share. Takes its own reference. */
void dome__env_set_layout(dome_env *env, const dome_layout *layout);

/* Declares that hooks->settle runs this object's deferred work, together with that of others. why(object): why its values cannot
 * be computed; NULL if they can. */
void dome__object_defers(dome_object *object, const char *(*why)(const dome_object *object));

/* Declares that its elements belong to their tasks: no other number of tasks can go on with them. */
void dome__object_binds(dome_object *object);
bool dome__object_is_binding(const dome_object *object);

/* Declares that the first of its blocks belong to the first tasks: balancing moves it as in a linear topology. */
void dome__object_keeps_order(dome_object *object);
bool dome__object_is_in_order(const dome_object *object);

/* Declares that most of what moves with its elements is fetched when it is used: the time of a move says nothing of what moving
 * takes. */
void dome__object_is_followed(dome_object *object);
bool dome__object_has_followers(const dome_object *object);

/* Completes all deferred work. Returns the first object for which that failed, with *status, or NULL. Values that cannot be
 * computed are not a failure here: the operation that needs them fails. Not collective. */
dome_object *dome__env_unsettled(dome_env *env, int *status);

/* Completes all deferred work; returns whether nothing has failed. */
bool dome__env_settle(dome_env *env);

/* The same, but objects may postpone recomputing values that other objects' work has already computed in passing. */
bool dome__env_advance(dome_env *env);

/* Completes the deferred work of one object. Returns NULL, or why it failed, to be g_free'd. */
char *dome__object_settle(dome_object *object);

/* Whether the object has a `cost` slot, which tells the costs of its blocks. */
bool dome__object_has_cost(const dome_object *object);

/* Whether the object has deferred work that hooks->settle does not run. */
bool dome__object_syncs(const dome_object *object);

/* Whether the program chose the object's name: only then can it be found again after a restart. */
bool dome__object_is_named(const dome_object *object);

/* The function that makes the object again, NULL if its table has none; and the number of bytes of its parameters, which are
 * written to buffer if that is not NULL. */
typedef dome_object *(*dome__object_make)(dome_env *env, const char *name, const dome_object_info *info, const void *parameters,
                                          uint64_t bytes);
dome__object_make dome__object_maker(const dome_object *object);
uint64_t dome__object_parameters(const dome_object *object, void *buffer);

/* Whether other tasks than the owners write the object's values, in memory that they share; and whether a task has them in the
 * same memory as this one. */
bool dome__object_is_shared(const dome_object *object);
bool dome__object_shares(const dome_object *object, int rank);

/* Calls the slot `meet` once for each table of objects that tasks share; named: only if the program has named one of them.
 * *waits: there are such objects, but no table has the slot, so the caller has to let all tasks wait for each other. Collective.
 */
dome_status dome__objects_meet(dome_env *env, bool named, bool *waits);

/* Whether the object may read its values later; and has it do so (the slot `load`). */
bool dome__object_loads(const dome_object *object);
dome_status dome__object_load(dome_object *object, dome_block_source *source, bool *taken);

/* Gets the values that this task is about to own. */
dome_status dome__object_fetch(dome_object *object, const dome_layout *layout);

/* Whether the object can enter another view in place; and has it do so, without its values (the slot `enter`). */
bool dome__object_enters(const dome_object *object);
dome_status dome__object_enter(dome_object *object);

/* Forgets the layouts that objects share: the next object of a length and block size gets the first layout again. */
void dome__registry_forget_layouts(dome_env *env);

/* Gives all objects new ids in creation order, the first one `first`. */
void dome__registry_renumber(dome_env *env, uint64_t first);

/* Whether the object has its own form in checkpoints. */
bool dome__object_has_place(const dome_object *object);
bool dome__object_has_write(const dome_object *object);

#endif
