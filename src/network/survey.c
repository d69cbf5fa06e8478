#include "network/survey.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* With more hosts not all links are measured. */
enum { ALL_LINKS = 12 };

/* A host is far from the landmarks if its best link to one takes longer than the median of such links by this factor. */
#define FAR 2.0

typedef struct survey {
    dome_network *network;
    const dome_probe *probe;
    int links; /* measured alone so far */
} survey;

static bool known(const survey *s, int a, int b)
{
    return s->network->bandwidth[a * s->network->hosts + b] > 0;
}

static void measure(survey *s, int a, int b)
{
    double latency, bandwidth;
    if (a == b || known(s, a, b) || !s->probe->alone(s->probe->ctx, MIN(a, b), MAX(a, b), &latency, &bandwidth))
        return;
    dome__network_enter(s->network, a, b, latency, bandwidth, 0);
    s->links++;
}

static void measure_all(survey *s)
{
    for (int a = 0; a < s->network->hosts; a++)
        for (int b = 0; b < a; b++)
            measure(s, a, b);
}

static int compare_numbers(const void *one, const void *other)
{
    double x = *(const double *)one, y = *(const double *)other;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double *sorted = g_memdup2(values, (gsize)count * sizeof *values), middle;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    middle = sorted[count / 2];
    g_free(sorted);
    return middle;
}

/* ceil(log2(n)) */
static int logarithm(int n)
{
    return (int)g_bit_storage((gulong)(n - 1));
}

static void measure_from_landmarks(survey *s)
{
    int n = s->network->hosts, least = logarithm(n), next = 0;
    double *nearest = g_new(double, n); /* of each host to a landmark; 0: it is one */
    for (int i = 0; i < n; i++)
        nearest[i] = INFINITY;
    for (int landmarks = 0; landmarks < 2 * least; landmarks++) {
        if (landmarks >= least && nearest[next] < FAR * median(nearest, n))
            break;
        nearest[next] = 0;
        for (int i = 0; i < n; i++) {
            measure(s, next, i);
            if (known(s, next, i))
                nearest[i] = MIN(nearest[i], dome__network_seconds(s->network, next, i, DOME_NETWORK_MESSAGE));
        }
        for (int i = 0; i < n; i++)
            if (nearest[i] > nearest[next])
                next = i;
    }
    g_free(nearest);
}

static void measure_ring(survey *s, int *order)
{
    int n = s->network->hosts;
    dome_network *whole = dome__network_select(s->network, n, s->network->names);
    dome__network_fill(whole);
    dome__network_tour(whole, order);
    for (int i = 0; i < n; i++)
        measure(s, order[i], order[(i + 1) % n]);
    dome__network_free(whole);
}

int dome__network_round(int hosts, int round, int *pair)
{
    int places = hosts + hosts % 2, others = places - 1, pairs = 0;
    for (int i = 0; i < places / 2; i++) {
        /* the last place stays, the others rotate round it */
        int a = i == 0 ? others : (round + i) % others, b = (round + others - i) % others;
        if (a >= hosts || b >= hosts)
            continue;
        pair[2 * pairs] = MIN(a, b);
        pair[2 * pairs++ + 1] = MAX(a, b);
    }
    return pairs;
}

/* Measures at once those of the pairs whose links are known. Between two clusters all pairs send in the same direction: links
 * often carry as much again in the other one. */
static void measure_at_once(survey *s, const int *cluster, int *pair, int pairs)
{
    int n = s->network->hosts, kept = 0;
    double *bandwidth = g_new0(double, n + 1);
    for (int i = 0; i < pairs; i++) {
        int a = pair[2 * i], b = pair[2 * i + 1];
        if (!known(s, a, b))
            continue;
        bool turn = cluster[a] > cluster[b];
        pair[2 * kept] = turn ? b : a;
        pair[2 * kept++ + 1] = turn ? a : b;
    }
    if (kept)
        s->probe->together(s->probe->ctx, kept, pair, bandwidth);
    for (int i = 0; i < kept; i++) {
        int a = pair[2 * i], b = pair[2 * i + 1];
        s->network->crowded[a * n + b] = s->network->crowded[b * n + a] = bandwidth[i];
    }
    g_free(bandwidth);
}

/* Few hosts: all links in rounds. Many: every other link of the ring, then the rest of them. */
static void measure_together(survey *s, const int *order)
{
    int n = s->network->hosts, rounds = n <= ALL_LINKS ? n - 1 + n % 2 : 2, *pair = g_new(int, n + 2), *cluster = g_new(int, n);
    dome__network_clusters(s->network, cluster);
    for (int round = 0; round < rounds; round++) {
        int pairs = 0;
        if (n <= ALL_LINKS)
            pairs = dome__network_round(n, round, pair);
        for (int i = round; n > ALL_LINKS && i + 1 < n + round; i += 2) {
            pair[2 * pairs] = order[i];
            pair[2 * pairs++ + 1] = order[(i + 1) % n];
        }
        measure_at_once(s, cluster, pair, pairs);
    }
    g_free(cluster);
    g_free(pair);
}

int dome__network_survey(dome_network *network, const dome_probe *probe)
{
    survey s = {.network = network, .probe = probe};
    int n = network->hosts, *order = g_new0(int, n + 1);
    if (n > ALL_LINKS) {
        measure_from_landmarks(&s);
        measure_ring(&s, order);
    } else {
        measure_all(&s);
    }
    if (n >= 4) /* fewer hosts make no two pairs */
        measure_together(&s, order);
    g_free(order);
    return s.links;
}
