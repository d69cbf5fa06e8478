/* Starting a program: what the process that becomes the hub prepares, and the fork between hub and rank 0. Used by dome_init and
 * by `dome run`. */
#ifndef DOME_SRC_LAUNCH_H
#define DOME_SRC_LAUNCH_H

#include "supervision/private_machine.h"

#include <signal.h>
#include <sys/types.h>

typedef struct dome_launch {
    double timeout;
    bool before_init;
    int listen_fd, signal_fd;
    char *cookie;
    dome_private_machine machine;
    struct sigaction child_action; /* what SIGCHLD did before dome__launch_open, and does in rank 0 */
    int report_fd;                 /* of a supervisor; -1 if there is none */
    pid_t hub_pid;                 /* of the child that dome__launch_fork_hub made */
    char *hub;                     /* the hub's address as text: watch.h */
} dome_launch;

typedef struct dome_launch_request {
    const dome_launcher *launcher;
    double timeout;
    const char *address; /* of this host for others; NULL: found out */
    char **hosts;        /* hostfile lines to add to a private machine (there may be none); NULL: hosts are not asked for */
    bool most_hosts;     /* those that cannot be added are left out, with a line */
    int report_fd;       /* where the hub tells its supervisor how the program ended; 0: there is none */
    bool only_listen;    /* the virtual machine is there already (started from the console) */
    bool before_init;    /* for a program that has not come to dome_init yet */
} dome_launch_request;

/* Standard streams that were closed when the process began lead to /dev/null, or the next file or connection would be taken for
 * one. Before anything else. */
void dome__open_streams(void);

/* Finds the user's virtual machine or starts a private one, and listens for tasks. False with *message (g_free'd); then nothing
 * is left behind. */
bool dome__launch_open(dome_launch *launch, const dome_launch_request *request, char **message);

/* Takes down what dome__launch_open started, for those who wanted to know no more than whether it can be. */
void dome__launch_close(dome_launch *launch);

/* Forks. Returns in the child, which goes on as rank 0; the parent becomes the hub and ends with the program's status. */
void dome__launch_fork(dome_launch *launch);

/* The other way around, for a process that has to stay rank 0: the child becomes the hub. Before this process enrols in PVM,
 * since the two must not share its connection. */
void dome__launch_fork_hub(dome_launch *launch);

/* This process is not rank 0 after all: ends the child. */
void dome__launch_drop_hub(dome_launch *launch);

#endif
