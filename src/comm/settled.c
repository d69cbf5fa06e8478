/* Finds messages that have been sent and not received, where none may be. */
#include "comm/comm.h"
#include "comm/messages.h"
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

/* Takes in all messages that other tasks have sent to this one. */
static int take_all(dome_env *env)
{
    dome_comm *c = dome__comm(env);
    uint64_t *told = g_new0(uint64_t, env->size);
    int status = dome__alltoall(env->transport, DOME_U64, c->sent_to, 1, told);
    for (int r = 0; r < env->size && !status; r++)
        while (r != env->rank && c->taken_from[r] < told[r] && !status)
            status = dome__comm_take(env, r, 0);
    g_free(told);
    return status;
}

/* Describes the first message or request of this task that is open; returns false if there is none. */
static bool describe(dome_env *env, char text[TEXT])
{
    const dome_comm *c = env->comm;
    if (c->stored.length) {
        const stored *s = c->stored.head->data;
        g_snprintf(text, TEXT, "a message of task %d to task %d (tag %d, %" PRIu64 " elements of %s) has not been received",
                   s->rank, env->rank, s->letter.tag, s->letter.count, dome__letter_type_name(&s->letter));
        return true;
    }
    const GQueue *queue = c->receives.length ? &c->receives : &c->done;
    if (!queue->length)
        return false;
    const dome_request *r = queue->head->data;
    char peer[32] = "any task", tag[32] = "any tag";
    if (r->rank >= 0)
        g_snprintf(peer, sizeof peer, "task %d", r->rank);
    if (r->tag >= 0)
        g_snprintf(tag, sizeof tag, "tag %d", r->tag);
    g_snprintf(text, TEXT, "a request of task %d to %s %s (%s) has not been waited for", env->rank,
               r->to_send ? "send to" : "receive from", peer, tag);
    return true;
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
    status = take_all(env);
    if (status)
        return status;
    int64_t first = describe(env, text) ? env->size - env->rank : 0;
    status = dome__allreduce(t, DOME_I64, &first, 1, dome__combine_max_i64, NULL);
    if (!status && first)
        status = dome__bcast(t, (int)(env->size - first), DOME_U8, text, TEXT);
    return status;
}

dome_status dome__comm_settled(dome_env *env)
{
    char text[TEXT];
    int status = first_text(env, text);
    if (status)
        return dome__fail_transport(env, status);
    if (!text[0])
        return DOME_OK;
    return dome__fail(env, DOME_ERR_STATE, "%s, and no checkpoint can contain it", text);
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
