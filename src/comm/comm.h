/* Functions for the rest of the library that concern the program's messages. */
#ifndef DOME_SRC_COMM_COMM_H
#define DOME_SRC_COMM_COMM_H

#include "comm/message_log.h"
#include "core/environment.h"

/* NULL is allowed: the environment's part is made by the first message. */
void dome__comm_free(dome_comm *comm);

/* Collective. *text (g_free'd): a message that has been sent and not received, or a request that has not been waited for, with
 * its sender and receiver, the same text on all tasks; NULL if there is none. Nothing is received: a message may be long. Fails
 * by dome__fail, and returns a status. */
int dome__comm_open(dome_env *env, char **text);

/* ---- messages that are under way in a checkpoint: channel.c ---- */

/* Collective. Takes in all messages that have been sent to this task, and stores those that it has not received. *taken false: a
 * request has not been waited for, or tasks are on machines of several kinds; then no message is stored. Fails by dome__fail. */
int dome__comm_take_in(dome_env *env, bool *taken);

/* The messages that this task has stored; g_byte_array_unref'd by the caller. */
GByteArray *dome__comm_channel(dome_env *env);

/* Stores those of such messages of all tasks, one behind the other, that go to this task. Returns why that cannot be (g_free'd),
 * the same on all tasks, or NULL. */
char *dome__comm_channel_put(dome_env *env, const void *channel, uint64_t bytes);

/* ---- --dome-checkpoint-protocol log: logged.c ---- */

/* From now on this task keeps what it sends. leave: goes over into another view, in which the program goes on where it is; it
 * calls dome__comm_meet. */
void dome__comm_log(dome_env *env, int (*leave)(dome_env *env));
bool dome__comm_logs(const dome_env *env);

/* Before the first message: it is kept in files that begin with this, beside the task's checkpoints; NULL: in memory. sums: with
 * checksums. */
void dome__comm_log_keep_in(dome_env *env, const char *stem, bool sums);

/* Collective, when a view begins: the tasks tell each other what each has, and send what others lack. Fails by dome__fail. */
int dome__comm_meet(dome_env *env);

/* This task leaves the view: a message of which it has stored only a part will come again. */
void dome__comm_drop_half(dome_env *env);

/* Whether this task is to leave the view; does so. */
int dome__comm_leave(dome_env *env);

/* Bytes that other tasks keep for this one until its next checkpoint. */
uint64_t dome__comm_log_owed(const dome_env *env);

/* What a checkpoint of this task alone has of messages, as bytes; g_byte_array_unref'd by the caller. NULL: there are too many,
 * after dome__fail. */
GByteArray *dome__comm_log_state(dome_env *env);

/* False: the bytes make no sense. */
bool dome__comm_log_restore(dome_env *env, const void *bytes, uint64_t length);

/* That checkpoint is complete: the others need not keep what it covers. */
int dome__comm_log_covered(dome_env *env);

/* Gives what a checkpoint refers to, and was not given before; see dome__log_copy. Returns the numbers of the files in which that
 * is. */
GArray *dome__comm_log_copy(dome_env *env, dome_log_take *take, void *ctx);

/* What was given is lost, or is not needed: all is given next time. */
void dome__comm_log_uncopied(dome_env *env);

/* Collective, in dome_finalize: rank 0 prints a line about the first message that nobody has received, if any. Returns a status.
 */
int dome__comm_finish(dome_env *env);

#endif
