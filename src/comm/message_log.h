/* What a task remembers of messages with --dome-checkpoint-protocol log, so that a lost task alone goes back:
 *
 *     sent      each message to another task, until that task's own checkpoint covers it
 *     orders    for each task, from whom it received where it took a message from any: one that goes back takes them in that
 * order
 *
 * Messages of one task to another are numbered 1, 2, ... in the order in which they were sent. A task passes the orders that it
 * knows to another one before its next message to it: so whoever depends on what a task did knows the order in which it did so
 * (causal logging). These functions know neither transport nor environment. */
#ifndef DOME_SRC_COMM_MESSAGE_LOG_H
#define DOME_SRC_COMM_MESSAGE_LOG_H

#include "comm/log_room.h"
#include "system/bytes.h"
#include "system/checksum.h"
#include "transport/message.h"

typedef struct dome_message_log dome_message_log;

/* Stands in a piece of the log's memory, before its data. */
typedef struct dome_logged {
    uint64_t number;
    dome_message message;
    void *data;
    GList link;
    dome_checksum sum; /* of number, message and data, */
    bool summed;       /* if it has been made */
} dome_logged;

dome_message_log *dome__log_new(int rank, int size);
void dome__log_free(dome_message_log *log);

/* Where it keeps messages, before it has any; NULL: in memory that ends with the process. Files begin with this. sums: messages
 * that a checkpoint refers to have checksums. */
void dome__log_keep_in(dome_message_log *log, const char *stem, bool sums);

/* The files of earlier processes of this task that are of no use are removed. */
void dome__log_tidy(dome_message_log *log);

/* What checkpoints will refer to is safe. Returns an errno. */
int dome__log_sync(dome_message_log *log);

/* ---- copies elsewhere: of the bytes to which a checkpoint would refer ---- */

/* A part of a piece of a file: the piece is at `place`, and has these bytes from `from` on. */
typedef struct dome_log_range {
    uint64_t file, place, bytes;
    uint64_t from, length;
    const void *data;
} dome_log_range;

typedef bool dome_log_take(void *ctx, const dome_log_range *range);

/* Gives what was not given before. False: it was not taken, and next time all is given. */
bool dome__log_copy(dome_message_log *log, dome_log_take *take, void *ctx);
void dome__log_copy_anew(dome_message_log *log);

/* The numbers (uint64_t) of the files in which it is; appended. */
void dome__log_files(const dome_message_log *log, GArray *numbers);

/* How many messages have been sent to each task, and taken from it, by rank: the log's. */
uint64_t *dome__log_sent(dome_message_log *log);
uint64_t *dome__log_taken(dome_message_log *log);

/* ---- messages ---- */

/* Counts a message to a task, and makes room for its data, which is still to be copied there. NULL: there is none, and *why
 * (g_free'd) says so. */
dome_logged *dome__log_add(dome_message_log *log, int dest, const dome_message *message, char **why);
void dome__log_fill(dome_logged *logged, const void *data);

/* The task has so many of the messages to it: others have to be sent. */
void dome__log_has(dome_message_log *log, int dest, uint64_t number);
bool dome__log_lacks(const dome_message_log *log, int dest, uint64_t number);

/* The first message to a task behind this number; NULL: there is none. */
const dome_logged *dome__log_behind(const dome_message_log *log, int dest, uint64_t number);

/* The task will never need those up to this number again. */
void dome__log_cover(dome_message_log *log, int dest, uint64_t number);

/* Bytes of all messages that are kept. */
uint64_t dome__log_bytes(const dome_message_log *log);

/* ---- orders ---- */

/* This task is about to take a message from any. True: it took it from *source before. */
bool dome__log_replays(dome_message_log *log, int *source);

/* It has taken it from this task, for the first time. */
void dome__log_chose(dome_message_log *log, int source);

/* How many such messages this task has taken. */
uint64_t dome__log_choices(const dome_message_log *log);

/* A task's checkpoint covers so many of its choices. */
void dome__log_forget(dome_message_log *log, int task, uint64_t choices);

/* The orders that this task knows and has not passed to another one, as bytes; NULL: none. dest < 0: all that it knows. */
GByteArray *dome__log_news(dome_message_log *log, int dest);

/* Takes in what another task has passed. False: the bytes make no sense, and nothing more of them is taken. */
bool dome__log_learn(dome_message_log *log, const void *bytes, uint64_t length);

/* What another task has to know of this task's newest checkpoint, as bytes; and what it does then. False: the bytes make no
 * sense. */
GByteArray *dome__log_covers(const dome_message_log *log, int dest);
bool dome__log_covered(dome_message_log *log, int task, const void *bytes, uint64_t length);

/* How many choices of a task are covered, as far as this one has heard: if it has gone back behind these, nobody knows them. */
uint64_t dome__log_forgotten(const dome_message_log *log, int task);

/* All tasks know the same. */
void dome__log_shared(dome_message_log *log);

/* ---- in a checkpoint: messages stay where they are, and it says where ---- */

void dome__log_put(const dome_message_log *log, GByteArray *to);

/* Into a new log. False: the bytes make no sense, or are of another task or of another number of tasks. Pieces of memory that
 * have been used again since were covered. */
bool dome__log_get(dome_message_log *log, dome_bytes *from);

#endif
