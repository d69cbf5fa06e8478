/* Long data in a group of tasks: each byte is sent as few times as possible. */
#include "transport/collective_private.h"

int dome__long_ring(dome_transport *t, const dome_group *g, int has_all, dome_type type, char *data, const uint64_t *first)
{
    const int size = g->count, place = g->place, after = (place + 1) % size, before = (place + size - 1) % size;
    int status = DOME_OK;
    for (int round = 0; round < size - 1 && !status; round++) {
        const int out = (place + size - round) % size, in = (before + size - round) % size;
        const outgoing to = {member(g, after), at(type, data, first[out]), after == has_all ? 0 : first[out + 1] - first[out]};
        const incoming from = {member(g, before), at(type, data, first[in]), place == has_all ? 0 : first[in + 1] - first[in]};
        status = dome__trade(t, type, to, from);
    }
    return status;
}

int dome__long_at_once(dome_transport *t, const dome_group *g, dome_type type, char *data, const uint64_t *first)
{
    const int size = g->count, place = g->place;
    const uint64_t own = first[place + 1] - first[place];
    int status = DOME_OK;
    for (int i = 1; i < size && own && !status; i++)
        status =
            dome__begin_send(t, member(g, (place + i) % size), DOME_CHANNEL_COLLECTIVE, type, at(type, data, first[place]), own);
    for (int i = 1; i < size && !status; i++) {
        const int source = (place + size - i) % size;
        if (first[source + 1] > first[source])
            status = take(t, member(g, source), type, at(type, data, first[source]), first[source + 1] - first[source]);
    }
    for (int i = 1; i < size && own && !status; i++)
        dome__end_send(t, member(g, (place + i) % size));
    return status;
}

/* Pieces are ordered by place relative to the root's, so that those of a subtree of the scatter are adjacent. */
int dome__long_bcast(dome_transport *t, const dome_group *g, int root, dome_type type, char *data, uint64_t count)
{
    const int size = g->count, relative = (g->place + size - root) % size;
    int status = DOME_OK, bit = 1, *rank = g_new(int, size);
    uint64_t *first = g_new(uint64_t, size + 1);
    for (int i = 0; i <= size; i++)
        first[i] = count / (uint64_t)size * (uint64_t)i + MIN((uint64_t)i, count % (uint64_t)size);
    for (int i = 0; i < size; i++)
        rank[i] = member(g, (root + i) % size);
    while (bit < size && !(relative & bit))
        bit *= 2;
    if (relative)
        status = take(t, rank[relative - bit], type, at(type, data, first[relative]),
                      first[MIN(relative + bit, size)] - first[relative]);
    for (bit /= 2; bit && !status; bit /= 2)
        if (relative + bit < size) {
            const int child = relative + bit;
            status = put(t, rank[child], type, at(type, data, first[child]), first[MIN(child + bit, size)] - first[child]);
        }
    const dome_group around = {.count = size, .place = relative, .rank = rank};
    if (!status)
        status = dome__long_ring(t, &around, 0, type, data, first);
    g_free(rank);
    g_free(first);
    return status;
}

int dome__long_reduce_scatter(dome_transport *t, const dome_group *g, const dome_combining *c, const uint64_t *first)
{
    const int size = g->count, place = g->place;
    const dome_combining own = combining_of(c, first[place], first[place + 1]);
    void *theirs;
    int status = dome__collective_room(t, c->type, own.count, &theirs);
    for (int i = 1; i < size && !status; i++) {
        const int dest = (place + i) % size, source = (place + size - i) % size;
        const outgoing out = {member(g, dest), at(c->type, c->data, first[dest]), first[dest + 1] - first[dest]};
        status = dome__trade(t, c->type, out, (incoming){member(g, source), theirs, own.count});
        if (!status && own.count)
            c->combine(own.data, theirs, own.count, c->ctx);
    }
    g_free(theirs);
    return status;
}
