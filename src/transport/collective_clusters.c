/* Collectives over clusters of hosts with slow links between them: first among the tasks of a host, then among one task of each
 * host in a cluster, then among the clusters, and back. Short data crosses between clusters in one message of each cluster's head
 * for each round; long data in as many `lanes` as the smallest cluster has tasks, each carried by one task of every cluster. If
 * the clusters' links are one medium, the lanes share it, and it carries no more bytes than one lane would. */
#include "transport/collective_private.h"

static int leader_of(const dome_transport *t, int rank)
{
    return t->group.leader ? t->group.leader[rank] : rank;
}

int dome__clusters_barrier(dome_transport *t)
{
    const dome_clusters *c = t->group.clusters;
    const dome_group *own = &c->leaders.own;
    const dome_combining nothing = {.type = DOME_U8};
    int status = dome__host_reduce(t, &nothing);
    if (!status && own->place >= 0)
        status = dome__tree_reduce(t, own, &nothing);
    if (!status && c->heads.place >= 0)
        status = dome__tree_barrier(t, &c->heads);
    if (!status && own->place >= 0)
        status = dome__tree_bcast(t, own, 0, DOME_U8, NULL, 0);
    return status ? status : dome__host_bcast(t, leader_of(t, t->group.rank), DOME_U8, NULL, 0);
}

/* The heads of the clusters, with `rank` as that of its own; memory: as many as clusters. */
static dome_group heads_with(const dome_transport *t, int rank, int *memory)
{
    const dome_clusters *c = t->group.clusters;
    memcpy(memory, c->heads.rank, (size_t)c->count * sizeof *memory);
    memory[c->number[rank]] = rank;
    return (dome_group){.count = c->count, .place = memory[c->own] == t->group.rank ? c->own : -1, .rank = memory};
}

/* ---- lanes ---- */

typedef struct lanes {
    int count, own;    /* the number of lanes; this task's */
    int owner, end;    /* places in the cluster: the first and the last + 1 of the tasks of this lane; the first is its owner */
    uint64_t from, to; /* the elements of this lane */
    uint64_t *first;   /* by place in the cluster: its elements, as for dome__long_ring */
    dome_group owners; /* of this lane, by cluster */
    int *memory;
} lanes;

static uint64_t part(uint64_t count, int i, int parts)
{
    return count / (uint64_t)parts * (uint64_t)i + MIN((uint64_t)i, count % (uint64_t)parts);
}

/* The place of a lane's owner in a cluster of n tasks. */
static int owner_place(int lane, int lanes, int n)
{
    return (int)((int64_t)lane * n / lanes);
}

/* Cuts the data into lanes, alike in all clusters, and each lane into a piece for each of its tasks in this cluster. */
static lanes cut(const dome_transport *t, uint64_t count)
{
    const dome_clusters *c = t->group.clusters;
    const cluster_tasks *tasks = &c->leaders;
    const int n = tasks->own.count;
    lanes l = {.count = tasks->fewest, .first = g_new(uint64_t, n + 1), .memory = g_new(int, c->count)};
    for (int lane = 0; lane < l.count; lane++) {
        const int owner = owner_place(lane, l.count, n), end = owner_place(lane + 1, l.count, n);
        const uint64_t from = part(count, lane, l.count), to = part(count, lane + 1, l.count);
        for (int place = owner; place < end; place++)
            l.first[place] = from + part(to - from, place - owner, end - owner);
        if (tasks->own.place < owner || tasks->own.place >= end)
            continue;
        l.own = lane;
        l.owner = owner;
        l.end = end;
        l.from = from;
        l.to = to;
    }
    l.first[n] = count;
    for (int k = 0; k < c->count; k++)
        l.memory[k] = tasks->rank[tasks->first[k] + owner_place(l.own, l.count, tasks->first[k + 1] - tasks->first[k])];
    l.owners = (dome_group){.count = c->count, .place = tasks->own.place == l.owner ? c->own : -1, .rank = l.memory};
    return l;
}

static void clear(lanes *l)
{
    g_free(l->first);
    g_free(l->memory);
}

/* Passes the lanes from their owners to all tasks of the cluster. has_all: the place of the task that has all data already; -1:
 * none. */
static int share_out(dome_transport *t, const lanes *l, int has_all, dome_type type, char *data)
{
    const dome_group *own = &t->group.clusters->leaders.own;
    const uint64_t *first = l->first;
    int status = DOME_OK;
    if (own->place == l->owner)
        for (int i = l->owner + 1; i < l->end && !status; i++)
            status = i == has_all ? DOME_OK : put(t, own->rank[i], type, at(type, data, first[i]), first[i + 1] - first[i]);
    else if (own->place != has_all)
        status = take(t, own->rank[l->owner], type, at(type, data, first[own->place]), first[own->place + 1] - first[own->place]);
    return status ? status : dome__long_ring(t, own, has_all, type, data, first);
}

/* ---- broadcast ---- */

static int bcast_heads(dome_transport *t, int root, dome_type type, void *data, uint64_t count)
{
    const dome_clusters *c = t->group.clusters;
    const dome_group *own = &c->leaders.own;
    int *memory = g_new(int, c->count), status = DOME_OK;
    const dome_group heads = heads_with(t, root, memory);
    if (heads.place >= 0)
        status = dome__tree_bcast(t, &heads, c->number[root], type, data, count);
    if (!status)
        status = dome__tree_bcast(t, own, dome__group_place(own, memory[c->own]), type, data, count);
    g_free(memory);
    return status;
}

static int bcast_lanes(dome_transport *t, int root, dome_type type, char *data, uint64_t count)
{
    const dome_clusters *c = t->group.clusters;
    const dome_group *own = &c->leaders.own;
    const bool with_root = c->number[root] == c->own;
    lanes l = cut(t, count);
    int status = DOME_OK;
    if (t->group.rank == root)
        for (int lane = 0; lane < l.count && !status; lane++) {
            const int owner = owner_place(lane, l.count, own->count);
            const uint64_t from = part(count, lane, l.count);
            if (owner != own->place)
                status = put(t, own->rank[owner], type, at(type, data, from), part(count, lane + 1, l.count) - from);
        }
    else if (with_root && own->place == l.owner)
        status = take(t, root, type, at(type, data, l.from), l.to - l.from);
    if (!status && l.owners.place >= 0)
        status = dome__tree_bcast(t, &l.owners, c->number[root], type, at(type, data, l.from), l.to - l.from);
    if (!status)
        status = share_out(t, &l, with_root ? dome__group_place(own, root) : -1, type, data);
    clear(&l);
    return status;
}

int dome__clusters_bcast(dome_transport *t, int root, bool is_long, dome_type type, void *data, uint64_t count)
{
    const dome_clusters *c = t->group.clusters;
    const int leader = leader_of(t, root), own = leader_of(t, t->group.rank);
    int status = leader == own ? dome__host_bcast(t, root, type, data, count) : DOME_OK;
    if (!status && c->leaders.own.place >= 0)
        status = is_long ? bcast_lanes(t, leader, type, data, count) : bcast_heads(t, leader, type, data, count);
    return status || leader == own ? status : dome__host_bcast(t, own, type, data, count);
}

/* ---- all-reduce ---- */

static int allreduce_heads(dome_transport *t, const dome_combining *r)
{
    const dome_clusters *c = t->group.clusters;
    const dome_group *own = &c->leaders.own;
    int status = dome__tree_reduce(t, own, r);
    if (!status && c->heads.place >= 0)
        status = dome__group_allreduce(t, &c->heads, r, false);
    return status ? status : dome__tree_bcast(t, own, 0, r->type, r->data, r->count);
}

static int allreduce_lanes(dome_transport *t, const dome_combining *r)
{
    const dome_group *own = &t->group.clusters->leaders.own;
    const dome_type type = r->type;
    char *data = r->data;
    lanes l = cut(t, r->count);
    const uint64_t *first = l.first;
    int status = dome__long_reduce_scatter(t, own, r, first);
    if (!status && own->place != l.owner)
        status = put(t, own->rank[l.owner], type, at(type, data, first[own->place]), first[own->place + 1] - first[own->place]);
    else
        for (int i = l.owner + 1; i < l.end && !status; i++)
            status = take(t, own->rank[i], type, at(type, data, first[i]), first[i + 1] - first[i]);
    const dome_combining lane = combining_of(r, l.from, l.to);
    if (!status && l.owners.place >= 0)
        status = dome__group_allreduce(t, &l.owners, &lane, true);
    if (!status)
        status = share_out(t, &l, -1, type, data);
    clear(&l);
    return status;
}

int dome__clusters_allreduce(dome_transport *t, const dome_combining *r, bool is_long)
{
    const dome_clusters *c = t->group.clusters;
    int status = dome__host_reduce(t, r);
    if (!status && c->leaders.own.place >= 0)
        status = is_long ? allreduce_lanes(t, r) : allreduce_heads(t, r);
    return status ? status : dome__host_bcast(t, leader_of(t, t->group.rank), r->type, r->data, r->count);
}

/* ---- gather: of short data, so all tasks of a cluster take part alike ---- */

/* Copies what the clusters have given, one after the other, into the order of ranks. */
static void unpack(const dome_transport *t, char *data, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    const int *rank = t->group.clusters->tasks.rank;
    uint64_t *first = g_new(uint64_t, t->group.size), before = 0;
    for (int r = 0; r < t->group.size; before += piece(p, r++))
        first[r] = before;
    for (int i = 0; i < t->group.size; i++) {
        copy(type, at(type, recv, first[rank[i]]), data, piece(p, rank[i]));
        data = at(type, data, piece(p, rank[i]));
    }
    g_free(first);
}

/* Gathers this cluster's pieces at a place of it, into memory that is g_free'd by the caller. */
static int gather_own(dome_transport *t, int to, const void *send, const pieces *p, void **data)
{
    const dome_group *own = &t->group.clusters->tasks.own;
    uint64_t *counts = g_new(uint64_t, own->count);
    pieces inside = {.type = p->type, .counts = counts, .size = own->count};
    for (int i = 0; i < own->count; i++)
        counts[i] = piece(p, own->rank[i]);
    int status = own->place == to ? dome__collective_room(t, p->type, stretch(&inside, 0, own->count), data) : DOME_OK;
    if (!status)
        status = dome__tree_gather(t, own, to, send, &inside, *data);
    g_free(counts);
    return status;
}

/* By cluster: the number of elements of its tasks. */
static uint64_t *totals(const dome_transport *t, const pieces *p)
{
    const dome_clusters *c = t->group.clusters;
    uint64_t *counts = g_new0(uint64_t, c->count);
    for (int r = 0; r < t->group.size; r++)
        counts[c->number[r]] += piece(p, r);
    return counts;
}

int dome__clusters_gather(dome_transport *t, int root, const void *send, const pieces *p, char *recv)
{
    const dome_clusters *c = t->group.clusters;
    void *own = NULL, *all = NULL;
    int *memory = g_new(int, c->count);
    const dome_group heads = heads_with(t, root, memory);
    uint64_t *counts = totals(t, p);
    int status = gather_own(t, dome__group_place(&c->tasks.own, memory[c->own]), send, p, &own);
    if (!status && t->group.rank == root)
        status = dome__collective_room(t, p->type, stretch(p, 0, t->group.size), &all);
    const pieces of_clusters = {.type = p->type, .counts = counts, .size = c->count};
    if (!status && heads.place >= 0)
        status = dome__tree_gather(t, &heads, c->number[root], own, &of_clusters, all);
    if (!status && t->group.rank == root)
        unpack(t, all, p, recv);
    g_free(counts);
    g_free(memory);
    g_free(own);
    g_free(all);
    return status;
}

int dome__clusters_allgather(dome_transport *t, const void *send, const pieces *p, char *recv)
{
    const dome_clusters *c = t->group.clusters;
    const uint64_t total = stretch(p, 0, t->group.size);
    void *own = NULL, *all = NULL;
    int status = gather_own(t, 0, send, p, &own);
    if (!status && c->heads.place >= 0) {
        uint64_t *counts = totals(t, p);
        const pieces of_clusters = {.type = p->type, .counts = counts, .size = c->count};
        status = dome__collective_room(t, p->type, total, &all);
        if (!status)
            status = dome__tree_allgather(t, &c->heads, own, &of_clusters, all);
        if (!status)
            unpack(t, all, p, recv);
        g_free(counts);
    }
    g_free(own);
    g_free(all);
    return status ? status : dome__tree_bcast(t, &c->tasks.own, 0, p->type, recv, total);
}
