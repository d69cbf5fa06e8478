/* What each task keeps of the program's state for itself, for --on-loss tell: two files in memory without names, which hold in
 * turns a piece of a checkpoint (format.h) with the blocks that the task owned at a loop boundary, and all blocks of objects that
 * every task has complete. Nobody else has them. They go with the task when it becomes the program anew by exec
 * (program/healing.h), and are gone with its process.
 *
 * All tasks write a state, and agree that they have, before any of them writes over the state before. So after a loss there is
 * one that all tasks that are left have, and they go back to the newest such. A block whose task is lost is in no piece. */
#ifndef DOME_SRC_CKPT_KEPT_H
#define DOME_SRC_CKPT_KEPT_H

#include "ckpt/handover.h"

enum { DOME_KEPT_FILES = 2 };

typedef struct dome_kept dome_kept;

/* Borrows the files, which may have states of earlier views. -1: there is none. Collective. Fails by dome__fail, and returns a
 * status. */
int dome__kept_new(dome_env *env, const int files[DOME_KEPT_FILES], dome_kept **kept);
void dome__kept_free(dome_kept *kept);

/* Writes the state. loop: boundaries passed. *why (g_free'd): why it could not be kept, the same text on all tasks, or NULL; the
 * state before stays then. Collective. Returns a status of communication. */
int dome__kept_write(dome_kept *kept, const char *program, uint64_t loop, char **why);

/* Opens the newest state that all tasks have which have any. *file NULL: there is none. view: the number of this one. Collective.
 * Fails by dome__fail. */
int dome__kept_open(dome_kept *kept, uint32_t view, dome_ckpt_file **file, dome_handover_source **source);

/* The newest state of this task is damaged: nobody goes back to it again. */
void dome__kept_lose(dome_kept *kept);

#endif
