/* Connections that have not proven themselves, and the descriptors that there are for connections. hub_strangers.c alone
 * changes these members. */
#ifndef DOME_SRC_HUB_STRANGERS_H
#define DOME_SRC_HUB_STRANGERS_H

#include <glib.h>
#include <stdbool.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_stranger hub_stranger;

typedef struct hub_strangers {
    GPtrArray *list;   /* oldest first */
    guint descriptors; /* the most that this process may have open */
    guint inherited;   /* number open when it started */
    double full_until; /* no connection is accepted before, for lack of descriptors */
} hub_strangers;

/* Raises this process's limit on open files as far as the system allows. */
void dome__hub_strangers_open(hub_state *s);

/* Why so many tasks cannot be connected, g_free'd; NULL: they can. */
char *dome__hub_has_no_room(const hub_state *s, int tasks);

void dome__hub_accept(hub_state *s);
int dome__hub_stranger_fd(const hub_stranger *x);

/* Continues a stranger's handshake: it becomes a client, is closed, or needs more data. */
void dome__hub_hear_stranger(hub_state *s, hub_stranger *x);

/* Closes strangers whose handshake takes too long. */
void dome__hub_strangers_late(hub_state *s);

void dome__hub_strangers_close(hub_state *s);

/* For lack of descriptors, no connection is accepted for a moment. */
void dome__hub_accept_later(hub_state *s);

#endif
