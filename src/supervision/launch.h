/* Starting a program: what the process that becomes the hub prepares, and the fork between hub and rank 0. Used by dome_init and
 * by `dome run`. */
#ifndef DOME_SRC_LAUNCH_H
#define DOME_SRC_LAUNCH_H

#include "core/options.h"

#include <signal.h>
#include <sys/types.h>

typedef struct dome_launch {
    double timeout;
    bool before_init;
    int listen_fd, signal_fd;
    char *cookie;
    char *directory; /* of a private virtual machine; NULL if none */
    int lock_fd;     /* held on directory while this process lives: others may remove it only after that */
    pid_t daemon;
    void (*halt)(void);            /* ends the daemons of all hosts; NULL if there is this one alone */
    int guard_fd;                  /* open while this process lives: a guard takes the private machine down should it be killed */
    int lifeline;                  /* open while this process or the guard lives: without both the daemon ends */
    struct sigaction child_action; /* what SIGCHLD did before dome__launch_open, and does in rank 0 */
    pid_t guard;
    int report_fd; /* of a supervisor; -1 if there is none */
    pid_t hub_pid; /* of the child that dome__launch_fork_hub made */
    char *hub;     /* the hub's address as text: watch.h */
} dome_launch;

typedef struct dome_launch_request {
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

/* An address of this host by which others may reach it: its name, if that is no loopback address, or the address of an interface.
 * NULL: there is none. g_free'd. */
char *dome__launch_outside_address(void);

/* Forks. Returns in the child, which goes on as rank 0; the parent becomes the hub and ends with the program's status. */
void dome__launch_fork(dome_launch *launch);

/* The other way around, for a process that has to stay rank 0: the child becomes the hub. Before this process enrols in PVM,
 * since the two must not share its connection. */
void dome__launch_fork_hub(dome_launch *launch);

/* This process is not rank 0 after all: ends the child. */
void dome__launch_drop_hub(dome_launch *launch);

/* True when the user's virtual machine can be reached; says so, once, if a daemon has left its file behind. */
bool dome__launch_machine_there(void);

/* Runs a command, a line for a shell, on hosts of a hostfile by the way that daemons are started there, and says where it
 * succeeded. Takes a few seconds if a host does not answer. */
void dome__hosts_run(char **lines, const char *command, bool *answers);

#endif
