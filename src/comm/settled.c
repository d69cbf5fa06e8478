/* Finds messages that have been sent and not received, where none may be. */
#include "comm/comm.h"
#include "comm/comm_messages.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT = 320 };

/* Whether any task has a message or a request open. A message that is on its way has been counted by its sender alone. */
static int any_open(dome_env *env, bool *open)
{
    const dome_comm *c = env->comm;
    int64_t words[2] = {0};
    for (int r = 0; c && r < env->size; r++)
        words[0] += (int64_t)c->sent_to[r] - (int64_t)c->taken_from[r];
    words[1] = c ? (int64_t)c->stored.length + c->receives.length + c->done.length : 0;
    int status = dome__allreduce(env->transport, DOME_I64, words, 2, dome__combine_sum_i64, NULL);
    *open = words[0] || words[1];
    return status;
}

/* How many of this task's messages each other task has taken: g_free'd. NULL: *status. */
static uint64_t *taken_by(dome_env *env, int *status)
{
    uint64_t *taken = g_new0(uint64_t, env->size);
    *status = dome__alltoall(env->transport, DOME_U64, dome__comm(env)->taken_from, 1, taken);
    if (*status)
        g_clear_pointer(&taken, g_free);
    return taken;
}

static void describe_message(char text[TEXT], int from, int to, const sent *message)
{
    g_snprintf(text, TEXT, "a message of task %d to task %d (tag %d, %" PRIu64 " element%s of %s) has not been received", from,
               to, message->tag, message->count, message->count == 1 ? "" : "s", dome__letter_type_name(message->kind));
}

static void describe_request(char text[TEXT], const dome_request *r)
{
    char peer[32] = "any task", tag[32] = "any tag";
    if (r->rank >= 0)
        g_snprintf(peer, sizeof peer, "task %d", r->rank);
    if (r->tag >= 0)
        g_snprintf(tag, sizeof tag, "tag %d", r->tag);
    g_snprintf(text, TEXT, "a request of task %d to %s %s (%s) has not been waited for", r->env->rank,
               r->to_send ? "send to" : "receive from", peer, tag);
}

/* Describes a message or request of this task that is open; returns false if there is none. Of messages that the receiver has not
 * taken, which may be long, the sender alone knows: the last one of them is described. */
static bool describe(dome_env *env, const uint64_t *taken, char text[TEXT])
{
    const dome_comm *c = env->comm;
    if (c->stored.length) {
        const stored *s = c->stored.head->data;
        describe_message(text, s->rank, env->rank, &(sent){s->letter.tag, s->letter.kind, s->letter.count});
        return true;
    }
    for (int r = 0; r < env->size; r++)
        if (c->sent_to[r] != taken[r]) {
            describe_message(text, env->rank, r, &c->last_to[r]);
            return true;
        }
    const GQueue *queue = c->receives.length ? &c->receives : &c->done;
    if (queue->length)
        describe_request(text, queue->head->data);
    return queue->length > 0;
}

/* On all tasks: the text of the lowest rank that has one; empty if there is none. */
static int first_text(dome_env *env, char text[TEXT])
{
    dome_transport *t = env->transport;
    memset(text, 0, TEXT); /* all of it is sent */
    bool open;
    int status = any_open(env, &open);
    if (status || !open)
        return status;
    uint64_t *taken = taken_by(env, &status);
    if (status)
        return status;
    int64_t first = describe(env, taken, text) ? env->size - env->rank : 0;
    g_free(taken);
    status = dome__allreduce(t, DOME_I64, &first, 1, dome__combine_max_i64, NULL);
    if (!status && first)
        status = dome__bcast(t, (int)(env->size - first), DOME_U8, text, TEXT);
    return status;
}

int dome__comm_open(dome_env *env, char **text)
{
    char found[TEXT];
    int status = first_text(env, found);
    if (status)
        return dome__fail_transport(env, status);
    *text = found[0] ? g_strdup(found) : NULL;
    return DOME_OK;
}

int dome__comm_finish(dome_env *env)
{
    const dome_comm *c = env->comm;
    for (const GList *link = c ? c->done.head : NULL; link; link = link->next) {
        const dome_request *r = link->data;
        if (r->state == REQUEST_SENDS)
            dome__end_send(env->transport, r->rank);
    }
    char text[TEXT];
    int status = first_text(env, text);
    if (!status && text[0] && env->rank == 0) {
        char *line = g_strdup_printf("dome_finalize: %s", text);
        env->hooks->say(env, line);
        g_free(line);
    }
    return status;
}
