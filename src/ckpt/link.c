#include "ckpt/link.h"

#include <string.h>

typedef struct road {
    dome_peer *peer;
    dome_peer_tag tag;
    int *ranks; /* NULL: the program's */
    bool altered;
} road;

static int rank_of(const road *r, int rank)
{
    return r->ranks ? r->ranks[rank] : rank;
}

/* True if all is well, otherwise *message says what is not. */
static bool result(road *r, int rank, dome_peer_status status, char **message)
{
    switch (status) {
    case DOME_PEER_OK:
        return true;
    case DOME_PEER_ALTERED:
        r->altered = true;
        return dome__ckpt_refuse(message, "a message of task %d was altered on the way, and the connection to it is closed",
                                 rank);
    case DOME_PEER_UNREACHABLE:
        return dome__ckpt_refuse(message, "the connections for checkpoints cannot be made: reaching task %d: %s", rank,
                                 strerror(dome__peer_error(r->peer, rank)));
    case DOME_PEER_NO_MEMORY:
        return dome__ckpt_refuse(message, "no memory for what task %d has to say", rank);
    default:
        return dome__ckpt_refuse(message, "task %d is gone", rank);
    }
}

static bool link_send(void *ctx, int to, const void *data, uint64_t bytes, char **message)
{
    road *r = ctx;
    const int rank = rank_of(r, to);
    return result(r, rank, dome__peer_send(r->peer, rank, r->tag, data, bytes), message);
}

static bool link_receive(void *ctx, int from, void **data, uint64_t *bytes, char **message)
{
    road *r = ctx;
    const int rank = rank_of(r, from);
    *data = NULL;
    return result(r, rank, dome__peer_receive(r->peer, rank, r->tag, data, bytes), message);
}

static bool link_altered(const void *ctx)
{
    return ((const road *)ctx)->altered;
}

void dome__ckpt_link_open(dome_ckpt_link *link, dome_peer *peer, dome_peer_tag tag, int rank, int size, int *ranks)
{
    road *r = g_new(road, 1);
    *r = (road){peer, tag, ranks, false};
    *link = (dome_ckpt_link){rank, size, r, link_send, link_receive, link_altered};
}

bool dome__ckpt_link_reach(const dome_ckpt_link *link, int to, char **message)
{
    road *r = link->ctx;
    const int rank = rank_of(r, to);
    return result(r, rank, dome__peer_reach(r->peer, rank), message);
}

void dome__ckpt_link_close(dome_ckpt_link *link)
{
    road *r = g_steal_pointer(&link->ctx);
    if (r)
        g_free(r->ranks);
    g_free(r);
}
