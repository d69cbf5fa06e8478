#include "transport/relay.h"

#include "transport/message.h"

#include <glib.h>
#include <string.h>

/* The most leaders directly below a leader. */
enum { BELOW = 16 };

struct dome_relay {
    dome_transport *transport;
    int parent; /* -1: none */
    int *children, nchildren;
    int *place, *subtree; /* by rank: its place in an order in which each subtree is contiguous; the tasks of its subtree */

    /* of the current all-gather */
    dome_stamp stamp;
    uint64_t *first; /* by place: numbers of the tasks before; one more entry: of all */
    double *numbers; /* of all tasks, by place */
    bool *heard;     /* by child */
    int missing;     /* children that have not been heard */
    bool passed_up, complete;
    int status; /* a failure is final: what has been received is lost */
};

/* The tasks below one head: its clusters' heads below that of rank 0, a cluster's leaders below its head. */
typedef struct level {
    int *rank, count;
} level;

static int parent_in(level *l, int rank)
{
    int parent = l->count ? l->rank[(l->count - 1) / BELOW] : -1;
    l->rank[l->count++] = rank;
    return parent;
}

/* The lowest rank of a cluster is its head. */
static void join_by_hosts(const dome_transport *t, int *parent)
{
    const int *cluster = t->group.links.cluster;
    int clusters = 0;
    for (int r = 0; r < t->group.size && cluster; r++)
        clusters = MAX(clusters, cluster[r] + 1);
    level heads = {.rank = g_new(int, t->group.size)}, *of = g_new0(level, clusters + 1);
    for (int r = 0; r < t->group.size; r++) {
        level *l = &of[cluster ? cluster[r] : 0];
        if (!l->rank)
            l->rank = g_new(int, t->group.size);
        if (t->group.leader && t->group.leader[r] != r)
            parent[r] = t->group.leader[r];
        else if ((parent[r] = parent_in(l, r)) < 0)
            parent[r] = parent_in(&heads, r);
    }
    for (int c = 0; c <= clusters; c++)
        g_free(of[c].rank);
    g_free(of);
    g_free(heads.rank);
}

/* The ranks first ... end - 1 make a tree below `first`: two trees of half of the others each. */
static void join_halves(int *parent, int first, int end)
{
    int low = first + 1, high = low + (end - low + 1) / 2;
    if (low < end) {
        parent[low] = first;
        join_halves(parent, low, high);
    }
    if (high < end) {
        parent[high] = first;
        join_halves(parent, high, end);
    }
}

int *dome__relay_parents(const dome_transport *t, dome_relay_form form)
{
    int *parent = g_new(int, t->group.size);
    parent[0] = -1;
    if (form == DOME_RELAY_NARROW)
        join_halves(parent, 0, t->group.size);
    else
        join_by_hosts(t, parent);
    return parent;
}

dome_relay *dome__relay_new(dome_transport *t, dome_relay_form form)
{
    if (!(t->provider.can & DOME_TRANSPORT_PROBE))
        return NULL;
    dome_relay *relay = g_new0(dome_relay, 1);
    int *parent = dome__relay_parents(t, form), *next = g_new(int, t->group.size);
    relay->transport = t;
    relay->parent = parent[t->group.rank];
    relay->place = g_new0(int, t->group.size);
    relay->subtree = g_new(int, t->group.size);
    relay->children = g_new(int, t->group.size);
    for (int r = 0; r < t->group.size; r++)
        relay->subtree[r] = 1;
    for (int r = t->group.size; --r > 0;) /* a task's parent has a lower rank */
        relay->subtree[parent[r]] += relay->subtree[r];
    for (int r = 0; r < t->group.size; r++) {
        if (r > 0) {
            relay->place[r] = next[parent[r]];
            next[parent[r]] += relay->subtree[r];
        }
        next[r] = relay->place[r] + 1;
        if (r > 0 && parent[r] == t->group.rank)
            relay->children[relay->nchildren++] = r;
    }
    relay->first = g_new0(uint64_t, t->group.size + 1);
    relay->heard = g_new0(bool, t->group.size);
    relay->complete = true;
    g_free(next);
    g_free(parent);
    return relay;
}

void dome__relay_free(dome_relay *relay)
{
    if (!relay)
        return;
    g_free(relay->children);
    g_free(relay->place);
    g_free(relay->subtree);
    g_free(relay->first);
    g_free(relay->numbers);
    g_free(relay->heard);
    g_free(relay);
}

bool dome__relay_complete(const dome_relay *relay)
{
    return relay->complete;
}

const double *dome__relay_numbers(const dome_relay *relay, int rank)
{
    return relay->numbers + relay->first[relay->place[rank]];
}

/* The numbers of a subtree: where they are, and how many. */
static double *part_of(const dome_relay *relay, int rank, uint64_t *count)
{
    int place = relay->place[rank];
    *count = relay->first[place + relay->subtree[rank]] - relay->first[place];
    return relay->numbers + relay->first[place];
}

/* A message's stamp is that of the relay, not of the operation in which the task happens to send or receive it. */
static int put(const dome_relay *relay, int dest, const double *numbers, uint64_t count)
{
    dome_transport *t = relay->transport;
    dome_stamp now = t->stamp;
    t->stamp = relay->stamp;
    int status = dome__begin_send(t, dest, DOME_CHANNEL_RELAY, DOME_F64, numbers, count);
    t->stamp = now;
    return status;
}

static int take(const dome_relay *relay, int source, double *numbers, uint64_t count)
{
    dome_transport *t = relay->transport;
    dome_stamp now = t->stamp;
    t->stamp = relay->stamp;
    int status = dome__recv(t, source, DOME_CHANNEL_RELAY, DOME_F64, numbers, count);
    t->stamp = now;
    return status;
}

int dome__relay_begin(dome_relay *relay, const double *numbers, const uint64_t *counts)
{
    dome_transport *t = relay->transport;
    for (int i = 0; i < relay->nchildren; i++) /* they may still be reading the numbers before */
        dome__end_send(t, relay->children[i]);
    for (int r = 0; r < t->group.size; r++)
        relay->first[relay->place[r] + 1] = counts[r];
    for (int k = 0; k < t->group.size; k++)
        relay->first[k + 1] += relay->first[k];
    g_free(relay->numbers);
    relay->numbers = g_new(double, relay->first[t->group.size]);
    memcpy(relay->numbers + relay->first[relay->place[t->group.rank]], numbers, counts[t->group.rank] * sizeof *numbers);
    memset(relay->heard, 0, (size_t)relay->nchildren * sizeof *relay->heard);
    relay->missing = relay->nchildren;
    relay->stamp = t->stamp;
    relay->passed_up = relay->complete = false;
    relay->status = DOME_OK;
    return dome__relay_advance(relay, false);
}

static bool arrived(const dome_relay *relay, int source)
{
    return dome__transport_arrived(relay->transport, source, DOME_CHANNEL_RELAY);
}

static int pass_up(dome_relay *relay, bool wait)
{
    int status = DOME_OK;
    uint64_t count;
    for (int i = 0; i < relay->nchildren && status == DOME_OK; i++) {
        int child = relay->children[i];
        if (relay->heard[i] || !(wait || arrived(relay, child)))
            continue;
        double *part = part_of(relay, child, &count);
        status = take(relay, child, part, count);
        relay->heard[i] = true;
        relay->missing--;
    }
    if (status != DOME_OK || relay->missing)
        return status;
    relay->passed_up = true;
    if (relay->parent < 0)
        return status;
    const double *part = part_of(relay, relay->transport->group.rank, &count);
    return put(relay, relay->parent, part, count);
}

static int pass_down(dome_relay *relay, bool wait)
{
    int status = DOME_OK;
    uint64_t count = relay->first[relay->transport->group.size];
    if (relay->parent >= 0) {
        if (!wait && !arrived(relay, relay->parent))
            return status;
        status = take(relay, relay->parent, relay->numbers, count);
    }
    for (int i = 0; i < relay->nchildren && status == DOME_OK; i++)
        status = put(relay, relay->children[i], relay->numbers, count);
    relay->complete = true;
    return status;
}

int dome__relay_advance(dome_relay *relay, bool wait)
{
    if (relay->status == DOME_OK && !relay->passed_up)
        relay->status = pass_up(relay, wait);
    if (relay->status == DOME_OK && relay->passed_up && !relay->complete)
        relay->status = pass_down(relay, wait);
    return relay->status;
}
