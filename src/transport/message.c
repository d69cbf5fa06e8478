#include "transport/message.h"

#include "core/clock.h"
#include "system/bytes.h"
#include "transport/ahead.h"
#include "transport/polling.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

/* The head of every message, big-endian: magic (4 bytes), version, format, kind of type, channel (1 byte each), then 8 bytes
 * each: portable size of an element, number of elements of the whole message, sequence, history, object; operation, the sender's
 * rank, and flags (4 bytes each). */
enum { HEAD_BYTES = 60, HEAD_MAGIC = 0x646f6d65, HEAD_VERSION = 2 };

/* Portable data is converted on its way. A message of more bytes than this is sent in several, which the receiver joins. */
static const uint64_t PIECE_BYTES = 8 << 20;

typedef struct head {
    uint32_t magic;
    uint8_t version, format, kind, channel;
    uint64_t element, count;
    dome_stamp stamp;
    uint32_t rank, flags;
} head;

static void encode(uint8_t bytes[HEAD_BYTES], const head *h)
{
    dome__put_u32(bytes, h->magic);
    bytes[4] = h->version;
    bytes[5] = h->format;
    bytes[6] = h->kind;
    bytes[7] = h->channel;
    dome__put_u64(bytes + 8, h->element);
    dome__put_u64(bytes + 16, h->count);
    dome__put_u64(bytes + 24, h->stamp.sequence);
    dome__put_u64(bytes + 32, h->stamp.history);
    dome__put_u64(bytes + 40, h->stamp.object);
    dome__put_u32(bytes + 48, h->stamp.operation);
    dome__put_u32(bytes + 52, h->rank);
    dome__put_u32(bytes + 56, h->flags);
}

static void decode(head *h, const uint8_t bytes[HEAD_BYTES])
{
    h->magic = dome__get_u32(bytes);
    h->version = bytes[4];
    h->format = bytes[5];
    h->kind = bytes[6];
    h->channel = bytes[7];
    h->element = dome__get_u64(bytes + 8);
    h->count = dome__get_u64(bytes + 16);
    h->stamp.sequence = dome__get_u64(bytes + 24);
    h->stamp.history = dome__get_u64(bytes + 32);
    h->stamp.object = dome__get_u64(bytes + 40);
    h->stamp.operation = dome__get_u32(bytes + 48);
    h->rank = dome__get_u32(bytes + 52);
    h->flags = dome__get_u32(bytes + 56);
}

dome_format dome__format_with(const dome_transport *transport, int rank)
{
    const int *format = transport->group.data_format;
    return !format || format[rank] == format[transport->group.rank] ? DOME_NATIVE : DOME_PORTABLE;
}

/* Data of at most this many bytes is there with its head: waiting for it is not worth two looks at the clock. */
enum { AT_ONCE = 1024 };

static uint64_t begin_wait(dome_transport *t, uint32_t waits)
{
    return dome__account_begin_wait(&t->account, waits, 0);
}

static void end_wait(dome_transport *t, int rank, uint64_t start)
{
    if (!start)
        return;
    const uint64_t took = dome__account_end_wait(&t->account, rank, start);
    if (t->waited)
        t->waited(t, rank, start, took);
}

/* A message that leaves at once is no wait: the clock need not be read. */
static bool put_at_once(dome_transport *t, int dest, int channel, const dome_packet *packet)
{
    if (!(t->provider.can & DOME_TRANSPORT_AT_ONCE) || !t->provider.ops->send_at_once(&t->provider, dest, channel, packet))
        return false;
    dome__account_sent(&t->account, packet->bytes);
    return true;
}

/* Elements for another task. */
typedef struct parcel {
    int dest, channel;
    dome_type type;
    const void *data;
    uint64_t count;
    const dome_stamp *stamp;
    bool whole;   /* waits until all is sent */
    uint64_t now; /* the clock's reading; 0: not known */
} parcel;

static int put(dome_transport *t, const parcel *p, const dome_packet *packet)
{
    if (put_at_once(t, p->dest, p->channel, packet))
        return DOME_OK;
    const uint32_t outer = t->account.waiting, sends = DOME_WAITS(p->dest, DOME_WAITS_TO_SEND);
    uint64_t start = dome__account_begin_wait(&t->account, sends, p->now);
    if (outer) /* an all-reduce gets on while the task waits for something else */
        dome__account_wait_for(&t->account, sends);
    int status = (p->whole || !(t->provider.can & DOME_TRANSPORT_OFFER) ? t->provider.ops->send : t->provider.ops->begin_send)(
        &t->provider, p->dest, p->channel, packet);
    if (outer)
        dome__account_wait_for(&t->account, outer);
    end_wait(t, p->dest, start);
    if (!status)
        dome__account_sent(&t->account, packet->bytes);
    return status;
}

/* A task that goes back alone could not take part in what all tasks did together. */
static int check_channel(dome_transport *t, int channel)
{
    if (!t->logs || t->meets || channel == DOME_CHANNEL_PROGRAM)
        return DOME_OK;
    return dome__transport_error(t, DOME_ERR_STATE,
                                 "all tasks take part in it, and with --dome-checkpoint-protocol log a program may only call "
                                 "dome_send and dome_recv to exchange data: use protocol stop or snapshot");
}

/* A message on its way to this task. */
typedef struct arrival {
    int source, channel;
    dome_format format;
    head head;
    uint64_t bytes; /* of its data, or of the part that arrives next */
} arrival;

static arrival arrival_from(const dome_transport *t, int source, int channel)
{
    return (arrival){.source = source, .channel = channel, .format = dome__format_with(t, source)};
}

static int take_head(dome_transport *t, arrival *a, uint64_t now)
{
    uint8_t head_bytes[HEAD_BYTES];
    uint64_t start = dome__account_begin_wait(&t->account, DOME_WAITS(a->source, a->channel), now);
    int status = check_channel(t, a->channel);
    if (!status && t->ahead)
        status = dome__ahead_wait(t, a->source, a->channel);
    if (!status)
        status = t->provider.ops->recv_head(&t->provider, a->source, a->channel, head_bytes, HEAD_BYTES, &a->bytes);
    end_wait(t, a->source, start);
    if (!status)
        decode(&a->head, head_bytes);
    return status;
}

static int take_data(dome_transport *t, const arrival *a, void *data)
{
    if (a->bytes <= AT_ONCE)
        return t->provider.ops->recv_data(&t->provider, a->source, a->channel, data, a->bytes);
    uint64_t start = begin_wait(t, DOME_WAITS(a->source, a->channel));
    int status = t->provider.ops->recv_data(&t->provider, a->source, a->channel, data, a->bytes);
    end_wait(t, a->source, start);
    return status;
}

/* Receives and drops the data of a rejected message, so that the next one can be received. Keeps `reason`. */
static void discard(dome_transport *t, const arrival *a)
{
    char reason[sizeof t->reason];
    memcpy(reason, t->reason, sizeof reason);
    void *data = a->bytes > SIZE_MAX ? NULL : g_try_malloc(a->bytes);
    if (data || !a->bytes)
        take_data(t, a, data);
    g_free(data);
    memcpy(t->reason, reason, sizeof reason);
}

static int check_peer(dome_transport *t, int peer)
{
    if (peer < 0 || peer >= t->group.size || peer == t->group.rank)
        return dome__transport_error(t, DOME_ERR_ARGUMENT, "task %d of %d cannot exchange messages with task %d", t->group.rank,
                                     t->group.size, peer);
    return DOME_OK;
}

static int no_memory(dome_transport *t, uint64_t count, uint64_t element)
{
    return dome__transport_error(t, DOME_ERR_MEMORY, "no memory for a message of %" PRIu64 " elements of %" PRIu64 " bytes",
                                 count, element);
}

/* Whether the portable form of a type is its native form on this machine, byte for byte. */
static bool same_forms(dome_type type)
{
    if (dome_type_kind_of(type) == DOME_KIND_STRUCT)
        return false;
    return G_BYTE_ORDER == G_BIG_ENDIAN || dome_type_size(type) == 1;
}

/* Elements in one part of a portable message that is sent in several. */
static uint64_t piece_count(uint64_t element)
{
    return element >= PIECE_BYTES ? 1 : PIECE_BYTES / element;
}

static head head_of(const dome_transport *t, int channel, dome_type type, uint64_t count, dome_format format,
                    const dome_stamp *stamp)
{
    return (head){
        .magic = HEAD_MAGIC,
        .version = HEAD_VERSION,
        .format = (uint8_t)format,
        .kind = (uint8_t)dome_type_kind_of(type),
        .channel = (uint8_t)channel,
        .element = dome_type_portable_size(type),
        .count = count,
        .stamp = *stamp,
        .rank = (uint32_t)t->group.rank,
        .flags = channel != DOME_CHANNEL_PROGRAM && t->group.flag,
    };
}

static int send(dome_transport *t, const parcel *p)
{
    int status = check_peer(t, p->dest);
    if (!status)
        status = check_channel(t, p->channel);
    if (status)
        return status;
    dome_format format = dome__format_with(t, p->dest);
    uint64_t element = dome_type_bytes(p->type, format), size = dome_type_size(p->type);
    head h = head_of(t, p->channel, p->type, p->count, format, p->stamp);
    uint8_t head_bytes[HEAD_BYTES];
    encode(head_bytes, &h);
    if (format == DOME_NATIVE || !p->count)
        return put(t, p, &(dome_packet){head_bytes, HEAD_BYTES, p->data, p->count * element});

    /* The sizes of the parts depend on the portable form only: the receiver may be a machine that need not convert. */
    uint64_t piece = MIN(p->count, piece_count(element));
    bool convert = !same_forms(p->type);
    char *packed = convert ? g_try_malloc(piece * element) : NULL;
    if (convert && !packed)
        return no_memory(t, piece, element);
    parcel waits = *p;
    waits.whole = true;
    waits.now = 0;
    for (uint64_t done = 0; done < p->count && !status; done += piece) {
        uint64_t part = MIN(piece, p->count - done);
        const char *from = (const char *)p->data + done * size;
        if (convert)
            dome_type_pack(p->type, format, packed, from, part);
        status = put(t, &waits, &(dome_packet){head_bytes, HEAD_BYTES, convert ? packed : from, part * element});
    }
    g_free(packed);
    return status;
}

int dome__send(dome_transport *t, int dest, int channel, dome_type type, const void *data, uint64_t count)
{
    return send(t, &(parcel){dest, channel, type, data, count, &t->stamp, .whole = true});
}

int dome__begin_send(dome_transport *t, int dest, int channel, dome_type type, const void *data, uint64_t count)
{
    return send(t, &(parcel){dest, channel, type, data, count, &t->stamp, .whole = false});
}

void dome__end_send(dome_transport *t, int dest)
{
    if (!(t->provider.can & DOME_TRANSPORT_OFFER))
        return;
    if (t->provider.ops->sent(&t->provider, dest)) { /* no wait: the clock need not be read */
        t->provider.ops->end_send(&t->provider, dest);
        return;
    }
    uint64_t start = begin_wait(t, DOME_WAITS(dest, DOME_WAITS_TO_SEND));
    t->provider.ops->end_send(&t->provider, dest);
    end_wait(t, dest, start);
}

static bool same_stamp(const dome_stamp *a, const dome_stamp *b)
{
    return a->sequence == b->sequence && a->history == b->history && a->object == b->object && a->operation == b->operation;
}

static char *describe(dome_transport *t, int rank, const dome_stamp *stamp)
{
    char *text = t->describe ? t->describe(t, rank, stamp) : NULL;
    if (text)
        return text;
    return g_strdup_printf("task %d: operation %" PRIu64 " (code %" PRIu32 ", object %" PRIu64 ")", rank, stamp->sequence,
                           stamp->operation, stamp->object);
}

/* Checks what holds for every message from this task: it may be damaged, or of another version. */
static int check_frame(dome_transport *t, const arrival *a)
{
    const head *h = &a->head;
    if (h->magic != HEAD_MAGIC || h->version != HEAD_VERSION || h->channel != a->channel || h->rank != (uint32_t)a->source)
        return dome__transport_error(t, DOME_ERR_COMM, "task %d has sent data that is not a message of this version of Dome",
                                     a->source);
    if (h->format != a->format)
        return dome__transport_error(t, DOME_ERR_COMM, "task %d and task %d disagree about their data formats", a->source,
                                     t->group.rank);
    return DOME_OK;
}

/* Checks that a message can have data, or a first part, of so many bytes; element: bytes of one in its format. */
static int check_length(dome_transport *t, const arrival *a, uint64_t element)
{
    const uint64_t bytes = a->bytes, count = a->head.count;
    if (!element || bytes % element || (bytes == 0) != (count == 0) || bytes / element > count)
        return dome__transport_error(t, DOME_ERR_COMM,
                                     "a message from task %d has %" PRIu64 " bytes instead of %" PRIu64 " elements of %" PRIu64,
                                     a->source, bytes, count, element);
    return DOME_OK;
}

static int tasks_disagree(dome_transport *t, const arrival *a)
{
    const dome_stamp *theirs = &a->head.stamp;
    char *here = describe(t, t->group.rank, &t->stamp), *there = describe(t, a->source, theirs);
    const char *hint = theirs->operation == t->stamp.operation && theirs->object == t->stamp.object
                           ? ", with other arguments or after other operations"
                           : "";
    int status = dome__transport_error(t, DOME_ERR_MISMATCH, "tasks disagree about the operation: %s; %s%s", here, there, hint);
    g_free(here);
    g_free(there);
    return status;
}

/* Checks that a message can be received as elements of `type`. The caller checks their number. */
static int check_head(dome_transport *t, const arrival *a, dome_type type)
{
    const head *h = &a->head;
    int status = check_frame(t, a);
    if (status)
        return status;
    if (!t->logs && !same_stamp(&h->stamp, &t->stamp)) /* where messages are logged, tasks are at different operations */
        return tasks_disagree(t, a);
    if (h->kind != dome_type_kind_of(type) || h->element != dome_type_portable_size(type))
        return dome__transport_error(t, DOME_ERR_MISMATCH,
                                     "task %d sends elements of another type than the %s that task %d expects", a->source,
                                     dome_type_name(type), t->group.rank);
    status = check_length(t, a, dome_type_bytes(type, a->format));
    dome__group_hear(&t->group, h->flags & 1);
    return status;
}

/* Receives the head of the next part of a portable message; `done` of its elements have arrived. capacity: the most bytes. */
static int take_next_part(dome_transport *t, arrival *a, uint64_t done, uint64_t capacity)
{
    arrival next = {.source = a->source, .channel = a->channel, .format = a->format};
    int status = take_head(t, &next, 0);
    if (status)
        return status;
    status = check_frame(t, &next);
    if (!status)
        status = check_length(t, &next, a->head.element);
    if (!status && (!same_stamp(&next.head.stamp, &a->head.stamp) || next.head.count != a->head.count ||
                    next.bytes / a->head.element > a->head.count - done || next.bytes > capacity))
        status =
            dome__transport_error(t, DOME_ERR_COMM, "a long message from task %d is incomplete: another one follows", a->source);
    if (status)
        discard(t, &next);
    a->bytes = next.bytes;
    return status;
}

/* Receives the data of a message whose head has been checked, and of the messages that continue it. type NULL: in the form in
 * which it travels. */
static int take_elements(dome_transport *t, arrival *a, dome_type type, char *data)
{
    const uint64_t count = a->head.count;
    if (a->format == DOME_NATIVE || !count) {
        if (!type || a->bytes / dome_type_size(type) == count)
            return take_data(t, a, data);
        discard(t, a);
        return dome__transport_error(t, DOME_ERR_COMM, "a message from task %d is shorter than its head states", a->source);
    }
    uint64_t element = a->head.element, size = type ? dome_type_size(type) : element, capacity = a->bytes;
    bool convert = type && !same_forms(type);
    char *packed = convert ? g_try_malloc(capacity) : NULL;
    if (convert && !packed) {
        discard(t, a);
        return no_memory(t, a->bytes / element, element);
    }
    int status = DOME_OK;
    for (uint64_t done = 0; !status;) {
        char *to = data + done * size;
        status = take_data(t, a, convert ? packed : to);
        if (status)
            break;
        if (convert)
            dome_type_unpack(type, a->format, to, packed, a->bytes / element);
        done += a->bytes / element;
        if (done == count)
            break;
        status = take_next_part(t, a, done, capacity);
    }
    g_free(packed);
    return status;
}

int dome__recv(dome_transport *t, int source, int channel, dome_type type, void *data, uint64_t count)
{
    int status = check_peer(t, source);
    if (status)
        return status;
    arrival a = arrival_from(t, source, channel);
    status = take_head(t, &a, 0);
    if (status)
        return status;
    status = check_head(t, &a, type);
    if (!status && a.head.count != count)
        status = dome__transport_error(t, DOME_ERR_MISMATCH, "task %d sends %" PRIu64 " elements, task %d expects %" PRIu64,
                                       source, a.head.count, t->group.rank, count);
    if (status) {
        discard(t, &a);
        return status;
    }
    return take_elements(t, &a, type, data);
}

/* The position after the task that was served last: tasks that send much must not keep others waiting. */
static int after_served(const dome_transport *t, const int *ranks, int count)
{
    for (int k = 0; k < count; k++)
        if (ranks[k] == t->account.served)
            return k + 1;
    return 0;
}

/* The tasks for a message of any of which this one waits. */
typedef struct any_of {
    dome_transport *transport;
    const int *ranks;
    int count, first, channel;
    int found;
} any_of;

/* All-reduces that run ahead get on at each poll, or a task that sleeps until something arrives could leave others waiting. */
static bool any_has_arrived(void *ctx)
{
    any_of *a = ctx;
    if (a->transport->ahead)
        dome__ahead_drive(a->transport);
    for (int k = 0; k < a->count; k++) {
        a->found = a->ranks[(unsigned)(a->first + k) % (unsigned)a->count];
        if (dome__transport_arrived(a->transport, a->found, a->channel))
            return true;
    }
    return false;
}

int dome__wait_for_any(dome_transport *t, const int *ranks, int count, int channel)
{
    any_of a = {.transport = t, .ranks = ranks, .count = count, .first = after_served(t, ranks, count), .channel = channel};
    uint64_t start = begin_wait(t, DOME_WAITS(-1, channel));
    if (t->provider.can & DOME_TRANSPORT_UNTIL)
        t->provider.ops->wait_until(&t->provider, any_has_arrived, &a);
    else
        dome__poll_until(&t->provider, channel, any_has_arrived, &a);
    end_wait(t, a.found, start);
    dome__account_serve(&t->account, a.found);
    return a.found;
}

/* Checks that a task has given what this task expects. Heads that differ only in rank and flags agree, so the common case needs
 * no decoding. */
static int check_given(dome_transport *t, const dome_share_part *s, int place, const uint8_t *own_head, const dome_shared *given)
{
    const uint8_t *theirs = given->head;
    const uint64_t size = dome_type_size(s->type), most = s->counts ? s->counts[place] : s->most;
    const uint64_t least = s->counts ? most : s->least;
    const bool as_many = given->bytes >= least * size && given->bytes <= most * size && given->bytes % size == 0;
    if (memcmp(theirs, own_head, HEAD_BYTES - 8) == 0 && as_many) {
        dome__group_hear(&t->group, theirs[HEAD_BYTES - 1] & 1);
        return DOME_OK;
    }
    arrival a = {
        .source = t->group.near.rank[place], .channel = DOME_CHANNEL_COLLECTIVE, .format = DOME_NATIVE, .bytes = given->bytes};
    decode(&a.head, theirs);
    int status = check_head(t, &a, s->type);
    if (!status && (a.head.count != most || !as_many))
        status = dome__transport_error(t, DOME_ERR_MISMATCH, "task %d gives %" PRIu64 " elements, task %d expects %" PRIu64,
                                       a.source, a.head.count, t->group.rank, most);
    return status;
}

int dome__share(dome_transport *t, const dome_share_part *s, dome_shared *given)
{
    const uint64_t bytes = s->own * dome_type_size(s->type);
    const int from = s->from, self = t->group.near.place;
    if (t->group.near.count == 1) {
        given[0] = (dome_shared){NULL, s->data, bytes};
        return DOME_OK;
    }
    const int refused = check_channel(t, DOME_CHANNEL_COLLECTIVE);
    if (refused)
        return refused;
    head h = head_of(t, DOME_CHANNEL_COLLECTIVE, s->type, s->counts ? s->counts[self] : s->most, DOME_NATIVE, &t->stamp);
    uint8_t head_bytes[HEAD_BYTES];
    encode(head_bytes, &h);
    uint64_t start = dome__account_begin_wait(&t->account, DOME_WAITS(-1, DOME_WAITS_NEAR), t->account.begun);
    dome__account_set_begun(&t->account, 0);
    const dome_packet packet = {head_bytes, HEAD_BYTES, s->data, bytes};
    int last, status = t->provider.ops->share(&t->provider, from, &packet, given, &last);
    end_wait(t, last, start);
    if (!status && (from < 0 || from == t->group.rank))
        dome__account_sent(&t->account, bytes);
    for (int i = 0; i < t->group.near.count && !status; i++) {
        const int rank = t->group.near.rank[i];
        if (rank != t->group.rank && (from < 0 || from == rank))
            status = check_given(t, s, i, head_bytes, &given[i]);
    }
    return status;
}

int dome__recv_in(dome_transport *t, int source, int channel, dome_type type, dome_recv_memory *memory)
{
    memory->data = NULL;
    memory->count = 0;
    int status = check_peer(t, source);
    if (status)
        return status;
    arrival a = arrival_from(t, source, channel);
    status = take_head(t, &a, 0);
    if (status)
        return status;
    status = check_head(t, &a, type);
    const uint64_t size = dome_type_size(type), count = a.head.count;
    void *elements = NULL;
    if (!status && count) {
        elements = count > SIZE_MAX / size ? NULL : memory->allocate(count * size);
        if (!elements)
            status = no_memory(t, count, size);
    }
    if (status) {
        discard(t, &a);
        return status;
    }
    status = take_elements(t, &a, type, elements);
    if (status) {
        memory->release(elements);
        return status;
    }
    memory->data = elements;
    memory->count = count;
    return DOME_OK;
}

/* Zeroed, so that padding is never undefined. */
static void *allocate_zeroed(uint64_t bytes)
{
    return g_try_malloc0(bytes);
}

int dome__recv_new(dome_transport *t, int source, int channel, dome_type type, void **data, uint64_t *count)
{
    dome_recv_memory memory = {.allocate = allocate_zeroed, .release = g_free};
    int status = dome__recv_in(t, source, channel, type, &memory);
    *data = memory.data;
    *count = memory.count;
    return status;
}

/* ---- messages of the program ---- */

static dome_stamp stamp_of(const dome_message_out *message)
{
    return (dome_stamp){.history = message->hash, .object = (uint64_t)message->tag};
}

int dome__message_send(dome_transport *t, const dome_message_out *message, bool whole, uint64_t now)
{
    const dome_stamp stamp = stamp_of(message);
    const parcel p = {message->dest, DOME_CHANNEL_PROGRAM, message->type, message->data, message->count, &stamp, whole, now};
    return send(t, &p);
}

int dome__message_send_again(dome_transport *t, int dest, const dome_message *message, const void *data)
{
    uint8_t head_bytes[HEAD_BYTES];
    const head h = {.magic = HEAD_MAGIC,
                    .version = HEAD_VERSION,
                    .format = DOME_NATIVE,
                    .kind = (uint8_t)message->kind,
                    .channel = DOME_CHANNEL_PROGRAM,
                    .element = message->element,
                    .count = message->count,
                    .stamp = {.history = message->type, .object = (uint64_t)message->tag},
                    .rank = (uint32_t)t->group.rank};
    encode(head_bytes, &h);
    const parcel p = {.dest = dest, .channel = DOME_CHANNEL_PROGRAM, .whole = true};
    return put(t, &p, &(dome_packet){head_bytes, HEAD_BYTES, data, message->bytes});
}

bool dome__message_at_once(dome_transport *t, const dome_message_out *message)
{
    const uint64_t bytes = message->count * dome_type_size(message->type);
    if (!(t->provider.can & DOME_TRANSPORT_AT_ONCE) || bytes > AT_ONCE || dome__format_with(t, message->dest) != DOME_NATIVE)
        return false;
    const dome_stamp stamp = stamp_of(message);
    head h = head_of(t, DOME_CHANNEL_PROGRAM, message->type, message->count, DOME_NATIVE, &stamp);
    uint8_t head_bytes[HEAD_BYTES];
    encode(head_bytes, &h);
    return put_at_once(t, message->dest, DOME_CHANNEL_PROGRAM, &(dome_packet){head_bytes, HEAD_BYTES, message->data, bytes});
}

int dome__message_head(dome_transport *t, int source, dome_message *message, uint64_t now)
{
    arrival a = arrival_from(t, source, DOME_CHANNEL_PROGRAM);
    int status = take_head(t, &a, now);
    if (status)
        return status;
    status = check_frame(t, &a);
    const head *h = &a.head;
    if (!status && h->format == DOME_PORTABLE)
        status = check_length(t, &a, h->element);
    *message = (dome_message){.tag = (int)h->stamp.object,
                              .kind = (dome_type_kind)h->kind,
                              .type = h->stamp.history,
                              .element = h->element,
                              .count = h->count,
                              .bytes = a.bytes};
    return status;
}

int dome__message_data(dome_transport *t, int source, const dome_message *message, dome_type type, void *data)
{
    arrival a = {
        .source = source,
        .channel = DOME_CHANNEL_PROGRAM,
        .format = dome__format_with(t, source),
        .head = {.stamp = {.history = message->type, .object = (uint64_t)message->tag},
                 .element = message->element,
                 .count = message->count},
        .bytes = message->bytes,
    };
    return take_elements(t, &a, type, data);
}

bool dome__sent(dome_transport *t, int dest)
{
    return !(t->provider.can & DOME_TRANSPORT_OFFER) || t->provider.ops->sent(&t->provider, dest);
}

bool dome__message_arrived(dome_transport *t, int source)
{
    return dome__transport_arrived(t, source, DOME_CHANNEL_PROGRAM);
}
