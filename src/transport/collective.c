#include "transport/collective.h"

#include "core/words.h"
#include "transport/message.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

/* Up to this many bytes (in portable form, whose size is the same on all machines) latency dominates, and trees keep the number
 * of successive messages low. Above it bandwidth dominates, and each byte is sent as few times as possible. */
static const uint64_t SHORT_BYTES = 128 << 10;

static int put(dome_transport *t, int dest, dome_type type, const void *data, uint64_t count)
{
    return dome__send(t, dest, DOME_CHANNEL_COLLECTIVE, type, data, count);
}

static int take(dome_transport *t, int source, dome_type type, void *data, uint64_t count)
{
    return dome__recv(t, source, DOME_CHANNEL_COLLECTIVE, type, data, count);
}

/* Sends to dest while receiving from source; skips a side whose count is 0. */
static int trade(dome_transport *t, dome_type type, int dest, const void *out, uint64_t out_count, int source, void *in,
                 uint64_t in_count)
{
    int status = out_count ? dome__begin_send(t, dest, DOME_CHANNEL_COLLECTIVE, type, out, out_count) : DOME_OK;
    if (!status && in_count)
        status = take(t, source, type, in, in_count);
    if (!status && out_count)
        dome__end_send(t, dest);
    return status;
}

static void copy(dome_type type, void *to, const void *from, uint64_t count)
{
    if (count && to != from)
        memcpy(to, from, count * dome_type_size(type));
}

static char *at(dome_type type, void *data, uint64_t element)
{
    return element ? (char *)data + element * dome_type_size(type) : data;
}

static const char *at_const(dome_type type, const void *data, uint64_t element)
{
    return element ? (const char *)data + element * dome_type_size(type) : data;
}

/* Allocates count elements, zeroed so that padding is never undefined. *data is NULL if count is 0. */
static int room(dome_transport *t, dome_type type, uint64_t count, void **data)
{
    uint64_t size = dome_type_size(type);
    *data = NULL;
    if (!count)
        return DOME_OK;
    if (count <= SIZE_MAX / size)
        *data = g_try_malloc0(count * size);
    if (*data)
        return DOME_OK;
    return dome__transport_error(t, DOME_ERR_MEMORY, "no memory for %" PRIu64 " elements of %" PRIu64 " bytes", count, size);
}

static int check_root(dome_transport *t, int root)
{
    if (root < 0 || root >= t->size)
        return dome__transport_error(t, DOME_ERR_ARGUMENT, "there is no task %d among %d", root, t->size);
    return DOME_OK;
}

static bool is_short(dome_type type, uint64_t count)
{
    return count <= SHORT_BYTES / dome_type_portable_size(type);
}

/* ---- tasks that share memory ----
 *
 * If the program has such tasks, short data is combined host by host: first among the tasks of a host, then among the leaders,
 * one of each host, which pass the result to the other tasks of their host. */

static bool by_hosts(const dome_transport *t, dome_type type, uint64_t count)
{
    return dome_type_kind_of(type) != DOME_KIND_STRUCT && count <= t->share_bytes / dome_type_size(type) && t->share_bytes;
}

/* Copies the data of task `from` to all tasks of its host. */
static int spread(dome_transport *t, int from, dome_type type, void *data, uint64_t count)
{
    dome_shared given[DOME_NEAR_MAX];
    int status = dome__share(t, from, type, data, count, NULL, given);
    if (status || from == t->rank)
        return status;
    for (int i = 0; i < t->near.count; i++)
        if (t->near.rank[i] == from)
            copy(type, data, given[i].data, count);
    return DOME_OK;
}

static dome_group everybody(const dome_transport *t)
{
    return (dome_group){.count = t->size, .place = t->rank};
}

static int member(const dome_group *g, int place)
{
    return g->rank ? g->rank[place] : place;
}

/* Dissemination barrier: after round k each task knows that the 2^(k+1) - 1 tasks before it, around the ring, have arrived. */
static int barrier(dome_transport *t, const dome_group *g)
{
    for (int step = 1; step < g->count; step *= 2) {
        int status = put(t, member(g, (g->place + step) % g->count), DOME_U8, NULL, 0);
        if (!status)
            status = take(t, member(g, (g->place + g->count - step) % g->count), DOME_U8, NULL, 0);
        if (status)
            return status;
    }
    return DOME_OK;
}

int dome__barrier(dome_transport *t)
{
    dome_group all = everybody(t);
    t->together++;
    if (!t->share_bytes)
        return barrier(t, &all);
    dome_shared given[DOME_NEAR_MAX];
    int status = dome__share(t, -1, DOME_U8, NULL, 0, NULL, given);
    if (t->leaders.count == 1)
        return status;
    if (!status && t->leaders.place >= 0)
        status = barrier(t, &t->leaders);
    return status ? status : spread(t, t->near.rank[0], DOME_U8, NULL, 0);
}

/* ---- pieces: rank r's part of the whole array is counts[r] elements, or `even` elements if counts is NULL ---- */

typedef struct pieces {
    const uint64_t *counts;
    uint64_t even;
    int size;
} pieces;

static uint64_t piece(const pieces *p, int rank)
{
    return p->counts ? p->counts[rank] : p->even;
}

/* Number of elements of the ranks first ... end - 1. */
static uint64_t stretch(const pieces *p, int first, int end)
{
    if (!p->counts)
        return end > first ? (uint64_t)(end - first) * p->even : 0;
    uint64_t sum = 0;
    for (int r = first; r < end; r++)
        sum += p->counts[r];
    return sum;
}

/* Number of elements of n ranks from `first` on, wrapping around after the last rank. */
static uint64_t around(const pieces *p, int first, int n)
{
    int wrapped = first + n - p->size;
    return wrapped <= 0 ? stretch(p, first, first + n) : stretch(p, first, p->size) + stretch(p, 0, wrapped);
}

/* All-gather around the ring: in each of size - 1 rounds a task passes a piece on, and receives each byte once. The task's own
 * piece is in place in data. */
static int ring(dome_transport *t, dome_type type, char *data, const pieces *p)
{
    int size = t->size, next = (t->rank + 1) % size, previous = (t->rank + size - 1) % size;
    uint64_t *first = g_new(uint64_t, size);
    for (int r = 0, before = 0; r < size; before = r++)
        first[r] = r ? first[before] + piece(p, before) : 0;
    int status = DOME_OK;
    for (int round = 0; round < size - 1 && !status; round++) {
        int out = (t->rank + size - round) % size, in = (previous + size - round) % size;
        status =
            trade(t, type, next, at(type, data, first[out]), piece(p, out), previous, at(type, data, first[in]), piece(p, in));
    }
    g_free(first);
    return status;
}

/* ---- broadcast ---- */

/* root: its position in the group. */
static int bcast_tree(dome_transport *t, const dome_group *g, int root, dome_type type, void *data, uint64_t count)
{
    int size = g->count, relative = (g->place + size - root) % size, status = DOME_OK;
    int bit = 1;
    while (bit < size && !(relative & bit))
        bit *= 2;
    if (relative)
        status = take(t, member(g, (g->place + size - bit) % size), type, data, count);
    for (bit /= 2; bit && !status; bit /= 2)
        if (relative + bit < size)
            status = put(t, member(g, (g->place + bit) % size), type, data, count);
    return status;
}

static int bcast_by_hosts(dome_transport *t, int root, dome_type type, void *data, uint64_t count)
{
    int leader = t->leader[root], status = DOME_OK;
    bool with_root = leader == t->leader[t->rank];
    if (with_root)
        status = spread(t, root, type, data, count);
    if (!status && t->leaders.place >= 0) {
        int place = 0;
        while (t->leaders.rank[place] != leader)
            place++;
        status = bcast_tree(t, &t->leaders, place, type, data, count);
    }
    return status || with_root ? status : spread(t, t->near.rank[0], type, data, count);
}

/* Long data: a scatter down the tree, which sends a subtree only its own pieces, then an all-gather around the ring. Pieces are
 * ordered by relative rank, so that those of a subtree are adjacent. */
static int bcast_pieces(dome_transport *t, int root, dome_type type, char *data, uint64_t count)
{
    int size = t->size, relative = (t->rank + size - root) % size, status = DOME_OK;
    uint64_t *counts = g_new(uint64_t, size), *first = g_new(uint64_t, size + 1);
    first[0] = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = count / (uint64_t)size + ((uint64_t)r < count % (uint64_t)size);
        first[r + 1] = first[r] + counts[r];
    }
    int bit = 1;
    while (bit < size && !(relative & bit))
        bit *= 2;
    if (relative) {
        uint64_t n = first[MIN(relative + bit, size)] - first[relative];
        status = take(t, (t->rank + size - bit) % size, type, at(type, data, first[relative]), n);
    }
    for (bit /= 2; bit && !status; bit /= 2)
        if (relative + bit < size) {
            int child = relative + bit;
            uint64_t n = first[MIN(child + bit, size)] - first[child];
            status = put(t, (t->rank + bit) % size, type, at(type, data, first[child]), n);
        }
    int next = (t->rank + 1) % size, previous = (t->rank + size - 1) % size;
    for (int round = 0; round < size - 1 && !status; round++) {
        int out = (relative + size - round) % size, in = (relative + 2 * size - 1 - round) % size;
        /* The root has all pieces: the task before it in the ring sends it nothing. */
        uint64_t n_out = (relative + 1) % size ? counts[out] : 0, n_in = relative ? counts[in] : 0;
        status = trade(t, type, next, at(type, data, first[out]), n_out, previous, at(type, data, first[in]), n_in);
    }
    g_free(counts);
    g_free(first);
    return status;
}

int dome__bcast(dome_transport *t, int root, dome_type type, void *data, uint64_t count)
{
    int status = check_root(t, root);
    if (status || t->size == 1)
        return status;
    if (by_hosts(t, type, count))
        return bcast_by_hosts(t, root, type, data, count);
    dome_group all = everybody(t);
    if (t->size <= 2 || is_short(type, count) || count < (uint64_t)t->size)
        return bcast_tree(t, &all, root, type, data, count);
    return bcast_pieces(t, root, type, data, count);
}

/* ---- reduce ---- */

/* The ranks are halved recursively; each half has a leader, which is root if the half contains it. On the way back up, the leader
 * of both halves receives the other half's result and combines the two in rank order. */
int dome__reduce(dome_transport *t, int root, dome_type type, void *data, uint64_t count, dome_combine combine, void *ctx)
{
    int status = check_root(t, root);
    if (status || t->size == 1)
        return status;
    struct {
        int leader, other;
        bool upper; /* the other half is the upper one */
    } level[32];
    int depth = 0, first = 0, end = t->size, leader = root;
    while (end - first > 1) {
        int middle = first + (end - first) / 2;
        bool led_low = leader < middle;
        int other = led_low ? middle : first;
        level[depth].leader = leader;
        level[depth].other = other;
        level[depth++].upper = led_low;
        if ((t->rank < middle) != led_low)
            leader = other;
        if (t->rank < middle)
            end = middle;
        else
            first = middle;
    }
    void *theirs = NULL;
    while (depth-- && !status) {
        if (level[depth].leader != t->rank) {
            status = put(t, level[depth].leader, type, data, count);
            break;
        }
        if (!theirs)
            status = room(t, type, count, &theirs);
        if (!status)
            status = take(t, level[depth].other, type, theirs, count);
        if (status || !count)
            continue;
        if (level[depth].upper) {
            combine(data, theirs, count, ctx);
        } else {
            combine(theirs, data, count, ctx);
            copy(type, data, theirs, count);
        }
    }
    g_free(theirs);
    return status;
}

/* A task's role in an all-reduce over a power of two of groups in rank order. A group is one task, or, for as many groups at the
 * low end as there are excess ranks, a pair: the even rank of a pair sends its data to the odd one, which represents both and
 * returns the result. */
typedef struct folded {
    const dome_group *g;
    int power, extra; /* number of groups; number of pairs among them */
    int group;        /* this task's; -1: the other task of its pair represents it */
} folded;

static folded fold(const dome_group *g)
{
    folded f = {.g = g, .power = 1};
    while (f.power <= g->count / 2)
        f.power *= 2;
    f.extra = g->count - f.power;
    if (g->place >= 2 * f.extra)
        f.group = g->place - f.extra;
    else
        f.group = g->place % 2 ? g->place / 2 : -1;
    return f;
}

/* The rank that represents a group. */
static int standing(const folded *f, int group)
{
    return member(f->g, group < f->extra ? 2 * group + 1 : group + f->extra);
}

static bool is_paired(const folded *f)
{
    return f->g->place < 2 * f->extra;
}

/* inout = inout (op) in, or in (op) inout if `lower`: in is from lower ranks. Overwrites in. */
static void combine_in_order(dome_type type, void *inout, void *in, uint64_t count, bool lower, dome_combine combine, void *ctx)
{
    if (!count)
        return;
    if (lower) {
        combine(in, inout, count, ctx);
        copy(type, inout, in, count);
    } else {
        combine(inout, in, count, ctx);
    }
}

/* Recursive doubling: each round exchanges all of the data with a group twice as far away. */
static int doubling(dome_transport *t, const folded *f, dome_type type, void *data, void *theirs, uint64_t count,
                    dome_combine combine, void *ctx)
{
    int status = DOME_OK;
    for (int bit = 1; bit < f->power && !status; bit *= 2) {
        int other = f->group ^ bit, peer = standing(f, other);
        status = trade(t, type, peer, data, count, peer, theirs, count);
        if (!status)
            combine_in_order(type, data, theirs, count, other < f->group, combine, ctx);
    }
    return status;
}

/* Long data: recursive halving, then recursive doubling. In each round of the first half a group keeps one half of its range and
 * combines it with its peer's, until each group has one piece of the result; the second half gathers the pieces in reverse order.
 * This takes twice the rounds of `doubling`, but each task sends less than twice the data. (Rabenseifner 2004, "Optimization of
 * collective reduction operations", section 2.) */
static int halving(dome_transport *t, const folded *f, dome_type type, void *data, void *theirs, uint64_t count,
                   dome_combine combine, void *ctx)
{
    struct {
        uint64_t kept, kept_end, given, given_end;
    } level[32];
    int depth = 0, status = DOME_OK;
    uint64_t first = 0, end = count;
    for (int bit = f->power / 2; bit && !status; bit /= 2, depth++) {
        int other = f->group ^ bit, peer = standing(f, other);
        uint64_t middle = first + (end - first) / 2;
        bool low = other > f->group;
        level[depth].kept = low ? first : middle;
        level[depth].kept_end = low ? middle : end;
        level[depth].given = low ? middle : first;
        level[depth].given_end = low ? end : middle;
        first = level[depth].kept;
        end = level[depth].kept_end;
        status = trade(t, type, peer, at(type, data, level[depth].given), level[depth].given_end - level[depth].given, peer,
                       theirs, end - first);
        if (!status)
            combine_in_order(type, at(type, data, first), theirs, end - first, !low, combine, ctx);
    }
    for (int bit = 1; depth-- && !status; bit *= 2) {
        int peer = standing(f, f->group ^ bit);
        status = trade(t, type, peer, at(type, data, level[depth].kept), level[depth].kept_end - level[depth].kept, peer,
                       at(type, data, level[depth].given), level[depth].given_end - level[depth].given);
    }
    return status;
}

static int allreduce(dome_transport *t, const dome_group *g, dome_type type, void *data, uint64_t count, dome_combine combine,
                     void *ctx)
{
    folded f = fold(g);
    if (f.group < 0) {
        int other = member(g, g->place + 1), status = put(t, other, type, data, count);
        return status ? status : take(t, other, type, data, count);
    }
    void *theirs;
    int status = room(t, type, count, &theirs), other = is_paired(&f) ? member(g, g->place - 1) : -1;
    if (!status && is_paired(&f)) {
        status = take(t, other, type, theirs, count);
        if (!status)
            combine_in_order(type, data, theirs, count, true, combine, ctx);
    }
    bool whole = f.power == 2 || is_short(type, count);
    if (!status)
        status = whole ? doubling(t, &f, type, data, theirs, count, combine, ctx)
                       : halving(t, &f, type, data, theirs, count, combine, ctx);
    if (!status && is_paired(&f))
        status = put(t, other, type, data, count);
    g_free(theirs);
    return status;
}

/* Sums by share. Each task gives its words without leading and trailing zeros: the number of leading zeros, then the words. */
static int add_shared(dome_transport *t, int64_t *data, uint64_t count)
{
    dome_shared given[DOME_NEAR_MAX];
    int64_t *word = g_newa(int64_t, count + 1);
    size_t zeros, end;
    dome__words_in_use(data, count, &zeros, &end);
    word[0] = (int64_t)zeros;
    memcpy(word + 1, data + zeros, (end - zeros) * sizeof *word);
    int status = dome__share_part(t, DOME_I64, word, 1 + end - zeros, 1 + count, given);
    if (status)
        return status;
    memset(data + zeros, 0, (end - zeros) * sizeof *data);
    for (int i = 0; i < t->near.count; i++) {
        const int64_t *theirs = given[i].data;
        const uint64_t words = given[i].bytes / sizeof *theirs - 1;
        if ((uint64_t)theirs[0] > count - words)
            return dome__transport_error(t, DOME_ERR_COMM,
                                         "task %d gives %" PRIu64 " words from word %" PRId64 " on, of %" PRIu64, t->near.rank[i],
                                         words, theirs[0], count);
        dome__combine_sum_i64(data + theirs[0], theirs + 1, words, NULL);
    }
    return DOME_OK;
}

static int allreduce_by_hosts(dome_transport *t, dome_type type, void *data, uint64_t count, dome_combine combine, void *ctx)
{
    dome_shared given[DOME_NEAR_MAX];
    int status;
    if (combine == dome__combine_sum_i64 && by_hosts(t, type, count + 1)) {
        status = add_shared(t, data, count);
    } else {
        status = dome__share(t, -1, type, data, count, NULL, given);
        if (!status && count) {
            copy(type, data, given[0].data, count);
            for (int i = 1; i < t->near.count; i++)
                combine(data, given[i].data, count, ctx);
        }
    }
    if (t->leaders.count == 1)
        return status;
    if (!status && t->leaders.place >= 0)
        status = allreduce(t, &t->leaders, type, data, count, combine, ctx);
    return status ? status : spread(t, t->near.rank[0], type, data, count);
}

int dome__allreduce(dome_transport *t, dome_type type, void *data, uint64_t count, dome_combine combine, void *ctx)
{
    if (t->size == 1)
        return DOME_OK;
    /* Every message of the all-reduce carries the flag, so each task learns whether any task has set it. */
    t->flag = t->asks;
    t->together++;
    dome_group all = everybody(t);
    int status = by_hosts(t, type, count) ? allreduce_by_hosts(t, type, data, count, combine, ctx)
                                          : allreduce(t, &all, type, data, count, combine, ctx);
    t->asked = t->asked || t->flag;
    t->flag = false;
    return status;
}

/* ---- gather ---- */

/* A binomial tree over ranks relative to root. The pieces of a subtree are adjacent around the ring of ranks. */
static int gather_tree(dome_transport *t, int root, dome_type type, const void *send, const pieces *p, char *recv)
{
    int size = t->size, relative = (t->rank + size - root) % size;
    int bit = 1;
    while (bit < size && !(relative & bit))
        bit *= 2;
    int below = MIN(bit, size - relative); /* number of tasks in this subtree */
    if (below == 1)
        return piece(p, t->rank) ? put(t, (t->rank + size - bit) % size, type, send, piece(p, t->rank)) : DOME_OK;
    void *parts;
    uint64_t total = around(p, t->rank, below);
    int status = room(t, type, total, &parts);
    if (status)
        return status;
    copy(type, parts, send, piece(p, t->rank));
    for (int child = 1; child < below && !status; child *= 2) {
        uint64_t n = around(p, (t->rank + child) % size, MIN(child, below - child));
        if (n)
            status = take(t, (t->rank + child) % size, type, at(type, parts, around(p, t->rank, child)), n);
    }
    if (!status && relative && total) {
        status = put(t, (t->rank + size - bit) % size, type, parts, total);
    } else if (!status && !relative) {
        uint64_t upper = stretch(p, root, size);
        copy(type, at(type, recv, total - upper), parts, upper);
        copy(type, recv, at(type, parts, upper), total - upper);
    }
    g_free(parts);
    return status;
}

static int gather_straight(dome_transport *t, int root, dome_type type, const void *send, const pieces *p, char *recv)
{
    if (t->rank != root)
        return piece(p, t->rank) ? put(t, root, type, send, piece(p, t->rank)) : DOME_OK;
    int status = DOME_OK;
    for (int r = 0; r < t->size && !status; r++) {
        uint64_t n = piece(p, r);
        if (r == root)
            copy(type, recv, send, n);
        else if (n)
            status = take(t, r, type, recv, n);
        recv = at(type, recv, n);
    }
    return status;
}

static int gather_pieces(dome_transport *t, int root, dome_type type, const void *send, const pieces *p, void *recv)
{
    int status = check_root(t, root);
    if (status)
        return status;
    if (t->size > 2 && is_short(type, stretch(p, 0, t->size)))
        return gather_tree(t, root, type, send, p, recv);
    return gather_straight(t, root, type, send, p, recv);
}

int dome__gather(dome_transport *t, int root, dome_type type, const void *send, uint64_t count, void *recv)
{
    return gather_pieces(t, root, type, send, &(pieces){.even = count, .size = t->size}, recv);
}

int dome__gatherv(dome_transport *t, int root, dome_type type, const void *send, const uint64_t *counts, void *recv)
{
    return gather_pieces(t, root, type, send, &(pieces){.counts = counts, .size = t->size}, recv);
}

/* ---- gather to all ---- */

/* Bruck's algorithm: each round doubles the run of pieces that a task holds, which begins with its own and continues with those
 * of the following ranks, around the ring. */
static int allgather_doubling(dome_transport *t, dome_type type, const void *send, const pieces *p, char *recv)
{
    int size = t->size;
    void *parts;
    uint64_t total = stretch(p, 0, size);
    int status = room(t, type, total, &parts);
    if (status)
        return status;
    copy(type, parts, send, piece(p, t->rank));
    for (int have = 1; have < size && !status; have *= 2) {
        int more = MIN(have, size - have), dest = (t->rank + size - have) % size, source = (t->rank + have) % size;
        status = trade(t, type, dest, parts, around(p, t->rank, more), source, at(type, parts, around(p, t->rank, have)),
                       around(p, source, more));
    }
    if (!status) {
        uint64_t upper = stretch(p, t->rank, size);
        copy(type, at(type, recv, total - upper), parts, upper);
        copy(type, recv, at(type, parts, upper), total - upper);
    }
    g_free(parts);
    return status;
}

static int allgather_shared(dome_transport *t, dome_type type, const void *send, const pieces *p, char *recv)
{
    dome_shared given[DOME_NEAR_MAX];
    int status = dome__share(t, -1, type, send, p->even, p->counts, given);
    for (int r = 0; r < t->size && !status; r++) {
        copy(type, recv, given[r].data, piece(p, r));
        recv = at(type, recv, piece(p, r));
    }
    return status;
}

static int allgather_pieces(dome_transport *t, dome_type type, const void *send, const pieces *p, void *recv)
{
    uint64_t total = stretch(p, 0, t->size);
    t->together++;
    if (total && t->leaders.count == 1 && by_hosts(t, type, total))
        return allgather_shared(t, type, send, p, recv);
    if (t->size > 2 && is_short(type, total))
        return allgather_doubling(t, type, send, p, recv);
    copy(type, at(type, recv, stretch(p, 0, t->rank)), send, piece(p, t->rank));
    return ring(t, type, recv, p);
}

int dome__allgather(dome_transport *t, dome_type type, const void *send, uint64_t count, void *recv)
{
    return allgather_pieces(t, type, send, &(pieces){.even = count, .size = t->size}, recv);
}

int dome__allgatherv(dome_transport *t, dome_type type, const void *send, const uint64_t *counts, void *recv)
{
    return allgather_pieces(t, type, send, &(pieces){.counts = counts, .size = t->size}, recv);
}

/* ---- all to all ---- */

/* In round i every task sends to rank + i and receives from rank - i, around the ring. */
static int exchange(dome_transport *t, dome_type type, const void *send, const pieces *out, void *recv, const pieces *in)
{
    int size = t->size;
    uint64_t *out_first = g_new(uint64_t, size), *in_first = g_new(uint64_t, size);
    uint64_t out_end = 0, in_end = 0;
    for (int r = 0; r < size; r++) {
        out_first[r] = out_end;
        in_first[r] = in_end;
        out_end += piece(out, r);
        in_end += piece(in, r);
    }
    copy(type, at(type, recv, in_first[t->rank]), at_const(type, send, out_first[t->rank]), piece(out, t->rank));
    int status = DOME_OK;
    for (int i = 1; i < size && !status; i++) {
        int dest = (t->rank + i) % size, source = (t->rank + size - i) % size;
        status = trade(t, type, dest, at_const(type, send, out_first[dest]), piece(out, dest), source,
                       at(type, recv, in_first[source]), piece(in, source));
    }
    g_free(out_first);
    g_free(in_first);
    return status;
}

int dome__alltoall(dome_transport *t, dome_type type, const void *send, uint64_t count, void *recv)
{
    pieces p = {.even = count, .size = t->size};
    t->together++;
    return exchange(t, type, send, &p, recv, &p);
}

int dome__alltoallv(dome_transport *t, dome_type type, const void *send, const uint64_t *send_counts, void *recv,
                    const uint64_t *recv_counts)
{
    if (send_counts[t->rank] != recv_counts[t->rank])
        return dome__transport_error(t, DOME_ERR_MISMATCH, "task %d has %" PRIu64 " elements for itself and expects %" PRIu64,
                                     t->rank, send_counts[t->rank], recv_counts[t->rank]);
    return exchange(t, type, send, &(pieces){.counts = send_counts, .size = t->size}, recv,
                    &(pieces){.counts = recv_counts, .size = t->size});
}

/* ---- combinations ---- */

/* Wraps around, as unsigned addition does. */
void dome__combine_sum_i64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] += b[i];
}

void dome__combine_max_i64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    int64_t *a = inout;
    const int64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] = MAX(a[i], b[i]);
}

void dome__combine_max_u64(void *inout, const void *in, uint64_t count, void *ctx)
{
    (void)ctx;
    uint64_t *a = inout;
    const uint64_t *b = in;
    for (uint64_t i = 0; i < count; i++)
        a[i] = MAX(a[i], b[i]);
}
