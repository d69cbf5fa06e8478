/* The parts that the hub of a host has once, for all programs that it supervises: descriptors, connections that have not proven
 * themselves, hosts that are down, the time, and the virtual machine's processes. The parts that are structs belong to the files
 * of their names and `down` to hub_down.c; hub_machine.c alone changes the other members. */
#ifndef DOME_SRC_HUB_MACHINE_H
#define DOME_SRC_HUB_MACHINE_H

#include "hub/hub_pending.h"
#include "hub/hub_poll.h"
#include "system/time.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_machine {
    hub_poll poll;
    hub_pending pending;
    GArray *down; /* hub_host */

    dome_awake awake;
    double overslept_until; /* this process was stopped for so long that tasks that ran meanwhile consider it lost, and are
                               ending */
    pid_t killer;           /* a process that kills tasks; 0: none */
    bool daemon_ended;      /* that of a private machine */
} hub_machine;

void dome__hub_machine_open(hub_state *s);

/* Seconds of silence after which a task is lost. The tasks use the same limit for the hub. */
double dome__hub_silence_limit(const hub_state *s);

/* Whether a task has been silent for long. The hub does not wait for such a task: it cannot be reached, and ends by itself. */
bool dome__hub_silent(const hub_state *s, const hub_client *c);

/* Looks at the clock after a wait. period: seconds between two looks. */
void dome__hub_pass_time(hub_state *s, double period);

/* This process was stopped, and the tasks know it: that time does not count. */
void dome__hub_skip_time(hub_state *s);

/* waitpid has told of the end of this child. */
void dome__hub_machine_reaped(hub_state *s, pid_t pid);

/* Kills tasks of any host by their launcher's ids, in a separate process. */
void dome__hub_launcher_kill(hub_state *s, const int *tids, int n);

#endif
