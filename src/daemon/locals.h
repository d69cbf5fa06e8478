/* The programs whose hubs are on this host: starts them as the table says, orders their hubs, ends them, and says to the group
 * what has become of them. Whatever the table says of a program happens again at each turn until it is so; nothing is remembered
 * that the table, the keepers' files or the hubs do not know. */
#ifndef DOME_SRC_LOCALS_H
#define DOME_SRC_LOCALS_H

#include "daemon/table.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>

typedef struct dome_locals dome_locals;

typedef struct dome_locals_setup {
    const char *folder, *name; /* of the daemon's files; of this host */
    const char *dome;          /* path of the command */
    bool alone;                /* there are no other hosts for tasks */
    void (*send)(void *ctx, const dome_record *order);
    void *ctx;
} dome_locals_setup;

/* Finds what keepers are there. */
dome_locals *dome__locals_new(const dome_locals_setup *setup, double now);
void dome__locals_free(dome_locals *locals);

typedef struct dome_locals_view {
    const dome_table *table;
    bool may_start; /* the table is on disk */
    bool must_end;  /* another side may start these programs */
} dome_locals_view;

/* Does what is to be done now. */
void dome__locals_turn(dome_locals *locals, const dome_locals_view *view, double now);

/* A keeper's file has changed. */
void dome__locals_look(dome_locals *locals);

/* What is to be polled, and what happened. */
void dome__locals_poll(dome_locals *locals, GArray *polls);
void dome__locals_hear(dome_locals *locals, const struct pollfd *polls, guint count, double now);

/* When the next turn is due at the latest. */
double dome__locals_next(const dome_locals *locals, double now);

#endif
