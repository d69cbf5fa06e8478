/* Writing one checkpoint, together: every task has copied its part of the state, and what they have becomes a file.
 *
 *   every task                                      rank 0
 *   converts its blocks, takes their checksums
 *   tells them                          ------->    fills the table, plans, makes the file
 *   writes its blocks, fsync            <-------    tells where each block goes
 *   tells that it is done               ------->    commits, removes what is not needed any more
 *
 * Blocks that did not change since the checkpoint before need not be captured: their checksums are known. A failure of any task
 * is the failure of the checkpoint, not of the program. Knows neither an environment nor how the messages travel. */
#ifndef DOME_SRC_CKPT_WRITER_H
#define DOME_SRC_CKPT_WRITER_H

#include "ckpt/store.h"

/* How the tasks of a program reach each other for this. receive gives a message that the caller frees with g_free. Both return
 * false with *message when the other side cannot be reached any more. */
typedef struct dome_ckpt_link {
    int rank, size;
    void *ctx;
    bool (*send)(void *ctx, int to, const void *data, uint64_t bytes, char **message);
    bool (*receive)(void *ctx, int from, void **data, uint64_t *bytes, char **message);
} dome_ckpt_link;

/* ---- what a task has copied ---- */

typedef struct dome_ckpt_block {
    uint64_t at, bytes; /* in the buffer: as copied, then as it goes into the file */
    uint64_t offset;    /* in the file; 0: an earlier file has it */
    dome_ckpt_sum sum;
} dome_ckpt_block;

/* A run of blocks of one object. */
typedef struct dome_ckpt_run {
    uint64_t object; /* number in the description */
    uint64_t first, count;
    dome_type type; /* of the values as they were in memory; NULL: it is in its portable form already */
    guint blocks;   /* where its blocks begin */
} dome_ckpt_run;

typedef struct dome_ckpt_capture {
    char *buffer; /* kept from one checkpoint to the next */
    uint64_t room, used;
    GArray *runs, *blocks; /* dome_ckpt_run, dome_ckpt_block */
    char *problem;         /* why the state cannot be saved now; NULL: it can */
} dome_ckpt_capture;

void dome__ckpt_capture_init(dome_ckpt_capture *capture);
void dome__ckpt_capture_empty(dome_ckpt_capture *capture);
void dome__ckpt_capture_free(dome_ckpt_capture *capture);

/* Room for so many more bytes, 16-byte aligned; NULL without memory. What was there before may move. */
void *dome__ckpt_capture_room(dome_ckpt_capture *capture, uint64_t bytes);

/* Makes room for so many bytes in an empty capture, and touches them. Without memory nothing happens. */
void dome__ckpt_capture_reserve(dome_ckpt_capture *capture, uint64_t bytes);

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
} dome_ckpt_job;

/* Does it. Collective over the link. */
void dome__ckpt_write_together(dome_ckpt_job *job, const dome_ckpt_link *link);

#endif
