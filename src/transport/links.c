/* What is known of the links between tasks, and what follows for collectives: groups of tasks by cluster, and up to which length
 * the patterns for short data are faster. */
#include "transport/collective_private.h"

#include "system/unconst.h"

dome_reach dome__transport_reach(const dome_transport *transport, int a, int b)
{
    return dome__reach(transport->links.host, transport->links.cluster, a, b);
}

/* ---- clusters ---- */

static bool leads(const dome_transport *t, int rank)
{
    return !t->share_bytes || t->leader[rank] == rank;
}

/* Finds the tasks of each cluster: all, or those that lead a host. */
static void find_tasks(const dome_transport *t, const dome_clusters *c, bool leaders, cluster_tasks *found)
{
    int n = 0;
    found->rank = g_new(int, t->size);
    found->first = g_new(int, c->count + 1);
    found->own = (dome_group){.place = -1};
    found->fewest = t->size;
    for (int k = 0; k < c->count; k++) {
        found->first[k] = n;
        for (int r = 0; r < t->size; r++) {
            if (c->number[r] != k || (leaders && !leads(t, r)))
                continue;
            if (r == t->rank)
                found->own.place = n - found->first[k];
            found->rank[n++] = r;
        }
        found->fewest = MIN(found->fewest, n - found->first[k]);
        found->most = MAX(found->most, n - found->first[k]);
    }
    found->first[c->count] = n;
    found->own.rank = found->rank + found->first[c->own];
    found->own.count = found->first[c->own + 1] - found->first[c->own];
}

static void free_clusters(dome_clusters *c)
{
    if (!c)
        return;
    g_free(c->number);
    g_free(c->leaders.rank);
    g_free(c->leaders.first);
    g_free(c->tasks.rank);
    g_free(c->tasks.first);
    g_free(dome__unconst(c->heads.rank));
    g_free(c);
}

/* Numbers the clusters, and finds their heads. Tasks that share memory are in the cluster of the lowest of them. */
static void find_heads(const dome_transport *t, dome_clusters *c)
{
    int *heads = g_new(int, t->size);
    c->number = g_new(int, t->size);
    c->heads.place = -1;
    int runs = 0;
    for (int r = 0; r < t->size; r++) {
        const int given = t->links.cluster[leads(t, r) ? r : t->leader[r]];
        int k = 0;
        while (k < c->count && t->links.cluster[heads[k]] != given)
            k++;
        if (k == c->count)
            heads[c->count++] = r;
        if (heads[k] == t->rank)
            c->heads.place = k;
        c->number[r] = k;
        runs += r == 0 || k != c->number[r - 1];
    }
    c->in_order = runs <= c->count + 1;
    c->own = c->number[t->rank];
    c->heads.rank = heads;
    c->heads.count = c->count;
}

static dome_clusters *find_clusters(const dome_transport *t)
{
    if (!t->links.cluster)
        return NULL;
    dome_clusters *c = g_new0(dome_clusters, 1);
    find_heads(t, c);
    find_tasks(t, c, true, &c->leaders);
    find_tasks(t, c, false, &c->tasks);
    if (c->count > 1 && c->leaders.most > 1)
        return c;
    free_clusters(c);
    return NULL;
}

/* ---- short and long ---- */

/* The pattern for long data takes `extra` seconds more for its additional messages, and saves `saved` seconds for each byte: the
 * length from which on it is faster. */
static uint64_t break_even(double extra, double saved)
{
    if (saved <= 0 || extra / saved >= (double)(UINT64_MAX / 2))
        return UINT64_MAX;
    return MAX((uint64_t)(extra / saved), 1);
}

/* Among n tasks, the trees of short data send each byte rounds_of(n) times; a scatter, or a reduce-scatter, followed by an
 * all-gather 2 (n - 1) / n times. */
static double saved_passes(int n)
{
    return rounds_of(n) - 2.0 * (n - 1) / n;
}

static void choose_among_all(dome_transport *t, int n, dome_reach reach)
{
    const double latency = t->links.latency[reach], byte = 1 / t->links.bandwidth[reach];
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    t->short_bytes[DOME_PATTERN_BCAST] = break_even((n - 1) * latency, saved_passes(n) * byte);
    t->short_bytes[DOME_PATTERN_ALLREDUCE] = break_even(rounds_of(power) * latency, saved_passes(power) * byte);
    /* the trees pass data on, about half of it on the longest way; without them the root takes one message after the other */
    t->short_bytes[DOME_PATTERN_GATHER] = break_even((n - 1 - rounds_of(n)) * latency, 0.5 * byte);
}

/* Lanes carry data in parallel only as far as the links between clusters do not share a medium. */
static void choose_among_clusters(dome_transport *t)
{
    const dome_clusters *c = t->clusters;
    const dome_transport_links *l = &t->links;
    const int n = c->leaders.most, lanes = c->leaders.fewest, far_rounds = rounds_of(c->count);
    const double latency = l->latency[DOME_REACH_CLUSTER], byte = 1 / l->bandwidth[DOME_REACH_CLUSTER];
    const double wide = CLAMP(l->crowded[DOME_REACH_FAR] * lanes / l->bandwidth[DOME_REACH_FAR], 1, lanes);
    const double saved_far = far_rounds * (1 - 1 / wide) / l->bandwidth[DOME_REACH_FAR];
    const int passing = lanes < n ? n - 1 : 0; /* messages between a lane's owner and its other tasks */
    t->short_bytes[DOME_PATTERN_BCAST] = break_even((lanes - 1 + n - 1 + passing) * latency, saved_passes(n) * byte + saved_far);
    t->short_bytes[DOME_PATTERN_ALLREDUCE] =
        break_even((2 * (n - 1 + passing) - 2 * rounds_of(n)) * latency, (saved_passes(n) + rounds_of(n)) * byte + saved_far);
    t->short_bytes[DOME_PATTERN_GATHER] = break_even((t->size - 1 - rounds_of(t->size)) * l->latency[DOME_REACH_FAR], 0.5 * byte);
}

static bool is_known(const dome_transport *t, dome_reach reach)
{
    return t->links.latency[reach] > 0 && t->links.bandwidth[reach] > 0;
}

static void choose_lengths(dome_transport *t)
{
    dome_reach reach = DOME_REACH_HOST;
    for (int r = 1; r < t->size; r++)
        reach = MAX(reach, dome__transport_reach(t, r - 1, r));
    if (reach == DOME_REACH_HOST || !is_known(t, reach))
        return;
    if (!t->clusters)
        choose_among_all(t, t->size, reach);
    else if (is_known(t, DOME_REACH_CLUSTER))
        choose_among_clusters(t);
}

void dome__transport_free_links(dome_transport *t)
{
    g_free(dome__unconst(t->links.host));
    g_free(dome__unconst(t->links.cluster));
    g_clear_pointer(&t->clusters, free_clusters);
    t->links = (dome_transport_links){0};
    memset(t->short_bytes, 0, sizeof t->short_bytes);
}

void dome__transport_set_links(dome_transport *t, const dome_transport_links *links)
{
    const size_t bytes = (size_t)t->size * sizeof(int);
    dome__transport_free_links(t);
    t->links = *links;
    t->links.host = links->host ? g_memdup2(links->host, bytes) : NULL;
    t->links.cluster = links->cluster ? g_memdup2(links->cluster, bytes) : NULL;
    t->clusters = find_clusters(t);
    choose_lengths(t);
}
