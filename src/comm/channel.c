/* Messages that are under way at a loop boundary, as bytes of a checkpoint:
 *
 *     each message    SIGN, the number of tasks, from, to, tag, kind, type, element, count, bytes; its data, filled up to whole
 *                     words
 *
 * The words and the data are those of this kind of machine, which SIGN tells. */
#include "comm/comm.h"
#include "comm/comm_messages.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <string.h>

#define SIGN UINT64_C(0x444f4d4543484e31)

/* MOST: bytes of all messages, which each task has for a moment. */
static const int64_t MOST = 1 << 30;

enum { BEGIN, TASKS, FROM, TO, TAG, KIND, TYPE, ELEMENT, COUNT, BYTES, WORDS };

static bool is_native(const dome_env *env, int rank)
{
    return rank == env->rank || dome__format_with(env->transport, rank) == DOME_NATIVE;
}

/* Whether all that is open are messages, of machines of one kind. */
static int look(dome_env *env, bool *only)
{
    const dome_comm *c = dome__comm(env);
    int64_t words[2] = {c->receives.length + c->done.length, 0};
    for (int r = 0; r < env->size; r++)
        words[1] += !is_native(env, r);
    const int status = dome__allreduce(env->transport, DOME_I64, words, 2, dome__combine_sum_i64, NULL);
    *only = !words[0] && !words[1];
    return status;
}

/* Whether each task can have the messages of all. */
static int are_few(dome_env *env, bool *few)
{
    int64_t bytes = 0;
    for (const GList *link = env->comm->stored.head; link; link = link->next) {
        const stored *s = link->data;
        bytes += (int64_t)MIN(s->message.bytes, (uint64_t)MOST + 1);
    }
    const int status = dome__allreduce(env->transport, DOME_I64, &bytes, 1, dome__combine_sum_i64, NULL);
    *few = !status && bytes <= MOST;
    return status;
}

int dome__comm_take_in(dome_env *env, bool *taken)
{
    bool only;
    int status = look(env, &only);
    *taken = false;
    if (status || !only)
        return status ? dome__fail_transport(env, status) : DOME_OK;
    dome_comm *c = env->comm;
    uint64_t *sent = g_new0(uint64_t, env->size);
    status = dome__alltoall(env->transport, DOME_U64, c->sent_to, 1, sent);
    for (int r = 0; r < env->size; r++)
        while (!status && c->taken_from[r] < sent[r])
            status = dome__comm_take(env, r, 0);
    g_free(sent);
    if (!status)
        status = are_few(env, taken);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

GByteArray *dome__comm_channel(dome_env *env)
{
    const dome_comm *c = dome__comm(env);
    const guint8 none[8] = {0};
    GByteArray *bytes = g_byte_array_new();
    for (const GList *link = c->stored.head; link; link = link->next) {
        const stored *s = link->data;
        const dome_message *m = &s->message;
        const uint64_t words[WORDS] = {[BEGIN] = SIGN,
                                       [TASKS] = (uint64_t)env->size,
                                       [FROM] = (uint64_t)s->rank,
                                       [TO] = (uint64_t)env->rank,
                                       [TAG] = (uint64_t)m->tag,
                                       [KIND] = m->kind,
                                       [TYPE] = m->type,
                                       [ELEMENT] = m->element,
                                       [COUNT] = m->count,
                                       [BYTES] = m->bytes};
        g_byte_array_append(bytes, (const guint8 *)words, sizeof words);
        g_byte_array_append(bytes, s->data, (guint)m->bytes);
        g_byte_array_append(bytes, none, (guint)(padded(m->bytes) - m->bytes));
    }
    return bytes;
}

/* Why a message cannot be taken (g_free'd), or NULL. */
static char *objection(const dome_env *env, const uint64_t *words, uint64_t left)
{
    if (words[BEGIN] == GUINT64_SWAP_LE_BE(SIGN))
        return g_strdup("the checkpoint has messages that were under way between machines of another byte order: go on there");
    if (words[BEGIN] != SIGN || words[BYTES] > left || padded(words[BYTES]) > left)
        return g_strdup("the messages in the checkpoint are damaged");
    if (words[TASKS] != (uint64_t)env->size)
        return g_strdup_printf("the checkpoint has messages that were under way between %" PRIu64
                               " tasks: go on with as many, not "
                               "with %d",
                               words[TASKS], env->size);
    if (words[FROM] >= (uint64_t)env->size || words[TO] >= (uint64_t)env->size)
        return g_strdup("the messages in the checkpoint are damaged");
    return NULL;
}

static void put(dome_env *env, const uint64_t *words, const uint8_t *data)
{
    const dome_message m = {.tag = (int)words[TAG],
                            .kind = (dome_type_kind)words[KIND],
                            .type = words[TYPE],
                            .element = words[ELEMENT],
                            .count = words[COUNT],
                            .bytes = words[BYTES]};
    stored *s = dome__comm_store(env, (int)words[FROM], &m, words[BYTES]);
    memcpy(s->data, data, words[BYTES]);
}

char *dome__comm_channel_put(dome_env *env, const void *channel, uint64_t bytes)
{
    const uint8_t *at = channel, *end = at + bytes;
    char *why = NULL;
    dome__comm(env);
    while (at < end && !why) {
        uint64_t words[WORDS] = {0};
        if ((uint64_t)(end - at) < sizeof words)
            return g_strdup("the messages in the checkpoint are damaged");
        memcpy(words, at, sizeof words);
        at += sizeof words;
        why = objection(env, words, (uint64_t)(end - at));
        if (!why && words[TO] == (uint64_t)env->rank)
            put(env, words, at);
        at += why ? 0 : padded(words[BYTES]);
    }
    return why;
}
