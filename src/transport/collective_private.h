/* For the files of the collectives.
 *
 *     collective.c            the functions of collective.h: which pattern, by length and by the known links
 *     collective_steps.c      steps that the patterns share
 *     collective_hosts.c      the tasks of one host
 *     collective_tree.c       short data in a group of tasks: few messages one after the other
 *     collective_long.c       long data in a group: each byte is sent as few times as possible
 *     collective_allreduce.c  all-reduce in a group, of short and long data
 *     collective_clusters.c   all of these over clusters of hosts: data crosses the slow links between them once
 *     ahead.c                 all-reduces that run while the program continues
 *     group.c                 which tasks share a host or a cluster, and what is known of the links
 *     combine.c               the usual combinations */
#ifndef DOME_SRC_COLLECTIVE_PRIVATE_H
#define DOME_SRC_COLLECTIVE_PRIVATE_H

#include "transport/collective.h"
#include "transport/message.h"

#include <glib.h>
#include <string.h>

static inline int put(dome_transport *t, int dest, dome_type type, const void *data, uint64_t count)
{
    return dome__send(t, dest, DOME_CHANNEL_COLLECTIVE, type, data, count);
}

static inline int take(dome_transport *t, int source, dome_type type, void *data, uint64_t count)
{
    return dome__recv(t, source, DOME_CHANNEL_COLLECTIVE, type, data, count);
}

/* Elements for another task, or of another task. */
typedef struct outgoing {
    int dest;
    const void *data;
    uint64_t count;
} outgoing;
typedef struct incoming {
    int source;
    void *data;
    uint64_t count;
} incoming;

/* Sends while receiving; skips a side whose count is 0. */
int dome__trade(dome_transport *t, dome_type type, outgoing out, incoming in);

static inline void copy(dome_type type, void *to, const void *from, uint64_t count)
{
    if (count && to != from)
        memcpy(to, from, count * dome_type_size(type));
}

static inline char *at(dome_type type, void *data, uint64_t element)
{
    return element ? (char *)data + element * dome_type_size(type) : data;
}

static inline const char *at_const(dome_type type, const void *data, uint64_t element)
{
    return element ? (const char *)data + element * dome_type_size(type) : data;
}

/* Allocates count elements, zeroed so that padding is never undefined. *data is NULL if count is 0. */
int dome__collective_room(dome_transport *t, dome_type type, uint64_t count, void **data);

/* If nothing is known of the links: up to this many bytes latency dominates, and few successive messages are best; above it
 * bandwidth dominates. */
#define DOME_SHORT_BYTES ((uint64_t)128 << 10)

/* ---- groups ---- */

static inline dome_group everybody(const dome_transport *t)
{
    return (dome_group){.count = t->group.size, .place = t->group.rank};
}

static inline int member(const dome_group *g, int place)
{
    return g->rank ? g->rank[place] : place;
}

/* The place of a rank in a group. */
static inline int dome__group_place(const dome_group *g, int rank)
{
    int place = 0;
    while (member(g, place) != rank)
        place++;
    return place;
}

/* The rounds of a tree over so many tasks: the logarithm, rounded up. */
static inline int rounds_of(int tasks)
{
    int rounds = 0;
    while (((int64_t)1 << rounds) < tasks)
        rounds++;
    return rounds;
}

/* The same combination of elements first ... end - 1 alone. */
static inline dome_combining combining_of(const dome_combining *c, uint64_t first, uint64_t end)
{
    return (dome_combining){c->type, at(c->type, c->data, first), end - first, c->combine, c->ctx};
}

/* ---- pieces: the part of the task at a place of a group is counts[place] elements, or `even` elements if counts is NULL ---- */

typedef struct pieces {
    dome_type type;
    const uint64_t *counts;
    uint64_t even;
    int size;
} pieces;

static inline uint64_t piece(const pieces *p, int place)
{
    return p->counts ? p->counts[place] : p->even;
}

/* Number of elements of the places first ... end - 1. */
static inline uint64_t stretch(const pieces *p, int first, int end)
{
    if (!p->counts)
        return end > first ? (uint64_t)(end - first) * p->even : 0;
    uint64_t sum = 0;
    for (int i = first; i < end; i++)
        sum += p->counts[i];
    return sum;
}

/* ---- collective_hosts.c ---- */

/* Whether the tasks of a host can exchange so much through shared memory. */
bool dome__host_shares(const dome_transport *t, dome_type type, uint64_t count);
/* Through shared memory: copies the data of task `from` to all tasks of its host; combines the data of all tasks of a host, on
 * each of them. */
int dome__host_spread(dome_transport *t, int from, dome_type type, void *data, uint64_t count);
int dome__host_combine(dome_transport *t, const dome_combining *c);
/* The same for data of any length and type; reduce: the result is at the lowest rank of the host. */
int dome__host_bcast(dome_transport *t, int from, dome_type type, void *data, uint64_t count);
int dome__host_reduce(dome_transport *t, const dome_combining *c);

/* ---- collective_tree.c: `root` is a place in the group ---- */

int dome__tree_barrier(dome_transport *t, const dome_group *g);
int dome__tree_bcast(dome_transport *t, const dome_group *g, int root, dome_type type, void *data, uint64_t count);
/* To place 0; in any order of combination. Elsewhere data is overwritten. */
int dome__tree_reduce(dome_transport *t, const dome_group *g, const dome_combining *c);
/* The result is at the root, in the order of the group. */
int dome__tree_gather(dome_transport *t, const dome_group *g, int root, const void *send, const pieces *p, char *recv);
int dome__tree_allgather(dome_transport *t, const dome_group *g, const void *send, const pieces *p, char *recv);

/* ---- collective_allreduce.c ---- */

/* A task's role in an all-reduce over a power of two of groups in rank order. A group is one task, or, for as many groups at the
 * low end as there are excess ranks, a pair: the even rank of a pair sends its data to the odd one, which represents both and
 * returns the result. */
typedef struct dome_folded {
    const dome_group *g;
    int power, extra; /* number of groups; number of pairs among them */
    int group;        /* this task's; -1: the other task of its pair represents it */
} dome_folded;

static inline dome_folded dome__fold(const dome_group *g)
{
    dome_folded f = {.g = g, .power = 1};
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
static inline int dome__standing(const dome_folded *f, int group)
{
    return member(f->g, group < f->extra ? 2 * group + 1 : group + f->extra);
}

/* is_long: the pattern for long data, if there are enough tasks. Data is combined in the order of the group. */
int dome__group_allreduce(dome_transport *t, const dome_group *g, const dome_combining *c, bool is_long);

/* ---- collective_long.c ---- */

/* All-gather around the ring: in each of size - 1 rounds a task passes a piece on, and receives each byte once. The task at place
 * i owns elements first[i] ... first[i + 1] - 1 of data, which are in place. The task at place `has_all` (-1: none) is sent
 * nothing. */
int dome__long_ring(dome_transport *t, const dome_group *g, int has_all, dome_type type, char *data, const uint64_t *first);
/* The same by sending the own piece to every other task before receiving the first one: no piece waits for a task that computes,
 * or that has used up its share of a processor, on its way to a third. Needs memory for all pieces that are on their way. */
int dome__long_at_once(dome_transport *t, const dome_group *g, dome_type type, char *data, const uint64_t *first);
/* A scatter down the tree, then the ring. */
int dome__long_bcast(dome_transport *t, const dome_group *g, int root, dome_type type, char *data, uint64_t count);
/* Each task gets the combination of its elements, first[i] ... first[i + 1] - 1; the others are overwritten. In any order. */
int dome__long_reduce_scatter(dome_transport *t, const dome_group *g, const dome_combining *c, const uint64_t *first);

/* ---- group.c ---- */

/* One task of each host, or all tasks, by cluster. */
typedef struct cluster_tasks {
    dome_group own;   /* those of this task's cluster; place -1: this task is none of them */
    int *rank;        /* of all clusters, one after the other, ascending within each */
    int *first;       /* by cluster: where it begins in rank; one more entry for the end */
    int fewest, most; /* the number of tasks in the smallest and in the largest cluster */
} cluster_tasks;

/* Known if there is more than one cluster, and one of them has more than one task. */
struct dome_clusters {
    int count, own;        /* the number of clusters; this task's */
    int *number;           /* by rank: clusters are numbered in the order of their lowest ranks */
    cluster_tasks leaders; /* where tasks share memory the lowest of each host; elsewhere all */
    cluster_tasks tasks;   /* all */
    dome_group heads;      /* the lowest rank of each cluster */
    bool in_order;         /* each cluster has consecutive ranks, on the ring of ranks */
};

/* ---- collective_clusters.c: for a transport with clusters ---- */

int dome__clusters_barrier(dome_transport *t);
int dome__clusters_bcast(dome_transport *t, int root, bool is_long, dome_type type, void *data, uint64_t count);
int dome__clusters_allreduce(dome_transport *t, const dome_combining *c, bool is_long);
int dome__clusters_gather(dome_transport *t, int root, const void *send, const pieces *p, char *recv);
int dome__clusters_allgather(dome_transport *t, const void *send, const pieces *p, char *recv);

#endif
