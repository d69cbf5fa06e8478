/* The image of a Dome program. All tasks make the same calls, so their images are alike as a rule: an object 'image of the
 * program', which every task has as a whole, has each block that is alike on all tasks once. What differs is in a second object,
 * 'image of tasks', of which each task has its own blocks; such a program goes on with the same number of tasks only.
 *
 * Block 0 of 'image of the program' is the index: version 6 (4 bytes); tasks, 0 if nothing differs (4); why the number of tasks
 * must stay (text); for each task the blocks of its image (8; one number if nothing differs); how many of them differ (8), and
 * which (8 each). The others follow in their order. */
#ifndef DOME_SRC_CAPTURE_SHARED_H
#define DOME_SRC_CAPTURE_SHARED_H

#include "capture/image.h"

/* Objects of the program may be called "image". */
#define DOME_CAPTURE_PROGRAM_NAME "image of the program"
#define DOME_CAPTURE_TASKS_NAME   "image of tasks"

typedef struct dome_capture_shared dome_capture_shared;

/* Makes the object. If the program restarts it has read its blocks; restore then brings back the program's handles, heap,
 * globals and active functions, and returns NULL or why that cannot be (g_free'd). Collective. */
dome_capture_shared *dome__capture_shared_new(dome_env *env);
char *dome__capture_shared_restore(dome_capture_shared *shared);

/* A sentence about functions of another text than those of the program that was saved; NULL: there are none. */
char *dome__capture_shared_say_changed(const dome_capture_shared *shared);

/* Whether some of it is not the same on all tasks, in the image that was taken or restored last. */
bool dome__capture_shared_differs(const dome_capture_shared *shared);

/* Takes the image of the program, all of whose functions have returned. *bound: why the program cannot go on with another number
 * of tasks; NULL: it can. Both texts belong to the image. If there can be no image, what would write it is told why.
 * Collective. */
dome_status dome__capture_shared_take(dome_capture_shared *shared, const char *refused, const char **bound);

/* The program goes on: the image is out of date. */
void dome__capture_shared_leave(dome_capture_shared *shared);

#endif
