#include "transport/collective.h"

#include "transport/collective_private.h"

#include <inttypes.h>

static int check_root(dome_transport *t, int root)
{
    if (root < 0 || root >= t->group.size)
        return dome__transport_error(t, DOME_ERR_ARGUMENT, "there is no task %d among %d", root, t->group.size);
    return DOME_OK;
}

/* Whether to use the pattern for short data. Lengths are those of the portable form, which is the same on all machines. */
static bool is_short(const dome_transport *t, dome_pattern pattern, dome_type type, uint64_t count)
{
    const uint64_t limit = t->group.short_bytes[pattern] ? t->group.short_bytes[pattern] : DOME_SHORT_BYTES;
    return count <= limit / dome_type_portable_size(type);
}

/* A message without data would say nothing of requests (`asked`): each task must have a piece. */
static bool can_be_cut(const dome_transport *t, uint64_t count)
{
    return count >= 2 * (uint64_t)t->group.size;
}

int dome__barrier(dome_transport *t)
{
    dome_group all = everybody(t);
    dome__group_meet(&t->group);
    if (t->group.clusters)
        return dome__clusters_barrier(t);
    if (!t->group.share_bytes)
        return dome__tree_barrier(t, &all);
    int status = dome__host_combine(t, &(dome_combining){.type = DOME_U8});
    if (t->group.leaders.count == 1)
        return status;
    if (!status && t->group.leaders.place >= 0)
        status = dome__tree_barrier(t, &t->group.leaders);
    return status ? status : dome__host_spread(t, t->group.near.rank[0], DOME_U8, NULL, 0);
}

/* ---- broadcast ---- */

static int bcast_by_hosts(dome_transport *t, int root, dome_type type, void *data, uint64_t count)
{
    int leader = t->group.leader[root], status = DOME_OK;
    bool with_root = leader == t->group.leader[t->group.rank];
    if (with_root)
        status = dome__host_spread(t, root, type, data, count);
    if (!status && t->group.leaders.place >= 0) {
        status = dome__tree_bcast(t, &t->group.leaders, dome__group_place(&t->group.leaders, leader), type, data, count);
    }
    return status || with_root ? status : dome__host_spread(t, t->group.near.rank[0], type, data, count);
}

int dome__bcast(dome_transport *t, int root, dome_type type, void *data, uint64_t count)
{
    int status = check_root(t, root);
    if (status || t->group.size == 1)
        return status;
    const bool is_long = !is_short(t, DOME_PATTERN_BCAST, type, count);
    if (t->group.clusters)
        return dome__clusters_bcast(t, root, is_long && can_be_cut(t, count), type, data, count);
    if (dome__host_shares(t, type, count))
        return bcast_by_hosts(t, root, type, data, count);
    dome_group all = everybody(t);
    if (t->group.size <= 2 || !is_long || count < (uint64_t)t->group.size)
        return dome__tree_bcast(t, &all, root, type, data, count);
    return dome__long_bcast(t, &all, root, type, data, count);
}

/* ---- reduce ---- */

/* Where to divide the ranks first ... end - 1, one of which is the leader: in the middle; if clusters have consecutive ranks,
 * between two of them, else between two hosts, as near to the middle as possible. First those of the leader's own cluster are
 * divided off, if they are at both ends. */
static int middle_of(const dome_transport *t, int first, int end, int leader)
{
    const int middle = first + (end - first) / 2;
    int best = middle, most = 0;
    if (!t->group.clusters || !t->group.clusters->in_order)
        return middle;
    for (int r = first + 1; r < end; r++) {
        const dome_reach reach = dome__group_reach(&t->group, r - 1, r);
        const int other = leader < r ? r : first;
        const bool back = reach == DOME_REACH_FAR && dome__group_reach(&t->group, leader, other) < DOME_REACH_FAR;
        const int worth = 2 * (int)reach + back;
        if (worth > most || (worth == most && ABS(r - middle) < ABS(best - middle)))
            best = r;
        most = MAX(most, worth);
    }
    return best;
}

/* The ranks are divided in two, recursively; each half has a leader, which is root if the half contains it. On the way back up,
 * the leader of both halves receives the other half's result and combines the two in rank order. */
int dome__reduce(dome_transport *t, int root, const dome_combining *c)
{
    int status = check_root(t, root);
    if (status || t->group.size == 1)
        return status;
    struct {
        int leader, other;
        bool upper; /* the other half is the upper one */
    } level[32];
    int depth = 0, first = 0, end = t->group.size, leader = root;
    while (end - first > 1) {
        int middle = middle_of(t, first, end, leader);
        bool led_low = leader < middle;
        int other = led_low ? middle : first;
        level[depth].leader = leader;
        level[depth].other = other;
        level[depth++].upper = led_low;
        if ((t->group.rank < middle) != led_low)
            leader = other;
        if (t->group.rank < middle)
            end = middle;
        else
            first = middle;
    }
    void *theirs = NULL;
    while (depth-- && !status) {
        if (level[depth].leader != t->group.rank) {
            status = put(t, level[depth].leader, c->type, c->data, c->count);
            break;
        }
        if (!theirs)
            status = dome__collective_room(t, c->type, c->count, &theirs);
        if (!status)
            status = take(t, level[depth].other, c->type, theirs, c->count);
        if (status || !c->count)
            continue;
        if (level[depth].upper) {
            c->combine(c->data, theirs, c->count, c->ctx);
        } else {
            c->combine(theirs, c->data, c->count, c->ctx);
            copy(c->type, c->data, theirs, c->count);
        }
    }
    g_free(theirs);
    return status;
}

/* ---- all-reduce ---- */

static int allreduce_by_hosts(dome_transport *t, const dome_combining *c, bool is_long)
{
    int status = dome__host_combine(t, c);
    if (t->group.leaders.count == 1)
        return status;
    if (!status && t->group.leaders.place >= 0)
        status = dome__group_allreduce(t, &t->group.leaders, c, is_long);
    return status ? status : dome__host_spread(t, t->group.near.rank[0], c->type, c->data, c->count);
}

int dome__allreduce(dome_transport *t, dome_type type, void *data, uint64_t count, dome_combine combine, void *ctx)
{
    if (t->group.size == 1)
        return DOME_OK;
    /* Every message of the all-reduce carries the flag, so each task learns whether any task has set it. */
    dome__group_begin_asking(&t->group);
    dome__group_meet(&t->group);
    const dome_combining c = {type, data, count, combine, ctx};
    const bool is_long = !is_short(t, DOME_PATTERN_ALLREDUCE, type, count);
    dome_group all = everybody(t);
    int status;
    if (t->group.clusters)
        status = dome__clusters_allreduce(t, &c, is_long && can_be_cut(t, count));
    else if (dome__host_shares(t, type, count))
        status = allreduce_by_hosts(t, &c, is_long);
    else
        status = dome__group_allreduce(t, &all, &c, is_long);
    dome__group_end_asking(&t->group);
    return status;
}

/* ---- gather ---- */

static int gather_straight(dome_transport *t, int root, const void *send, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    if (t->group.rank != root)
        return piece(p, t->group.rank) ? put(t, root, type, send, piece(p, t->group.rank)) : DOME_OK;
    int status = DOME_OK;
    for (int r = 0; r < t->group.size && !status; r++) {
        uint64_t n = piece(p, r);
        if (r == root)
            copy(type, recv, send, n);
        else if (n)
            status = take(t, r, type, recv, n);
        recv = at(type, recv, n);
    }
    return status;
}

static int gather_pieces(dome_transport *t, int root, const void *send, const pieces *p, void *recv)
{
    int status = check_root(t, root);
    if (status)
        return status;
    const uint64_t total = stretch(p, 0, t->group.size);
    dome_group all = everybody(t);
    if (t->group.size > 2 && is_short(t, DOME_PATTERN_GATHER, p->type, total))
        return t->group.clusters && total ? dome__clusters_gather(t, root, send, p, recv)
                                          : dome__tree_gather(t, &all, root, send, p, recv);
    return gather_straight(t, root, send, p, recv);
}

int dome__gather(dome_transport *t, int root, dome_type type, const void *send, uint64_t count, void *recv)
{
    return gather_pieces(t, root, send, &(pieces){.type = type, .even = count, .size = t->group.size}, recv);
}

int dome__gatherv(dome_transport *t, int root, dome_type type, const void *send, const uint64_t *counts, void *recv)
{
    return gather_pieces(t, root, send, &(pieces){.type = type, .counts = counts, .size = t->group.size}, recv);
}

/* ---- gather to all ---- */

static int allgather_shared(dome_transport *t, const void *send, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    const uint64_t own = piece(p, t->group.near.place);
    const dome_share_part sharing = {
        .from = -1, .type = type, .data = send, .own = own, .least = p->even, .most = p->even, .counts = p->counts};
    dome_shared given[DOME_NEAR_MAX];
    int status = dome__share(t, &sharing, given);
    for (int r = 0; r < t->group.size && !status; r++) {
        copy(type, recv, given[r].data, piece(p, r));
        recv = at(type, recv, piece(p, r));
    }
    return status;
}

/* Few tasks, each on a host of its own, and data for which the kernel has room: each piece goes from its owner to all others. The
 * tree passes pieces on through tasks that may be busy, and which that costs processor time; but it has fewer messages, which
 * is better for very short pieces. */
static bool goes_at_once(const dome_transport *t, dome_type type, uint64_t total)
{
    enum { MOST_TASKS = 32, LEAST_BYTES = 1 << 10, MOST_BYTES = 4 << 20 }; /* LEAST_BYTES: in a task's piece, on average */
    const uint64_t element = dome_type_portable_size(type);
    return !t->group.share_bytes && !t->group.clusters && t->group.size <= MOST_TASKS && total <= MOST_BYTES / element &&
           total * element >= (uint64_t)t->group.size * LEAST_BYTES;
}

/* Each byte is sent to a task once. */
static int allgather_long(dome_transport *t, const void *send, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    uint64_t *first = g_new(uint64_t, t->group.size + 1);
    dome_group all = everybody(t);
    for (int r = 0; r <= t->group.size; r++)
        first[r] = r ? first[r - 1] + piece(p, r - 1) : 0;
    copy(type, at(type, recv, first[t->group.rank]), send, piece(p, t->group.rank));
    int status = goes_at_once(t, type, first[t->group.size]) ? dome__long_at_once(t, &all, type, recv, first)
                                                             : dome__long_ring(t, &all, -1, type, recv, first);
    g_free(first);
    return status;
}

static uint64_t longest(const pieces *p)
{
    uint64_t most = p->even;
    for (int i = 0; p->counts && i < p->size; i++)
        most = MAX(most, p->counts[i]);
    return most;
}

static int allgather_pieces(dome_transport *t, const void *send, const pieces *p, void *recv)
{
    const dome_type type = p->type;
    uint64_t total = stretch(p, 0, t->group.size);
    dome__group_meet(&t->group);
    dome_group all = everybody(t);
    if (total && t->group.leaders.count == 1 && dome__host_shares(t, type, longest(p)))
        return allgather_shared(t, send, p, recv);
    if (t->group.size > 2 && is_short(t, DOME_PATTERN_GATHER, type, total) && !goes_at_once(t, type, total))
        return t->group.clusters && total ? dome__clusters_allgather(t, send, p, recv)
                                          : dome__tree_allgather(t, &all, send, p, recv);
    return allgather_long(t, send, p, recv);
}

int dome__allgather(dome_transport *t, dome_type type, const void *send, uint64_t count, void *recv)
{
    return allgather_pieces(t, send, &(pieces){.type = type, .even = count, .size = t->group.size}, recv);
}

int dome__allgather_some(dome_transport *t, dome_type type, const void *send, uint64_t count, uint64_t most, void *recv)
{
    if (t->group.leaders.count != 1 || !dome__host_shares(t, type, most))
        return dome__allgather(t, type, send, most, recv);
    dome__group_meet(&t->group);
    const dome_share_part sharing = {.from = -1, .type = type, .data = send, .own = count, .least = 1, .most = most};
    dome_shared given[DOME_NEAR_MAX];
    const int status = dome__share(t, &sharing, given);
    for (int r = 0; r < t->group.size && !status; r++)
        memcpy(at(type, recv, (uint64_t)r * most), given[r].data, given[r].bytes);
    return status;
}

int dome__allgatherv(dome_transport *t, dome_type type, const void *send, const uint64_t *counts, void *recv)
{
    return allgather_pieces(t, send, &(pieces){.type = type, .counts = counts, .size = t->group.size}, recv);
}

/* ---- all to all ---- */

/* In round i every task sends to rank + i and receives from rank - i, around the ring. */
static int exchange(dome_transport *t, const void *send, const pieces *out, void *recv, const pieces *in)
{
    const dome_type type = in->type;
    int size = t->group.size;
    uint64_t *out_first = g_new(uint64_t, size), *in_first = g_new(uint64_t, size);
    uint64_t out_end = 0, in_end = 0;
    for (int r = 0; r < size; r++) {
        out_first[r] = out_end;
        in_first[r] = in_end;
        out_end += piece(out, r);
        in_end += piece(in, r);
    }
    copy(type, at(type, recv, in_first[t->group.rank]), at_const(type, send, out_first[t->group.rank]),
         piece(out, t->group.rank));
    int status = DOME_OK;
    for (int i = 1; i < size && !status; i++) {
        int dest = (t->group.rank + i) % size, source = (t->group.rank + size - i) % size;
        status = dome__trade(t, type, (outgoing){dest, at_const(type, send, out_first[dest]), piece(out, dest)},
                             (incoming){source, at(type, recv, in_first[source]), piece(in, source)});
    }
    g_free(out_first);
    g_free(in_first);
    return status;
}

int dome__alltoall(dome_transport *t, dome_type type, const void *send, uint64_t count, void *recv)
{
    pieces p = {.type = type, .even = count, .size = t->group.size};
    dome__group_meet(&t->group);
    return exchange(t, send, &p, recv, &p);
}

int dome__alltoallv(dome_transport *t, dome_type type, const void *send, const uint64_t *send_counts, void *recv,
                    const uint64_t *recv_counts)
{
    if (send_counts[t->group.rank] != recv_counts[t->group.rank])
        return dome__transport_error(t, DOME_ERR_MISMATCH, "task %d has %" PRIu64 " elements for itself and expects %" PRIu64,
                                     t->group.rank, send_counts[t->group.rank], recv_counts[t->group.rank]);
    return exchange(t, send, &(pieces){.type = type, .counts = send_counts, .size = t->group.size}, recv,
                    &(pieces){.type = type, .counts = recv_counts, .size = t->group.size});
}
