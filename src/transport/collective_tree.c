/* Short data in a group of tasks: trees keep the number of successive messages low. */
#include "transport/collective_private.h"

/* Dissemination barrier: after round k each task knows that the 2^(k+1) - 1 tasks before it, around the ring, have arrived. */
int dome__tree_barrier(dome_transport *t, const dome_group *g)
{
    for (int step = 1; step < g->count; step *= 2) {
        int status = put(t, member(g, (g->place + step) % g->count), DOME_U8, NULL, 0);
        if (!status)
            status = take(t, member(g, (g->place + g->count - step) % g->count), DOME_U8, NULL, 0);
        if (status)
            return status;
    }
    return DOME_OK;
}

int dome__tree_bcast(dome_transport *t, const dome_group *g, int root, dome_type type, void *data, uint64_t count)
{
    int size = g->count, relative = (g->place + size - root) % size, status = DOME_OK;
    int bit = 1;
    while (bit < size && !(relative & bit))
        bit *= 2;
    if (relative)
        status = take(t, member(g, (g->place + size - bit) % size), type, data, count);
    for (bit /= 2; bit && !status; bit /= 2)
        if (relative + bit < size)
            status = put(t, member(g, (g->place + bit) % size), type, data, count);
    return status;
}

/* The tree of the broadcast, the other way. */
int dome__tree_reduce(dome_transport *t, const dome_group *g, const dome_combining *c)
{
    void *theirs = NULL;
    int status = DOME_OK;
    for (int bit = 1; bit < g->count && !status; bit *= 2) {
        if (g->place & bit) {
            status = put(t, member(g, g->place - bit), c->type, c->data, c->count);
            break;
        }
        if (g->place + bit >= g->count)
            continue;
        if (!theirs)
            status = dome__collective_room(t, c->type, c->count, &theirs);
        if (!status)
            status = take(t, member(g, g->place + bit), c->type, theirs, c->count);
        if (!status && c->count)
            c->combine(c->data, theirs, c->count, c->ctx);
    }
    g_free(theirs);
    return status;
}

/* Number of elements of n places from `first` on, wrapping around after the last one. */
static uint64_t around(const pieces *p, int first, int n)
{
    int wrapped = first + n - p->size;
    return wrapped <= 0 ? stretch(p, first, first + n) : stretch(p, first, p->size) + stretch(p, 0, wrapped);
}

/* A binomial tree over places relative to the root's. The pieces of a subtree are adjacent around the ring of places. */
int dome__tree_gather(dome_transport *t, const dome_group *g, int root, const void *send, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    int size = g->count, place = g->place, relative = (place + size - root) % size;
    if (size == 1) {
        copy(type, recv, send, piece(p, 0));
        return DOME_OK;
    }
    int bit = 1;
    while (bit < size && !(relative & bit))
        bit *= 2;
    int below = MIN(bit, size - relative); /* number of tasks in this subtree */
    if (below == 1)
        return piece(p, place) ? put(t, member(g, (place + size - bit) % size), type, send, piece(p, place)) : DOME_OK;
    void *parts;
    uint64_t total = around(p, place, below);
    int status = dome__collective_room(t, type, total, &parts);
    if (status)
        return status;
    copy(type, parts, send, piece(p, place));
    for (int child = 1; child < below && !status; child *= 2) {
        uint64_t n = around(p, (place + child) % size, MIN(child, below - child));
        if (n)
            status = take(t, member(g, (place + child) % size), type, at(type, parts, around(p, place, child)), n);
    }
    if (!status && relative && total) {
        status = put(t, member(g, (place + size - bit) % size), type, parts, total);
    } else if (!status && !relative) {
        uint64_t upper = stretch(p, root, size);
        copy(type, at(type, recv, total - upper), parts, upper);
        copy(type, recv, at(type, parts, upper), total - upper);
    }
    g_free(parts);
    return status;
}

/* Bruck's algorithm: each round doubles the run of pieces that a task holds, which begins with its own and continues with those
 * of the following places, around the ring. */
int dome__tree_allgather(dome_transport *t, const dome_group *g, const void *send, const pieces *p, char *recv)
{
    const dome_type type = p->type;
    int size = g->count, place = g->place;
    void *parts;
    uint64_t total = stretch(p, 0, size);
    int status = dome__collective_room(t, type, total, &parts);
    if (status)
        return status;
    copy(type, parts, send, piece(p, place));
    for (int have = 1; have < size && !status; have *= 2) {
        int more = MIN(have, size - have), dest = (place + size - have) % size, source = (place + have) % size;
        const outgoing out = {member(g, dest), parts, around(p, place, more)};
        const incoming in = {member(g, source), at(type, parts, around(p, place, have)), around(p, source, more)};
        status = dome__trade(t, type, out, in);
    }
    if (!status) {
        uint64_t upper = stretch(p, place, size);
        copy(type, at(type, recv, total - upper), parts, upper);
        copy(type, recv, at(type, parts, upper), total - upper);
    }
    g_free(parts);
    return status;
}
