#include "network/network.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static double *matrix_new(int hosts)
{
    return g_new0(double, (gsize)hosts *(gsize)hosts);
}

dome_network *dome__network_new(int hosts, char *const *names)
{
    dome_network *network = g_new0(dome_network, 1);
    network->hosts = hosts;
    network->names = g_new0(char *, hosts + 1);
    for (int i = 0; i < hosts; i++)
        network->names[i] = g_strdup(names[i]);
    network->latency = matrix_new(hosts);
    network->bandwidth = matrix_new(hosts);
    network->crowded = matrix_new(hosts);
    network->hindered = matrix_new(hosts);
    network->free = matrix_new(hosts);
    return network;
}

void dome__network_free(dome_network *network)
{
    if (!network)
        return;
    g_strfreev(network->names);
    g_free(network->latency);
    g_free(network->bandwidth);
    g_free(network->crowded);
    g_free(network->hindered);
    g_free(network->free);
    g_free(network);
}

static bool matrix_good(const double *matrix, int hosts)
{
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b <= a; b++) {
            double value = matrix[a * hosts + b], mirror = matrix[b * hosts + a];
            if (!isfinite(value) || value < 0 || value < mirror || value > mirror || (a == b && value > 0))
                return false;
        }
    return true;
}

const char *dome__network_wrong(const dome_network *network)
{
    int n = network->hosts;
    for (int a = 0; a < n; a++)
        if (!network->names[a][0] || dome__network_find(network, network->names[a]) != a)
            return "a host has no name, or the name of another one";
    if (!matrix_good(network->latency, n) || !matrix_good(network->bandwidth, n) || !matrix_good(network->crowded, n) ||
        !matrix_good(network->hindered, n) || !matrix_good(network->free, n))
        return "a number is impossible";
    for (int i = 0; i < n * n; i++)
        if ((network->latency[i] > 0) != (network->bandwidth[i] > 0))
            return "a link has a latency without a bandwidth, or the reverse";
    return NULL;
}

int dome__network_find(const dome_network *network, const char *name)
{
    for (int i = 0; i < network->hosts; i++)
        if (strcmp(network->names[i], name) == 0)
            return i;
    return -1;
}

void dome__network_enter(dome_network *network, int a, int b, double latency, double bandwidth, double crowded)
{
    int there = a * network->hosts + b, back = b * network->hosts + a;
    network->latency[there] = network->latency[back] = latency;
    network->bandwidth[there] = network->bandwidth[back] = bandwidth;
    network->crowded[there] = network->crowded[back] = crowded;
}

void dome__network_enter_rounds(dome_network *network, int a, int b, double hindered, double free)
{
    int there = a * network->hosts + b, back = b * network->hosts + a;
    network->hindered[there] = network->hindered[back] = hindered;
    network->free[there] = network->free[back] = free;
}

dome_network *dome__network_select(const dome_network *network, int hosts, char *const *names)
{
    dome_network *chosen = dome__network_new(hosts, names);
    int *from = g_new(int, hosts + 1);
    for (int i = 0; i < hosts; i++)
        from[i] = dome__network_find(network, names[i]);
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < a; b++) {
            int link = from[a] * network->hosts + from[b];
            if (from[a] < 0 || from[b] < 0)
                continue;
            dome__network_enter(chosen, a, b, network->latency[link], network->bandwidth[link], network->crowded[link]);
            dome__network_enter_rounds(chosen, a, b, network->hindered[link], network->free[link]);
        }
    chosen->measured = network->measured;
    g_free(from);
    return chosen;
}

double dome__network_seconds(const dome_network *network, int a, int b, double bytes)
{
    int link = a * network->hosts + b;
    return network->bandwidth[link] > 0 ? network->latency[link] + bytes / network->bandwidth[link] : 0;
}
