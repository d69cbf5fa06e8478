/* The interface of a launcher: it knows a program's tasks, and starts and ends them. src/pvm and self.c implement it. Messages
 * are the transport's (transport.h).
 *
 * A task is started by the user, by task 0 (spawn), or together with others by another command (mpirun, the PVM console). In the
 * last case the tasks agree on a leader. The leader is task 0: it sends the others the list of members and the address of the
 * hub. */
#ifndef DOME_SRC_LAUNCHER_H
#define DOME_SRC_LAUNCHER_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The tasks of a program, as each of them knows them. */
typedef struct dome_members {
    int rank, size;
    int *ids;        /* by rank: the launcher's ids of the tasks */
    char **hosts;    /* by rank, names */
    int *formats;    /* by rank: equal numbers mean equal native data formats */
    int context;     /* of the program's messages, for the transport of the same provider */
    char *hub;       /* dome_hub_address as text */
    char *directory; /* working directory of task 0 */
    char *program;   /* the program's name, as task 0 was started by it */
    uint32_t view;   /* number of the view; 0: the first */
    bool *back;      /* task 0, by rank: tasks that were in the view before; NULL: none */
} dome_members;

/* For a program that enters another view: its number, and by rank the tasks that are there already. */
typedef struct dome_again {
    uint32_t view;
    const int *ids; /* 0: a newcomer, which is started */
} dome_again;

/* Which program to start, and where. */
typedef struct dome_spawn {
    const char *path;
    char **arguments; /* argv without the program's name */
    int size;
    const char *const *names; /* by rank: the host of a task */
} dome_spawn;

/* NULL is allowed. */
void dome__members_free(dome_members *members);

/* The starter of this process. */
typedef enum dome_origin { DOME_STARTED_BY_USER, DOME_STARTED_BY_TASK, DOME_STARTED_TOGETHER } dome_origin;

/* The abilities of a launcher. */
typedef enum dome_launcher_can {
    DOME_LAUNCHER_SPAWN = 1,    /* spawn: task 0 starts the others */
    DOME_LAUNCHER_TOGETHER = 2, /* siblings, lead: tasks may be started together by another command */
    DOME_LAUNCHER_KILL = 4,     /* kill: ends tasks of any host */
    DOME_LAUNCHER_PUBLISH = 8,  /* publish, published: a mailbox that all hosts can read */
    DOME_LAUNCHER_MACHINE = 16, /* machine: needs daemons, and can start private ones for one program */
    DOME_LAUNCHER_AGAIN = 32    /* standby, enrol, rejoin: programs can enter another view */
} dome_launcher_can;

/* The most tasks. */
typedef struct dome_launcher_most {
    int on_host, in_program;
} dome_launcher_most;

/* The daemons. Texts and messages are g_free'd by the caller. */
typedef struct dome_launcher_machine {
    /* Sets the environment variables that the daemons need. Returns a note to show a user at a terminal if a private machine is
     * started, or NULL. */
    const char *(*prepare)(void);

    /* Whether the user's own machine answers. *note (g_free'd): which leftovers to remove, or NULL. */
    bool (*there)(char **note);

    /* Starts a daemon as a child of this process, with its files in directory, listening on address (NULL: for this host only).
     * hosts: other hosts will be added. lifeline: a socket; the daemon ends when the last process that holds its other end is
     * gone (-1: none). Returns the daemon's pid, or 0; -1: a signal from outside ended it before it
     * answered. */
    pid_t (*start)(const char *directory, const char *address, bool hosts, int lifeline, double timeout, char **message);

    /* Adds hosts (lines of a hostfile). On failure returns false, and *message names the hosts that failed. old (may be NULL):
     * by line: whether the host was in the machine before. Called in a separate process. */
    bool (*add)(char **lines, bool *old, char **message);

    /* The names of the machine's hosts but for this one, as the daemon of this host knows them; NULL on failure. Called in a
     * separate process. */
    char **(*others)(void);

    /* Makes this process use the private machine of a directory. */
    void (*enter)(const char *directory);

    /* Ends the private machine of a directory: its daemon, with `others` those of other hosts, then the tasks left on this host.
     * Removes the directory. Any process of the user may call it. */
    void (*take_down)(const char *directory, bool others);
} dome_launcher_machine;

/* Texts and messages are g_free'd by the caller. A function that fails (NULL, false or 0) sets *message. */
typedef struct dome_launcher {
    size_t size;
    const char *name;  /* in options and notes */
    const char *title; /* in lines for people */
    unsigned can;      /* dome_launcher_can; slots of missing capabilities are NULL */
    dome_launcher_most most;

    /* Whether this launcher can run a program of so many tasks (0: not specified), given how this process was started. */
    bool (*fits)(int tasks);

    /* ---- for SPAWN or TOGETHER: the tasks of this program ---- */

    dome_origin (*origin)(void);

    /* SPAWN: the names of the hosts that tasks can be started on, this process's first; g_strfreev'd by the caller. Hosts in
     * DOME_VARIABLE_AVOID are left out. */
    char **(*hosts)(char **message);

    /* SPAWN: starts the other tasks, on hosts of that list. Calls starting(ctx, host) before it starts tasks on a host, which may
     * take long; NULL: does not. again: NULL in the first view. */
    dome_members *(*spawn)(const dome_spawn *program, const char *hub, const dome_again *again,
                           void (*starting)(void *ctx, const char *host), void *ctx, char **message);

    /* SPAWN: whether the last of these functions that failed did so because a daemon or a host has been lost, so that the program
     * can be started again. Otherwise it would fail again. */
    bool (*lost)(void);

    /* TOGETHER: the number of tasks started together, this one included, and this one's position among them; the first leads. */
    int (*siblings)(int *place);
    dome_members *(*lead)(const char *hub, char **message);

    /* TOGETHER: processes that this one starts from now on were started by the user. */
    void (*alone)(void);

    /* Tasks other than 0: join receives the list of members from task 0; ready tells task 0 that this task has started up. */
    dome_members *(*join)(double timeout, char **message);
    void (*ready)(const dome_members *members);

    /* AGAIN: starts newcomers of the next view while this one goes on; a task whose host is NULL is no newcomer.
     * Returns when all of them wait for task 0 of the next view; ids[r] gets their ids, 0 for others. On failure none of them is
     * left. Called in a separate process: they end when that has been gone for `patience` seconds without a message from that
     * task 0. */
    bool (*standby)(const dome_spawn *program, int *ids, double timeout, double patience, char **message);

    /* AGAIN: the descriptor of this process's connection to its daemon; -1: it has none. Any thread may call it. As long as it is
     * open, in a process that has become another program as well, the daemon takes the task for one that goes on. */
    int (*daemon_fd)(void);

    /* AGAIN: the names of the hosts of tasks with these ids, "" where it is not known; g_strfreev'd by the caller, NULL on
     * failure.
     */
    char **(*hosts_of)(const int *ids, int n);

    /* AGAIN: the same as join for a task that was in the view before. enrol returns its new id, which task 0 needs for spawn; 0
     * on failure. Task 0 calls it, too. */
    int (*enrol)(char **message);
    dome_members *(*rejoin)(double timeout, char **message);

    /* Task 0, after spawn or lead: sends the list of members to the others, and waits until all are ready. */
    bool (*all_ready)(const dome_members *members, double timeout, char **message);

    /* KILL: ends tasks by their ids. Called in a separate process. */
    void (*kill)(const int *ids, int n);

    /* PUBLISH: publish makes text readable on all hosts until this task ends; published returns the texts of all programs. */
    void (*publish)(const char *text);
    GPtrArray *(*published)(char **message);

    dome_launcher_machine machine; /* MACHINE */
} dome_launcher;

/* A line: these are more tasks than can be started (on so many hosts; 0: on any number). g_free'd by the caller. */
char *dome__launcher_too_many(const dome_launcher *launcher, int tasks, int hosts);

/* The launcher of a program of one process: it starts nothing. */
extern const dome_launcher dome__launcher_self;

#endif
