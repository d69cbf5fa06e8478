#include "peer/peer_private.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

/* Bytes that are taken before the sender is told: it never waits with less than the other half. */
enum { CREDIT = DOME_PEER_WINDOW / 2 };

/* ---- sending ---- */

static void watch(dome_peer *p, dome_peer_other *o, bool out)
{
    struct epoll_event e = {.events = EPOLLIN | (out ? EPOLLOUT : 0u), .data.ptr = o->end};
    if (o->watched != out && epoll_ctl(p->set, EPOLL_CTL_MOD, o->end->fd, &e) == 0)
        o->watched = out;
}

static ssize_t send_some(dome_peer_other *o, const dome_peer_parcel *first)
{
    ssize_t n;
    do
        n = send(o->end->fd, first->frame + o->sent, first->bytes - o->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n;
}

void dome__peer_line_flush(dome_peer *peer, dome_peer_other *other)
{
    bool full = false;
    for (dome_peer_parcel *first; !full && (first = g_queue_peek_head(&other->out));) {
        const ssize_t n = send_some(other, first);
        full = n < 0;
        other->sent += full ? 0 : (size_t)n;
        if (other->sent < first->bytes)
            continue;
        other->queued -= first->bytes;
        other->sent = 0;
        other->passed++;
        g_free(g_queue_pop_head(&other->out));
    }
    /* After an error there is something to read, too, if it is only the end: the thread finds it. */
    watch(peer, other, full && (errno == EAGAIN || errno == EWOULDBLOCK));
}

void dome__peer_line_put(dome_peer *peer, dome_peer_other *other, const dome_peer_frame *frame, const void *data)
{
    const size_t bytes = dome__peer_frame_bytes(frame->length);
    if (other->shut)
        return;
    dome_peer_parcel *parcel = g_malloc(sizeof *parcel + bytes);
    parcel->bytes = bytes;
    dome__peer_frame_put(parcel->frame, frame, data, &other->end->macs.out);
    g_queue_push_tail(&other->out, parcel);
    other->queued += bytes;
    other->put++;
    peer->sent.frames++;
    peer->sent.bytes += bytes;
    if (!other->watched)
        dome__peer_line_flush(peer, other);
}

/* ---- messages that arrive ---- */

void dome__peer_line_credit(dome_peer *peer, dome_peer_other *other, int tag)
{
    dome_peer_inbox *in = &other->in[tag];
    const bool waits = in->readers > 0 && g_queue_is_empty(&in->messages); /* for what is arriving, however long it is */
    const uint64_t keep = waits ? 0 : MIN(in->unused, in->held);
    in->owed += in->unused - keep;
    in->unused = keep;
    if (in->owed < CREDIT || other->state != DOME_PEER_OPEN)
        return;
    dome__peer_line_put(peer, other, &(dome_peer_frame){.kind = DOME_PEER_CREDIT, .tag = (uint8_t)tag, .id = in->owed}, NULL);
    in->owed = 0;
}

static void end_message(dome_peer_inbox *in)
{
    dome_peer_message *message = g_new(dome_peer_message, 1);
    *message = (dome_peer_message){g_steal_pointer(&in->part), in->total};
    g_queue_push_tail(&in->messages, message);
    in->total = in->have = 0;
}

static bool take_part(dome_peer *p, dome_peer_other *o, const dome_peer_reader *r)
{
    const dome_peer_frame *f = &r->frame;
    dome_peer_inbox *in = &o->in[f->tag];
    if (in->have == 0) {
        in->total = f->id;
        in->part = f->id < G_MAXSIZE / 2 ? g_try_malloc((gsize)f->id + 1) : NULL;
    }
    if (f->id != in->total - in->have || in->unused + f->length > DOME_PEER_WINDOW)
        return false;
    if (in->part && f->length)
        memcpy(in->part + in->have, r->bytes, f->length);
    in->have += f->length;
    in->held += f->length;
    in->unused += f->length;
    if (in->have == in->total)
        end_message(in);
    dome__peer_line_credit(p, o, f->tag);
    return true;
}

static bool take_credit(dome_peer_other *o, const dome_peer_frame *f)
{
    dome_peer_outbox *to = &o->to[f->tag];
    if (f->id > to->there)
        return false;
    to->there -= f->id;
    return true;
}

/* ---- frames that arrive ---- */

static bool take_request(dome_peer *p, dome_peer_other *o, const dome_peer_reader *r)
{
    const dome_peer_handler handler = p->handlers[r->frame.tag].handler;
    const dome_peer_request request = {p, o->rank, r->frame.id, r->bytes, r->frame.length};
    if (!handler && r->frame.kind == DOME_PEER_WORD)
        return true;
    if (!handler) {
        const dome_peer_frame nobody = {
            .kind = DOME_PEER_REPLY, .tag = r->frame.tag, .flags = DOME_PEER_NOBODY, .id = r->frame.id};
        dome__peer_line_put(p, o, &nobody, NULL);
        return true;
    }
    void *ctx = p->handlers[r->frame.tag].ctx;
    dome__peer_handling(p);
    handler(ctx, &request);
    dome__peer_handled(p);
    return true;
}

bool dome__peer_line_take(dome_peer *peer, dome_peer_other *other, dome_peer_reader *reader)
{
    bool good = false;
    switch (reader->frame.kind) {
    case DOME_PEER_REQUEST:
    case DOME_PEER_WORD:
        return take_request(peer, other, reader);
    case DOME_PEER_REPLY:
        good = dome__peer_questions_take(peer, other, reader);
        break;
    case DOME_PEER_PART:
        good = take_part(peer, other, reader);
        break;
    case DOME_PEER_CREDIT:
        good = take_credit(other, &reader->frame);
        break;
    default:
        break;
    }
    pthread_cond_broadcast(&peer->changed);
    return good;
}

void dome__peer_line_drop(dome_peer_other *other)
{
    while (!g_queue_is_empty(&other->out))
        g_free(g_queue_pop_head(&other->out));
    other->queued = other->sent = 0;
    other->watched = false;
    for (int tag = 0; tag < DOME_PEER_TAGS; tag++) {
        dome_peer_inbox *in = &other->in[tag];
        g_clear_pointer(&in->part, g_free);
        in->total = in->have = 0;
    }
}
