/* Messages through rings; long ones are read from the sender's memory. */
#include "local/local_messages.h"

#include "local/local_private.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* Data of at least this many bytes is offered: saving one of two copies is worth a system call and an answer. */
enum { OFFER_BYTES = 16 << 10 };

/* Counts of bytes that are less apart than this, and the size of a ring, can be compared. */
enum { MOST_BETWEEN = 1 << 30 };

/* The most bytes to read in one system call: progress is noted between calls. */
static const uint64_t READ_BYTES = 64 << 20;

static peer *peer_of(const dome_local *local, int rank)
{
    return local->place_of[rank] < 0 ? NULL : &local->peers[local->place_of[rank]];
}

/* ---- writing ---- */

/* Looks at how far the peer has read only if less than `wanted` was free when last looked: the peer's processor writes there. */
static uint32_t room(const dome_local *local, peer *q, uint32_t wanted)
{
    uint32_t free = local->ring - (q->out_tail - q->out_head);
    if (free >= wanted)
        return free;
    q->out_head = atomic_load_explicit(&q->out->head, memory_order_acquire);
    return local->ring - (q->out_tail - q->out_head);
}

static void publish(const dome_local *local, peer *q)
{
    atomic_store_explicit(&q->out->tail, q->out_tail, memory_order_release);
    dome__ring(local, local->place_of[q->rank], FOR_WORD);
}

/* Copies data into the ring. The caller publishes it; a full ring is published at once, and long data in quarters of the ring, so
 * that writer and reader copy at the same time. */
static void write_ring(dome_local *local, peer *q, const void *data, uint64_t bytes)
{
    const char *from = data;
    while (bytes) {
        uint32_t free = room(local, q, (uint32_t)MIN(bytes, local->ring / 4));
        if (!free) {
            publish(local, q);
            dome__pause w = {0};
            for (; !(free = room(local, q, 1)); dome__rest(local, &w, FOR_ROOM))
                continue;
            dome__rested(local, &w);
        }
        uint32_t at = q->out_tail & (local->ring - 1);
        uint32_t n = MIN(MIN(free, local->ring - at), local->ring / 4);
        n = (uint32_t)MIN(n, bytes);
        memcpy(q->out_ring + at, from, n);
        q->out_tail += n;
        q->written += n;
        from += n;
        bytes -= n;
        if (n == local->ring / 4)
            publish(local, q);
    }
}

static bool answered(const peer *q)
{
    return atomic_load_explicit(&q->in->answered, memory_order_acquire) == q->offer.number;
}

static bool refused(const peer *q)
{
    return answered(q) && atomic_load_explicit(&q->in->refused, memory_order_relaxed) == q->offer.number;
}

/* Waits until the peer has answered an offer; if the peer refused it, writes the data to the ring. */
static void settle(dome_local *local, peer *q)
{
    if (!q->offer.data)
        return;
    dome__pause w = {0};
    for (; !answered(q); dome__rest(local, &w, FOR_ROOM))
        continue;
    dome__rested(local, &w);
    const char *data = q->offer.data;
    q->offer.data = NULL;
    if (refused(q)) {
        write_ring(local, q, data, q->offer.bytes);
        publish(local, q);
    }
}

/* Whether the peer is known to have taken all messages: then the cell is empty, and a message in it overtakes none. A peer that
 * answers by messages in the cell tells that with them. Otherwise this task looks where the peer writes, but only after news from
 * it: in a stream of messages to a peer that does not answer, each look would cost as much as the message. */
static bool all_taken(peer *q)
{
    if (q->out_tail == q->out_head && q->put == q->emptied)
        return true;
    if (!q->heard)
        return false;
    q->heard = false;
    q->out_head = atomic_load_explicit(&q->out->head, memory_order_acquire);
    q->emptied = atomic_load_explicit(&q->out->emptied, memory_order_acquire);
    return q->out_tail == q->out_head && q->put == q->emptied;
}

static void put_in_cell(dome_local *local, peer *q, int channel, const dome_packet *packet)
{
    shared_channel *c = q->out;
    const size_t head_bytes = packet->head_bytes;
    const bool same = head_bytes == q->put_head_bytes && memcmp(packet->head, q->put_head, head_bytes) == 0;
    if (!same) {
        memcpy(c->cell_head, packet->head, head_bytes);
        memcpy(q->put_head, packet->head, head_bytes);
        q->put_head_bytes = (uint8_t)head_bytes;
    }
    c->taken = q->taken;
    c->read = q->in_head;
    c->channel = (uint8_t)channel;
    c->bytes = (uint8_t)packet->bytes;
    c->head_bytes = same ? SAME_HEAD : (uint8_t)head_bytes;
    if (packet->bytes)
        memcpy(c->data, packet->data, packet->bytes);
    atomic_store_explicit(&c->put, ++q->put, memory_order_release);
    dome__ring(local, local->place_of[q->rank], FOR_WORD);
}

bool dome__local_send_at_once(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    dome_local *local = self->state;
    peer *q = peer_of(local, dest);
    if (packet->bytes > CELL_BYTES || packet->head_bytes > CELL_HEAD || q->offer.data || !all_taken(q))
        return false;
    put_in_cell(local, q, channel, packet);
    return true;
}

int dome__local_begin_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    dome_local *local = self->state;
    peer *q = peer_of(local, dest);
    if (packet->head_bytes > HEAD_MAX)
        return dome__transport_error(self->transport, DOME_ERR_COMM, "a message's head of %zu bytes is too long",
                                     packet->head_bytes);
    settle(local, q); /* the data of a refused offer must follow its head directly */
    if (dome__local_send_at_once(self, dest, channel, packet))
        return DOME_OK;
    frame f = {.channel = (uint32_t)channel, .head_bytes = (uint32_t)packet->head_bytes, .bytes = packet->bytes};
    bool offer = local->road == DOME_ROAD_VM && packet->bytes >= OFFER_BYTES;
    if (offer)
        f.address = (uint64_t)(uintptr_t)packet->data;
    write_ring(local, q, &f, sizeof f);
    write_ring(local, q, packet->head, packet->head_bytes);
    if (offer) {
        q->offer.number++;
        q->offer.data = packet->data;
        q->offer.bytes = packet->bytes;
    } else {
        write_ring(local, q, packet->data, packet->bytes);
    }
    publish(local, q);
    return DOME_OK;
}

void dome__local_end_send(dome_transport_provider *self, int dest)
{
    dome_local *local = self->state;
    settle(local, peer_of(local, dest));
}

bool dome__local_sent(dome_transport_provider *self, int dest)
{
    const peer *q = peer_of(self->state, dest);
    return !q->offer.data || (answered(q) && !refused(q)); /* refused data has still to go through the ring */
}

/* ---- reading ---- */

static uint32_t waiting(const peer *q)
{
    return atomic_load_explicit(&q->in->tail, memory_order_acquire) - q->in_head;
}

static void copy_out(const dome_local *local, const peer *q, uint32_t from, void *to, uint32_t n)
{
    uint32_t at = from & (local->ring - 1), first = MIN(n, local->ring - at);
    memcpy(to, q->in_ring + at, first);
    if (n > first)
        memcpy((char *)to + first, q->in_ring, n - first);
}

static void release(const dome_local *local, peer *q)
{
    atomic_store_explicit(&q->in->head, q->in_head, memory_order_release);
    dome__ring(local, local->place_of[q->rank], FOR_ROOM);
}

/* Takes the message out of the cell. Its sender waits for no room there, so nobody needs to be woken. */
static void take_from_cell(const dome_local *local, peer *q)
{
    const shared_channel *c = q->in;
    if (c->head_bytes != SAME_HEAD) {
        q->taken_head_bytes = MIN(c->head_bytes, CELL_HEAD);
        memcpy(q->taken_head, c->cell_head, CELL_HEAD);
    }
    q->front.frame = (frame){.channel = c->channel, .head_bytes = q->taken_head_bytes, .bytes = MIN(c->bytes, CELL_BYTES)};
    memcpy(q->front.cell_data, c->data, CELL_BYTES);
    /* This task may have looked since the peer wrote, and written so much that the older of two counts seems to be the newer one.
     * The peer wrote after the message before had been taken. */
    if (q->written < MOST_BETWEEN && (int32_t)(c->read - q->out_head) > 0)
        q->out_head = c->read;
    q->written = 0;
    if ((int32_t)(c->taken - q->emptied) > 0)
        q->emptied = c->taken;
    q->front.head = q->taken_head;
    q->front.framed = q->front.through_ring = q->front.in_cell = true;
    atomic_store_explicit(&q->in->emptied, ++q->taken, memory_order_release);
    dome__account_progress(&local->transport->account);
}

/* Reads frame and head of the next message, if they have arrived. */
static bool parse(dome_local *local, peer *q)
{
    uint32_t there = waiting(q); /* before the look at the cell: a message there is older */
    if (atomic_load_explicit(&q->in->put, memory_order_acquire) != q->taken) {
        take_from_cell(local, q);
        return true;
    }
    if (there < sizeof q->front.frame)
        return false;
    copy_out(local, q, q->in_head, &q->front.frame, sizeof q->front.frame);
    uint32_t whole = (uint32_t)sizeof q->front.frame + MIN(q->front.frame.head_bytes, HEAD_MAX);
    if (there < whole)
        return false;
    copy_out(local, q, q->in_head + (uint32_t)sizeof q->front.frame, q->front.ring_head, whole - (uint32_t)sizeof q->front.frame);
    q->front.head = q->front.ring_head;
    q->in_head += whole;
    q->front.framed = q->heard = true;
    q->front.in_cell = false;
    q->front.through_ring = !q->front.frame.address;
    if (!q->front.through_ring || !q->front.frame.bytes)
        release(local, q);
    dome__account_progress(&local->transport->account);
    return true;
}

/* Reads the data available in the ring, at most `bytes`, or that of a message from the cell. Returns the number of bytes read. */
static uint64_t read_ring(dome_local *local, peer *q, void *to, uint64_t bytes)
{
    if (q->front.in_cell) {
        memcpy(to, q->front.cell_data, bytes);
        return bytes;
    }
    uint32_t there = waiting(q);
    uint64_t done = 0;
    while (there && done < bytes) {
        uint32_t n = (uint32_t)MIN(MIN((uint64_t)there, bytes - done), local->ring / 4);
        copy_out(local, q, q->in_head, (char *)to + done, n);
        q->in_head += n;
        there -= n;
        done += n;
        release(local, q);
    }
    return done;
}

static void answer(const dome_local *local, peer *q, bool good)
{
    uint32_t number = atomic_load_explicit(&q->out->answered, memory_order_relaxed) + 1;
    q->front.through_ring = !good;
    if (!good)
        atomic_store_explicit(&q->out->refused, number, memory_order_relaxed);
    else if (atomic_load_explicit(&q->out->refused, memory_order_relaxed) == number) /* 2^32 transfers ago, or never */
        atomic_store_explicit(&q->out->refused, number - 1, memory_order_relaxed);
    atomic_store_explicit(&q->out->answered, number, memory_order_release);
    dome__ring(local, local->place_of[q->rank], FOR_WORD);
}

/* Reads offered data from the peer's memory; if that fails, asks the peer to send it through the ring. */
static bool read_offer(dome_local *local, peer *q, void *to)
{
    uint64_t done = 0, bytes = q->front.frame.bytes;
    while (done < bytes) {
        struct iovec here = {(char *)to + done, (size_t)MIN(bytes - done, READ_BYTES)};
        struct iovec there = {(void *)(uintptr_t)(q->front.frame.address + done), here.iov_len};
        ssize_t n = process_vm_readv(q->pid, &here, 1, &there, 1, 0);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            break;
        done += n > 0 ? (uint64_t)n : 0;
        dome__account_progress(&local->transport->account);
    }
    answer(local, q, done == bytes);
    return done == bytes;
}

static message *message_new(const peer *q)
{
    message *m = g_new(message, 1);
    m->frame = q->front.frame;
    memcpy(m->head, q->front.head, sizeof m->head);
    m->data = q->front.frame.bytes <= SIZE_MAX ? g_try_malloc(MAX(q->front.frame.bytes, 1)) : NULL;
    m->got = 0;
    if (m->data)
        return m;
    g_free(m);
    return NULL;
}

static void message_free(message *m)
{
    g_free(m->data);
    g_free(m);
}

/* Reads what is there of the data that recv_data waits for. */
static bool read_direct(dome_local *local, peer *q)
{
    uint64_t n = read_ring(local, q, q->front.to + q->front.got, q->front.frame.bytes - q->front.got);
    q->front.got += n;
    if (n)
        dome__account_progress(&local->transport->account);
    return n > 0;
}

/* Buffers messages that have arrived from a peer. Returns whether offered data is left unread. What recv_data waits for is read
 * to its place: recv_data may itself have come to wait, in `settle`, for a task that waits for room in this ring. */
static bool put_aside(dome_local *local, peer *q, bool offers)
{
    if (q->front.to && q->front.got < q->front.frame.bytes)
        read_direct(local, q);
    while (!q->front.direct && (q->front.framed || parse(local, q))) {
        bool offered = q->front.frame.address && !q->front.through_ring;
        if (offered && !offers)
            return true;
        if (!q->part && !(q->part = message_new(q)))
            return false; /* no memory: the message stays in the ring */
        message *m = q->part;
        if (offered && read_offer(local, q, m->data))
            m->got = m->frame.bytes;
        if (q->front.through_ring)
            m->got += read_ring(local, q, m->data + m->got, m->frame.bytes - m->got);
        if (m->got < m->frame.bytes)
            return false;
        g_queue_push_tail(q->messages, m);
        q->part = NULL;
        q->front.framed = false;
    }
    return false;
}

bool dome__take_in(dome_local *local, bool offers)
{
    bool left = false;
    for (int i = 0; i < local->tasks; i++)
        if (local->peers[i].offer.data && refused(&local->peers[i])) /* the peer may wait for it, and this task for the peer */
            settle(local, &local->peers[i]);
    for (int i = 0; i < local->tasks; i++)
        if (i != local->place)
            left = put_aside(local, &local->peers[i], offers) || left;
    return left;
}

static message *find(peer *q, int channel)
{
    for (GList *l = q->messages->head; l; l = l->next) {
        message *m = l->data;
        if (m->frame.channel != (uint32_t)channel)
            continue;
        g_queue_delete_link(q->messages, l);
        return m;
    }
    return NULL;
}

/* Finds the next message of a channel, among the buffered ones or at the front of the ring. */
static bool next(dome_local *local, peer *q, int channel)
{
    if (q->messages->head && (local->taken = find(q, channel)))
        return true;
    if (!q->part && (q->front.framed || parse(local, q)) && q->front.frame.channel == (uint32_t)channel) {
        q->front.direct = true;
        return true;
    }
    if (q->front.framed) {
        put_aside(local, q, true);
        return q->messages->head && (local->taken = find(q, channel));
    }
    return false;
}

static bool is_buffered(const peer *q, int channel)
{
    for (const GList *l = q->messages->head; l; l = l->next)
        if (((const message *)l->data)->frame.channel == (uint32_t)channel)
            return true;
    return false;
}

/* A message whose frame has been read, and which is not being buffered. */
static bool is_in_front(const peer *q, int channel)
{
    return q->front.framed && !q->part && q->front.frame.channel == (uint32_t)channel;
}

static bool is_whole(const peer *q)
{
    return q->front.in_cell || !q->front.through_ring || waiting(q) >= q->front.frame.bytes;
}

/* A message in front, of which all is there, stays there: were all buffered that come, a task that sends fast would fill the
 * memory. */
bool dome__local_arrived(dome_transport_provider *self, int source, int channel)
{
    dome_local *local = self->state;
    peer *q = peer_of(local, source);
    if (is_buffered(q, channel))
        return true;
    if (!q->front.direct && !q->part && (q->front.framed || parse(local, q)) && is_in_front(q, channel) && is_whole(q))
        return true;
    put_aside(local, q, false);
    return is_buffered(q, channel) || is_in_front(q, channel);
}

int dome__local_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    dome_local *local = self->state;
    peer *q = peer_of(local, source);
    dome__pause w = {0};
    for (; !next(local, q, channel); dome__rest(local, &w, FOR_WORD))
        continue;
    dome__rested(local, &w);
    const frame *f = local->taken ? &local->taken->frame : &q->front.frame;
    *bytes = f->bytes;
    if (f->head_bytes != head_bytes)
        return dome__transport_error(self->transport, DOME_ERR_COMM, "the head of a message from task %d has the wrong length",
                                     source);
    memcpy(head, local->taken ? local->taken->head : q->front.head, head_bytes);
    return DOME_OK;
}

int dome__local_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    dome_local *local = self->state;
    peer *q = peer_of(local, source);
    (void)channel;
    uint64_t whole = local->taken ? local->taken->frame.bytes : q->front.frame.bytes;
    if (bytes != whole)
        return dome__transport_error(self->transport, DOME_ERR_COMM,
                                     "a message from task %d has another length than is to be received", source);
    if (local->taken) {
        if (bytes)
            memcpy(data, local->taken->data, bytes);
        g_clear_pointer(&local->taken, message_free);
        return DOME_OK;
    }
    bool done = !bytes || (q->front.frame.address && read_offer(local, q, data));
    q->front.got = done ? bytes : 0;
    q->front.to = data;
    dome__pause w = {0};
    while (q->front.got < bytes) {
        if (!read_direct(local, q))
            dome__rest(local, &w, FOR_WORD);
        else if (w.turns)
            dome__rested(local, &w), w = (dome__pause){0};
    }
    dome__rested(local, &w);
    q->front.to = NULL;
    q->front.direct = q->front.framed = false;
    return DOME_OK;
}

void dome__local_forget_messages(dome_local *local)
{
    for (int i = 0; i < local->tasks; i++) {
        peer *q = &local->peers[i];
        if (!q->messages)
            continue;
        g_queue_free_full(q->messages, (GDestroyNotify)message_free);
        g_clear_pointer(&q->part, message_free);
    }
    g_clear_pointer(&local->taken, message_free);
}
