/* Waiting for the next event. hub_poll.c alone changes these members, but for the members of a set, which hub_lines.c
 * counts. */
#ifndef DOME_SRC_HUB_POLL_H
#define DOME_SRC_HUB_POLL_H

#include "hub/hub_orders.h"

#include <glib.h>
#include <stdbool.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

/* Connections of tasks: those on which they talk, and those of their standard output and standard error. */
enum { DOME_HUB_TALK, DOME_HUB_OUT, DOME_HUB_ERROR, DOME_HUB_SETS };

typedef struct hub_set {
    int fd; /* of epoll */
    guint members;
} hub_set;

typedef struct hub_poll {
    hub_set sets[DOME_HUB_SETS];
    GArray *polls;     /* struct pollfd */
    GPtrArray *polled; /* the pending connections, owners of the entries from DOME_POLL_FIRST on */
    GArray *events;    /* struct epoll_event, of the set that is looked at */
    GPtrArray *ready;  /* the clients on whose connections there is something to read */
    double turned_at;  /* wall time of the last event */
} hub_poll;

/* The descriptors that are always polled, before those of pending connections and tasks. */
enum {
    DOME_POLL_SIGNAL,
    DOME_POLL_LISTEN,
    DOME_POLL_REPORT,
    DOME_POLL_DEMAND,
    DOME_POLL_BELL,
    DOME_POLL_ORDER,
    DOME_POLL_ADDING,
    DOME_POLL_STANDBY,
    DOME_POLL_SCRIPT,
    DOME_POLL_RANK0,
    DOME_POLL_SETS,
    DOME_POLL_SETS_END = DOME_POLL_SETS + DOME_HUB_SETS - 1,
    DOME_POLL_ASK,
    DOME_POLL_FIRST = DOME_POLL_ASK + DOME_HUB_ASKS
};

/* False: the system does not allow it. */
bool dome__hub_poll_open(hub_state *s);
void dome__hub_poll_close(hub_state *s);

/* Waits for an event, at most so many ms. */
void dome__hub_wait(hub_state *s, int report_fd, int ms);

/* Whether there is an event for this descriptor of the above. */
bool dome__hub_happened(const hub_state *s, int which);

#endif
