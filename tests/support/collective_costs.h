/* Collectives whose results can be verified, for sim_run. */
#ifndef DOME_TESTS_COLLECTIVE_COSTS_H
#define DOME_TESTS_COLLECTIVE_COSTS_H

#include "simulated_transport.h"
#include "transport/collective.h"
#include "transport/relay.h"

/* The words of an exact sum plus one, as dvec_sum reduces them. */
enum { COST_WORDS = 73 };

static int cost_barrier(dome_transport *t, void *ctx)
{
    (void)ctx;
    return dome__barrier(t);
}

static int cost_bcast(dome_transport *t, void *ctx)
{
    double value = t->group.rank == 0 ? 3 : 0;
    (void)ctx;
    return dome__bcast(t, 0, DOME_F64, &value, 1) || value != 3;
}

static int cost_allreduce(dome_transport *t, void *ctx)
{
    int64_t words[COST_WORDS];
    (void)ctx;
    for (int i = 0; i < COST_WORDS; i++)
        words[i] = t->group.rank + i;
    int failed = dome__allreduce(t, DOME_I64, words, COST_WORDS, dome__combine_sum_i64, NULL);
    for (int64_t i = 0; i < COST_WORDS && !failed; i++)
        failed = words[i] != (int64_t)t->group.size * (t->group.size - 1) / 2 + i * t->group.size;
    return failed;
}

static int cost_reduce(dome_transport *t, void *ctx)
{
    int64_t value = t->group.rank;
    (void)ctx;
    int failed = dome__reduce(t, 0, &(dome_combining){DOME_I64, &value, 1, dome__combine_sum_i64, NULL});
    return failed || (t->group.rank == 0 && value != (int64_t)t->group.size * (t->group.size - 1) / 2);
}

static int cost_allgather(dome_transport *t, void *ctx)
{
    double value = t->group.rank, *all = g_new0(double, t->group.size);
    (void)ctx;
    int failed = dome__allgather(t, DOME_F64, &value, 1, all);
    for (int r = 0; r < t->group.size && !failed; r++)
        failed = all[r] != r;
    g_free(all);
    return failed;
}

/* ctx: a dome_relay_form; NULL: by hosts. */
static int cost_relay(dome_transport *t, void *ctx)
{
    double value = t->group.rank;
    uint64_t *counts = g_new(uint64_t, t->group.size);
    dome_relay *relay = dome__relay_new(t, ctx ? *(dome_relay_form *)ctx : DOME_RELAY_BY_HOSTS);
    for (int r = 0; r < t->group.size; r++)
        counts[r] = 1;
    int failed = dome__relay_begin(relay, &value, counts) || dome__relay_advance(relay, true);
    for (int r = 0; r < t->group.size && !failed; r++)
        failed = *dome__relay_numbers(relay, r) != r;
    dome__relay_free(relay);
    g_free(counts);
    return failed;
}

static int cost_gather(dome_transport *t, void *ctx)
{
    double value = t->group.rank, *all = g_new0(double, t->group.size);
    (void)ctx;
    int failed = dome__gather(t, 0, DOME_F64, &value, 1, all);
    for (int r = 0; t->group.rank == 0 && r < t->group.size && !failed; r++)
        failed = all[r] != r;
    g_free(all);
    return failed;
}

/* For cost_any_bcast and cost_any_allreduce. */
typedef struct cost_length {
    int root;
    uint64_t bytes; /* a multiple of 8 */
} cost_length;

__attribute__((unused)) static int cost_any_bcast(dome_transport *t, void *ctx)
{
    const cost_length *l = ctx;
    uint8_t *data = g_malloc0(l->bytes);
    if (t->group.rank == l->root)
        memset(data, 7, l->bytes);
    int failed = dome__bcast(t, l->root, DOME_U8, data, l->bytes) || data[0] != 7 || data[l->bytes - 1] != 7;
    g_free(data);
    return failed;
}

__attribute__((unused)) static int cost_any_allreduce(dome_transport *t, void *ctx)
{
    const int64_t n = (int64_t)((const cost_length *)ctx)->bytes / 8;
    int64_t *words = g_new(int64_t, n);
    for (int64_t i = 0; i < n; i++)
        words[i] = t->group.rank + i;
    int failed = dome__allreduce(t, DOME_I64, words, (uint64_t)n, dome__combine_sum_i64, NULL);
    for (int64_t i = 0; i < n && !failed; i++)
        failed = words[i] != (int64_t)t->group.size * (t->group.size - 1) / 2 + i * t->group.size;
    g_free(words);
    return failed;
}

/* Of 1 MB. */
__attribute__((unused)) static int cost_long_bcast(dome_transport *t, void *ctx)
{
    (void)ctx;
    return cost_any_bcast(t, &(cost_length){.bytes = 1 << 20});
}

__attribute__((unused)) static int cost_long_allreduce(dome_transport *t, void *ctx)
{
    (void)ctx;
    return cost_any_allreduce(t, &(cost_length){.bytes = 1 << 20});
}

typedef struct cost_case {
    const char *name;
    int (*work)(dome_transport *, void *);
    unsigned rounds_up; /* consecutive messages: at most this times the logarithm of the number of tasks, rounded up; 0: a
                            tree of another form */
} cost_case;

static const cost_case cost_cases[] = {
    {"barrier", cost_barrier, 1}, {"broadcast", cost_bcast, 1},      {"all-reduce", cost_allreduce, 1},
    {"reduce", cost_reduce, 1},   {"all-gather", cost_allgather, 1}, {"gather", cost_gather, 1},
    {"relay", cost_relay, 0},
};

/* Two clusters of three hosts with slow links between them, a task on each host or several. */
enum { CLUSTER_HOSTS = 3, CLUSTER_TASKS = 12 };

typedef struct cost_network {
    sim_constants constants;
    int tasks, host[CLUSTER_TASKS], cluster[CLUSTER_TASKS];
} cost_network;

/* A bit of `upper` for each of the six hosts in the order in which they are named: whether it is in the second cluster. In order:
 * ranks follow the clusters, each task is told what is known, and a host has consecutive ranks; else ranks are dealt to the hosts
 * in turn, as they are named, and tasks know nothing. */
__attribute__((unused)) static void cost_clusters(cost_network *n, const sim_constants *constants, unsigned upper, int tasks,
                                                  bool in_order)
{
    const int hosts = 2 * CLUSTER_HOSTS;
    const bool swap = upper & 1; /* the host with task 0 comes first */
    n->tasks = tasks;
    for (int r = 0; r < tasks; r++) {
        n->host[r] = in_order ? r * hosts / tasks : r % hosts;
        n->cluster[r] = in_order ? n->host[r] / CLUSTER_HOSTS : (int)((upper >> n->host[r] & 1) ^ swap);
    }
    n->constants = *constants;
    n->constants.host = n->host;
    n->constants.cluster = n->cluster;
    n->constants.known = in_order;
}

/* The seconds of a collective, the mean over all orders in which the hosts may be named, and over all roots. */
__attribute__((unused)) static double cost_of_clusters(const sim_constants *constants, int tasks, bool in_order,
                                                       int (*work)(dome_transport *, void *), uint64_t bytes, sim_cost *total)
{
    double seconds = 0;
    int runs = 0;
    *total = (sim_cost){0};
    for (unsigned upper = 0; upper < 64; upper++) {
        if (__builtin_popcount(upper) != CLUSTER_HOSTS || (in_order && runs))
            continue;
        for (int root = 0; root < (bytes > 1 << 16 ? 1 : tasks); root++, runs++) {
            sim_cost cost;
            cost_network n;
            cost_length length = {root, bytes};
            cost_clusters(&n, constants, upper, tasks, in_order);
            if (sim_run(tasks, 0, &n.constants, work, &length, &cost))
                return 0;
            seconds += cost.seconds;
            total->far_messages += cost.far_messages;
            total->far_bytes += cost.far_bytes;
        }
    }
    total->far_messages = (total->far_messages + (uint64_t)runs - 1) / (uint64_t)runs;
    total->far_bytes /= (uint64_t)runs;
    return seconds / runs;
}

__attribute__((unused)) static unsigned cost_log2(int n)
{
    unsigned rounds = 0;
    while (((int64_t)1 << rounds) < n)
        rounds++;
    return rounds;
}

#endif
