/* Tasks that write a checkpoint together (ckpt/writer.h), as threads of a test. */
#ifndef DOME_TESTS_CHECKPOINT_NET_H
#define DOME_TESTS_CHECKPOINT_NET_H

#include "ckpt/writer.h"

enum { TASKS = 4 }; /* at most */

/* Tasks are threads. Messages are g_bytes_new'd; an empty one means that the connection is closed. */
typedef struct net {
    int size;
    GAsyncQueue *queue[TASKS][TASKS]; /* from, to */
    int lost;                         /* rank 0 can no longer send to it */
} net;

typedef struct member {
    net *net;
    int rank;
    dome_ckpt_job job;
} member;

static inline bool refuse_lost(int rank, char **message)
{
    *message = g_strdup_printf("task %d is gone", rank);
    return false;
}

static inline bool net_send(void *ctx, int to, const void *data, uint64_t bytes, char **message)
{
    const member *m = ctx;
    bool lost = m->rank == 0 && to == m->net->lost;
    g_async_queue_push(m->net->queue[m->rank][to], lost ? g_bytes_new(NULL, 0) : g_bytes_new(data, bytes));
    return !lost || refuse_lost(to, message);
}

static inline bool net_receive(void *ctx, int from, void **data, uint64_t *bytes, char **message)
{
    const member *m = ctx;
    gsize size;
    GBytes *got = g_async_queue_pop(m->net->queue[from][m->rank]);
    *data = g_bytes_unref_to_data(got, &size);
    *bytes = size;
    return size > 0 || refuse_lost(from, message);
}

static inline bool net_altered(const void *ctx)
{
    (void)ctx;
    return false;
}

static inline gpointer net_member(gpointer data)
{
    member *m = data;
    dome_ckpt_link link = {m->rank, m->net->size, m, net_send, net_receive, net_altered};
    dome__ckpt_write_together(&m->job, &link);
    return NULL;
}

static inline void begin_net(net *net)
{
    for (int from = 0; from < TASKS; from++)
        for (int to = 0; to < TASKS; to++)
            net->queue[from][to] = g_async_queue_new_full((GDestroyNotify)g_bytes_unref);
}

static inline void end_net(net *net)
{
    for (int from = 0; from < TASKS; from++)
        for (int to = 0; to < TASKS; to++)
            g_async_queue_unref(net->queue[from][to]);
}

/* Runs the jobs of all members. */
static inline void run_net(member members[])
{
    GThread *threads[TASKS];
    for (int r = 0; r < members->net->size; r++)
        threads[r] = g_thread_new("member", net_member, &members[r]);
    for (int r = 0; r < members->net->size; r++)
        g_thread_join(threads[r]);
}

#endif
