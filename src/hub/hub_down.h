/* Hosts that are down. hub_down.c alone changes these members, and hub_machine.down. */
#ifndef DOME_SRC_HUB_DOWN_H
#define DOME_SRC_HUB_DOWN_H

#include "hub/hub_heal.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct hub_host {
    char *name;
    double at; /* since when */
} hub_host;

/* A process that looks which other hosts are there, after a loss. */
typedef struct hub_probe {
    pid_t process;
    int fd;        /* it says there which are not; -1: that is known */
    double until;  /* it is given up then */
    GString *said; /* NULL: nobody asks */
} hub_probe;

GArray *dome__hub_down_new(void);

/* Finds out which hosts are down after a loss; tasks there are lost. Returns false as long as that is not known. */
bool dome__hub_find_down(hub_state *s, hub_member *members, int size);

/* Forgets the answers of hosts about this loss. May be called before any loss. */
void dome__hub_probe_end(hub_state *s);

/* How many hosts are down. */
int dome__hub_count_down(const hub_state *s);

/* After some minutes the launcher has forgotten the host, which can be added again. */
bool dome__hub_is_down(const hub_state *s, const char *host);
void dome__hub_set_down(hub_state *s, const char *host);

/* A task has come from there. */
void dome__hub_set_up(hub_state *s, const char *host);

/* Their names, separated by blanks; g_free'd. */
char *dome__hub_down_text(const hub_state *s);

#endif
