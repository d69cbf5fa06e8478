/* Messages and rounds of collectives for up to 1024 tasks, on one host each and several to a host. */
#include "collective_checks.h"
#include "collective_costs.h"
#include "transport/ahead.h"

static const sim_constants constants = {.latency = 1, .overhead = 0.1, .share = 0.01};

static void test_rounds(void)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 17, 64, 100, 257, 1024};
    for (size_t k = 0; k < G_N_ELEMENTS(cost_cases); k++)
        for (size_t i = 0; i < (g_test_slow() ? G_N_ELEMENTS(sizes) : G_N_ELEMENTS(sizes) - 2); i++) {
            sim_cost cost;
            unsigned rounds = cost_log2(sizes[i]);
            if (!cost_cases[k].rounds_up)
                continue;
            g_assert_cmpint(sim_run(sizes[i], 0, &constants, cost_cases[k].work, NULL, &cost), ==, 0);
            /* tasks beyond a power of two are folded in and out again */
            g_assert_cmpuint(cost.depth, <=, cost_cases[k].rounds_up * rounds + 1);
            g_assert_cmpuint(cost.messages, <=, rounds + 1);
        }
}

static void test_by_hosts(void)
{
    static const int sizes[][2] = {{4, 1}, {8, 2}, {12, 5}, {128, 8}, {480, 32}};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
            sim_cost cost;
            int hosts = sizes[i][1];
            g_assert_cmpint(sim_run(sizes[i][0], hosts, &constants, cost_cases[k].work, NULL, &cost), ==, 0);
            /* within the host, among hosts, within the host again */
            g_assert_cmpuint(cost.depth, <=, cost_log2(hosts) + 1 + 2);
            if (hosts == 1)
                g_assert_cmpuint(cost.depth, ==, 1);
        }
    /* tasks of hosts with more than DOME_NEAR_MAX share nothing, here or on half of the hosts */
    int host[2 * DOME_NEAR_MAX + 2];
    for (int r = 0; r < (int)G_N_ELEMENTS(host); r++)
        host[r] = r >= DOME_NEAR_MAX + 2;
    sim_constants uneven = constants;
    uneven.host = host;
    for (size_t k = 0; k < G_N_ELEMENTS(cost_cases); k++) {
        sim_cost cost;
        g_assert_cmpint(sim_run(3 * DOME_NEAR_MAX, 2, &constants, cost_cases[k].work, NULL, &cost), ==, 0);
        g_assert_cmpint(sim_run(G_N_ELEMENTS(host), 0, &uneven, cost_cases[k].work, NULL, &cost), ==, 0);
    }
}

/* Each task receives and sends long data at most about twice, however many tasks there are. In an all-reduce the tasks beyond a
 * power of two additionally send and receive all of it. */
static void test_long(void)
{
    for (int size = 3; size <= 48; size *= 2) {
        sim_cost cost;
        g_assert_cmpint(sim_run(size, 0, &constants, cost_long_bcast, NULL, &cost), ==, 0);
        g_assert_cmpuint(cost.bytes, <=, 2u << 20);
        g_assert_cmpuint(cost.all_bytes, <=, (uint64_t)size * (2u << 20));
    }
    for (int size = 2; size <= 64; size++) {
        sim_cost cost;
        unsigned rounds = cost_log2(size);
        bool power = size == 1 << rounds;
        g_assert_cmpint(sim_run(size, 0, &constants, cost_long_allreduce, NULL, &cost), ==, 0);
        g_assert_cmpuint(cost.bytes, <=, (power ? 2u : 3u) << 20);
        g_assert_cmpuint(cost.all_bytes, <=, (uint64_t)size * (2u << 20));
        g_assert_cmpuint(cost.depth, <=, 2 * rounds + 2);
    }
}

/* A task sends one message up and one to each task below it: 16 leaders and those of its host. The first of 480 tasks on 32 hosts
 * sends 30. */
static void test_relay(void)
{
    static const int sizes[][2] = {{2, 0}, {17, 0}, {300, 0}, {12, 5}, {480, 32}, {480, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        sim_cost cost;
        int size = sizes[i][0], hosts = sizes[i][1] ? sizes[i][1] : size, near = (size + hosts - 1) / hosts - 1;
        if (near >= DOME_NEAR_MAX) { /* each leads itself */
            hosts = size;
            near = 0;
        }
        g_assert_cmpint(sim_run(size, sizes[i][1], &constants, cost_relay, NULL, &cost), ==, 0);
        g_assert_cmpuint(cost.all_messages, ==, 2 * (unsigned)(size - 1));
        g_assert_cmpuint(cost.messages, <=, 1 + 16 + (unsigned)near);
        g_assert_cmpuint(cost.depth, <=, 2 * (1 + (hosts > 1) + (hosts > 17) + (hosts > 273)));
        if (size > 100 && hosts > 1) {
            sim_cost other;
            g_assert_cmpint(sim_run(size, sizes[i][1], &constants, cost_allgather, NULL, &other), ==, 0);
            g_assert_cmpuint(3 * cost.all_messages, <, other.all_messages);
        }
    }
}

static int cost_ahead(dome_transport *t, void *ctx)
{
    int64_t words[COST_WORDS];
    (void)ctx;
    for (int i = 0; i < COST_WORDS; i++)
        words[i] = t->group.rank + i;
    dome_ahead *a = dome__ahead_begin(t, DOME_I64, words, COST_WORDS, dome__combine_sum_i64, NULL);
    int failed = dome__ahead_finish(a);
    const int64_t *sum = dome__ahead_data(a);
    for (int64_t i = 0; i < COST_WORDS && !failed; i++)
        failed = sum[i] != (int64_t)t->group.size * (t->group.size - 1) / 2 + i * t->group.size;
    dome__ahead_free(a);
    dome__ahead_line_free(t);
    return failed;
}

/* As many messages one after the other as in a blocking all-reduce: up to 2 more for the tasks of a host. */
static void test_ahead(void)
{
    static const int sizes[][2] = {{2, 0}, {3, 0}, {17, 0}, {256, 0}, {12, 5}, {480, 32}, {7, 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        sim_cost cost;
        int size = sizes[i][0], hosts = sizes[i][1] > 1 ? sizes[i][1] : size;
        g_assert_cmpint(sim_run(size, sizes[i][1], &constants, cost_ahead, NULL, &cost), ==, 0);
        g_assert_cmpuint(cost.depth, <=,
                         (hosts & (hosts - 1) ? 1 + cost_log2(hosts) : cost_log2(hosts)) + (hosts < size ? 2 : 0));
    }
}

/* ---- clusters ---- */

static int check_all(dome_transport *t, void *ctx)
{
    const dome_type types[] = {DOME_I32};
    return check_collectives(t, types, 1, *(uint64_t *)ctx);
}

/* Every collective is right on hosts and clusters of any shape, in any order of ranks, with measured and with unknown links. */
static void test_any_clusters(void)
{
    GRand *random = g_rand_new_with_seed(7);
    for (int size = 2; size <= 20; size += g_test_slow() ? 1 : 3)
        for (int round = 0; round < (g_test_slow() ? 20 : 1); round++) {
            const int hosts = g_rand_int_range(random, 1, size + 1), clusters = g_rand_int_range(random, 1, MIN(hosts, 5) + 1);
            int host[20], cluster[20];
            for (int r = 0; r < size; r++) {
                host[r] = g_rand_boolean(random) ? r * hosts / size : g_rand_int_range(random, 0, hosts);
                cluster[r] = (host[r] * 7 + round) % clusters;
            }
            uint64_t seed = g_rand_int(random);
            sim_cost cost;
            const sim_constants k = {.latency = g_rand_int_range(random, 0, 3),
                                     .overhead = 0.1,
                                     .per_byte = 1e-4,
                                     .far_latency = 20,
                                     .far_per_byte = 1e-3,
                                     .host = host,
                                     .cluster = cluster,
                                     .one_medium = g_rand_boolean(random),
                                     .known = true};
            g_assert_cmpint(sim_run(size, 0, &k, check_all, &seed, &cost), ==, 0);
        }
    g_rand_free(random);
}

static int gather_to_last(dome_transport *t, void *ctx)
{
    int32_t own = t->group.rank, all[CLUSTER_TASKS] = {0};
    (void)ctx;
    int failed = dome__gather(t, t->group.size - 1, DOME_I32, &own, 1, all);
    for (int r = 0; r < t->group.size && t->group.rank == t->group.size - 1 && !failed; r++)
        failed = all[r] != r;
    return failed;
}

/* What crosses between two clusters: of short data one message each way, or one; of long data each byte once each way, or once.
 */
static void test_between_clusters(void)
{
    enum { LONG = 1 << 20, HEADS = 6 * 64 };
    const struct {
        int (*work)(dome_transport *, void *);
        uint64_t bytes, messages, most;
    } cases[] = {
        {cost_barrier, 0, 2, 2 * 64},
        {cost_any_bcast, 8, 1, 8 + 64},
        {cost_any_allreduce, 8, 2, 2 * (8 + 64)},
        {gather_to_last, 0, 1, 6 * 4 + 64},
        {cost_allgather, 0, 2, 12 * 8 + 2 * 64},
        {cost_reduce, 0, 1, 8 + 64},
        {cost_any_bcast, LONG, 3, LONG + HEADS},
        {cost_any_allreduce, LONG, 6, 2 * LONG + HEADS},
    };
    const sim_constants k = {
        .latency = 30e-6, .overhead = 10e-6, .per_byte = 8e-9, .share = 1e-6, .far_latency = 300e-6, .far_per_byte = 80e-9};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int tasks = 6; tasks <= CLUSTER_TASKS; tasks += 6) {
            sim_cost cost;
            cost_network n;
            cost_length length = {tasks - 1, cases[i].bytes};
            cost_clusters(&n, &k, 7, tasks, true);
            g_assert_cmpint(sim_run(tasks, 0, &n.constants, cases[i].work, &length, &cost), ==, 0);
            g_assert_cmpuint(cost.far_messages, ==, cases[i].messages);
            g_assert_cmpuint(cost.far_bytes, <=, cases[i].most);
        }
}

/* A ring of hosts that begins inside a cluster: a reduction in rank order crosses once still. */
static void test_ring_inside_cluster(void)
{
    const int cluster[] = {0, 0, 1, 1, 1, 0};
    const sim_constants k = {.latency = 1, .far_latency = 10, .cluster = cluster, .known = true};
    sim_cost cost;
    g_assert_cmpint(sim_run(6, 0, &k, cost_reduce, NULL, &cost), ==, 0);
    g_assert_cmpuint(cost.far_messages, ==, 1);
}

/* Simulated seconds, over those of ranks that are dealt to hosts in turn, in any order of hosts, by tasks that know nothing. */
static void test_gain(void)
{
    for (int tasks = 6; tasks <= CLUSTER_TASKS; tasks += 6)
        for (int one_medium = 0; one_medium < 2; one_medium++) {
            const sim_constants k = {.latency = 30e-6,
                                     .overhead = 10e-6,
                                     .per_byte = 8e-9,
                                     .share = 1e-6,
                                     .host_per_byte = 2e-10,
                                     .far_latency = 300e-6,
                                     .far_per_byte = 80e-9,
                                     .one_medium = one_medium};
            const uint64_t bytes[] = {8, 1 << 16, 1 << 20};
            for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
                sim_cost cost;
                const double bcast = cost_of_clusters(&k, tasks, false, cost_any_bcast, bytes[i], &cost);
                const double allreduce = cost_of_clusters(&k, tasks, false, cost_any_allreduce, bytes[i], &cost);
                g_assert_cmpfloat(cost_of_clusters(&k, tasks, true, cost_any_bcast, bytes[i], &cost), <=,
                                  (bytes[i] > 8 ? 0.7 : 1) * bcast);
                g_assert_cmpfloat(cost_of_clusters(&k, tasks, true, cost_any_allreduce, bytes[i], &cost), <=, 0.7 * allreduce);
            }
        }
}

/* A ring's: at most three messages of a task, however many tasks there are. */
static void test_narrow_relay(void)
{
    static const int sizes[] = {2, 3, 8, 100, 300};
    dome_relay_form form = DOME_RELAY_NARROW;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        sim_cost cost;
        g_assert_cmpint(sim_run(sizes[i], i % 2 ? sizes[i] / 2 : 0, &constants, cost_relay, &form, &cost), ==, 0);
        g_assert_cmpuint(cost.all_messages, ==, 2 * (unsigned)(sizes[i] - 1));
        g_assert_cmpuint(cost.messages, <=, 3);
        g_assert_cmpuint(cost.depth, <=, 2 * cost_log2(sizes[i]));
    }
    enum { MANY = 10000 };
    dome_transport t = {.group.size = MANY};
    int *parent = dome__relay_parents(&t, form), *sends = g_new0(int, MANY), *depth = g_new0(int, MANY);
    for (int r = 1; r < MANY; r++) {
        g_assert_cmpint(parent[r], <, r);
        depth[r] = depth[parent[r]] + 1;
        g_assert_cmpint(depth[r], <=, (int)cost_log2(MANY));
        sends[r]++;
        sends[parent[r]]++;
    }
    for (int r = 0; r < MANY; r++)
        g_assert_cmpint(sends[r], <=, 3);
    g_free(parent);
    g_free(sends);
    g_free(depth);
}

static int gather_kilobytes(dome_transport *t, void *ctx)
{
    const uint64_t count = *(const uint64_t *)ctx;
    double *own = g_new(double, count), *all = g_new0(double, (uint64_t)t->group.size *count);
    for (uint64_t i = 0; i < count; i++)
        own[i] = t->group.rank;
    int failed = dome__allgather(t, DOME_F64, own, count, all);
    for (uint64_t i = 0; i < (uint64_t)t->group.size * count && !failed; i++)
        failed = all[i] != (double)(i / count);
    g_free(own);
    g_free(all);
    return failed;
}

/* Between hosts no piece of an all-gather waits in a third task, which may be busy, unless pieces are very short, or many. */
static void test_at_once(void)
{
    const sim_constants k = {.latency = 30e-6, .overhead = 10e-6, .per_byte = 8e-9, .share = 1e-6};
    const struct {
        int tasks, hosts;
        uint64_t count;
        bool at_once;
    } cases[] = {{6, 6, 128, true},     {6, 6, 3000, true},  {32, 32, 1000, true}, {6, 6, 127, false},
                 {6, 6, 100000, false}, {6, 3, 3000, false}, {33, 33, 1000, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        sim_cost cost;
        uint64_t count = cases[i].count;
        g_assert_cmpint(sim_run(cases[i].tasks, cases[i].hosts, &k, gather_kilobytes, &count, &cost), ==, 0);
        g_assert_true((cost.depth == 1) == cases[i].at_once);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scaling/rounds", test_rounds);
    g_test_add_func("/scaling/hosts", test_by_hosts);
    g_test_add_func("/scaling/long", test_long);
    g_test_add_func("/scaling/relay", test_relay);
    g_test_add_func("/scaling/any_clusters", test_any_clusters);
    g_test_add_func("/scaling/between_clusters", test_between_clusters);
    g_test_add_func("/scaling/ring_inside_cluster", test_ring_inside_cluster);
    g_test_add_func("/scaling/at_once", test_at_once);
    g_test_add_func("/scaling/gain", test_gain);
    g_test_add_func("/scaling/ahead", test_ahead);
    g_test_add_func("/scaling/narrow-relay", test_narrow_relay);
    return g_test_run();
}
