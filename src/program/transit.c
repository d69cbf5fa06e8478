#include "program/transit.h"

#include "ckpt/checkpoint.h"
#include "comm/comm.h"
#include "copies/copies.h"
#include "system/time.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <inttypes.h>
#include <string.h>

/* How long something waits: so many seconds and boundaries. */
static const double WAIT_SECONDS = 10;
enum { WAIT_BOUNDARIES = 10 };

/* So many boundaries are looked at one after the other. Later there are so many seconds in between, to limit the cost; the gap
 * grows by at most this factor, since later loops may take longer. */
enum { ONE_BY_ONE = 32, GAP_GROWTH = 4 };
static const double GAP_SECONDS = 0.05;

char *dome__transit_in_vain(const dome_transit *t, const char *what)
{
    char *since = NULL;
    if (t->tries > 1)
        since = g_strdup_printf("; at each of %" PRIu64 " loop boundaries in %.2g s a message or a request was open", t->tries,
                                (double)(t->last_ns - t->began_ns) * 1e-9);
    char *text = g_strdup_printf("%s%s; no %s can have it: receive messages, and wait for requests, before dome_checkpoint",
                                 t->text, since ? since : "", what);
    g_free(since);
    return text;
}

/* Task 0: boundaries until the next try; 0: there is none. */
static uint64_t next_gap(const dome_env *env, dome_transit *t)
{
    const uint64_t now = dome__now_ns(), passed = MAX(t->gap, 1), most = passed * GAP_GROWTH;
    const double each = (double)(now - t->last_ns) * 1e-9 / (double)passed;
    t->last_ns = now;
    if ((double)(now - t->began_ns) * 1e-9 >= WAIT_SECONDS && (t->tries > WAIT_BOUNDARIES || dome__checkpoint_ends(env)))
        return 0;
    t->gap = 1;
    if (t->tries >= ONE_BY_ONE && each < GAP_SECONDS)
        t->gap = MIN((uint64_t)(GAP_SECONDS / MAX(each, 1e-9)), most);
    if (t->gap > 1) /* messages of every other boundary must not meet each try */
        t->gap += t->tries % 2;
    return t->gap;
}

/* Takes over the text. *gap: until the next try. */
static int wait_on(dome_env *env, dome_transit *t, char *text, uint64_t *gap)
{
    if (!t->waits)
        *t = (dome_transit){.waits = true, .text = t->text, .began_ns = dome__now_ns(), .last_ns = dome__now_ns()};
    g_free(t->text);
    t->text = text;
    t->tries++;
    if (env->rank == 0)
        *gap = next_gap(env, t);
    int status = dome__bcast(env->transport, 0, DOME_U64, gap, 1);
    if (status)
        return dome__fail_transport(env, status);
    t->waits = *gap > 0;
    return DOME_OK;
}

int dome__transit_find(dome_env *env, dome_transit *t, dome_transit_found *found)
{
    char *text = NULL;
    *found = (dome_transit_found){0};
    int status = dome__comm_open(env, &text);
    found->open = status == DOME_OK && text;
    if (found->open)
        return wait_on(env, t, text, &found->gap);
    t->waits = false;
    return status;
}

bool dome__transit_waits(const dome_transit *t)
{
    return t->waits;
}

void dome__transit_stop(dome_transit *t)
{
    t->waits = false;
}

void dome__transit_clear(dome_transit *t)
{
    g_clear_pointer(&t->text, g_free);
}

/* ---- in a checkpoint ---- */

/* The bytes of all tasks, one behind the other, in a vector that each of them has whole. */
static int gather(dome_env *env, const GByteArray *own, const uint64_t *lengths, dvec *channel)
{
    dvec_span spans[2];
    int status = channel ? (int)dvec_local_spans(channel, spans) : DOME_ERR_MEMORY;
    if (status == DOME_OK && (status = dome__allgatherv(env->transport, DOME_U8, own->data, lengths, spans[0].data)))
        status = dome__fail_transport(env, status);
    return status;
}

int dome__channel_make(dome_env *env, dvec **channel)
{
    GByteArray *own = dome__comm_channel(env);
    uint64_t *lengths = g_new0(uint64_t, env->size), length = own->len, all = 0;
    int status = dome__allgather(env->transport, DOME_U64, &length, 1, lengths);
    if (status)
        status = dome__fail_transport(env, status);
    for (int r = 0; r < env->size; r++)
        all += lengths[r];
    *channel = NULL;
    if (status == DOME_OK && all > 0) {
        *channel = dvec_new_with(env, DOME_CHANNEL, DOME_U8, all, DVEC_OPTIONS(.distribution = DOME_WHOLE));
        status = gather(env, own, lengths, *channel);
    }
    g_free(lengths);
    g_byte_array_unref(own);
    return status;
}

int dome__channel_put(dome_env *env, const GByteArray *own, dvec **channel)
{
    dvec_span spans[2];
    *channel = dvec_new_with(env, DOME_CHANNEL, DOME_U8, own->len, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    const int status = *channel ? (int)dvec_local_spans(*channel, spans) : DOME_ERR_MEMORY;
    if (status == DOME_OK)
        memcpy(spans[0].data, own->data, own->len);
    return status;
}

/* Why the messages cannot be taken (g_free'd), or NULL. */
static char *take_messages(dome_env *env, const void *bytes, uint64_t length)
{
    if (!dome__comm_logs(env))
        return dome__comm_channel_put(env, bytes, length);
    return dome__comm_log_restore(env, bytes, length)
               ? NULL
               : g_strdup("the messages in the task's checkpoint are damaged, or of another number of tasks");
}

int dome__channel_restore(dome_env *env)
{
    const uint64_t length = dome__checkpoint_saved_length(env, DOME_CHANNEL);
    if (!length)
        return DOME_OK;
    dvec *channel = dvec_new_with(env, DOME_CHANNEL, DOME_U8, length, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    dvec_span spans[2];
    int status = channel ? (int)dvec_local_spans_const(channel, spans) : DOME_ERR_MEMORY;
    char *why = status == DOME_OK ? take_messages(env, spans[0].data, length) : NULL;
    if (why)
        status = dome__fail(env, DOME_ERR_STATE, "%s", why);
    g_free(why);
    if (channel)
        dvec_free(channel);
    return status;
}

/* ---- copies on another host ---- */

static bool copy_range(void *ctx, const dome_log_range *r)
{
    const dome_copies_range range = {r->file, r->place, r->bytes, r->from, r->length, r->data};
    return dome__own_give(ctx, &range);
}

GArray *dome__copy_messages(dome_env *env)
{
    return dome__own_copies(env) ? dome__comm_log_copy(env, copy_range, env) : NULL;
}

/* What the other host has may be incomplete, or it is another host than before. */
int dome__renew_copies(dome_env *env)
{
    if (!dome__own_lacks_copy(env))
        return DOME_OK;
    dome__comm_log_uncopied(env);
    GArray *used = dome__copy_messages(env);
    const int status = dome__own_renew(env, used);
    if (dome__own_lacks_copy(env))
        dome__comm_log_uncopied(env);
    g_array_unref(used);
    return status;
}
