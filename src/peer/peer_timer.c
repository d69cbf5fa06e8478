#include "peer/peer_private.h"

#include "system/time.h"

#include <sys/timerfd.h>
#include <unistd.h>

/* The clock rings at the first timer's time, at once if it has passed. Without timers it does not. */
static void set_clock(dome_peer *p)
{
    const dome_peer_timer *first = g_queue_peek_head(&p->timers);
    const uint64_t at = first ? MAX(first->at.at, 1) : 0;
    const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)}};
    timerfd_settime(p->clock, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Behind all that are not later, from the end: most timers are as long as those before. */
static void insert(dome_peer *p, dome_peer_timer *timer)
{
    GList *at = p->timers.tail;
    while (at && ((dome_peer_timer *)at->data)->at.at > timer->at.at)
        at = at->prev;
    g_queue_insert_after(&p->timers, at, timer);
}

uint64_t dome__peer_after(dome_peer *peer, double seconds, dome_peer_run run, void *ctx)
{
    dome_peer_timer *timer = g_new(dome_peer_timer, 1);
    *timer = (dome_peer_timer){.at = dome__deadline_in(seconds), .run = run, .ctx = ctx};
    pthread_mutex_lock(&peer->lock);
    const uint64_t id = timer->id = ++peer->asked;
    insert(peer, timer);
    if (peer->timers.head->data == timer)
        set_clock(peer);
    pthread_mutex_unlock(&peer->lock);
    return id;
}

static dome_peer_timer *take_timer(dome_peer *p, uint64_t id)
{
    for (GList *at = p->timers.head; at; at = at->next) {
        dome_peer_timer *timer = at->data;
        if (timer->id != id)
            continue;
        g_queue_delete_link(&p->timers, at);
        return timer;
    }
    return NULL;
}

bool dome__peer_cancel(dome_peer *peer, uint64_t timer)
{
    pthread_mutex_lock(&peer->lock);
    dome_peer_timer *t = take_timer(peer, timer);
    if (!t)
        dome__peer_wait_handled(peer);
    pthread_mutex_unlock(&peer->lock);
    g_free(t);
    return t != NULL;
}

/* The first timer, if its time had come by then. */
static dome_peer_timer *take_due(dome_peer *p, uint64_t now)
{
    const dome_peer_timer *first = g_queue_peek_head(&p->timers);
    return first && first->at.at <= now ? g_queue_pop_head(&p->timers) : NULL;
}

void dome__peer_timers_run(dome_peer *peer)
{
    const uint64_t now = dome__now_ns();
    uint64_t rung;
    if (read(peer->clock, &rung, sizeof rung) < 0)
        return; /* it was set again meanwhile */
    for (dome_peer_timer *t; !peer->stopping && (t = take_due(peer, now));) {
        dome__peer_handling(peer);
        t->run(t->ctx);
        g_free(t);
        dome__peer_handled(peer);
    }
    set_clock(peer);
}
