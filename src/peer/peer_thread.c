#include "peer/peer_private.h"

#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 64 };

/* Between two looks at what is not an event, ms. */
enum { LOOK = 20 };

/* How long the end of this side waits for the others to read what was sent, s. */
enum { LINGER = 1 };

static int timeout(const dome_peer *p)
{
    const bool looks = p->reaching->len || p->pending->len || p->deaf || p->stopping;
    return looks ? LOOK : -1;
}

static void bury(dome_peer *p)
{
    g_ptr_array_set_size(p->dead, 0);
}

static void take_events(dome_peer *p, const struct epoll_event *events, int n)
{
    for (int k = 0; k < n; k++)
        dome__peer_end_event(p, events[k].data.ptr, events[k].events);
}

/* ---- the end ---- */

static void stop_listening(dome_peer *p)
{
    for (size_t k = 0; k < G_N_ELEMENTS(p->own); k++)
        if (p->own[k] && p->own[k]->role == DOME_PEER_LISTENS)
            dome__peer_end_close(p, g_steal_pointer(&p->own[k]));
    while (p->pending->len)
        dome__peer_end_close(p, p->pending->pdata[p->pending->len - 1]);
    while (p->reaching->len)
        dome__peer_over(p, p->reaching->pdata[0], DOME_PEER_STOPPED, 0);
    p->closed = true;
    p->stop_until = dome__deadline_in(LINGER);
}

/* Whether nothing is left to do: the others have read what was sent, and have closed their ends, too. Otherwise bytes on their
 * way to them could be lost with this end. */
static bool is_drained(dome_peer *p)
{
    bool drained = true;
    for (int r = 0; r < p->setup.size; r++) {
        dome_peer_other *o = p->other[r];
        if (!o || o->state != DOME_PEER_OPEN)
            continue;
        drained = false;
        if (!o->shut && g_queue_is_empty(&o->out)) {
            o->shut = true;
            shutdown(o->end->fd, SHUT_WR);
        }
    }
    return drained || dome__deadline_passed(p->stop_until);
}

static bool is_stopped(dome_peer *p)
{
    if (!p->stopping)
        return false;
    if (!p->closed)
        stop_listening(p);
    return is_drained(p);
}

/* Questions that have no reply by now end without one. */
static void end_questions(dome_peer *p)
{
    for (int r = 0; r < p->setup.size; r++)
        if (p->other[r])
            dome__peer_questions_end(p, p->other[r], DOME_PEER_STOPPED);
    dome__peer_questions_tell(p);
}

void *dome__peer_serve(void *peer)
{
    dome_peer *p = peer;
    struct epoll_event events[EVENTS];
    pthread_mutex_lock(&p->lock);
    while (!is_stopped(p)) {
        const int wait = timeout(p);
        pthread_mutex_unlock(&p->lock);
        const int n = epoll_wait(p->set, events, EVENTS, wait);
        pthread_mutex_lock(&p->lock);
        take_events(p, events, n);
        dome__peer_look(p);
        dome__peer_questions_tell(p);
        bury(p);
    }
    end_questions(p);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}
