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

    /* the rest may be 0 */
    const int *host;      /* by rank; NULL: sim_run fills the hosts one after the other */
    const int *cluster;   /* by rank, of its host; NULL: there is one */
    double host_per_byte; /* of messages between tasks of one host, which then arrive as fast as a share; 0: as others */
    double far_latency, far_per_byte; /* between clusters */
    bool one_medium;                  /* all messages from one cluster to another share a link; else those of a host do */
    bool known;                       /* the library is told all this */
} sim_constants;

/* A link is in use from `start` to `end`. */
typedef struct sim_use {
    double start, end;
} sim_use;

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
    bool moved;    /* a task has made progress in this round */
    bool polled;   /* a task has looked for a message that was not there, and may look again */
    int *host;     /* by rank */
    GArray **uses; /* of links between clusters, ascending, by the sender's host; of one medium: in both directions */
    uint64_t far_messages, far_bytes;
} sim;

/* The cost of one collective. */
typedef struct sim_cost {
    uint64_t messages, bytes; /* largest numbers that one task has sent */
    uint64_t all_messages, all_bytes;
    uint64_t far_messages, far_bytes; /* between clusters */
    unsigned depth;
    double seconds;
} sim_cost;

static void sim_message_free(void *data)
{
    sim_message *m = data;
    g_free(m->content);
    g_free(m);
}

static sim_message *sim_message_new(sim_task *task, int channel, const dome_packet *packet)
{
    sim_message *m = g_new0(sim_message, 1);
    m->source = task->transport.group.rank;
    m->channel = channel;
    m->bytes = packet->bytes;
    m->content = g_malloc(SIM_HEAD + packet->bytes);
    g_assert_cmpuint(packet->head_bytes, <=, SIM_HEAD);
    memcpy(m->content, packet->head, packet->head_bytes);
    if (packet->bytes)
        memcpy(m->content + SIM_HEAD, packet->data, packet->bytes);
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

/* The time at which the link is free for so long, from a time on. Tasks do not run in the order of their clocks, so it is looked
 * for among all uses, and entered. */
static double sim_reserve(GArray *uses, double from, double duration)
{
    guint i = 0;
    for (; i < uses->len; i++) {
        const sim_use *use = &g_array_index(uses, sim_use, i);
        if (from + duration <= use->start)
            break;
        from = MAX(from, use->end);
    }
    const sim_use own = {from, from + duration};
    g_array_insert_val(uses, i, own);
    return from;
}

/* Whether a message stays in its host and is cheaper for that. */
static bool sim_inside(const sim *s, int rank, int dest)
{
    return s->constants->host_per_byte > 0 && s->host[rank] == s->host[dest];
}

/* When a message that is sent now arrives. */
static double sim_arrival(sim_task *task, int dest, uint64_t bytes)
{
    sim *s = task->sim;
    const sim_constants *k = s->constants;
    const int rank = task->transport.group.rank;
    if (sim_inside(s, rank, dest))
        return task->clock + k->share;
    if (!k->cluster || k->cluster[rank] == k->cluster[dest])
        return task->clock + k->latency;
    const double duration = (double)bytes * k->far_per_byte;
    s->far_messages++;
    s->far_bytes += bytes;
    GArray *uses = s->uses[k->one_medium ? k->cluster[rank] > k->cluster[dest] : s->host[rank]];
    return sim_reserve(uses, task->clock, duration) + duration + k->far_latency;
}

static int sim_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    sim_task *task = self->state;
    const uint64_t bytes = packet->head_bytes + packet->bytes;
    const sim_constants *k = task->sim->constants;
    sim_message *m = sim_message_new(task, channel, packet);
    task->clock += sim_inside(task->sim, self->transport->group.rank, dest) ? (double)bytes * k->host_per_byte
                                                                            : k->overhead + (double)bytes * k->per_byte;
    m->depth = task->depth + 1;
    m->arrival = sim_arrival(task, dest, bytes);
    g_queue_push_tail(task->sim->tasks[dest].inbox, m);
    task->sim->moved = true;
    return DOME_OK;
}

static int sim_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    sim_task *task = self->state;
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

static int sim_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    sim_task *task = self->state;
    (void)source, (void)channel;
    if (bytes)
        memcpy(data, task->taken->content + SIM_HEAD, bytes);
    g_clear_pointer(&task->taken, sim_message_free);
    return DOME_OK;
}

static bool sim_has(const sim_task *task, int source, int channel)
{
    for (const GList *l = task->inbox->head; l; l = l->next)
        if (((const sim_message *)l->data)->source == source && ((const sim_message *)l->data)->channel == channel)
            return true;
    return false;
}

/* Lets the other tasks run if there is nothing yet: the caller may ask until there is. */
static bool sim_arrived(dome_transport_provider *self, int source, int channel)
{
    sim_task *task = self->state;
    if (sim_has(task, source, channel))
        return true;
    task->sim->polled = true;
    sim_yield(task);
    return sim_has(task, source, channel);
}

static int sim_share(dome_transport_provider *self, int from, const dome_packet *packet, dome_shared *given, int *last)
{
    sim_task *task = self->state;
    uint64_t number = ++task->shares;
    *last = self->transport->group.rank;
    if (from < 0 || from == self->transport->group.rank) {
        sim_message *m = sim_message_new(task, 0, packet);
        m->depth = task->depth + 1;
        m->arrival = task->clock + task->sim->constants->share;
        g_hash_table_insert(task->given, GSIZE_TO_POINTER(number), m);
        task->sim->moved = true;
    }
    for (int i = 0; i < self->transport->group.near.count; i++) {
        sim_task *other = &task->sim->tasks[self->transport->group.near.rank[i]];
        sim_message *m;
        if (from >= 0 && self->transport->group.near.rank[i] != from)
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

/* The hosts of the tasks: neighbouring ranks are on one host, as Dome starts them. */
static int *sim_hosts(const sim *s, int hosts)
{
    int *host = g_new(int, s->size);
    for (int r = 0; r < s->size; r++)
        host[r] = s->constants->host ? s->constants->host[r] : hosts > 0 ? (int)((int64_t)r * hosts / s->size) : r;
    return host;
}

/* Finds who leads each task: the lowest rank of its host, or the task itself on a host of more tasks than a share may have. */
static void sim_leaders(const sim *s, int *leader)
{
    int *first = g_new(int, s->size), *tasks = g_new0(int, s->size);
    for (int r = 0; r < s->size; r++) {
        first[r] = 0;
        while (s->host[first[r]] != s->host[r])
            first[r]++;
        tasks[first[r]]++;
    }
    for (int r = 0; r < s->size; r++)
        leader[r] = tasks[first[r]] > DOME_NEAR_MAX ? r : first[r];
    g_free(first);
    g_free(tasks);
}

/* Tasks of one host share memory, unless each task leads itself. */
static int *sim_groups(sim *s)
{
    int *memory = g_new0(int, 3 * (gsize)s->size), *leader = memory, *near = leader + s->size, *leaders = near + s->size, n = 0;
    int count = 0;
    sim_leaders(s, leader);
    for (int r = 0; r < s->size; r++)
        if (leader[r] == r)
            leaders[count++] = r;
    for (int i = 0; i < count && count < s->size; i++) {
        const int begin = n;
        for (int r = 0; r < s->size; r++)
            if (leader[r] == leaders[i])
                near[n++] = r;
        for (int k = begin; k < n; k++) {
            dome_transport *t = &s->tasks[near[k]].transport;
            t->group.leader = leader;
            t->group.near = (dome_group){n - begin, k - begin, near + begin};
            t->group.leaders = (dome_group){count, k == begin ? i : -1, leaders};
            t->group.share_bytes = 3900;
        }
    }
    return memory;
}

/* What `dome net` would have measured. */
static void sim_tell(sim *s)
{
    const sim_constants *k = s->constants;
    const double far = 1 / MAX(k->far_per_byte, 1e-12), fast = 1 / MAX(k->per_byte, 1e-12);
    const dome_transport_links links = {.host = s->host,
                                        .cluster = k->cluster,
                                        .latency = {0, k->latency + k->overhead, k->far_latency + k->overhead},
                                        .bandwidth = {0, fast, far},
                                        .crowded = {0, fast, k->one_medium ? 2 * far / s->size : far}};
    for (int r = 0; r < s->size && k->known; r++)
        dome__group_set_links(&s->tasks[r].transport.group, &links);
}

/* Runs work in all tasks and returns how many of them did not return 0; all, if there is a deadlock. */
static int sim_run(int size, int hosts, const sim_constants *constants, int (*work)(dome_transport *, void *), void *ctx,
                   sim_cost *cost)
{
    enum { STACK = 96 << 10, IDLE_TURNS = 1000 };
    sim s = {.size = size, .constants = constants, .work = work, .ctx = ctx};
    s.tasks = g_new0(sim_task, size);
    for (int r = 0; r < size; r++) {
        sim_task *task = &s.tasks[r];
        task->sim = &s;
        task->transport = (dome_transport){.group = {.rank = r, .size = size}};
        task->transport.provider = (dome_transport_provider){&sim_ops, task, sim_ops.can, &task->transport};
        task->inbox = g_queue_new();
        task->given = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, sim_message_free);
        task->stack = g_malloc(STACK);
        getcontext(&task->context);
        task->context.uc_stack.ss_sp = task->stack;
        task->context.uc_stack.ss_size = STACK;
        makecontext(&task->context, sim_main, 0);
    }
    s.host = sim_hosts(&s, hosts);
    int *groups = sim_groups(&s), failures = 0, left = size;
    s.uses = g_new(GArray *, size);
    for (int i = 0; i < size; i++)
        s.uses[i] = g_array_new(FALSE, FALSE, sizeof(sim_use));
    sim_tell(&s);
    /* Without a message in a turn of all tasks nothing would ever change, unless a task looked whether there is one. */
    for (int idle = 0; left && idle < (s.polled ? IDLE_TURNS : 1); idle = s.moved ? 0 : idle + 1) {
        s.moved = s.polled = false;
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
    *cost = (sim_cost){.far_messages = s.far_messages, .far_bytes = s.far_bytes};
    for (int r = 0; r < size; r++) {
        sim_task *task = &s.tasks[r];
        cost->messages = MAX(cost->messages, task->transport.account.messages);
        cost->bytes = MAX(cost->bytes, task->transport.account.bytes);
        cost->all_messages += task->transport.account.messages;
        cost->all_bytes += task->transport.account.bytes;
        cost->depth = MAX(cost->depth, task->depth);
        cost->seconds = MAX(cost->seconds, task->clock);
        failures += task->failed != 0 || task->inbox->length > 0;
        g_queue_free_full(task->inbox, sim_message_free);
        g_hash_table_destroy(task->given);
        g_free(task->stack);
        dome__group_free_links(&task->transport.group);
    }
    for (int i = 0; i < size; i++)
        g_array_free(s.uses[i], TRUE);
    g_free(s.uses);
    g_free(s.host);
    g_free(groups);
    g_free(s.tasks);
    return left ? size : failures;
}

#endif
