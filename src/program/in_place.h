/* Views that tasks enter in place (dome_on_view_in_place): a task that stays does not become the program anew. It leaves the view
 * as for exec, with the state in memory (ckpt/handover.h), and makes up the next view as the process that it is: transport,
 * watch, balancing and checkpoints begin again, and the objects that there are take their values. Newcomers come through main.
 * All tasks meet where the newcomers have made their objects, in dome_on_view_in_place. */
#ifndef DOME_SRC_PROGRAM_IN_PLACE_H
#define DOME_SRC_PROGRAM_IN_PLACE_H

#include "ckpt/handover.h"
#include "wire/view_plan.h"

/* Written by in_place.c alone. */
typedef struct dome_in_place {
    dome_view_function function; /* NULL: the program goes through main */
    void *data;
    uint64_t objects; /* a hash of those that there were at the call */
    bool met;         /* the tasks of this view are together */
    bool calls;       /* the functions are to be called when the operation is over */
} dome_in_place;

/* Whether the program can enter the next view in place. The same on all tasks. */
bool dome__in_place_can(const dome_env *env);

/* This task has left its view, and comes into the next one by this plan, with its piece of the state. Fails by dome__fail.
 * Collective in the next view. */
int dome__in_place_enter(dome_env *env, const dome_view_plan *plan, dome_handover_piece piece);

/* At a loop boundary: fails by dome__fail if the other tasks wait for this newcomer elsewhere. */
int dome__in_place_check(dome_env *env);

/* Outside of operations, behind a boundary: calls the program's functions if the view has been entered there. */
void dome__in_place_call(dome_env *env);

#endif
