/* Shared by the roles of a job (writer.h): rank 0 (lead.c, with leader.c), another task (follow.c), and the same where hosts have
 * pieces (pieces_lead.c, pieces_follow.c, with piece.c). */
#ifndef DOME_SRC_CKPT_WRITER_PRIVATE_H
#define DOME_SRC_CKPT_WRITER_PRIVATE_H

#include "ckpt/checkpoint_messages.h"
#include "ckpt/writer.h"
#include "store/windows.h"

void dome__ckpt_lead(dome_ckpt_job *job, const dome_ckpt_link *link);
void dome__ckpt_follow(dome_ckpt_job *job, const dome_ckpt_link *link);
void dome__ckpt_lead_pieces(dome_ckpt_job *job, const dome_ckpt_link *link);
void dome__ckpt_follow_pieces(dome_ckpt_job *job, const dome_ckpt_link *link);

/* ---- output.c: writing blocks into a file ---- */

/* Blocks that are consecutive in the buffer and in the file are written together. News of the task's progress is sent to rank 0
 * now and then. */
typedef struct dome_ckpt_output {
    const dome_ckpt_link *link;
    const dome_ckpt_snapshot *snapshot;
    int fd;                     /* -1: no file */
    uint64_t at, offset, bytes; /* added, but not written yet */
    unsigned progress;          /* last value sent to rank 0 */
    gint64 told;                /* when, microseconds */
} dome_ckpt_output;

dome_ckpt_output dome__ckpt_output_begin(const dome_ckpt_link *link, const dome_ckpt_snapshot *snapshot);
void dome__ckpt_output_news(void *output);

/* Converts all blocks, and writes them at the same time if there is a file. */
void dome__ckpt_output_convert(dome_ckpt_output *output, dome_ckpt_snapshot *snapshot, char **message);

/* Writes the blocks that are not at their final place yet. */
void dome__ckpt_output_write(dome_ckpt_output *output, char **message);

/* Whether any block of the snapshot goes into the file. */
bool dome__ckpt_output_wanted(const dome_ckpt_output *output);

/* Of this thread. */
double dome__ckpt_processor_seconds(void);

/* Sends a message and frees it. */
bool dome__ckpt_send(const dome_ckpt_link *link, int to, GByteArray *message, char **problem);

/* Keeps the first problem. Takes ownership of the text. */
void dome__ckpt_note(char **first, char *problem);

/* ---- leader.c: rank 0 ---- */

/* A task's entries of the table. */
typedef struct dome_ckpt_claim {
    uint64_t entry, count;
} dome_ckpt_claim;

typedef struct dome_ckpt_leader {
    dome_ckpt_job *job;
    const dome_ckpt_link *link;
    uint8_t *copied; /* by entry: a task has copied it */
    GArray **claims; /* by rank: dome_ckpt_claim, in the order of its blocks */
    bool *writes;    /* by rank: the task will send the result of its writing */

    dome_ckpt_segment *segments; /* by entry; NULL: no deltas are wanted */
    bool made;                   /* all tasks have made their deltas */
    char *problem;               /* the first */
    double began;
} dome_ckpt_leader;

void dome__ckpt_leader_begin(dome_ckpt_leader *l, dome_ckpt_job *job, const dome_ckpt_link *link);

/* Sets the results of the job, and frees. */
void dome__ckpt_leader_end(dome_ckpt_leader *l);

/* Receives from all tasks which blocks they have. Blocks that no task has copied are unchanged since the previous checkpoint.
 */
void dome__ckpt_leader_gather(dome_ckpt_leader *l);

/* Receives their checksums, which may take long; also their deltas, if these are wanted: `own` are this task's. */
void dome__ckpt_leader_gather_sums(dome_ckpt_leader *l, const dome_ckpt_snapshot *own);

/* Sends a message to a task and frees it; a failure means that the program is about to end. */
bool dome__ckpt_leader_send(dome_ckpt_leader *l, int rank, GByteArray *message);

/* Waits for the tasks that write, and receives their results. */
void dome__ckpt_leader_wait(dome_ckpt_leader *l);

/* Offsets of a task's blocks, or of their deltas, in the planned file; g_array_unref'd by the caller. */
GArray *dome__ckpt_leader_offsets(const dome_ckpt_leader *l, int rank);

/* The remaining steps for a checkpoint that has been written. */
void dome__ckpt_leader_conclude(dome_ckpt_leader *l);

/* ---- piece.c: a task's part where hosts have pieces ---- */

typedef struct dome_ckpt_part dome_ckpt_part;

dome_ckpt_part *dome__ckpt_part_new(dome_ckpt_job *job, const dome_ckpt_link *link);
void dome__ckpt_part_free(dome_ckpt_part *p);
bool dome__ckpt_part_leads(const dome_ckpt_part *p);
char **dome__ckpt_part_problem(dome_ckpt_part *p);
dome_ckpt_order_kind dome__ckpt_part_take_order(dome_ckpt_part *p, const void *data, uint64_t bytes);
void dome__ckpt_part_write(dome_ckpt_part *p);

/* Gives the piece its name, or removes it. */
void dome__ckpt_part_end(dome_ckpt_part *p, bool commit);

/* Ends the copies, for which the next group's leader waits. */
void dome__ckpt_part_end_copies(dome_ckpt_part *p);

static inline bool dome__ckpt_leads_group(const dome_ckpt_pieces *pieces, int rank)
{
    return pieces->leader[pieces->group[rank]] == rank;
}

#endif
