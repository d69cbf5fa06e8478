/* The tasks and the links between them, as far as they are known, and the consequences for collectives: groups of tasks by host
 * and by cluster, and up to which length the patterns for short data are faster. */
#include "transport/collective_private.h"

#include "system/unconst.h"

dome_reach dome__group_reach(const dome_transport_group *group, int a, int b)
{
    return dome__reach(group->links.host, group->links.cluster, a, b);
}

void dome__group_set_formats(dome_transport_group *g, const int *formats)
{
    g_free(g->data_format);
    g->data_format = g_memdup2(formats, (gsize)g->size * sizeof *formats);
}

/* ---- hosts ---- */

void dome__group_set_hosts(dome_transport_group *g, int *leader, uint64_t share_bytes)
{
    int *near = g_new(int, 2 * (gsize)g->size), *leaders = near + g->size;
    g->leader = leader;
    g->hosts = near;
    g->near = (dome_group){.rank = near};
    g->leaders = (dome_group){.rank = leaders, .place = -1};
    for (int r = 0; r < g->size; r++) {
        if (r == g->rank)
            g->near.place = g->near.count;
        if (leader[r] == leader[g->rank])
            near[g->near.count++] = r;
        if (leader[r] == r) {
            if (r == g->rank)
                g->leaders.place = g->leaders.count;
            leaders[g->leaders.count++] = r;
        }
    }
    if (g->leaders.count < g->size)
        g->share_bytes = share_bytes;
}

/* ---- clusters ---- */

static bool leads(const dome_transport_group *g, int rank)
{
    return !g->share_bytes || g->leader[rank] == rank;
}

/* Finds the tasks of each cluster: all, or those that lead a host. */
static void find_tasks(const dome_transport_group *g, const dome_clusters *c, bool leaders, cluster_tasks *found)
{
    int n = 0;
    found->rank = g_new(int, g->size);
    found->first = g_new(int, c->count + 1);
    found->own = (dome_group){.place = -1};
    found->fewest = g->size;
    for (int k = 0; k < c->count; k++) {
        found->first[k] = n;
        for (int r = 0; r < g->size; r++) {
            if (c->number[r] != k || (leaders && !leads(g, r)))
                continue;
            if (r == g->rank)
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
static void find_heads(const dome_transport_group *g, dome_clusters *c)
{
    int *heads = g_new(int, g->size);
    c->number = g_new(int, g->size);
    c->heads.place = -1;
    int runs = 0;
    for (int r = 0; r < g->size; r++) {
        const int given = g->links.cluster[leads(g, r) ? r : g->leader[r]];
        int k = 0;
        while (k < c->count && g->links.cluster[heads[k]] != given)
            k++;
        if (k == c->count)
            heads[c->count++] = r;
        if (heads[k] == g->rank)
            c->heads.place = k;
        c->number[r] = k;
        runs += r == 0 || k != c->number[r - 1];
    }
    c->in_order = runs <= c->count + 1;
    c->own = c->number[g->rank];
    c->heads.rank = heads;
    c->heads.count = c->count;
}

static dome_clusters *find_clusters(const dome_transport_group *g)
{
    if (!g->links.cluster)
        return NULL;
    dome_clusters *c = g_new0(dome_clusters, 1);
    find_heads(g, c);
    find_tasks(g, c, true, &c->leaders);
    find_tasks(g, c, false, &c->tasks);
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

static void choose_among_all(dome_transport_group *g, int n, dome_reach reach)
{
    const double latency = g->links.latency[reach], byte = 1 / g->links.bandwidth[reach];
    int power = 1;
    while (power <= n / 2)
        power *= 2;
    g->short_bytes[DOME_PATTERN_BCAST] = break_even((n - 1) * latency, saved_passes(n) * byte);
    g->short_bytes[DOME_PATTERN_ALLREDUCE] = break_even(rounds_of(power) * latency, saved_passes(power) * byte);
    /* the trees pass data on, about half of it on the longest way; without them the root takes one message after the other */
    g->short_bytes[DOME_PATTERN_GATHER] = break_even((n - 1 - rounds_of(n)) * latency, 0.5 * byte);
}

/* Lanes carry data in parallel only as far as the links between clusters do not share a medium. */
static void choose_among_clusters(dome_transport_group *g)
{
    const dome_clusters *c = g->clusters;
    const dome_transport_links *l = &g->links;
    const int n = c->leaders.most, lanes = c->leaders.fewest, far_rounds = rounds_of(c->count);
    const double latency = l->latency[DOME_REACH_CLUSTER], byte = 1 / l->bandwidth[DOME_REACH_CLUSTER];
    const double wide = CLAMP(l->crowded[DOME_REACH_FAR] * lanes / l->bandwidth[DOME_REACH_FAR], 1, lanes);
    const double saved_far = far_rounds * (1 - 1 / wide) / l->bandwidth[DOME_REACH_FAR];
    const int passing = lanes < n ? n - 1 : 0; /* messages between a lane's owner and its other tasks */
    g->short_bytes[DOME_PATTERN_BCAST] = break_even((lanes - 1 + n - 1 + passing) * latency, saved_passes(n) * byte + saved_far);
    g->short_bytes[DOME_PATTERN_ALLREDUCE] =
        break_even((2 * (n - 1 + passing) - 2 * rounds_of(n)) * latency, (saved_passes(n) + rounds_of(n)) * byte + saved_far);
    g->short_bytes[DOME_PATTERN_GATHER] = break_even((g->size - 1 - rounds_of(g->size)) * l->latency[DOME_REACH_FAR], 0.5 * byte);
}

static bool is_known(const dome_transport_group *g, dome_reach reach)
{
    return g->links.latency[reach] > 0 && g->links.bandwidth[reach] > 0;
}

static void choose_lengths(dome_transport_group *g)
{
    dome_reach reach = DOME_REACH_HOST;
    for (int r = 1; r < g->size; r++)
        reach = MAX(reach, dome__group_reach(g, r - 1, r));
    if (reach == DOME_REACH_HOST || !is_known(g, reach))
        return;
    if (!g->clusters)
        choose_among_all(g, g->size, reach);
    else if (is_known(g, DOME_REACH_CLUSTER))
        choose_among_clusters(g);
}

void dome__group_free_links(dome_transport_group *g)
{
    g_free(dome__unconst(g->links.host));
    g_free(dome__unconst(g->links.cluster));
    g_clear_pointer(&g->clusters, free_clusters);
    g->links = (dome_transport_links){0};
    memset(g->short_bytes, 0, sizeof g->short_bytes);
}

void dome__group_set_links(dome_transport_group *g, const dome_transport_links *links)
{
    const size_t bytes = (size_t)g->size * sizeof(int);
    dome__group_free_links(g);
    g->links = *links;
    g->links.host = links->host ? g_memdup2(links->host, bytes) : NULL;
    g->links.cluster = links->cluster ? g_memdup2(links->cluster, bytes) : NULL;
    g->clusters = find_clusters(g);
    choose_lengths(g);
}

void dome__group_clear(dome_transport_group *g)
{
    dome__group_free_links(g);
    g_clear_pointer(&g->data_format, g_free);
    g_clear_pointer(&g->hosts, g_free);
    g_free(dome__unconst(g->leader));
    g->leader = NULL;
}
