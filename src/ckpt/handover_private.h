/* Shared by the files handover*.c. */
#ifndef DOME_SRC_CKPT_HANDOVER_PRIVATE_H
#define DOME_SRC_CKPT_HANDOVER_PRIVATE_H

#include "ckpt/checkpoint_private.h"
#include "ckpt/handover.h"
#include "ckpt/state.h"

/* Words about a block, from the task that wrote it: its checksum, and the number of its piece. */
enum {
    DOME_HANDOVER_SUM = sizeof(dome_checksum) / sizeof(uint64_t),
    DOME_HANDOVER_PIECE = DOME_HANDOVER_SUM,
    DOME_HANDOVER_WORDS
};

G_STATIC_ASSERT(DOME_HANDOVER_SUM * sizeof(uint64_t) == sizeof(dome_checksum));

/* Behind the handover, in the piece of task 0: the piece of each entry, then the last words. */
typedef struct dome_handover_tail {
    uint64_t head_bytes, file_bytes, entries;
} dome_handover_tail;

/* A run of blocks whose values lie in memory one after the other. */
typedef struct dome_handover_run {
    dome_object *object;
    const dome_ckpt_object *there;
    dome_span blocks;
    char *values;
    uint64_t bytes;
    bool alone; /* no other object's values lie there, so the memory can be given back */
} dome_handover_run;

struct dome_handover {
    dome_env *env;
    dome_ckpt *ckpt;
    int pieces, *leader;  /* by piece: the task that keeps it */
    int *piece_of;        /* by rank: its host's; -1: none */
    GArray *runs;         /* dome_handover_run */
    uint64_t *words;      /* by entry, DOME_HANDOVER_WORDS each: of the blocks that this task writes, 0 elsewhere */
    dome_state_file file; /* this host's piece; its descriptor is -1 if there is none. The buffer is for messages as well */
    char *why;
};

/* Makes the first task's reason that of all. Collective; returns a status of communication. */
int dome__handover_agree(dome_env *env, char **why);
int dome__handover_common(dome_handover *handover);

/* The holder of an entry that is in no piece. */
#define DOME_HANDOVER_LOST UINT32_MAX

/* What the tasks have kept for themselves (kept.h). */
typedef struct dome_handover_kept {
    uint32_t view;
    int fd;            /* this task's piece, borrowed; -1: none */
    dome_ckpt *whole;  /* the place of each block in its piece; */
    uint32_t *holder;  /* by entry, the rank that has it: both are taken over */
    const bool *holds; /* by rank, whether the task has a piece; then it has all of what is whole */
} dome_handover_kept;

/* dome__handover_open for it: each task reads its own piece in place, and gets other blocks from their owners. */
int dome__handover_open_kept(dome_env *env, const dome_handover_kept *kept, dome_ckpt_file **file, dome_handover_source **source);

/* Gives the objects to a sink, whose ctx is the handover. Sets why. */
void dome__handover_walk(dome_handover *handover, const dome_state_sink *sink);

/* How many of these entries from `first` on make one message, of about DOME_STATE_WRITE bytes: at least one, unless there are
 * none. *bytes: their length. */
guint dome__handover_message(const dome_ckpt *ckpt, const GArray *entries, guint first, uint64_t *bytes);

#endif
