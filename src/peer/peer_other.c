/* What the other files stand on: other tasks, and the moments in which a handler runs. */
#include "peer/peer_private.h"

#include <errno.h>
#include <unistd.h>

void dome__peer_wake(const dome_peer *peer)
{
    while (write(peer->wake[1], "", 1) < 0 && errno == EINTR)
        continue;
}

dome_peer_other *dome__peer_other(dome_peer *peer, int rank)
{
    dome_peer_other **o = &peer->other[rank];
    if (!*o) {
        *o = g_new0(dome_peer_other, 1);
        (*o)->rank = rank;
        (*o)->askers = g_ptr_array_new();
    }
    return *o;
}

dome_peer_other *dome__peer_use(dome_peer *peer, int rank)
{
    dome_peer_other *o = dome__peer_other(peer, rank);
    if (o->state != DOME_PEER_UNUSED || peer->stopping)
        return o;
    o->state = DOME_PEER_REACHING;
    o->again = dome__deadline_in(0);
    o->until = dome__deadline_in(peer->setup.patience);
    g_ptr_array_add(peer->reaching, o);
    dome__peer_wake(peer);
    return o;
}

dome_peer_status dome__peer_fate(const dome_peer *peer, const dome_peer_other *other)
{
    return other->state == DOME_PEER_OVER ? other->why : peer->stopping ? DOME_PEER_STOPPED : DOME_PEER_OK;
}

/* ---- handlers ---- */

void dome__peer_handling(dome_peer *peer)
{
    peer->handling = true;
    pthread_mutex_unlock(&peer->lock);
}

void dome__peer_handled(dome_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    peer->handling = false;
    pthread_cond_broadcast(&peer->changed);
}

void dome__peer_wait_handled(dome_peer *peer)
{
    while (peer->handling && !pthread_equal(pthread_self(), peer->thread))
        pthread_cond_wait(&peer->changed, &peer->lock);
}
