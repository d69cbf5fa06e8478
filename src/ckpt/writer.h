/* Writing one checkpoint together: every task has copied its part of the state, and the parts become a file.
 *
 *   every task                                      rank 0
 *   sends which blocks it has           ------->    plans as if all of them had changed, makes the file
 *   converts them, computes checksums,
 *   writes them at the same time        <-------    sends where each block will probably go
 *   sends the checksums                 ------->    fills the table, plans
 *   writes blocks that go elsewhere,
 *   fsync                               <-------    sends where each block goes
 *   sends that it is done               ------->    commits, removes files that are not needed any more
 *
 * If deltas are tried, tasks compare their blocks with the previous checkpoint before they send the checksums, and send the
 * lengths of their deltas too. Rank 0 then decides whether the file gets these or the blocks.
 *
 * A block with the same bytes as in the previous checkpoint is not written, but only its checksum shows that. If most blocks do
 * change, writing need not wait for all the checksums (`eager`): then the two plans are the same.
 *
 * Blocks that did not change since the checkpoint before need not be copied: their checksums are known. A failure of any task
 * is a failure of the checkpoint, not of the program. These files know neither the environment nor how messages are transported.
 */
#ifndef DOME_SRC_CKPT_WRITER_H
#define DOME_SRC_CKPT_WRITER_H

#include "ckpt/snapshot.h"
#include "store/store.h"

/* The connections of the tasks of a program for this purpose. receive returns a message that the caller frees with g_free. Both
 * functions return false with *message when the other side cannot be reached any more. */
typedef struct dome_ckpt_link {
    int rank, size;
    void *ctx;
    bool (*send)(void *ctx, int to, const void *data, uint64_t bytes, char **message);
    bool (*receive)(void *ctx, int from, void **data, uint64_t *bytes, char **message);
    bool (*altered)(const void *ctx); /* whether received data differs from the data that was sent; the sender goes on */
} dome_ckpt_link;

/* ---- where hosts share no file system ---- */

/* Tasks with one directory form a group. A group's directory gets a piece of each checkpoint, with the blocks of its own tasks
 * and copies of those of the group before it in the ring: so the loss of any one directory loses no data. */
typedef struct dome_ckpt_pieces {
    int count;          /* groups */
    int *group;         /* by rank */
    int *leader;        /* by group: its lowest rank, which makes the files */
    dome_ckpt_link out; /* to the leader of the next group */
    dome_ckpt_link in;  /* leaders: from the tasks of the group before, which have ranks 1 and up in this link */
} dome_ckpt_pieces;

/* ---- the job ---- */

typedef struct dome_ckpt_job {
    const char *directory;
    dome_ckpt_snapshot *snapshot;
    const dome_ckpt_pieces *pieces; /* NULL: one directory for all; otherwise `full` must be set */

    /* rank 0 */
    dome_ckpt *ckpt;           /* described: program, number, loop, objects */
    const dome_ckpt *previous; /* the previous good one; NULL: all blocks are written */
    bool full;                 /* tasks copied everything, not only what changed since previous */
    bool eager;                /* write blocks before their checksums are known */
    bool uncompared;           /* with eager: write all blocks that were copied, also those that equal previous ones */
    bool deltas;               /* write what differs from previous instead of whole blocks, if that is much shorter */
    void (*then)(void *ctx);   /* called in the thread when the checkpoint is written; may be NULL */
    void *then_ctx;

    /* rank 0, and leaders of groups */
    dome_store *store;
    unsigned keep;

    /* after it */
    bool written;
    bool lost;             /* other tasks cannot be reached: the program is about to end, or a connection is cut */
    bool previous_damaged; /* it could not be read, so the next must not refer to it */
    char *message;         /* why it was not written, or why old files could not all be removed; g_free'd by the caller */
    double seconds;        /* of processor time of this task */
    double cost;           /* rank 0: the largest of them */
    uint64_t data_bytes;   /* rank 0: in the file */
    bool tried_deltas;     /* rank 0: the tasks have compared their blocks with previous */
    bool mostly_same;      /* rank 0: most copied blocks equal those of the previous checkpoint: eager would waste work */
} dome_ckpt_job;

/* Runs a job. Collective over the link. */
void dome__ckpt_write_together(dome_ckpt_job *job, const dome_ckpt_link *link);

#endif
