/* Connections of tasks are in sets of the kernel (epoll), so that an event of one of thousands costs no look at all the others:
 * one set for what tasks say, and one for each stream of their output, since a stream is left unread as a whole while its reader
 * is slow. */
#include "hub/hub_private.h"

#include <sys/epoll.h>

static int set_of(const hub_client *c)
{
    if (!dome__hub_is_output(c))
        return DOME_HUB_TALK;
    return c->channel == DOME_WIRE_STDOUT ? DOME_HUB_OUT : DOME_HUB_ERROR;
}

/* Explicitly, before the descriptor is closed: a child of this process may still have it open, and the set would go on telling of
 * it. */
void dome__hub_hear_no_more(hub_state *s, hub_client *c)
{
    if (!c->in_set)
        return;
    epoll_ctl(s->machine->poll.sets[c->set].fd, EPOLL_CTL_DEL, c->fd, NULL);
    s->machine->poll.sets[c->set].members--;
    c->in_set = false;
}

bool dome__hub_hear_from_now(hub_state *s, hub_client *c)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    dome__hub_hear_no_more(s, c);
    c->set = set_of(c);
    c->in_set = epoll_ctl(s->machine->poll.sets[c->set].fd, EPOLL_CTL_ADD, c->fd, &event) == 0;
    s->machine->poll.sets[c->set].members += c->in_set;
    return c->in_set;
}
