/* Copies, on another host, of what a task has in its directory: its checkpoint, and the messages that it keeps for others
 * (--dome-checkpoint-protocol log, on hosts that share no directory).
 *
 *     task 0 on host a                                     task 1 on host b, its partner
 *     dome__copies_range: what was sent since              the same bytes at the same place of a file of the same name
 *     dome__copies_file: its checkpoint                    ckpt-....dckpt.part
 *     dome__copies_commit                                  ... on disk, and renamed
 *     dome__copies_await: host b has them
 *
 * Tasks that can read each other's directory are a group: those of a host, or of several hosts that share one. A partner is
 * of the next group. The service channel's thread takes the copies, whatever the partner's own thread does. */
#ifndef DOME_SRC_COPIES_COPIES_H
#define DOME_SRC_COPIES_COPIES_H

#include "core/environment.h"
#include "store/store.h"

typedef struct dome_copies dome_copies;

/* The counter by which a checkpoint of a single task is known. */
#define DOME_COPIES_OWN "own"

bool dome__copies_is_own(const dome_store_item *item, const char *program, int size);

/* What the paths of the files begin with in which a task keeps messages; g_free'd by the caller. Several programs may have theirs
 * in a directory. */
char *dome__copies_stem(const char *directory, const char *program, int rank, int size);

typedef struct dome_copies_view {
    const char *directory, *program;
    bool memory;              /* the directory is in memory */
    int groups;               /* at least 2 */
    const int *group, *first; /* by rank; by group: its lowest rank */
    bool stays;               /* this task goes on where it is; otherwise with the newest checkpoint that there is of it, */
    bool anew;                /* but not if this holds for all tasks: then all are removed */
    uint64_t newest;          /* of a task that stays: its checkpoint; 0: none */
    const char *host;         /* and the host that had its copies at last; NULL: none */
} dome_copies_view;

/* When a view begins. A task that goes back gets its newest checkpoint, and the messages to which that refers, into its directory
 * if another host alone has them. Collective. Fails by dome__fail. */
int dome__copies_start(dome_env *env, const dome_copies_view *view, dome_copies **copies);

/* The service channel runs, or has been freed. NULL is allowed. */
void dome__copies_free(dome_copies *copies);

/* ---- giving ---- */

/* The host that has this task's checkpoint and messages, as far as copies have been committed; NULL: none has. */
const char *dome__copies_host(const dome_copies *copies);

/* A part of a piece of the file of messages: the piece is at `place`, and begins with these bytes `from` on. */
typedef struct dome_copies_range {
    uint64_t file, place, bytes;
    uint64_t from, length;
    const void *data;
} dome_copies_range;

/* These wait, and return false, if the partner is gone, does not want it, or this task is to leave the view: then all of it is to
 * be copied again. The file is that of checkpoint `number`; used: the numbers of the files of messages that are needed. */
bool dome__copies_range(dome_copies *copies, const dome_copies_range *range);
bool dome__copies_file(dome_copies *copies, uint64_t number, const char *path);
bool dome__copies_commit(dome_copies *copies, uint64_t number, const uint64_t *used, size_t count);

/* Why the last one failed (g_free'd by the caller): the partner cannot keep it, or this task cannot read it. NULL: the partner is
 * gone, or this task is to leave. */
char *dome__copies_why(dome_copies *copies);

#endif
