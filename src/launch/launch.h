/* Starts a program: the preparations of the process that becomes the hub, and the fork of hub and rank 0. Used by dome_init and
 * `dome run`. */
#ifndef DOME_SRC_LAUNCH_H
#define DOME_SRC_LAUNCH_H

#include "launch/stream.h"
#include "machine/private_machine.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct dome_launch {
    double timeout;
    bool before_init;
    int listen_fd, signal_fd;
    char *cookie;
    dome_private_machine machine;
    struct sigaction child_action; /* action of SIGCHLD before dome__launch_open, restored in rank 0 */
    int report_fd;                 /* the supervisor's; -1 if there is none */
    int shown_fd;                  /* the same */
    dome_stream output;            /* to the hub: rank 0's standard output; not open if it is the hub's own */
    pid_t hub_pid;                 /* pid of the child forked by dome__launch_fork_hub */
    const char *script;            /* the request's, and the next */
    bool size_auto, by_command;
    sigset_t mask; /* this and the next four: before dome__launch_fork, restored in rank 0 */
    bool ignores_pipe, ignores_size;
    struct rlimit files;
    struct stat file; /* the program's */
    const char *path; /* of the program, from the request, and the next two */
    const char *directory;
    char **words;
    char *resolved; /* the path without links; NULL: it is not known */
    bool heals, tells, logs, once;
    int left;
    char *hub; /* the hub's address as text: watch.h */
} dome_launch;

typedef struct dome_launch_request {
    const dome_launcher *launcher;
    double timeout;
    const char *address; /* by which other hosts reach this one; NULL: determined automatically */
    char **hosts;        /* hostfile lines to add to a private machine (may be empty); NULL: no hosts requested */
    bool most_hosts;     /* hosts that cannot be added are left out, with a line that says so */
    const char *script;  /* a shell command that prints hosts now and then (hosts_policy.h); NULL: none */
    bool size_auto;      /* the hub chooses the number of tasks that pays (size_policy.h) */
    bool by_command;     /* these two are options of dome run, written without dome- */
    int report_fd;       /* where the hub reports to its supervisor how the program ended; 0: no supervisor */
    int shown_fd;        /* the supervisor's file of what has been shown; 0: no supervisor */
    bool once;           /* rank 0's standard output goes through the hub, which shows it once */
    int tasks;           /* 0: not known yet */
    bool all_output;     /* --dome-output all */
    bool only_listen;    /* the virtual machine is running (started from the console) */
    bool before_init;    /* for a program that has not yet called dome_init */
    bool heals;          /* the hub heals losses, at most `left` (below 0: no limit) */
    int left;
    bool tells; /* with heals: the other tasks go on without the lost */
    bool logs;  /* with heals: the lost tasks alone go back, each to a checkpoint of its own */
    /* With heals: the executable file of the program, the directory in which it begins (NULL: this process's) and the words with
     * which it is started. All of them stay. */
    const char *path, *directory;
    char **words;
} dome_launch_request;

/* Opens standard streams that were closed when the process started as /dev/null; otherwise the next file or connection would
 * become one. Call it first. */
void dome__open_streams(void);

/* Finds the user's virtual machine or starts a private one, and listens for tasks. On failure returns false with *message
 * (g_free'd), and leaves nothing behind. */
bool dome__launch_open(dome_launch *launch, const dome_launch_request *request, char **message);

/* Takes down what dome__launch_open started; for callers that only check whether it works. */
void dome__launch_close(dome_launch *launch);

/* Forks. Returns in the child, which continues as rank 0; the parent becomes the hub and ends with the program's status. */
void dome__launch_fork(dome_launch *launch);

/* Forks the other way around, for a process that must remain rank 0: the child becomes the hub. Call it before this process
 * enrols in PVM, since the two must not share its connection. */
void dome__launch_fork_hub(dome_launch *launch);

/* Ends the child again: this process turned out not to be rank 0. */
void dome__launch_drop_hub(dome_launch *launch);

#endif
