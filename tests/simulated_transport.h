/* For tests and bench/scaling: any number of tasks in one process, each with its own stack, that take turns. Messages are
 * counted, and time is simulated: a message costs its sender `overhead` and a time for its bytes, and arrives `latency` later. */
#ifndef DOME_TESTS_SIMULATED_TRANSPORT_H
#define DOME_TESTS_SIMULATED_TRANSPORT_H

#include "transport/transport.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { SIM_HEAD = 64 }; /* room for a head, such that the data is aligned */

typedef struct sim_constants {
    double latency, overhead, per_byte; /* between hosts: seconds */
    double share;                       /* cost of a share among tasks of a host */
} sim_constants;

typedef struct sim_message {
    int source, channel;
    uint64_t bytes;
    unsigned depth; /* length of the chain of messages that led to this one, including itself */
    double arrival;
    char *content; /* head, then data */
} sim_message;

typedef struct sim_task {
    dome_transport transport;
    struct sim *sim;
    ucontext_t context;
    void *stack;
    bool done;
    int failed;
    GQueue *inbox;
    sim_message *taken;
    unsigned depth;
    double clock;
    /* shares */
    uint64_t shares;
    GHashTable *given; /* number -> sim_message */
} sim_task;

typedef struct sim {
    int size;
    sim_task *tasks;
    ucontext_t back;
    sim_task *current;
    const sim_constants *constants;
    int (*work)(dome_transport *transport, void *ctx);
    void *ctx;
    bool moved; /* a task has made progress in this round */
} sim;

/* The cost of one collective. */
typedef struct sim_cost {
    uint64_t messages, bytes; /* largest numbers that one task has sent */
    uint64_t all_messages, all_bytes;
    unsigned depth;
    double seconds;
} sim_cost;

static void sim_message_free(void *data)
{
    sim_message *m = data;
    g_free(m->content);
    g_free(m);
}

static sim_message *sim_message_new(sim_task *task, int channel, const void *head, size_t head_bytes, const void *data,
                                    uint64_t bytes)
{
    sim_message *m = g_new0(sim_message, 1);
    m->source = task->transport.rank;
    m->channel = channel;
    m->bytes = bytes;
    m->content = g_malloc(SIM_HEAD + bytes);
    g_assert_cmpuint(head_bytes, <=, SIM_HEAD);
    memcpy(m->content, head, head_bytes);
    if (bytes)
        memcpy(m->content + SIM_HEAD, data, bytes);
    return m;
}

static void sim_yield(sim_task *task)
{
    swapcontext(&task->context, &task->sim->back);
}

static void sim_arrives(sim_task *task, unsigned depth, double time)
{
    task->depth = MAX(task->depth, depth);
    task->clock = MAX(task->clock, time);
    task->sim->moved = true;
}

static int sim_send(dome_transport *t, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                    uint64_t bytes)
{
    sim_task *task = t->provider;
    const sim_constants *k = task->sim->constants;
    sim_message *m = sim_message_new(task, channel, head, head_bytes, data, bytes);
    task->clock += k->overhead + (double)(head_bytes + bytes) * k->per_byte;
    m->depth = task->depth + 1;
    m->arrival = task->clock + k->latency;
    g_queue_push_tail(task->sim->tasks[dest].inbox, m);
    task->sim->moved = true;
    return DOME_OK;
}

static int sim_recv_head(dome_transport *t, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    sim_task *task = t->provider;
    for (;; sim_yield(task))
        for (GList *l = task->inbox->head; l; l = l->next) {
            sim_message *m = l->data;
            if (m->source != source || m->channel != channel)
                continue;
            g_queue_delete_link(task->inbox, l);
            memcpy(head, m->content, head_bytes);
            *bytes = m->bytes;
            task->taken = m;
            sim_arrives(task, m->depth, m->arrival);
            return DOME_OK;
        }
}

static int sim_recv_data(dome_transport *t, int source, int channel, void *data, uint64_t bytes)
{
    sim_task *task = t->provider;
    (void)source, (void)channel;
    if (bytes)
        memcpy(data, task->taken->content + SIM_HEAD, bytes);
    g_clear_pointer(&task->taken, sim_message_free);
    return DOME_OK;
}

static bool sim_arrived(dome_transport *t, int source, int channel)
{
    sim_task *task = t->provider;
    for (GList *l = task->inbox->head; l; l = l->next)
        if (((sim_message *)l->data)->source == source && ((sim_message *)l->data)->channel == channel)
            return true;
    return false;
}

static int sim_share(dome_transport *t, int from, const void *head, size_t head_bytes, const void *data, uint64_t bytes,
                     dome_shared *given, int *last)
{
    sim_task *task = t->provider;
    uint64_t number = ++task->shares;
    *last = t->rank;
    if (from < 0 || from == t->rank) {
        sim_message *m = sim_message_new(task, 0, head, head_bytes, data, bytes);
        m->depth = task->depth + 1;
        m->arrival = task->clock + task->sim->constants->share;
        g_hash_table_insert(task->given, GSIZE_TO_POINTER(number), m);
        task->sim->moved = true;
    }
    for (int i = 0; i < t->near.count; i++) {
        sim_task *other = &task->sim->tasks[t->near.rank[i]];
        sim_message *m;
        if (from >= 0 && t->near.rank[i] != from)
            continue;
        while (!(m = g_hash_table_lookup(other->given, GSIZE_TO_POINTER(number))))
            sim_yield(task);
        given[i] = (dome_shared){m->content, m->content + SIM_HEAD, m->bytes};
        sim_arrives(task, m->depth, m->arrival);
    }
    return DOME_OK;
}

static const dome_transport_ops sim_ops = {
    .size = sizeof(dome_transport_ops),
    .name = "simulated",
    .can = DOME_TRANSPORT_SHARE | DOME_TRANSPORT_PROBE,
    .send = sim_send,
    .recv_head = sim_recv_head,
    .recv_data = sim_recv_data,
    .arrived = sim_arrived,
    .share = sim_share,
};

static sim *sim_starting;

static void sim_main(void)
{
    sim *s = sim_starting;
    sim_task *task = s->current;
    task->failed = s->work(&task->transport, s->ctx);
    task->done = s->moved = true;
    swapcontext(&task->context, &s->back);
}

/* Assigns tasks r, r + hosts, ... to one host, as Dome starts them; hosts 0 or size: each task on its own host, without shares.
 */
static int *sim_groups(sim *s, int hosts)
{
    int *memory = g_new0(int, 3 * (gsize)s->size), *leader = memory, *near = leader + s->size, *leaders = near + s->size, n = 0;
    for (int h = 0; h < hosts; h++) {
        int first = n;
        leaders[h] = h;
        for (int r = h; r < s->size; r += hosts)
            near[n++] = r;
        for (int r = h, i = 0; r < s->size; r += hosts, i++) {
            dome_transport *t = &s->tasks[r].transport;
            leader[r] = h;
            t->leader = leader;
            t->near = (dome_group){n - first, i, near + first};
            t->leaders = (dome_group){hosts, r == h ? h : -1, leaders};
            t->share_bytes = 3900;
        }
    }
    return memory;
}

/* Runs work in all tasks and returns how many of them did not return 0; all, if there is a deadlock. */
static int sim_run(int size, int hosts, const sim_constants *constants, int (*work)(dome_transport *, void *), void *ctx,
                   sim_cost *cost)
{
    enum { STACK = 96 << 10 };
    sim s = {.size = size, .constants = constants, .work = work, .ctx = ctx};
    s.tasks = g_new0(sim_task, size);
    for (int r = 0; r < size; r++) {
        sim_task *task = &s.tasks[r];
        task->sim = &s;
        task->transport = (dome_transport){.ops = &sim_ops, .provider = task, .can = sim_ops.can, .rank = r, .size = size};
        task->inbox = g_queue_new();
        task->given = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, sim_message_free);
        task->stack = g_malloc(STACK);
        getcontext(&task->context);
        task->context.uc_stack.ss_sp = task->stack;
        task->context.uc_stack.ss_size = STACK;
        makecontext(&task->context, sim_main, 0);
    }
    int *groups = hosts > 0 && hosts < size ? sim_groups(&s, hosts) : NULL, failures = 0, left = size;
    for (s.moved = true; left && s.moved;) {
        s.moved = false;
        left = 0;
        for (int r = 0; r < size; r++) {
            if (s.tasks[r].done)
                continue;
            s.current = &s.tasks[r];
            sim_starting = &s;
            swapcontext(&s.back, &s.tasks[r].context);
            left += !s.tasks[r].done;
        }
    }
    *cost = (sim_cost){0};
    for (int r = 0; r < size; r++) {
        sim_task *task = &s.tasks[r];
        cost->messages = MAX(cost->messages, task->transport.messages);
        cost->bytes = MAX(cost->bytes, task->transport.bytes);
        cost->all_messages += task->transport.messages;
        cost->all_bytes += task->transport.bytes;
        cost->depth = MAX(cost->depth, task->depth);
        cost->seconds = MAX(cost->seconds, task->clock);
        failures += task->failed != 0 || task->inbox->length > 0;
        g_queue_free_full(task->inbox, sim_message_free);
        g_hash_table_destroy(task->given);
        g_free(task->stack);
    }
    g_free(groups);
    g_free(s.tasks);
    return left ? size : failures;
}

#endif
