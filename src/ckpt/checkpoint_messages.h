/* The messages that tasks send each other to write a checkpoint (writer.h): for each, the function that makes it beside the one
 * that reads it. Reading functions return false if the message is malformed; their outputs must be freed all the same. */
#ifndef DOME_SRC_CKPT_CHECKPOINT_MESSAGES_H
#define DOME_SRC_CKPT_CHECKPOINT_MESSAGES_H

#include "ckpt/snapshot.h"
#include "system/bytes.h"

/* To rank 0: the blocks that a task has copied. Sent before they are converted. */
typedef struct dome_ckpt_held {
    char *problem; /* why the task cannot save its state; NULL: no reason */
    GArray *runs;  /* of dome_ckpt_run, without type */
    GArray *bytes; /* of uint64_t: length of each block in the file */
} dome_ckpt_held;

void dome__ckpt_put_held(GByteArray *to, const dome_ckpt_snapshot *snapshot);
bool dome__ckpt_get_held(dome_bytes *from, dome_ckpt_held *held);
void dome__ckpt_held_clear(dome_ckpt_held *held);

/* To rank 0: the checksums of these blocks, and an error that occurred before they were complete. */
void dome__ckpt_put_sums(GByteArray *to, const dome_ckpt_snapshot *snapshot, const char *problem);
bool dome__ckpt_get_sums(dome_bytes *from, dome_checksum *sums, uint64_t count, char **problem);

/* To rank 0, if deltas are wanted, behind the checksums: the length of what a file of deltas would have for each of these blocks
 * (DOME_CKPT_SAME: nothing), and its checksum. No blocks: the deltas are too long, or there is a problem. *made: they are there;
 * `lengths` and `sums` have room for count. */
void dome__ckpt_put_deltas(GByteArray *to, const dome_ckpt_snapshot *deltas);
bool dome__ckpt_get_deltas(dome_bytes *from, uint64_t *lengths, dome_checksum *sums, uint64_t count, bool *made, char **problem);

/* To a task: where its blocks go. */
typedef struct dome_ckpt_places {
    uint64_t number; /* of the checkpoint; 0: it is given up */
    uint64_t deltas; /* deltas against this checkpoint are wanted, or these are their offsets; 0: no deltas */
    bool known;      /* the offsets are */
    GArray *offsets; /* of uint64_t, for each block: in the file; 0: nothing of it is there. NULL if they are not known */
} dome_ckpt_places;

void dome__ckpt_put_places(GByteArray *to, const dome_ckpt_places *places);
bool dome__ckpt_get_places(dome_bytes *from, dome_ckpt_places *places);

/* Sets the offsets of the blocks; false if they are not as many. */
bool dome__ckpt_take_places(const dome_ckpt_places *places, dome_ckpt_snapshot *snapshot);

/* To a task where hosts have pieces: its order. DOME_CKPT_WRITE has offsets in its group's piece and in the next group's, a pair
 * for each block, and for the leader of a group the head of its piece. */
typedef enum dome_ckpt_order_kind { DOME_CKPT_NOTHING, DOME_CKPT_GIVE_UP, DOME_CKPT_WRITE } dome_ckpt_order_kind;

typedef struct dome_ckpt_order {
    dome_ckpt_order_kind kind;
    uint64_t number;
    GArray *offsets;                 /* of uint64_t */
    uint64_t file_bytes, head_bytes; /* 0: no head */
    const void *head;                /* in the message */
} dome_ckpt_order;

void dome__ckpt_put_order(GByteArray *to, const dome_ckpt_order *order);
bool dome__ckpt_get_order(dome_bytes *from, dome_ckpt_order *order);

/* To the leader of the next group: bytes for its piece. An empty message is the last. */
typedef struct dome_ckpt_copy {
    uint64_t offset, bytes;
    const void *data; /* points into the message when it is read */
} dome_ckpt_copy;

void dome__ckpt_put_copy(GByteArray *to, const dome_ckpt_copy *copy);
bool dome__ckpt_get_copy(dome_bytes *from, dome_ckpt_copy *copy);

/* To rank 0: the result of writing. */
void dome__ckpt_put_done(GByteArray *to, const char *problem, double seconds);
bool dome__ckpt_get_done(dome_bytes *from, char **problem, double *seconds);

/* A single word. To rank 0: news that a task makes progress, which may precede any message but the first; no other message to
 * rank 0 is as short. To leaders of groups: whether to continue. */
enum { DOME_CKPT_WORD_BYTES = 8 };

void dome__ckpt_put_word(GByteArray *to, uint64_t word);
bool dome__ckpt_get_word(dome_bytes *from, uint64_t *word);

#endif
