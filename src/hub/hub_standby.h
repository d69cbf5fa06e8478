/* Newcomers of the next view. hub_standby.c alone changes these members. */
#ifndef DOME_SRC_HUB_STANDBY_H
#define DOME_SRC_HUB_STANDBY_H

#include "wire/wire.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

/* A process that starts newcomers. */
typedef struct hub_standby {
    pid_t process;
    int fd; /* -1: there is none */
    uint32_t view;
    double until; /* it is given up then */
    char *hosts;
    GString *said;
    bool over; /* it has said what there is to say */
} hub_standby;

void dome__hub_standby_open(hub_state *s);

/* Task 0 wants newcomers. It is answered when they wait for the next view, or cannot be started. */
void dome__hub_standby_start(hub_state *s, const hub_client *c, const dome_wire_standby *standby);
void dome__hub_hear_standby(hub_state *s, bool readable);

/* The change that they were for is over. */
void dome__hub_standby_end(hub_state *s);

#endif
