/* The ring of least communication time through all hosts. */
#include "network/network.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum {
    EXACT = 10,       /* hosts for which all rings are compared */
    STARTS = 32,      /* hosts from which nearest neighbours begin: */
    MANY = 128,       /* with more hosts fewer, since each start takes the square of their number */
    LONGEST_PART = 3, /* hosts that Or-opt moves together */
    MOST_ROUNDS = 200 /* of improving; each makes the ring shorter, so this is never reached by rings of some hundred hosts */
};

/* An improvement by less is rounding. */
#define LEAST_GAIN 1e-12

typedef struct tour {
    int n;
    double *cost; /* n x n */
    int *order;
} tour;

static double cost(const tour *t, int a, int b)
{
    return t->cost[a * t->n + b];
}

static double *costs_of(const dome_network *network)
{
    int n = network->hosts;
    double *costs = g_new0(double, (gsize)n *(gsize)n + 1), slowest = 0;
    for (int i = 0; i < n * n; i++) {
        costs[i] = dome__network_seconds(network, i / n, i % n, DOME_NETWORK_MESSAGE);
        slowest = MAX(slowest, costs[i]);
    }
    for (int i = 0; i < n * n; i++)
        if (i / n != i % n && !(costs[i] > 0))
            costs[i] = slowest > 0 ? slowest : 1;
    return costs;
}

static double length_of(const tour *t, const int *order)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++)
        sum += cost(t, order[i], order[(i + 1) % t->n]);
    return sum;
}

double dome__network_tour_seconds(const dome_network *network, const int *order)
{
    tour t = {.n = network->hosts, .cost = costs_of(network)};
    double sum = t.n > 1 ? length_of(&t, order) : 0;
    g_free(t.cost);
    return sum;
}

/* Held and Karp: least[set, last] is the time of the best path from host 0 through the hosts of the set to `last`. Host i + 1 is
 * bit i. */
static void find_exact(tour *t)
{
    int m = t->n - 1, sets = 1 << m;
    double *least = g_new(double, (gsize)sets *(gsize)m);
    int *before = g_new0(int, (gsize)sets *(gsize)m);
    for (int set = 1; set < sets; set++)
        for (int last = 0; last < m; last++) {
            double *best = &least[set * m + last];
            int rest = set & ~(1 << last);
            *best = rest ? INFINITY : cost(t, 0, last + 1);
            if (!(set & (1 << last)))
                *best = INFINITY;
            for (int from = 0; from < m && set & (1 << last); from++)
                if (rest & (1 << from) && least[rest * m + from] + cost(t, from + 1, last + 1) < *best) {
                    *best = least[rest * m + from] + cost(t, from + 1, last + 1);
                    before[set * m + last] = from;
                }
        }
    int last = 0;
    for (int i = 1; i < m; i++)
        if (least[(sets - 1) * m + i] + cost(t, i + 1, 0) < least[(sets - 1) * m + last] + cost(t, last + 1, 0))
            last = i;
    t->order[0] = 0;
    for (int set = sets - 1, place = m; place > 0; place--) {
        int from = before[set * m + last];
        t->order[place] = last + 1;
        set &= ~(1 << last);
        last = from;
    }
    g_free(before);
    g_free(least);
}

static void nearest_neighbours(const tour *t, int start, int *order)
{
    bool *used = g_new0(bool, t->n);
    order[0] = start;
    used[start] = true;
    for (int place = 1; place < t->n; place++) {
        int next = -1;
        for (int i = 0; i < t->n; i++)
            if (!used[i] && (next < 0 || cost(t, order[place - 1], i) < cost(t, order[place - 1], next)))
                next = i;
        order[place] = next;
        used[next] = true;
    }
    g_free(used);
}

static void reverse(int *order, int first, int last)
{
    for (; first < last; first++, last--) {
        int host = order[first];
        order[first] = order[last];
        order[last] = host;
    }
}

/* 2-opt: replaces two links by two others, which reverses the part between them. */
static bool improve_by_reversal(const tour *t, int *order)
{
    bool better = false;
    for (int i = 0; i < t->n - 1; i++)
        for (int k = i + 1; k < t->n; k++) {
            int a = order[i], b = order[i + 1], c = order[k], d = order[(k + 1) % t->n];
            if (a != d && cost(t, a, c) + cost(t, b, d) < cost(t, a, b) + cost(t, c, d) - LEAST_GAIN) {
                reverse(order, i + 1, k);
                better = true;
            }
        }
    return better;
}

/* Moves the part that begins at place 1 to between two other hosts, either way round, if the ring gets shorter. */
static bool move_part(const tour *t, int *order, int length)
{
    int n = t->n, first = order[1], last = order[length], before = order[0], after = order[(length + 1) % n];
    double freed = cost(t, before, first) + cost(t, last, after) - cost(t, before, after);
    for (int place = length + 1; place < n; place++) {
        int a = order[place], b = order[(place + 1) % n];
        double ahead = cost(t, a, first) + cost(t, last, b), turned = cost(t, a, last) + cost(t, first, b);
        if (MIN(ahead, turned) - cost(t, a, b) >= freed - LEAST_GAIN)
            continue;
        /* the part and the hosts after it change places: three reversals */
        reverse(order, 1, length);
        reverse(order, length + 1, place);
        reverse(order, 1, place);
        if (turned < ahead)
            reverse(order, place - length + 1, place);
        return true;
    }
    return false;
}

static void rotate(int *order, int n)
{
    int first = order[0];
    memmove(order, order + 1, (size_t)(n - 1) * sizeof *order);
    order[n - 1] = first;
}

/* Or-opt. */
static bool improve_by_moving(const tour *t, int *order)
{
    bool better = false;
    for (int length = 1; length <= LONGEST_PART && length < t->n - 2; length++)
        for (int k = 0; k < t->n; k++) {
            better |= move_part(t, order, length);
            rotate(order, t->n);
        }
    return better;
}

static void find_good(tour *t)
{
    int *order = g_new(int, t->n), starts = MIN(t->n, STARTS);
    if (t->n > MANY)
        starts = MAX(STARTS * MANY / t->n * MANY / t->n, 1);
    double least = INFINITY;
    for (int s = 0; s < starts; s++) {
        nearest_neighbours(t, (int)((gint64)s * t->n / starts), order);
        bool better = true;
        for (int round = 0; round < MOST_ROUNDS && better; round++) {
            better = improve_by_reversal(t, order);
            better |= improve_by_moving(t, order);
        }
        double length = length_of(t, order);
        if (length < least - LEAST_GAIN) {
            least = length;
            memcpy(t->order, order, (size_t)t->n * sizeof *order);
        }
    }
    g_free(order);
    while (t->order[0] != 0)
        rotate(t->order, t->n);
}

double dome__network_tour(const dome_network *network, int *order)
{
    tour t = {.n = network->hosts, .cost = costs_of(network), .order = order};
    if (t.n <= 3)
        for (int i = 0; i < t.n; i++)
            order[i] = i;
    else if (t.n <= EXACT)
        find_exact(&t);
    else
        find_good(&t);
    double sum = t.n > 1 ? length_of(&t, order) : 0;
    g_free(t.cost);
    return sum;
}
