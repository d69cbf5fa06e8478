/* A process becomes the program anew by execve. It leaves itself a note (wire/view_note.h) in DOME_VARIABLE_VIEW, with what the
 * program goes on with, and takes the descriptors along that the program needs. */
#ifndef DOME_SRC_PROGRAM_EXEC_H
#define DOME_SRC_PROGRAM_EXEC_H

#include "ckpt/handover.h"
#include "core/environment.h"
#include "wire/view_note.h"

#include <signal.h>

/* Written by exec.c alone. */
typedef struct dome_exec {
    const char *directory; /* in which this process began; NULL: it is not known */
    char **words;          /* with which it was started: it may write over them later */
    char *held;            /* descriptors of connections to the daemon, of earlier views, with blanks around: healing.c */
    char **own;            /* dome__exec_keep_own */
    bool requests;         /* SIGTERM and SIGUSR1 were not blocked when the program was started */
    bool unblock;          /* SIGTERM and SIGUSR1 wait until dome_init can handle them */
} dome_exec;

/* Call it first in dome_init: notes which descriptors the process has been given, and by which file it was started. */
void dome__exec_begin(void);

/* In dome_init: takes what this process has left for itself, if it was in the view before. words: its command line, taken over.
 * Returns NULL, or why the note cannot be taken (g_free'd). */
char *dome__exec_take(dome_env *env, dome_change *change, char **words);

/* The program's environment is about to be that of another process, from which it goes on: words that belong to this process,
 * about its daemon and its hub, are kept for dome__exec_environment. */
void dome__exec_keep_own(dome_change *change);

/* The environment with which this process becomes the program anew; g_strfreev. */
char **dome__exec_environment(const dome_change *change);

/* The second part of a note, for the newcomers that wait for a view of so many members; g_free'd. */
char *dome__exec_rest(const dome_env *env, uint64_t loops, int members, dome_handover_piece piece);

/* A note. how: number, rank, plan, avoid, held, rest; the other members are filled in. */
char *dome__exec_note(const dome_env *env, const dome_view_entry *how);

/* The hosts that this task avoids, and these; g_free'd. */
char *dome__exec_avoided(const dome_change *change, const char *hosts);

/* Signals with requests (docs/checkpoints.md) would end a process that has just been replaced; they are blocked meanwhile, and no
 * longer at the end of dome_init. */
sigset_t dome__exec_requests(void);
void dome__exec_unblock(dome_change *change);

/* Becomes the program anew, with this note. Requests are blocked. held: descriptors that stay open. */
void dome__exec_become(const dome_change *change, const char *note, const char *held, char **environment)
    __attribute__((noreturn));

#endif
