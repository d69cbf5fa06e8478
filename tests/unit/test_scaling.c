/* Messages and rounds of collectives for up to 1024 tasks, on one host each and several to a host. */
#include "../collective_costs.h"

static const sim_constants constants = {1, 0.1, 0, 0.01};

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
        g_assert_cmpint(sim_run(size, sizes[i][1], &constants, cost_relay, NULL, &cost), ==, 0);
        g_assert_cmpuint(cost.all_messages, ==, 2 * (unsigned)(size - 1));
        g_assert_cmpuint(cost.messages, <=, 1 + 16 + (unsigned)near);
        g_assert_cmpuint(cost.depth, <=, 2 * (1 + (hosts > 1) + (hosts > 17) + (hosts > 273)));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scaling/rounds", test_rounds);
    g_test_add_func("/scaling/hosts", test_by_hosts);
    g_test_add_func("/scaling/long", test_long);
    g_test_add_func("/scaling/relay", test_relay);
    return g_test_run();
}
