#include "network/discovery.h"

#include "network/network_exchange.h"
#include "network/survey.h"
#include "system/time.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <string.h>

enum { LEAST_HOSTS = 3, MOST_ROUNDS = 32, LINK_NUMBERS = 5 };

/* No exchange begins later. */
static const uint64_t MEASURE_NS = 50000000;

static const dome_exchange_effort effort = {.pings = 3, .most = 64 << 10, .enough = 5e-4, .budget = 2e-3};

int dome__network_hosts(int ranks, char *const *host, int *number, int *leader)
{
    GHashTable *found = g_hash_table_new(g_str_hash, g_str_equal);
    int hosts = 0;
    for (int r = 0; r < ranks; r++) {
        gpointer value;
        if (g_hash_table_lookup_extended(found, host[r], NULL, &value)) {
            number[r] = GPOINTER_TO_INT(value);
            continue;
        }
        g_hash_table_insert(found, host[r], GINT_TO_POINTER(hosts));
        leader[hosts] = r;
        number[r] = hosts++;
    }
    g_hash_table_destroy(found);
    return hosts;
}

/* ---- known links as a list of numbers, for messages ---- */

static GArray *links_of(const dome_network *network)
{
    GArray *links = g_array_new(FALSE, FALSE, sizeof(double));
    for (int a = 0; network && a < network->hosts; a++)
        for (int b = 0; b < a; b++) {
            int i = a * network->hosts + b;
            const double link[LINK_NUMBERS] = {a, b, network->latency[i], network->bandwidth[i], network->crowded[i]};
            if (network->bandwidth[i] > 0)
                g_array_append_vals(links, link, LINK_NUMBERS);
        }
    return links;
}

static void enter_links(dome_network *network, const double *numbers, uint64_t count)
{
    for (const double *link = numbers; link + LINK_NUMBERS <= numbers + count; link += LINK_NUMBERS)
        if (link[0] >= 0 && link[0] < network->hosts && link[1] >= 0 && link[1] < network->hosts)
            dome__network_enter(network, (int)link[0], (int)link[1], link[2], link[3], link[4]);
}

/* All tasks get what task 0 knows. */
static int spread(dome_transport *t, dome_network *network)
{
    GArray *links = links_of(t->group.rank == 0 ? network : NULL);
    uint64_t words[2] = {links->len, (uint64_t)network->measured};
    int status = dome__bcast(t, 0, DOME_U64, words, G_N_ELEMENTS(words));
    if (!status && words[0]) {
        g_array_set_size(links, (guint)words[0]);
        status = dome__bcast(t, 0, DOME_F64, links->data, words[0]);
    }
    if (!status)
        enter_links(network, (double *)(void *)links->data, words[0]);
    network->measured = (int64_t)words[1];
    g_array_unref(links);
    return status;
}

/* ---- measuring ---- */

/* This host's part of a round: it leads an exchange, follows in one, or is left out. */
static bool measure_in_round(dome_exchange *x, dome_network *network, int me, const int *leader, int round, uint64_t begin)
{
    int n = network->hosts, *pair = g_new(int, n + 1), pairs = dome__network_round(n, round, pair), other = -1;
    double latency = 0, bandwidth = 0;
    for (int i = 0; i < 2 * pairs; i++)
        if (pair[i] == me)
            other = pair[i ^ 1];
    g_free(pair);
    if (other < 0)
        return true;
    x->partner = leader[other];
    if (other < me)
        return dome__exchange_follow(x);
    if (dome__since_ns(begin) >= MEASURE_NS)
        return dome__exchange_end(x);
    if (!dome__exchange_alone(x, &latency, &bandwidth))
        return false;
    dome__network_enter(network, me, other, latency, bandwidth, 0);
    return true;
}

/* Task 0 gets what the others have measured. */
static int collect(dome_transport *t, dome_network *network, const int *leader)
{
    int status = DOME_OK;
    if (t->group.rank != 0) {
        GArray *links = links_of(network);
        status = dome__send(t, 0, DOME_CHANNEL_CONTROL, DOME_F64, links->data, links->len);
        g_array_unref(links);
    }
    for (int h = 1; t->group.rank == 0 && h < network->hosts && !status; h++) {
        void *numbers = NULL;
        uint64_t count = 0;
        status = dome__recv_new(t, leader[h], DOME_CHANNEL_CONTROL, DOME_F64, &numbers, &count);
        if (!status)
            enter_links(network, numbers, count);
        g_free(numbers);
    }
    return status;
}

static int measure_all(dome_transport *t, dome_network *network, int me, const int *leader)
{
    int n = network->hosts, rounds = MIN(n - 1 + n % 2, MOST_ROUNDS);
    uint64_t begin = dome__now_ns();
    dome_exchange x = {.transport = t, .effort = &effort};
    bool good = true;
    for (int round = 0; round < rounds && good; round++)
        good = measure_in_round(&x, network, me, leader, round, begin);
    return good ? collect(t, network, leader) : DOME_ERR_COMM;
}

int dome__network_share(dome_transport *transport, char *const *host, dome_network **network)
{
    int *number = g_new(int, transport->group.size), *leader = g_new(int, transport->group.size), status = DOME_OK;
    int hosts = dome__network_hosts(transport->group.size, host, number, leader);
    char **names = g_new0(char *, hosts + 1);
    for (int i = 0; i < hosts; i++)
        names[i] = host[leader[i]];
    dome_network *all = *network ? dome__network_select(*network, hosts, names) : dome__network_new(hosts, names);
    GArray *links = links_of(all);
    uint64_t known = links->len;
    if (hosts > 1)
        status = dome__bcast(transport, 0, DOME_U64, &known, 1);
    if (!status && !known && hosts >= LEAST_HOSTS && leader[number[transport->group.rank]] == transport->group.rank)
        status = measure_all(transport, all, number[transport->group.rank], leader);
    if (!status && (known || hosts >= LEAST_HOSTS))
        status = spread(transport, all);
    bool nothing = status || (!known && hosts < LEAST_HOSTS);
    if (nothing)
        g_clear_pointer(&all, dome__network_free);
    dome__network_free(*network);
    *network = all;
    g_array_unref(links);
    g_free(names);
    g_free(leader);
    g_free(number);
    return status;
}
