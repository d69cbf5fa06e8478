#include "network/survey.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* With more hosts not all links are measured. */
enum { ALL_LINKS = 12 };

/* The most rounds that are spent on whether two clusters share a medium, and on all of these questions. */
enum { ROUNDS_EACH = 20, MOST_ROUNDS = 100 };

/* How often links that decide about clusters are measured, and how often others may take their places meanwhile. */
enum { TIMES = 3, CONFIRMATIONS = 4 };

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

/* ---- links that decide ---- */

typedef struct timed {
    double seconds, latency, bandwidth;
} timed;

static int compare_timed(const void *one, const void *other)
{
    return compare_numbers(&((const timed *)one)->seconds, &((const timed *)other)->seconds);
}

/* Measures a link again: the middle one of all its times counts. */
static void repeat(survey *s, int a, int b)
{
    timed t[TIMES] = {{.latency = s->network->latency[a * s->network->hosts + b],
                       .bandwidth = s->network->bandwidth[a * s->network->hosts + b]}};
    for (int i = 1; i < TIMES; i++)
        if (!s->probe->alone(s->probe->ctx, MIN(a, b), MAX(a, b), &t[i].latency, &t[i].bandwidth))
            return;
    for (int i = 0; i < TIMES; i++)
        t[i].seconds = t[i].latency + DOME_NETWORK_MESSAGE / t[i].bandwidth;
    qsort(t, TIMES, sizeof *t, compare_timed);
    dome__network_enter(s->network, a, b, t[TIMES / 2].latency, t[TIMES / 2].bandwidth, 0);
}

/* Other programs on two hosts can make their link look several times slower, or faster: what a switch has held back arrives all
 * at once. The clusters depend on few links (dome__network_joins), which are measured again until all of these have been. */
static void confirm(survey *s)
{
    int n = s->network->hosts, *pair = g_new(int, 2 * n + 2);
    bool *confirmed = g_new0(bool, n *n + 1), more = n > 2;
    for (int i = 0; i < CONFIRMATIONS && more; i++) {
        int count = dome__network_joins(s->network, pair);
        more = false;
        for (int k = 0; k < count; k++) {
            bool *done = &confirmed[MIN(pair[2 * k], pair[2 * k + 1]) * n + MAX(pair[2 * k], pair[2 * k + 1])];
            if (!*done)
                repeat(s, pair[2 * k], pair[2 * k + 1]);
            more |= !*done;
            *done = true;
        }
    }
    g_free(confirmed);
    g_free(pair);
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

/* ---- several links at once ---- */

/* Pairs of hosts, of which the first one sends. */
typedef struct group {
    int *pair, pairs;
    double *bandwidth;
} group;

static group group_new(int hosts)
{
    return (group){.pair = g_new(int, 2 * hosts + 2), .bandwidth = g_new0(double, hosts + 1)};
}

static void group_free(group *g)
{
    g_free(g->pair);
    g_free(g->bandwidth);
}

static void group_add(group *g, int a, int b)
{
    g->pair[2 * g->pairs] = a;
    g->pair[2 * g->pairs++ + 1] = b;
}

/* Leaves out pairs whose links are not known. Between two clusters all pairs send in the same direction: links often carry as
 * much again in the other one. */
static void keep_known(const survey *s, const int *cluster, group *g)
{
    int count = g->pairs;
    g->pairs = 0;
    for (int i = 0; i < count; i++) {
        int a = g->pair[2 * i], b = g->pair[2 * i + 1];
        if (known(s, a, b))
            group_add(g, cluster[a] > cluster[b] ? b : a, cluster[a] > cluster[b] ? a : b);
    }
}

static void measure_group(const survey *s, group *g)
{
    if (g->pairs)
        s->probe->together(s->probe->ctx, g->pairs, g->pair, g->bandwidth);
}

/* Few hosts: all links, in rounds. Many: every other link of the ring, then the rest of them. */
static void fill_round(int hosts, const int *order, int round, group *g)
{
    g->pairs = hosts <= ALL_LINKS ? dome__network_round(hosts, round, g->pair) : 0;
    for (int i = round; hosts > ALL_LINKS && i + 1 < hosts + round; i += 2)
        group_add(g, order[i], order[(i + 1) % hosts]);
}

static void measure_crowded(survey *s, const int *order, const int *cluster)
{
    int n = s->network->hosts, rounds = n <= ALL_LINKS ? n - 1 + n % 2 : 2;
    group g = group_new(n);
    for (int round = 0; round < rounds; round++) {
        fill_round(n, order, round, &g);
        keep_known(s, cluster, &g);
        measure_group(s, &g);
        for (int i = 0; i < g.pairs; i++) {
            int a = g.pair[2 * i], b = g.pair[2 * i + 1];
            s->network->crowded[a * n + b] = s->network->crowded[b * n + a] = g.bandwidth[i];
        }
    }
    group_free(&g);
}

/* ---- whether links are shared ---- */

/* Two clusters; or one, twice. */
typedef struct between {
    const int *order, *cluster; /* the hosts in the order of the ring; the cluster of each host */
    int a, b;
} between;

/* The hosts of a cluster, in the order of the ring; returns their number. */
static int members_of(const survey *s, const between *w, int which, int *member)
{
    int count = 0;
    for (int i = 0; i < s->network->hosts; i++)
        if (w->cluster[w->order[i]] == which)
            member[count++] = w->order[i];
    return count;
}

/* As many pairs between clusters a and b, or within a, as there can be at once; others in each round. Of many hosts those whose
 * links lie on the ring are known. */
static void fill_between(const survey *s, const between *w, int round, group *g)
{
    int n = s->network->hosts, *one = g_new(int, n + 1), *other = g_new(int, n + 1);
    int ones = members_of(s, w, w->a, one), others = members_of(s, w, w->b, other);
    g->pairs = 0;
    if (n > ALL_LINKS) {
        group ring = group_new(n);
        fill_round(n, w->order, round % 2, &ring);
        for (int i = 0; i < ring.pairs; i++) {
            int x = w->cluster[ring.pair[2 * i]], y = w->cluster[ring.pair[2 * i + 1]];
            if (MIN(x, y) == w->a && MAX(x, y) == w->b)
                group_add(g, ring.pair[2 * i], ring.pair[2 * i + 1]);
        }
        group_free(&ring);
    } else if (w->a == w->b) {
        g->pairs = ones > 1 ? dome__network_round(ones, round % (ones - 1 + ones % 2), g->pair) : 0;
        for (int i = 0; i < 2 * g->pairs; i++)
            g->pair[i] = one[g->pair[i]];
    } else {
        for (int i = 0; i < MIN(ones, others); i++)
            group_add(g, one[(i + round) % ones], other[i % others]);
    }
    g_free(other);
    g_free(one);
    keep_known(s, w->cluster, g);
}

/* A round of pairs that may hinder each other and, in turns with it and in the same way, one of them alone: so what other
 * programs do to the hosts meanwhile changes both. The pair's vote is noted. */
static void vote(survey *s, group *g, int round)
{
    int n = s->network->hosts, speaker = round % g->pairs, a = g->pair[2 * speaker], b = g->pair[2 * speaker + 1];
    double alone = 0;
    if (round % 2)
        s->probe->together(s->probe->ctx, 1, g->pair + 2 * speaker, &alone);
    measure_group(s, g);
    if (round % 2 == 0)
        s->probe->together(s->probe->ctx, 1, g->pair + 2 * speaker, &alone);
    double together = g->bandwidth[speaker];
    bool hindered = together < DOME_HINDERED_BELOW * alone;
    if (together > 0 && alone > 0)
        dome__network_enter_rounds(s->network, a, b, s->network->hindered[a * n + b] + hindered,
                                   s->network->free[a * n + b] + !hindered);
}

/* Rounds between clusters a and b until it is decided whether they share a medium, at most so many; returns their number. */
static int measure_sharing(survey *s, const between *w, int most)
{
    group g = group_new(s->network->hosts);
    int round = 0, empty = 0;
    while (round < most && empty < 2) {
        dome_sharing sharing = dome__network_sharing(s->network, w->cluster, w->a, w->b);
        if (sharing == DOME_SHARED || sharing == DOME_SWITCHED)
            break;
        fill_between(s, w, round, &g);
        empty = g.pairs < 2 ? empty + 1 : 0; /* one pair alone hinders nobody */
        if (g.pairs >= 2)
            vote(s, &g, round);
        round++;
    }
    group_free(&g);
    return round;
}

/* ---- all of it ---- */

static void measure_together(survey *s, int *order)
{
    int n = s->network->hosts, *cluster = g_new(int, n), clusters = dome__network_clusters(s->network, cluster),
        left = MOST_ROUNDS;
    if (n <= ALL_LINKS)
        dome__network_tour(s->network, order);
    measure_crowded(s, order, cluster);
    for (int a = 0; a < clusters; a++)
        left -= measure_sharing(s, &(between){order, cluster, a, a}, MIN(left, ROUNDS_EACH));
    for (int a = 0; a < clusters; a++)
        for (int b = a + 1; b < clusters; b++)
            left -= measure_sharing(s, &(between){order, cluster, a, b}, MIN(left, ROUNDS_EACH));
    g_free(cluster);
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
    confirm(&s);
    if (n >= 4) /* fewer hosts make no two pairs */
        measure_together(&s, order);
    g_free(order);
    return s.links;
}
