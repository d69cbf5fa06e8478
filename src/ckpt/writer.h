/* Writing one checkpoint, together: every task has copied its part of the state, and what they have becomes a file.
 *
 *   every task                                      rank 0
 *   tells which blocks it has           ------->    plans as if all of them had changed, makes the file
 *   converts them, takes checksums,
 *   writes them as it does so           <-------    tells where each block will probably go
 *   tells the checksums                 ------->    fills the table, plans
 *   writes what goes elsewhere, fsync   <-------    tells where each block goes
 *   tells that it is done               ------->    commits, removes what is not needed any more
 *
 * A block whose bytes are those of the checkpoint before is not written, but that is known only from its checksum. Where most
 * blocks do change, the disk need not wait for all the checksums (`eager`): then the two plans are the same.
 *
 * Blocks that did not change since the checkpoint before need not be captured: their checksums are known. A failure of any task
 * is the failure of the checkpoint, not of the program. Knows neither an environment nor how the messages travel. */
#ifndef DOME_SRC_CKPT_WRITER_H
#define DOME_SRC_CKPT_WRITER_H

#include "ckpt/capture.h"
#include "ckpt/store.h"

/* How the tasks of a program reach each other for this. receive gives a message that the caller frees with g_free. Both return
 * false with *message when the other side cannot be reached any more. */
typedef struct dome_ckpt_link {
    int rank, size;
    void *ctx;
    bool (*send)(void *ctx, int to, const void *data, uint64_t bytes, char **message);
    bool (*receive)(void *ctx, int from, void **data, uint64_t *bytes, char **message);
} dome_ckpt_link;

/* ---- where hosts share no file system ---- */

/* Tasks with one directory are a group. A group's directory gets a piece of each checkpoint, with the blocks of its own tasks and
 * copies of those of the group before it in the ring: so the loss of any one directory loses nothing. */
typedef struct dome_ckpt_pieces {
    int count;          /* groups */
    const int *group;   /* by rank */
    const int *leader;  /* by group: its lowest rank, which makes the files */
    dome_ckpt_link out; /* to the leader of the next group */
    dome_ckpt_link in;  /* leaders: from the tasks of the group before, which are ranks 1 and up there */
} dome_ckpt_pieces;

/* ---- the job ---- */

typedef struct dome_ckpt_job {
    const char *directory;
    dome_ckpt_capture *capture;
    const dome_ckpt_pieces *pieces; /* NULL: one directory for all; else `full` has to be set */

    /* rank 0 */
    dome_ckpt *ckpt;           /* described: program, number, loop, objects */
    const dome_ckpt *previous; /* the good one before; NULL: all is written again */
    bool full;                 /* tasks captured everything, not only what changed since previous */
    bool eager;                /* write blocks before their checksums are known */
    void (*then)(void *ctx);   /* NULL, or called in the thread when it is written */
    void *then_ctx;

    /* rank 0, and leaders of groups */
    dome_store *store;
    unsigned keep;

    /* after it */
    bool written;
    bool lost;             /* other tasks cannot be reached: the program is about to end */
    bool previous_damaged; /* it could not be read: do not rest on it again */
    char *message;         /* why it was not written, or not all that should go could be removed; g_free'd by the caller */
    double seconds;        /* of this task's processor */
    double cost;           /* rank 0: the largest of them */
    uint64_t data_bytes;   /* rank 0: in the file */
    bool mostly_same;      /* rank 0: most of what was captured was in the checkpoint before: eager would be a waste */
} dome_ckpt_job;

/* Does it. Collective over the link. */
void dome__ckpt_write_together(dome_ckpt_job *job, const dome_ckpt_link *link);

#endif
