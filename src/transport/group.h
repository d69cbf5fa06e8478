/* The tasks that a transport connects: how many there are, which share a host or a cluster, and what all of them know alike
 * because they have taken part in the same all-reduces. Everybody reads it; only the functions of this header and group.c change
 * it. */
#ifndef DOME_SRC_TRANSPORT_GROUP_H
#define DOME_SRC_TRANSPORT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A subset of the tasks: their ranks in ascending order. */
typedef struct dome_group {
    int count, place; /* number of tasks; this task's position among them, -1: not a member */
    const int *rank;
} dome_group;

/* How far apart two tasks are. A cluster is a set of hosts with fast links among them. */
typedef enum dome_reach {
    DOME_REACH_HOST,    /* on one host */
    DOME_REACH_CLUSTER, /* on two hosts of one cluster */
    DOME_REACH_FAR,     /* in two clusters */
    DOME_REACHES
} dome_reach;

/* The links between the tasks, as far as they are known; the same on all tasks. Without measurements all members are 0. */
typedef struct dome_transport_links {
    const int *host, *cluster;      /* by rank: equal numbers mean the same host, the same cluster; NULL: not known */
    double latency[DOME_REACHES];   /* s for a message of few bytes, one way; 0: not known */
    double bandwidth[DOME_REACHES]; /* bytes/s of one pair alone; 0: not known */
    double crowded[DOME_REACHES];   /* bytes/s of a pair while all pairs send; 0: not known */
} dome_transport_links;

/* How far apart two ranks are by such numbers; DOME_REACH_CLUSTER if nothing is known. */
static inline dome_reach dome__reach(const int *host, const int *cluster, int a, int b)
{
    if (a == b || (host && host[a] == host[b]))
        return DOME_REACH_HOST;
    return cluster && cluster[a] != cluster[b] ? DOME_REACH_FAR : DOME_REACH_CLUSTER;
}

/* Collectives that have a pattern for short data and one for long data. */
typedef enum dome_pattern { DOME_PATTERN_BCAST, DOME_PATTERN_ALLREDUCE, DOME_PATTERN_GATHER, DOME_PATTERNS } dome_pattern;

typedef struct dome_clusters dome_clusters; /* collective_private.h */

typedef struct dome_transport_group {
    int rank, size;
    int *data_format; /* by rank: equal numbers mean equal native data formats; NULL when all are equal */

    /* Hosts: not known (NULL, empty groups), or set by dome__group_set_hosts. */
    uint64_t share_bytes; /* the most bytes a task can give in a share; 0: no shares in this program */
    dome_group near;      /* tasks that share memory with this one */
    dome_group leaders;   /* the lowest rank of each such group; a task that shares memory with none is its own leader */
    const int *leader;    /* by rank */
    int *hosts;           /* memory of these */

    /* Links. */
    dome_transport_links links;
    dome_clusters *clusters;             /* the groups of collectives, by `links`; NULL: all tasks are alike */
    uint64_t short_bytes[DOME_PATTERNS]; /* up to how many bytes collectives use the pattern for short data; 0: the default */

    uint64_t together; /* collectives so far in which each task waits for all others; the same on all tasks */
    bool asks;         /* this task has a request to all tasks: the next all-reduce passes it on */
    bool asked;        /* a task has made such a request in an all-reduce; after it the same on all tasks */
    bool flag;         /* sent with messages: whether a request is known in the current all-reduce */
} dome_transport_group;

/* All tasks have the format of this one until then. formats: by rank, copied. */
void dome__group_set_formats(dome_transport_group *group, const int *formats);

/* Which tasks share memory: by rank the lowest rank that shares it with this one, possibly itself. Takes ownership of leader,
 * which is g_free'd. share_bytes: what a task can give in a share if any tasks share memory. */
void dome__group_set_hosts(dome_transport_group *group, int *leader, uint64_t share_bytes);

/* Sets `links` to a copy of these, and `clusters` and `short_bytes` accordingly. Call it at most once, with the same numbers on
 * all tasks, after dome__group_set_hosts. From then on collectives use them. */
void dome__group_set_links(dome_transport_group *group, const dome_transport_links *links);
void dome__group_free_links(dome_transport_group *group);

/* dome__reach by `links`. */
dome_reach dome__group_reach(const dome_transport_group *group, int a, int b);

/* Frees what the group holds. */
void dome__group_clear(dome_transport_group *group);

/* ---- requests to all tasks, which all-reduces pass on ---- */

static inline void dome__group_ask(dome_transport_group *group)
{
    group->asks = true;
}

/* The request is carried out: nothing is asked any more. */
static inline void dome__group_answer(dome_transport_group *group)
{
    group->asks = group->asked = false;
}

/* An all-reduce begins, which passes requests on, and ends. */
static inline void dome__group_begin_asking(dome_transport_group *group)
{
    group->flag = group->asks;
}

static inline void dome__group_end_asking(dome_transport_group *group)
{
    group->asked = group->asked || group->flag;
    group->flag = false;
}

/* A message with this flag has arrived. */
static inline void dome__group_hear(dome_transport_group *group, bool flag)
{
    group->flag = group->flag || flag;
}

/* For messages that are not part of the current all-reduce. Returns the flag before. */
static inline bool dome__group_put_flag(dome_transport_group *group, bool flag)
{
    const bool before = group->flag;
    group->flag = flag;
    return before;
}

/* A collective begins in which each task waits for all others. */
static inline void dome__group_meet(dome_transport_group *group)
{
    group->together++;
}

#endif
