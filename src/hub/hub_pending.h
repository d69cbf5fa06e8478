/* Connections that have not proven themselves, and the descriptors that there are for connections. hub_pending.c alone
 * changes these members. */
#ifndef DOME_SRC_HUB_PENDING_H
#define DOME_SRC_HUB_PENDING_H

#include <glib.h>
#include <stdbool.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_pending_connection hub_pending_connection;

typedef struct hub_pending {
    GPtrArray *list;   /* oldest first */
    guint descriptors; /* the most that this process may have open */
    guint inherited;   /* number open when it started */
    double full_until; /* no connection is accepted before, for lack of descriptors */
} hub_pending;

/* Raises this process's limit on open files as far as the system allows. */
void dome__hub_pending_open(hub_state *s);

/* Why so many tasks cannot be connected, g_free'd; NULL: they can. */
char *dome__hub_has_no_room(const hub_state *s, int tasks);

void dome__hub_accept(hub_state *s);
int dome__hub_pending_fd(const hub_pending_connection *x);

/* Continues the handshake of a pending connection: it becomes a client, is closed, or needs more data. */
void dome__hub_hear_pending(hub_state *s, hub_pending_connection *x);

/* Closes pending connections whose handshake takes too long. */
void dome__hub_pending_late(hub_state *s);

void dome__hub_pending_close(hub_state *s);

/* For lack of descriptors, no connection is accepted for a moment. */
void dome__hub_accept_later(hub_state *s);

#endif
