/* Waits for the next event. */
#include "hub/hub_private.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

bool dome__hub_poll_open(hub_state *s)
{
    hub_poll *w = &s->machine->poll;
    bool good = true;
    for (int k = 0; k < DOME_HUB_SETS; k++) {
        w->sets[k] = (hub_set){.fd = epoll_create1(EPOLL_CLOEXEC)};
        good &= w->sets[k].fd >= 0;
    }
    w->polls = g_array_new(FALSE, TRUE, sizeof(struct pollfd));
    w->polled = g_ptr_array_new();
    w->ready = g_ptr_array_new();
    w->events = g_array_new(FALSE, FALSE, sizeof(struct epoll_event));
    return good;
}

void dome__hub_poll_close(hub_state *s)
{
    hub_poll *w = &s->machine->poll;
    for (int k = 0; k < DOME_HUB_SETS; k++)
        if (w->sets[k].fd >= 0)
            close(w->sets[k].fd);
    g_array_free(w->polls, TRUE);
    g_ptr_array_free(w->polled, TRUE);
    g_ptr_array_free(w->ready, TRUE);
    g_array_free(w->events, TRUE);
}

static void add(hub_state *s, int fd)
{
    hub_poll *w = &s->machine->poll;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    g_array_append_val(w->polls, p);
}

/* A set whose output is held is left out. */
static void add_set(hub_state *s, int which, int stream)
{
    const hub_set *set = &s->machine->poll.sets[which];
    const bool held = stream >= 0 && set->members && dome__hub_holds_stream(s, stream);
    if (held)
        dome__hub_output_held(s);
    add(s, held || !set->members ? -1 : set->fd);
}

static void add_rank0(hub_state *s)
{
    const int fd = dome__hub_once_fd(s);
    const bool held = fd >= 0 && dome__hub_holds_stream(s, STDOUT_FILENO);
    if (held)
        dome__hub_output_held(s);
    add(s, held ? -1 : fd);
}

/* Collects the descriptors to poll. */
static void gather(hub_state *s, int report_fd)
{
    hub_poll *w = &s->machine->poll;
    const GPtrArray *pending = s->machine->pending.list;
    bool full = s->now < s->machine->pending.full_until;
    g_array_set_size(w->polls, 0);
    g_ptr_array_set_size(w->polled, 0);
    add(s, s->hub->signal_fd);
    add(s, full ? -1 : s->hub->listen_fd);
    add(s, full ? -1 : report_fd);
    add(s, full ? -1 : dome__demand_fd(s->record.demand));
    add(s, s->output.bell);
    add(s, full ? -1 : s->orders.listen_fd);
    add(s, s->orders.adding.fd);
    add(s, s->standby.over ? -1 : s->standby.fd);
    add(s, s->orders.script_fd);
    add_rank0(s);
    add_set(s, DOME_HUB_TALK, -1);
    add_set(s, DOME_HUB_OUT, STDOUT_FILENO);
    add_set(s, DOME_HUB_ERROR, STDERR_FILENO);
    for (int i = 0; i < DOME_HUB_ASKS; i++)
        add(s, s->orders.asks[i].waits ? -1 : s->orders.asks[i].fd);
    for (guint i = 0; i < pending->len; i++) {
        add(s, dome__hub_pending_fd(pending->pdata[i]));
        g_ptr_array_add(w->polled, pending->pdata[i]);
    }
}

/* Notes the connections of a set on which there is something to read. */
static void collect(hub_poll *w, int which)
{
    const int most = (int)w->sets[which].members;
    g_array_set_size(w->events, (guint)most);
    struct epoll_event *events = (struct epoll_event *)(void *)w->events->data;
    const int n = epoll_wait(w->sets[which].fd, events, most, 0);
    for (int i = 0; i < n; i++)
        g_ptr_array_add(w->ready, events[i].data.ptr);
}

/* With many connections this process waits a little, so that each turn has several events, but never longer than LONGEST. */
static const double PER_CONNECTION = 5e-6, LONGEST = 5e-3;
enum { MANY = 100 };

static void rest(hub_state *s)
{
    const double pause = MIN(s->clients->len * PER_CONNECTION, LONGEST),
                 left = s->machine->poll.turned_at + pause - dome__hub_now();
    if (s->clients->len >= MANY && left > 0)
        g_usleep((gulong)(MIN(left, LONGEST) * 1e6));
}

void dome__hub_wait(hub_state *s, int report_fd, int ms)
{
    hub_poll *w = &s->machine->poll;
    rest(s);
    gather(s, report_fd);
    struct pollfd *p = (struct pollfd *)(void *)w->polls->data;
    const int n = poll(p, w->polls->len, ms), error = errno;
    w->turned_at = dome__hub_now();
    if (n < 0) { /* marks every descriptor readable, since reading does not block */
        for (guint i = 0; i < w->polls->len; i++)
            p[i].revents = error == EINTR ? 0 : POLLIN;
        if (error != EINTR)
            g_usleep(10000);
    }
    g_ptr_array_set_size(w->ready, 0);
    for (int k = 0; k < DOME_HUB_SETS; k++)
        if (dome__hub_happened(s, DOME_POLL_SETS + k))
            collect(w, k);
}

bool dome__hub_happened(const hub_state *s, int which)
{
    const struct pollfd *p = &g_array_index(s->machine->poll.polls, struct pollfd, which);
    return p->fd >= 0 && p->revents;
}
