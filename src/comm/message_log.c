#include "comm/message_log.h"

/* To one task. */
typedef struct line {
    GQueue kept;   /* dome_logged, oldest first */
    uint64_t has;  /* messages that the task has, and need not be sent to it */
    uint64_t told; /* `version` when it was told of the orders */
} line;

/* Of one task: whom it took its messages from, from number `first` on; ranks, 32 bits each. */
typedef struct order {
    uint64_t first;
    GArray *sources;
    uint64_t *passed; /* by rank: up to which number that task was told */
} order;

struct dome_message_log {
    int rank, size;
    uint64_t *sent, *taken;
    line *lines;
    order *orders;
    uint64_t choices; /* of this task, so far */
    uint64_t version; /* counts what is learnt of orders */
    uint64_t bytes;
};

dome_message_log *dome__log_new(int rank, int size)
{
    dome_message_log *log = g_new0(dome_message_log, 1);
    log->rank = rank;
    log->size = size;
    log->sent = g_new0(uint64_t, size);
    log->taken = g_new0(uint64_t, size);
    log->lines = g_new0(line, size);
    log->orders = g_new0(order, size);
    for (int r = 0; r < size; r++) {
        log->orders[r].sources = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        log->orders[r].passed = g_new0(uint64_t, size);
    }
    return log;
}

static void drop_first(dome_message_log *log, line *l)
{
    dome_logged *first = l->kept.head->data;
    g_queue_unlink(&l->kept, &first->link);
    log->bytes -= first->message.bytes;
    g_free(first);
}

void dome__log_free(dome_message_log *log)
{
    if (!log)
        return;
    for (int r = 0; r < log->size; r++) {
        while (log->lines[r].kept.length)
            drop_first(log, &log->lines[r]);
        g_array_unref(log->orders[r].sources);
        g_free(log->orders[r].passed);
    }
    g_free(log->sent);
    g_free(log->taken);
    g_free(log->lines);
    g_free(log->orders);
    g_free(log);
}

uint64_t *dome__log_sent(dome_message_log *log)
{
    return log->sent;
}

uint64_t *dome__log_taken(dome_message_log *log)
{
    return log->taken;
}

/* ---- messages ---- */

/* The data stands behind it. */
static dome_logged *keep(dome_message_log *log, int dest, uint64_t number, const dome_message *message)
{
    dome_logged *kept = message->bytes < G_MAXSIZE - sizeof *kept ? g_try_malloc(sizeof *kept + (gsize)message->bytes) : NULL;
    if (!kept)
        return NULL;
    *kept = (dome_logged){.number = number, .message = *message, .data = kept + 1, .link.data = kept};
    g_queue_push_tail_link(&log->lines[dest].kept, &kept->link);
    log->bytes += message->bytes;
    return kept;
}

dome_logged *dome__log_add(dome_message_log *log, int dest, const dome_message *message)
{
    dome_logged *kept = keep(log, dest, log->sent[dest] + 1, message);
    log->sent[dest] += kept != NULL;
    return kept;
}

void dome__log_has(dome_message_log *log, int dest, uint64_t number)
{
    log->lines[dest].has = number;
}

bool dome__log_lacks(const dome_message_log *log, int dest, uint64_t number)
{
    return number > log->lines[dest].has;
}

const dome_logged *dome__log_behind(const dome_message_log *log, int dest, uint64_t number)
{
    const GList *link = log->lines[dest].kept.tail;
    if (!link || ((const dome_logged *)link->data)->number <= number)
        return NULL;
    while (link->prev && ((const dome_logged *)link->prev->data)->number > number)
        link = link->prev;
    return link->data;
}

void dome__log_cover(dome_message_log *log, int dest, uint64_t number)
{
    line *l = &log->lines[dest];
    while (l->kept.length && ((const dome_logged *)l->kept.head->data)->number <= number)
        drop_first(log, l);
}

uint64_t dome__log_bytes(const dome_message_log *log)
{
    return log->bytes;
}

/* ---- orders ---- */

static uint64_t end_of(const order *o)
{
    return o->first + o->sources->len;
}

bool dome__log_replays(dome_message_log *log, int *source)
{
    const order *own = &log->orders[log->rank];
    if (log->choices < own->first || log->choices >= end_of(own))
        return false;
    *source = (int)g_array_index(own->sources, uint32_t, log->choices - own->first);
    log->choices++;
    return true;
}

void dome__log_chose(dome_message_log *log, int source)
{
    const uint32_t from = (uint32_t)source;
    order *own = &log->orders[log->rank];
    if (end_of(own) != log->choices) { /* what it knew of itself is older than its checkpoint */
        g_array_set_size(own->sources, 0);
        own->first = log->choices;
    }
    g_array_append_val(own->sources, from);
    log->choices++;
    log->version++;
}

uint64_t dome__log_choices(const dome_message_log *log)
{
    return log->choices;
}

void dome__log_forget(dome_message_log *log, int task, uint64_t choices)
{
    order *o = &log->orders[task];
    const uint64_t gone = MIN(choices > o->first ? choices - o->first : 0, o->sources->len);
    if (gone)
        g_array_remove_range(o->sources, 0, (guint)gone);
    o->first += gone;
}

/* Appends what is known of a task from a number on: the task, the number, how many, their sources. */
static void put_order(GByteArray *to, int task, const order *o, uint64_t from)
{
    dome__append_u64(to, (uint64_t)task);
    dome__append_u64(to, from);
    dome__append_u64(to, end_of(o) - from);
    for (uint64_t k = from; k < end_of(o); k++)
        dome__append_u32(to, g_array_index(o->sources, uint32_t, k - o->first));
}

GByteArray *dome__log_news(dome_message_log *log, int dest)
{
    if (dest >= 0 && log->lines[dest].told == log->version)
        return NULL;
    GByteArray *news = g_byte_array_new();
    for (int r = 0; r < log->size; r++) {
        order *o = &log->orders[r];
        const uint64_t from = dest < 0 ? o->first : MAX(o->first, o->passed[dest]);
        if (r != dest && from < end_of(o))
            put_order(news, r, o, from);
        if (dest >= 0)
            o->passed[dest] = end_of(o);
    }
    if (dest >= 0)
        log->lines[dest].told = log->version;
    if (news->len || dest < 0)
        return news;
    g_byte_array_unref(news);
    return NULL;
}

/* One that is known is the same; behind a gap older ones are of no use, since a checkpoint covers them. */
static void learn(dome_message_log *log, order *o, uint64_t number, uint32_t source)
{
    if (number < end_of(o))
        return;
    if (number > end_of(o)) {
        g_array_set_size(o->sources, 0);
        o->first = number;
    }
    g_array_append_val(o->sources, source);
    log->version++;
}

static bool take_order(dome_message_log *log, dome_bytes *from)
{
    const uint64_t task = dome__read_u64(from), first = dome__read_u64(from), count = dome__read_u64(from);
    if (from->bad || task >= (uint64_t)log->size || count > (uint64_t)(from->end - from->at) / sizeof(uint32_t) ||
        first > UINT64_MAX - count)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        const uint32_t source = dome__read_u32(from);
        if (source >= (uint32_t)log->size)
            return false;
        learn(log, &log->orders[task], first + k, source);
    }
    return true;
}

bool dome__log_learn(dome_message_log *log, const void *bytes, uint64_t length)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)length);
    while (from.at < from.end)
        if (!take_order(log, &from))
            return false;
    return true;
}

void dome__log_shared(dome_message_log *log)
{
    for (int r = 0; r < log->size; r++) {
        log->lines[r].told = log->version;
        for (int q = 0; q < log->size; q++)
            log->orders[r].passed[q] = end_of(&log->orders[r]);
    }
}

/* ---- in a checkpoint ---- */

static void put_message(GByteArray *to, const dome_logged *kept)
{
    const dome_message *m = &kept->message;
    const uint64_t words[] = {kept->number, (uint64_t)m->tag, (uint64_t)m->kind, m->type, m->element, m->count, m->bytes};
    for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
        dome__append_u64(to, words[k]);
    dome__append_bytes(to, kept->data, (size_t)m->bytes);
}

void dome__log_put(const dome_message_log *log, GByteArray *to)
{
    dome__append_u64(to, (uint64_t)log->rank);
    dome__append_u64(to, (uint64_t)log->size);
    dome__append_u64(to, log->choices);
    for (int r = 0; r < log->size; r++) {
        dome__append_u64(to, log->sent[r]);
        dome__append_u64(to, log->taken[r]);
        put_order(to, r, &log->orders[r], log->orders[r].first);
        dome__append_u64(to, log->lines[r].kept.length);
        for (const GList *link = log->lines[r].kept.head; link; link = link->next)
            put_message(to, link->data);
    }
}

static bool get_message(dome_message_log *log, int dest, dome_bytes *from)
{
    const uint64_t number = dome__read_u64(from);
    dome_message m = {.tag = (int)dome__read_u64(from)};
    m.kind = (dome_type_kind)dome__read_u64(from);
    m.type = dome__read_u64(from);
    m.element = dome__read_u64(from);
    m.count = dome__read_u64(from);
    m.bytes = dome__read_u64(from);
    const void *data = dome__read_bytes(from, m.bytes);
    dome_logged *kept = from->bad ? NULL : keep(log, dest, number, &m);
    if (kept && m.bytes)
        memcpy(kept->data, data, (size_t)m.bytes);
    return kept != NULL;
}

bool dome__log_get(dome_message_log *log, dome_bytes *from)
{
    bool good = dome__read_u64(from) == (uint64_t)log->rank && dome__read_u64(from) == (uint64_t)log->size;
    log->choices = dome__read_u64(from);
    for (int r = 0; good && r < log->size; r++) {
        log->sent[r] = dome__read_u64(from);
        log->taken[r] = dome__read_u64(from);
        good = take_order(log, from);
        const uint64_t kept = dome__read_u64(from);
        for (uint64_t k = 0; good && k < kept; k++)
            good = get_message(log, r, from);
    }
    return good && !from->bad;
}
