/* The hub: the process that stays behind when a program of more than one task starts. It hears from every task, ends all of
 * them when one is lost, prints the one line that says why, and takes down what was started for the run. It runs no
 * code of the program and survives whatever the program does. */
#ifndef DOME_SRC_HUB_H
#define DOME_SRC_HUB_H

#include "core/options.h"
#include "transport/launcher.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* How a program that did not come to its end has ended: by what it did itself, while it started, or by the loss of a task or
 * host. */
typedef enum dome_end { DOME_END_OWN, DOME_END_START, DOME_END_LOSS } dome_end;

typedef struct dome_hub {
    int listen_fd;
    const char *cookie;
    double timeout;        /* seconds of silence after which a task counts as lost */
    pid_t rank0;           /* pid of rank 0 */
    bool rank0_is_child;   /* else the hub is rank 0's child (started from the console) */
    bool rank0_in_init;    /* it is in dome_init already, and not before it for as long as it likes */
    pid_t daemon;          /* pvmd of a private virtual machine, a child; 0 if none */
    const char *directory; /* of that machine; NULL if none */
    int signal_fd;         /* signalfd for dome__hub_signals */
    int report_fd;         /* gets a DOME_WIRE_REPORT at the end, with the line of a loss, which is not printed then; or -1 */
    const dome_launcher *launcher;
    bool others; /* the machine has other hosts */
} dome_hub;

/* Blocks the signals the hub and the supervisor handle, so that none is lost around the fork, and returns a signalfd for them;
 * *old_mask gets the mask to restore in rank 0. A signal that was ignored when the program was started (nohup, a job in the
 * background) stays ignored. */
int dome__hub_signals(sigset_t *old_mask);

/* Watches until the program is over. Returns the exit status for the process; *signal_number is the signal by which rank 0
 * ended, or 0. */
int dome__hub_run(dome_hub *hub, int *signal_number);

#endif
