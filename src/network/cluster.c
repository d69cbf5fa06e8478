/* Which hosts are close to each other. */
#include "network/network.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

/* The least ratio between links within clusters and those between them. */
#define STEP 2.0

typedef struct join {
    double seconds;
    int a, b;
} join;

static int compare_joins(const void *one, const void *other)
{
    const join *x = one, *y = other;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int compare_numbers(const void *one, const void *other)
{
    double x = *(const double *)one, y = *(const double *)other;
    return (x > y) - (x < y);
}

/* The known links of a spanning forest of least total time, sorted by time (Prim); returns their number. */
static int find_joins(const dome_network *network, join *joins)
{
    int n = network->hosts, count = 0;
    double *best = g_new(double, n);
    int *from = g_new0(int, n);
    bool *joined = g_new0(bool, n);
    for (int i = 0; i < n; i++)
        best[i] = INFINITY;
    for (int step = 0; step < n; step++) {
        int next = -1;
        for (int i = 0; i < n; i++)
            if (!joined[i] && (next < 0 || best[i] < best[next]))
                next = i;
        joined[next] = true;
        if (isfinite(best[next]))
            joins[count++] = (join){best[next], from[next], next};
        for (int i = 0; i < n; i++) {
            double seconds = dome__network_seconds(network, next, i, DOME_NETWORK_MESSAGE);
            if (!joined[i] && seconds > 0 && seconds < best[i]) {
                best[i] = seconds;
                from[i] = next;
            }
        }
    }
    g_free(joined);
    g_free(from);
    g_free(best);
    qsort(joins, (size_t)count, sizeof *joins, compare_joins);
    return count;
}

/* How many of the sorted links lie within clusters. */
static int find_cut(const join *joins, int count)
{
    int cut = count;
    double largest = STEP;
    for (int k = 1; k < count; k++) {
        double ratio = joins[k].seconds / joins[k - 1].seconds;
        if (ratio >= largest && (cut == count || ratio > largest)) {
            largest = ratio;
            cut = k;
        }
    }
    return cut;
}

static int root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

int dome__network_clusters(const dome_network *network, int *cluster)
{
    int n = network->hosts, clusters = 0;
    join *joins = g_new(join, n + 1);
    int *parent = g_new(int, n + 1), *number = g_new(int, n + 1);
    int count = find_joins(network, joins), within = find_cut(joins, count);
    for (int i = 0; i < n; i++) {
        parent[i] = count ? i : 0;
        number[i] = -1;
    }
    for (int k = 0; k < within; k++)
        parent[root(parent, joins[k].a)] = root(parent, joins[k].b);
    for (int i = 0; i < n; i++) {
        int r = root(parent, i);
        if (number[r] < 0)
            number[r] = clusters++;
        cluster[i] = number[r];
    }
    g_free(number);
    g_free(parent);
    g_free(joins);
    return clusters;
}

int dome__network_joins(const dome_network *network, int *pair)
{
    join *joins = g_new(join, network->hosts + 1);
    int count = find_joins(network, joins);
    for (int k = 0; k < count; k++) {
        pair[2 * k] = joins[k].a;
        pair[2 * k + 1] = joins[k].b;
    }
    g_free(joins);
    return count;
}

/* ---- medians ---- */

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_numbers);
    return count ? (values[count / 2] + values[(count - 1) / 2]) / 2 : 0;
}

double dome__network_median(const dome_network *network, const double *matrix, const int *cluster, int a, int b)
{
    int n = network->hosts, count = 0;
    double *values = g_new(double, (gsize)n *(gsize)n + 1);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (cluster[i] == a && cluster[k] == b && matrix[i * n + k] > 0)
                values[count++] = matrix[i * n + k];
    double middle = median(values, count);
    g_free(values);
    return middle;
}

/* The median of all links within clusters, or of all between them. */
static double median_of_kind(const dome_network *network, const double *matrix, const int *cluster, bool within)
{
    int n = network->hosts, count = 0;
    double *values = g_new(double, (gsize)n *(gsize)n + 1);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if ((cluster[i] == cluster[k]) == within && matrix[i * n + k] > 0)
                values[count++] = matrix[i * n + k];
    double middle = median(values, count);
    g_free(values);
    return middle;
}

static void fill_matrix(const dome_network *network, const double *known, const int *cluster, int clusters, double *filled)
{
    int n = network->hosts;
    double kind[] = {median_of_kind(network, known, cluster, false), median_of_kind(network, known, cluster, true)};
    double *middle = g_new(double, clusters *clusters + 1);
    bool *joined = g_new0(bool, n + 1);
    for (int a = 0; a < clusters; a++)
        for (int b = 0; b < clusters; b++)
            middle[a * clusters + b] = dome__network_median(network, known, cluster, a, b);
    for (int i = 0; i < n * n; i++)
        joined[i / n] |= known[i] > 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double own = middle[cluster[i] * clusters + cluster[k]];
            if (i != k && joined[i] && joined[k] && !(known[i * n + k] > 0))
                filled[i * n + k] = own > 0 ? own : kind[cluster[i] == cluster[k]];
        }
    g_free(joined);
    g_free(middle);
}

void dome__network_fill(dome_network *network)
{
    int n = network->hosts, *cluster = g_new(int, n + 1), clusters = dome__network_clusters(network, cluster);
    gsize bytes = (gsize)n * (gsize)n * sizeof(double);
    double *latency = g_memdup2(network->latency, bytes), *bandwidth = g_memdup2(network->bandwidth, bytes);
    fill_matrix(network, network->latency, cluster, clusters, latency);
    fill_matrix(network, network->bandwidth, cluster, clusters, bandwidth);
    g_free(network->latency);
    g_free(network->bandwidth);
    network->latency = latency;
    network->bandwidth = bandwidth;
    g_free(cluster);
}

dome_sharing_votes dome__network_votes(const dome_network *network, const int *cluster, int a, int b)
{
    dome_sharing_votes votes = {0};
    for (int i = 0; i < network->hosts; i++)
        for (int k = 0; k < i; k++) {
            int link = i * network->hosts + k;
            if ((cluster[i] == a && cluster[k] == b) || (cluster[i] == b && cluster[k] == a)) {
                votes.hindered += network->hindered[link];
                votes.free += network->free[link];
            }
        }
    return votes;
}

dome_sharing dome__network_sharing(const dome_network *network, const int *cluster, int a, int b)
{
    dome_sharing_votes votes = dome__network_votes(network, cluster, a, b);
    double all = votes.hindered + votes.free, most = MAX(votes.hindered, votes.free);
    if (2 * most - all < DOME_SHARING_LEAD || most < DOME_SHARING_PART * all)
        return all > 0 ? DOME_SHARING_UNDECIDED : DOME_SHARING_UNKNOWN;
    return votes.hindered > votes.free ? DOME_SHARED : DOME_SWITCHED;
}
