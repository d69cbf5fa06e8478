/* Waits for the next event. */
#include "supervision/hub_private.h"

#include <errno.h>
#include <poll.h>

static void add(hub_state *s, int fd, gpointer whose)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    g_array_append_val(s->polls, p);
    if (whose)
        g_ptr_array_add(s->polled, whose);
}

/* Collects the descriptors to poll. Leaves out closed connections and held output: poll refuses more descriptors than the process
 * may have, and a broken connection would wake this process in an endless loop. */
static void gather(hub_state *s, int report_fd)
{
    bool full = s->now < s->full_until;
    g_array_set_size(s->polls, 0);
    g_ptr_array_set_size(s->polled, 0);
    add(s, s->hub->signal_fd, NULL);
    add(s, full ? -1 : s->hub->listen_fd, NULL);
    add(s, full ? -1 : report_fd, NULL);
    add(s, full ? -1 : dome__demand_fd(s->demand), NULL);
    add(s, s->bell, NULL);
    add(s, full ? -1 : s->order_fd, NULL);
    add(s, s->adding.fd, NULL);
    add(s, dome__hub_script_fd(s), NULL);
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        add(s, s->asks[i].fd, NULL);
    for (guint i = 0; i < s->strangers->len; i++)
        add(s, dome__hub_stranger_fd(s->strangers->pdata[i]), s->strangers->pdata[i]);
    s->polled_strangers = s->polled->len;
    for (guint i = 0; i < s->clients->len; i++) {
        hub_client *c = s->clients->pdata[i];
        bool held = !c->closed && dome__hub_holds(s, c);
        if (held)
            s->held_at = s->now;
        if (!c->closed && !held)
            add(s, c->fd, c);
    }
}

void dome__hub_wait(hub_state *s, int report_fd, int ms)
{
    gather(s, report_fd);
    struct pollfd *p = (struct pollfd *)(void *)s->polls->data;
    if (poll(p, s->polls->len, ms) >= 0)
        return;
    /* poll has failed: mark every descriptor readable, since reading does not block. */
    int error = errno;
    for (guint i = 0; i < s->polls->len; i++)
        p[i].revents = error == EINTR ? 0 : POLLIN;
    if (error != EINTR)
        g_usleep(10000);
}

bool dome__hub_happened(const hub_state *s, int which)
{
    const struct pollfd *p = &g_array_index(s->polls, struct pollfd, which);
    return p->fd >= 0 && p->revents;
}
