/* With --dome-checkpoint-protocol log a loss sends the lost task alone back. The others go over into the view that heals it where
 * they are: with their memory, in the call of the library in which they are, or in their next one. */
#ifndef DOME_SRC_PROGRAM_GO_OVER_H
#define DOME_SRC_PROGRAM_GO_OVER_H

#include "core/environment.h"

/* In dome_init, at its end: from now on this task can go over where it is. If it has not come to a call of the library within
 * some seconds after it was asked, since it computes, the process becomes the program anew. Collective. */
void dome__go_over_open(dome_env *env);

/* In the task's own thread, which has been asked: goes over. Returns a status, after dome__fail. */
int dome__go_over_leave(dome_env *env);

/* In dome_finalize: the last barrier is passed. */
void dome__go_over_close(void);

#endif
