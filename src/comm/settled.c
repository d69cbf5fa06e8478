/* Finds messages that have been sent and not received, where none may be. */
#include "comm/comm.h"
#include "comm/comm_messages.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>

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

static char *describe_message(int from, int to, const sent *message)
{
    return g_strdup_printf("a message of task %d to task %d (tag %d, %" PRIu64 " element%s of %s) has not been received", from,
                           to, message->tag, message->count, message->count == 1 ? "" : "s",
                           dome__message_type_name(message->kind));
}

static char *describe_request(const dome_request *r)
{
    char peer[32] = "any task", tag[32] = "any tag";
    if (r->rank >= 0)
        g_snprintf(peer, sizeof peer, "task %d", r->rank);
    if (r->tag >= 0)
        g_snprintf(tag, sizeof tag, "tag %d", r->tag);
    return g_strdup_printf("a request of task %d to %s %s (%s) has not been waited for", r->env->rank,
                           r->to_send ? "send to" : "receive from", peer, tag);
}

/* Describes a message or request of this task that is open, g_free'd; NULL: there is none. Of messages that the receiver has not
 * taken, which may be long, the sender alone knows: the last one of them is described. */
static char *describe(dome_env *env, const uint64_t *taken)
{
    const dome_comm *c = env->comm;
    if (c->stored.length) {
        const stored *s = c->stored.head->data;
        return describe_message(s->rank, env->rank, &(sent){s->message.tag, s->message.kind, s->message.count});
    }
    for (int r = 0; r < env->size; r++)
        if (c->sent_to[r] != taken[r])
            return describe_message(env->rank, r, &c->last_to[r]);
    const GQueue *queue = c->receives.length ? &c->receives : &c->done;
    return queue->length ? describe_request(queue->head->data) : NULL;
}

/* On all tasks: *text is what the lowest rank has open that has something open; NULL: none has. */
static int first_text(dome_env *env, char **text)
{
    bool open;
    *text = NULL;
    int status = any_open(env, &open);
    if (status || !open)
        return status;
    uint64_t *taken = taken_by(env, &status);
    if (status)
        return status;
    *text = describe(env, taken);
    g_free(taken);
    status = dome__agree_text(env->transport, text, NULL);
    if (status)
        g_clear_pointer(text, g_free);
    return status;
}

int dome__comm_open(dome_env *env, char **text)
{
    int status = first_text(env, text);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

int dome__comm_finish(dome_env *env)
{
    const dome_comm *c = env->comm;
    for (const GList *link = c ? c->done.head : NULL; link; link = link->next) {
        const dome_request *r = link->data;
        if (r->state == REQUEST_SENDS)
            dome__end_send(env->transport, r->rank);
    }
    char *text;
    int status = first_text(env, &text);
    if (text && env->rank == 0) {
        char *line = g_strdup_printf("dome_finalize: %s", text);
        env->hooks->say(env, line);
        g_free(line);
    }
    g_free(text);
    return status;
}
