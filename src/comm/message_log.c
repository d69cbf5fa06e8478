#include "comm/message_log.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Bytes of a piece of memory: the first of a task is short. */
static const uint64_t PIECE_LEAST = 64 << 10, PIECE_MOST = 8 << 20;

/* To one task. */
typedef struct line {
    GQueue kept;   /* dome_logged, oldest first, */
    GQueue pieces; /* and the pieces of memory in which they are */
    uint64_t has;  /* messages that the task has, and need not be sent to it */
    uint64_t sums; /* the number of the last one that has a checksum */
    uint64_t told; /* `version` when it was told of the orders */
} line;

/* Of one task: whom it took its messages from, from number `first` on; ranks, 32 bits each. */
typedef struct order {
    uint64_t first;
    uint64_t forgotten; /* so many of its checkpoint are covered, as this task has heard */
    GArray *sources;
    uint64_t *passed; /* by rank: up to which number that task was told */
} order;

struct dome_message_log {
    int rank, size;
    uint64_t *sent, *taken;
    dome_log_room *room;
    bool sums;
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
    log->room = dome__log_room_new(NULL);
    for (int r = 0; r < size; r++) {
        log->orders[r].sources = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        log->orders[r].passed = g_new0(uint64_t, size);
    }
    return log;
}

static void drop_first(dome_message_log *log, line *l)
{
    dome_logged *first = l->kept.head->data;
    dome_log_piece *piece = l->pieces.head->data;
    g_queue_unlink(&l->kept, &first->link);
    log->bytes -= first->message.bytes;
    if (--piece->kept > 0)
        return;
    g_queue_unlink(&l->pieces, &piece->link);
    dome__log_room_give(log->room, piece);
}

void dome__log_free(dome_message_log *log)
{
    if (!log)
        return;
    for (int r = 0; r < log->size; r++) {
        for (GList *link; (link = g_queue_pop_head_link(&log->lines[r].pieces));)
            dome__log_room_leave(link->data);
        g_array_unref(log->orders[r].sources);
        g_free(log->orders[r].passed);
    }
    dome__log_room_free(log->room);
    g_free(log->sent);
    g_free(log->taken);
    g_free(log->lines);
    g_free(log->orders);
    g_free(log);
}

void dome__log_keep_in(dome_message_log *log, const char *stem, bool sums)
{
    dome__log_room_free(log->room);
    log->room = dome__log_room_new(stem);
    log->sums = sums;
}

void dome__log_tidy(dome_message_log *log)
{
    dome__log_room_tidy(log->room);
}

static dome_checksum sum_of(const dome_logged *logged, const void *data)
{
    dome_checksumming *summing = dome__checksum_begin();
    dome__checksum_add(summing, &logged->number, sizeof logged->number);
    dome__checksum_add(summing, &logged->message, sizeof logged->message);
    dome__checksum_add(summing, data, (size_t)logged->message.bytes);
    return dome__checksum_end(summing);
}

static void make_sums(line *l)
{
    for (GList *link = l->kept.tail; link && ((dome_logged *)link->data)->number > l->sums; link = link->prev) {
        dome_logged *logged = link->data;
        logged->sum = sum_of(logged, logged->data);
        logged->summed = true;
    }
    l->sums = l->kept.tail ? ((const dome_logged *)l->kept.tail->data)->number : l->sums;
}

int dome__log_sync(dome_message_log *log)
{
    for (int r = 0; r < log->size && log->sums; r++)
        make_sums(&log->lines[r]);
    return dome__log_room_sync(log->room);
}

/* ---- copies elsewhere ---- */

/* From its beginning on, since a piece is read as it is. */
static bool copy_piece(dome_log_piece *piece, dome_log_take *take, void *ctx)
{
    const dome_log_range range = {.file = piece->file,
                                  .place = piece->place,
                                  .bytes = piece->bytes,
                                  .from = piece->copied,
                                  .length = piece->used - piece->copied,
                                  .data = piece->at + piece->copied};
    if (range.length && !take(ctx, &range))
        return false;
    piece->copied = piece->used;
    return true;
}

bool dome__log_copy(dome_message_log *log, dome_log_take *take, void *ctx)
{
    bool good = true;
    for (int r = 0; r < log->size; r++)
        for (const GList *link = log->lines[r].pieces.head; link && good; link = link->next)
            good = copy_piece(link->data, take, ctx);
    if (!good)
        dome__log_copy_anew(log);
    return good;
}

void dome__log_copy_anew(dome_message_log *log)
{
    for (int r = 0; r < log->size; r++)
        for (const GList *link = log->lines[r].pieces.head; link; link = link->next)
            ((dome_log_piece *)link->data)->copied = 0;
}

void dome__log_files(const dome_message_log *log, GArray *numbers)
{
    dome__log_room_files(log->room, numbers);
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

/* Messages and their data begin at whole lines of the processor's cache. */
static uint64_t in_lines(uint64_t bytes)
{
    enum { LINE = 64 };
    return (bytes + LINE - 1) / LINE * LINE;
}

static const uint64_t HEAD = (sizeof(dome_logged) + 63) / 64 * 64;

/* Where a message of so many bytes, with its head, comes to be. */
static dome_log_piece *piece_for(dome_message_log *log, line *l, uint64_t bytes, char **why)
{
    dome_log_piece *last = l->pieces.tail ? l->pieces.tail->data : NULL;
    if (last && dome__log_room_is_own(log->room, last) && last->bytes - last->used >= bytes)
        return last;
    const uint64_t wanted = last ? MIN(2 * last->bytes, PIECE_MOST) : PIECE_LEAST;
    dome_log_piece *piece = dome__log_room_take(log->room, MAX(wanted, DOME_LOG_PIECE_HEAD + bytes), why);
    if (piece)
        g_queue_push_tail_link(&l->pieces, &piece->link);
    return piece;
}

static void keep(dome_message_log *log, line *l, dome_log_piece *piece, dome_logged *kept)
{
    kept->data = (char *)kept + HEAD;
    kept->link = (GList){.data = kept};
    g_queue_push_tail_link(&l->kept, &kept->link);
    piece->kept++;
    log->bytes += kept->message.bytes;
}

dome_logged *dome__log_add(dome_message_log *log, int dest, const dome_message *message, char **why)
{
    line *l = &log->lines[dest];
    const uint64_t bytes = HEAD + in_lines(message->bytes);
    if (message->bytes > G_MAXSIZE / 4) {
        *why = g_strdup("it is longer than memory");
        return NULL;
    }
    dome_log_piece *piece = piece_for(log, l, bytes, why);
    if (!piece)
        return NULL;
    dome_logged *kept = (dome_logged *)(void *)(piece->at + piece->used);
    *kept = (dome_logged){.number = ++log->sent[dest], .message = *message};
    piece->used += bytes;
    keep(log, l, piece, kept);
    return kept;
}

/* A message is seldom read again: it does not take the place of other data in the processor's cache. Returns what remains. */
static size_t copy_past_cache(char *to, const char *from, size_t bytes)
{
#ifdef __SSE2__
    enum { LINE = 64, PART = sizeof(__m128i), LEAST = 64 << 10 };
    if (bytes < LEAST)
        return bytes;
    for (; bytes >= LINE; bytes -= LINE, to += LINE, from += LINE)
        for (int k = 0; k < LINE; k += PART)
            _mm_stream_si128((__m128i *)(void *)(to + k), _mm_loadu_si128((const __m128i *)(const void *)(from + k)));
    _mm_sfence();
#else
    (void)to, (void)from;
#endif
    return bytes;
}

void dome__log_fill(dome_logged *logged, const void *data)
{
    const size_t bytes = (size_t)logged->message.bytes;
    if (!bytes)
        return;
    const size_t left = copy_past_cache(logged->data, data, bytes);
    memcpy((char *)logged->data + (bytes - left), (const char *)data + (bytes - left), left);
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
    o->forgotten = MAX(o->forgotten, choices);
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

GByteArray *dome__log_covers(const dome_message_log *log, int dest)
{
    GByteArray *covers = g_byte_array_new();
    dome__append_u64(covers, log->taken[dest]);
    dome__append_u64(covers, log->choices);
    return covers;
}

bool dome__log_covered(dome_message_log *log, int task, const void *bytes, uint64_t length)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)length);
    const uint64_t taken = dome__read_u64(&from), choices = dome__read_u64(&from);
    if (!dome__read_all(&from))
        return false;
    dome__log_cover(log, task, taken); /* may be more than this task has sent again since it went back */
    dome__log_forget(log, task, choices);
    return true;
}

uint64_t dome__log_forgotten(const dome_message_log *log, int task)
{
    return log->orders[task].forgotten;
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

/* The part of a piece in which messages are kept. */
static void put_piece(GByteArray *to, const dome_log_piece *piece, uint64_t first)
{
    const uint64_t words[] = {piece->file, piece->place, piece->bytes, piece->turn, first, piece->used};
    for (size_t k = 0; k < G_N_ELEMENTS(words); k++)
        dome__append_u64(to, words[k]);
}

static void put_line(GByteArray *to, const line *l)
{
    dome__append_u64(to, l->pieces.length);
    for (const GList *link = l->pieces.head; link; link = link->next) {
        const dome_log_piece *piece = link->data;
        const bool oldest = !link->prev;
        put_piece(to, piece, oldest ? (uint64_t)((const char *)l->kept.head->data - piece->at) : DOME_LOG_PIECE_HEAD);
    }
}

void dome__log_put(const dome_message_log *log, GByteArray *to)
{
    dome__append_u64(to, (uint64_t)log->rank);
    dome__append_u64(to, (uint64_t)log->size);
    dome__append_u64(to, log->choices);
    for (int r = 0; r < log->size; r++) {
        dome__append_u64(to, log->sent[r]);
        dome__append_u64(to, log->taken[r]);
        dome__append_u64(to, log->orders[r].forgotten);
        put_order(to, r, &log->orders[r], log->orders[r].first);
        put_line(to, &log->lines[r]);
    }
}

static void drop_all(dome_message_log *log, line *l)
{
    while (l->kept.length)
        drop_first(log, l);
}

static bool is_good(const dome_logged *found)
{
    if (!found->summed)
        return true;
    const dome_checksum sum = sum_of(found, (const char *)found + HEAD);
    return dome__checksum_equal(&sum, &found->sum);
}

/* The messages in a piece from a place on. Where one makes no sense, what is before it was covered, and has been written over:
 * the host may have ended while the disk had only some pages of what was written last. */
static void keep_found(dome_message_log *log, line *l, dome_log_piece *piece, uint64_t at)
{
    while (at < piece->used) {
        dome_logged *found = (dome_logged *)(void *)(piece->at + at);
        const dome_logged *before = l->kept.tail ? l->kept.tail->data : NULL;
        const bool there = piece->used - at >= HEAD && found->message.bytes <= piece->used - at - HEAD,
                   good = there && is_good(found);
        if (!good || (before && found->number != before->number + 1))
            drop_all(log, l);
        if (!there)
            return;
        at += HEAD + in_lines(found->message.bytes);
        if (good)
            keep(log, l, piece, found);
    }
}

static bool get_piece(dome_message_log *log, int dest, dome_bytes *from)
{
    line *l = &log->lines[dest];
    dome_log_piece noted = {.file = dome__read_u64(from)};
    noted.place = dome__read_u64(from);
    noted.bytes = dome__read_u64(from);
    noted.turn = dome__read_u64(from);
    const uint64_t first = dome__read_u64(from);
    noted.used = dome__read_u64(from);
    if (from->bad || first < DOME_LOG_PIECE_HEAD || first % 64 || first >= noted.used)
        return false;
    dome_log_piece *piece = dome__log_room_find(log->room, &noted);
    if (!piece)
        return true;
    g_queue_push_tail_link(&l->pieces, &piece->link);
    piece->kept = 1; /* stays while it is read */
    keep_found(log, l, piece, first);
    if (--piece->kept == 0) {
        g_queue_unlink(&l->pieces, &piece->link);
        dome__log_room_give(log->room, piece);
    }
    return true;
}

static bool get_line(dome_message_log *log, int dest, dome_bytes *from)
{
    line *l = &log->lines[dest];
    const uint64_t pieces = dome__read_u64(from);
    for (uint64_t k = 0; k < pieces; k++)
        if (!get_piece(log, dest, from))
            return false;
    if (l->kept.length && ((const dome_logged *)l->kept.tail->data)->number != log->sent[dest])
        drop_all(log, l);
    l->sums = log->sent[dest];
    return true;
}

bool dome__log_get(dome_message_log *log, dome_bytes *from)
{
    bool good = dome__read_u64(from) == (uint64_t)log->rank && dome__read_u64(from) == (uint64_t)log->size;
    log->choices = dome__read_u64(from);
    for (int r = 0; good && r < log->size; r++) {
        log->sent[r] = dome__read_u64(from);
        log->taken[r] = dome__read_u64(from);
        log->orders[r].forgotten = dome__read_u64(from);
        good = take_order(log, from) && get_line(log, r, from);
    }
    return good && !from->bad;
}
