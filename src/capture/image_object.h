/* The image as an object of the checkpoint. All tasks of a program make the same calls, so their images are alike as a rule: the
 * object, which every task has as a whole, has each block that is alike on all tasks once. Blocks that differ are in a second
 * object, 'image of tasks', of which each task has its own; such a program goes on with the same number of tasks only.
 *
 * The image of a program without calls of Dome, which is one task, is the object 'image': block k of the one is block k of the
 * other. That of a Dome program, of one task or many, is 'image of the program'. Its block 0 is an index: version 10 (4 bytes);
 * tasks, 0 if nothing differs (4); why the number of tasks must stay (text); for each task the blocks of its image (8; one number
 * if nothing differs); how many of them differ (8), and which (8 each). The others follow in their order. */
#ifndef DOME_SRC_CAPTURE_IMAGE_OBJECT_H
#define DOME_SRC_CAPTURE_IMAGE_OBJECT_H

#include "capture/image.h"

#define DOME_CAPTURE_IMAGE_NAME "image"

/* Objects of a Dome program may be called "image". */
#define DOME_CAPTURE_PROGRAM_NAME "image of the program"
#define DOME_CAPTURE_TASKS_NAME   "image of tasks"

typedef struct dome_capture_image_object dome_capture_image_object;

/* Makes the object; NULL: *problem (g_free'd by the caller). calls_dome: the program does. If it restarts, the object has read
 * its blocks; restore then brings back the program's handles, heap, globals and active functions, and returns NULL or why that
 * cannot be (g_free'd). Collective. */
dome_capture_image_object *dome__capture_image_object_new(dome_env *env, bool calls_dome, char **problem);
char *dome__capture_image_object_restore(dome_capture_image_object *object);

/* A sentence about functions of another text than those of the program that was saved; NULL: there are none. */
char *dome__capture_image_object_say_changed(const dome_capture_image_object *object);

/* Whether some of it is not the same on all tasks, in the image that was taken or restored last. */
bool dome__capture_image_object_differs(const dome_capture_image_object *object);

/* Takes the image of the program, all of whose functions have returned. *bound: why the program cannot go on with another number
 * of tasks; NULL: it can. If there can be no image (`refused`, or for another reason), what would write it is told why.
 * Collective for a Dome program. */
dome_status dome__capture_image_object_take(dome_capture_image_object *object, const char *refused, const char **bound);

/* Why no image was taken; NULL: one was. This text and *bound belong to the object. */
const char *dome__capture_image_object_problem(const dome_capture_image_object *object);

/* A Dome program goes on: the image is out of date. */
void dome__capture_image_object_leave(dome_capture_image_object *object);

#endif
