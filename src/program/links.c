#include "program/links.h"

#include "network/discovery.h"
#include "network/network_file.h"
#include "system/say.h"

#include <stdio.h>

dome_network *dome__links_order(char **hosts)
{
    const int n = (int)g_strv_length(hosts);
    char *note = NULL;
    dome_network *network = n > 1 ? dome__network_read(n, hosts, &note) : NULL;
    if (note)
        dome__say("%s", note);
    g_free(note);
    if (!network)
        return NULL;
    int *order = g_new(int, n);
    char **old = g_memdup2(hosts, (gsize)n * sizeof *hosts);
    dome__network_tour(network, order);
    for (int i = 0; i < n; i++)
        hosts[i] = old[order[i]];
    g_free(order);
    g_free(old);
    return network;
}

/* The hosts with tasks, in the order of their lowest ranks. */
static dome_network *select_used(dome_network *network, int hosts, char *const *host, const int *leader)
{
    char **names = g_new0(char *, hosts + 1);
    for (int h = 0; h < hosts; h++)
        names[h] = host[leader[h]];
    dome_network *used = network ? dome__network_select(network, hosts, names) : NULL;
    dome__network_free(network);
    g_free(names);
    return used;
}

/* The slower of two values of which 0 is unknown. */
static double slower(double a, double b, bool is_time)
{
    if (a <= 0 || b <= 0)
        return MAX(a, b);
    return is_time ? MAX(a, b) : MIN(a, b);
}

/* Of links of one reach the slowest count: between two clusters the median of its links. */
static void enter_reach(dome_transport_links *links, const dome_network *network, const int *cluster, int a, int b)
{
    const dome_reach reach = a == b ? DOME_REACH_CLUSTER : DOME_REACH_FAR;
    links->latency[reach] = slower(links->latency[reach], dome__network_median(network, network->latency, cluster, a, b), true);
    links->bandwidth[reach] =
        slower(links->bandwidth[reach], dome__network_median(network, network->bandwidth, cluster, a, b), false);
    links->crowded[reach] = slower(links->crowded[reach], dome__network_median(network, network->crowded, cluster, a, b), false);
}

int dome__links_set(dome_env *env, dome_network *network)
{
    dome_transport *t = env->transport;
    int *host = g_new(int, t->group.size), *leader = g_new(int, t->group.size), *by_host = g_new(int, t->group.size),
        *by_rank = g_new(int, t->group.size);
    const int hosts = dome__network_hosts(t->group.size, env->hosts, host, leader);
    dome_transport_links links = {.host = host};
    network = select_used(network, hosts, env->hosts, leader);
    int status = hosts > 1 ? dome__network_share(t, env->hosts, &network) : DOME_OK;
    if (!status && network) {
        const int clusters = dome__network_clusters(network, by_host);
        for (int r = 0; r < t->group.size; r++)
            by_rank[r] = by_host[host[r]];
        for (int a = 0; a < clusters; a++)
            for (int b = a; b < clusters; b++)
                enter_reach(&links, network, by_host, a, b);
        links.cluster = by_rank;
    }
    if (!status)
        dome__group_set_links(&t->group, &links);
    dome__network_free(network);
    g_free(host);
    g_free(leader);
    g_free(by_host);
    g_free(by_rank);
    return status;
}
