#include "peer/peer_private.h"

#include <string.h>

/* ---- asking ---- */

/* What is kept of a question until its answer. */
static uint64_t bytes_of(uint32_t bytes)
{
    return (uint64_t)bytes + DOME_PEER_KEPT_EACH;
}

static void send_asker(dome_peer *p, dome_peer_other *o, dome_peer_asker *a)
{
    const bool answered = a->answered || a->then;
    const dome_peer_frame f = {.kind = answered ? DOME_PEER_REQUEST : DOME_PEER_WORD,
                               .tag = a->tag,
                               .length = a->bytes,
                               .id = answered ? ++p->asked : 0};
    a->id = f.id;
    if (answered)
        g_ptr_array_add(o->askers, a);
    dome__peer_line_put(p, o, &f, a->data);
    if (answered)
        return;
    o->told -= bytes_of(a->bytes);
    g_free(a);
}

/* Whether it may be sent: questions wait for answers to others, and what is told behind them waits, too. */
static bool may_send(const dome_peer_other *o, const dome_peer_asker *a)
{
    return o->queued < DOME_PEER_QUEUE_MOST && (o->askers->len < DOME_PEER_ASKS || !(a->answered || a->then));
}

void dome__peer_questions_send(dome_peer *peer, dome_peer_other *other)
{
    while (other->state == DOME_PEER_OPEN) {
        const dome_peer_asker *a = g_queue_peek_head(&other->later);
        if (!a || !may_send(other, a))
            return;
        send_asker(peer, other, g_queue_pop_head(&other->later));
    }
}

static dome_peer_asker *keep(const dome_peer_question *q)
{
    dome_peer_asker *a = g_malloc(sizeof *a + q->bytes);
    char *data = (char *)(a + 1);
    G_STATIC_ASSERT(sizeof *a <= DOME_PEER_KEPT_EACH);
    *a = (dome_peer_asker){
        .rank = q->rank, .tag = (uint8_t)q->tag, .bytes = q->bytes, .data = data, .then = q->then, .ctx = q->ctx};
    if (q->bytes)
        memcpy(data, q->data, q->bytes);
    return a;
}

static dome_peer_status enqueue(dome_peer *p, const dome_peer_question *q, bool told, uint64_t most)
{
    pthread_mutex_lock(&p->lock);
    dome_peer_other *o = dome__peer_use(p, q->rank);
    uint64_t *count = told ? &o->told : &o->kept;
    dome_peer_status status = dome__peer_fate(p, o);
    if (!status && *count && *count + bytes_of(q->bytes) > most)
        status = DOME_PEER_FULL;
    if (!status) {
        *count += bytes_of(q->bytes);
        g_queue_push_tail(&o->later, keep(q));
        dome__peer_questions_send(p, o);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

dome_peer_status dome__peer_ask_then(dome_peer *peer, const dome_peer_question *question)
{
    return enqueue(peer, question, false, DOME_PEER_KEPT);
}

dome_peer_status dome__peer_tell(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint32_t bytes)
{
    return enqueue(peer, &(dome_peer_question){.rank = rank, .tag = tag, .data = data, .bytes = bytes}, true, DOME_PEER_TOLD);
}

/* ---- answers ---- */

static void tell(dome_peer *p, dome_peer_asker *a, const dome_peer_answer *answer)
{
    dome__peer_handling(p);
    a->then(a->ctx, answer);
    g_free(a);
    dome__peer_handled(p);
}

/* The caller who waits has its answer. */
static void answer_caller(dome_peer_asker *a, dome_peer_status status, GByteArray *reply)
{
    a->status = status;
    a->reply = reply;
    a->done = true;
    pthread_cond_signal(a->answered);
}

static dome_peer_asker *take_asker(dome_peer_other *o, uint64_t id)
{
    for (guint k = 0; k < o->askers->len; k++)
        if (((dome_peer_asker *)o->askers->pdata[k])->id == id)
            return g_ptr_array_remove_index(o->askers, k);
    return NULL;
}

bool dome__peer_questions_take(dome_peer *peer, dome_peer_other *other, dome_peer_reader *reader)
{
    const dome_peer_frame *f = &reader->frame;
    const dome_peer_status status = f->flags & DOME_PEER_NOBODY ? DOME_PEER_REFUSED : DOME_PEER_OK;
    dome_peer_asker *a = take_asker(other, f->id);
    if (!a)
        return peer->stopping; /* then its caller may have given up */
    dome__peer_questions_send(peer, other);
    if (a->answered) {
        answer_caller(a, status, status ? NULL : g_byte_array_new_take(g_steal_pointer(&reader->bytes), f->length));
        return true;
    }
    const dome_peer_answer answer = {peer, other->rank, status, status ? NULL : reader->bytes, status ? 0 : f->length};
    other->kept -= bytes_of(a->bytes);
    tell(peer, a, &answer);
    return true;
}

/* ---- ends ---- */

void dome__peer_questions_end(dome_peer *peer, dome_peer_other *other, dome_peer_status why)
{
    for (guint k = 0; k < other->askers->len; k++) /* they are older than those that wait */
        g_queue_push_nth(&other->later, other->askers->pdata[k], (gint)k);
    g_ptr_array_set_size(other->askers, 0);
    for (dome_peer_asker *a; (a = g_queue_pop_head(&other->later));) {
        if (a->answered) {
            answer_caller(a, why, NULL);
            continue;
        }
        a->status = why;
        *(a->then ? &other->kept : &other->told) -= bytes_of(a->bytes);
        if (a->then)
            g_queue_push_tail(&peer->unheard, a);
        else
            g_free(a);
    }
}

static void stop_callers(dome_peer_other *o)
{
    for (guint k = o->askers->len; k-- > 0;)
        if (((dome_peer_asker *)o->askers->pdata[k])->answered)
            answer_caller(g_ptr_array_remove_index(o->askers, k), DOME_PEER_STOPPED, NULL);
    for (GList *at = o->later.head, *next; at; at = next) {
        dome_peer_asker *a = at->data;
        next = at->next;
        if (!a->answered)
            continue;
        g_queue_delete_link(&o->later, at);
        answer_caller(a, DOME_PEER_STOPPED, NULL);
    }
}

void dome__peer_questions_stop(dome_peer *peer)
{
    for (int r = 0; r < peer->setup.size; r++)
        if (peer->other[r])
            stop_callers(peer->other[r]);
}

void dome__peer_questions_tell(dome_peer *peer)
{
    for (dome_peer_asker *a; (a = g_queue_pop_head(&peer->unheard));)
        tell(peer, a, &(dome_peer_answer){.peer = peer, .from = a->rank, .status = a->status});
}
