/* The part of the program's state that each task keeps for itself, for --on-loss tell: two files in memory without names. Each
 * holds a piece of a checkpoint (format.h): the blocks that the task owned at a loop boundary, and all blocks of objects that
 * every task has complete. Nobody else has them. They go with the task when it becomes the program anew by exec
 * (program/healing.h), and are gone with its process.
 *
 * The two are written in turn. A file is written over only after every task has confirmed that it has the state in the other one,
 * so the survivors of a loss always share a state, and go back to the newest that they share. A block whose task is lost is in no
 * piece. */
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

/* Opens the newest state that is present on every task that has kept one. *file NULL: there is none. view: the number of this
 * one. Collective. Fails by dome__fail. */
int dome__kept_open(dome_kept *kept, uint32_t view, dome_ckpt_file **file, dome_handover_source **source);

/* The newest state of this task is damaged: nobody goes back to it again. */
void dome__kept_lose(dome_kept *kept);

#endif
