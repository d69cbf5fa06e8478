/* Views that tasks enter in place (dome_on_view_in_place): a task that stays does not become the program anew. It leaves the view
 * as for exec, with the state in memory (ckpt/handover.h), and makes up the next view as the process that it is: transport,
 * watch, balancing and checkpoints begin again, and the objects that there are take their values. Newcomers come through main.
 * All tasks meet where the newcomers have made their objects, in dome_on_view_in_place. */
#ifndef DOME_SRC_PROGRAM_IN_PLACE_H
#define DOME_SRC_PROGRAM_IN_PLACE_H

#include "core/environment.h"
#include "wire/view_plan.h"

/* Written by in_place.c alone, but for what change.c leaves there. */
typedef struct dome_in_place {
    dome_view_function function; /* NULL: the program goes through main */
    void *data;
    uint64_t objects;    /* a hash of those that there were at the call */
    bool enters;         /* of change.c: the task has left its view, and comes into the next one in place, */
    dome_view_plan plan; /* by this plan */
    bool met;            /* the tasks of this view are together */
    bool calls;          /* the functions are to be called when the operation is over */
} dome_in_place;

/* Whether the program can enter the next view in place. The same on all tasks. */
bool dome__in_place_can(const dome_env *env);

/* The two steps of entering, between which the task becomes one of the next view. The first one drops what knows the view before;
 * the second one has the objects follow, and meets the newcomers. Fails by dome__fail. Collective in the next view. */
void dome__in_place_leave(dome_env *env);
int dome__in_place_join(dome_env *env);

/* For dome_on_view_in_place. Fails by dome__fail. Collective. */
int dome__in_place_register(dome_env *env, dome_view_function function, void *data);

/* At a loop boundary: fails by dome__fail if the other tasks wait for this newcomer elsewhere. */
int dome__in_place_check(dome_env *env);

#endif
