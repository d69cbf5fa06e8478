/* An image: the state of a program between two views (supervision/view.h), a whole checkpoint in memory without a name. Its tasks
 * write it together at a loop boundary; the tasks of the next view read it like any checkpoint, each the blocks it owns there. */
#ifndef DOME_SRC_CKPT_IMAGE_H
#define DOME_SRC_CKPT_IMAGE_H

#include "core/environment.h"

/* Collective; the program stands still, and the objects stay as they are. loop: boundaries passed. *why (g_free'd): before, why
 * this task wants no image, or NULL; afterwards, why there is none, the same text on all tasks, or NULL: then task 0 has the
 * image in *fd, which is closed on exec. Returns a status of communication. */
int dome__image_write(dome_env *env, const char *program, uint64_t loop, int *fd, char **why);

#endif
