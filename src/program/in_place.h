/* With --dome-checkpoint-protocol log a loss sends the lost task alone back. The others go over into the view that heals it where
 * they are: with their memory, in the call of the library in which they are, or in their next one. */
#ifndef DOME_SRC_PROGRAM_IN_PLACE_H
#define DOME_SRC_PROGRAM_IN_PLACE_H

#include "core/environment.h"

/* What all tasks of a view do, in this order, when they have found each other. stays: this task has been in the view before, and
 * goes on where it is. Collective. Returns a status. */
int dome__in_place_join(dome_env *env, bool stays);

/* In dome_init, at its end: from now on this task can go over where it is. If it has not come to a call of the library within
 * some seconds after it was asked, since it computes, the process becomes the program anew. Collective. */
void dome__in_place_open(dome_env *env);

/* In the task's own thread, which has been asked: goes over. Returns a status, after dome__fail. */
int dome__in_place_leave(dome_env *env);

/* In dome_finalize: the last barrier is passed. */
void dome__in_place_close(void);

#endif
