/* Which tasks a program has, and how they are started and ended: what Dome needs beside messages (transport.h), and what
 * launchers (src/pvm, self.c) fill in.
 *
 * A task is started by the user, by task 0 (spawn), or together with others by another command (mpirun, the PVM console). In the
 * last case the tasks agree on who leads. The leader is task 0: it tells the others who the members are, and where the hub is. */
#ifndef DOME_SRC_LAUNCHER_H
#define DOME_SRC_LAUNCHER_H

#include <glib.h>

#include <stdbool.h>
#include <sys/types.h>

/* The tasks of a program, as each of them knows them. */
typedef struct dome_members {
    int rank, size;
    int *ids;        /* by rank: the launcher's numbers of tasks */
    char **hosts;    /* by rank, names */
    int *formats;    /* by rank: equal numbers mean equal native forms */
    int context;     /* of the program's messages, for the transport of the same provider */
    char *hub;       /* dome_hub_address as text */
    char *directory; /* working directory of task 0 */
} dome_members;

/* NULL is allowed. */
void dome__members_free(dome_members *members);

/* Who started this process. */
typedef enum dome_origin { DOME_STARTED_BY_USER, DOME_STARTED_BY_TASK, DOME_STARTED_TOGETHER } dome_origin;

/* What a launcher can do. */
typedef enum dome_launcher_can {
    DOME_LAUNCHER_SPAWN = 1,    /* spawn: task 0 starts the others */
    DOME_LAUNCHER_TOGETHER = 2, /* siblings, lead: tasks may be started together by another command */
    DOME_LAUNCHER_KILL = 4,     /* kill: ends tasks of any host */
    DOME_LAUNCHER_PUBLISH = 8,  /* publish, published: a mailbox that all hosts can read */
    DOME_LAUNCHER_MACHINE = 16  /* machine_...: needs daemons, and can start them for one program */
} dome_launcher_can;

/* Texts and messages are g_free'd by the caller. What returns NULL, false or 0 sets *message then. */
typedef struct dome_launcher {
    size_t size;
    const char *name;
    unsigned can; /* dome_launcher_can; the slots of what it cannot do are NULL */

    /* Whether a program of so many tasks (0: the user has not said) is for this launcher, by the way in which this process was
     * started. */
    bool (*fits)(int tasks);

    /* ---- for SPAWN or TOGETHER: the tasks of this program ---- */

    dome_origin (*origin)(void);

    /* SPAWN: starts the other tasks with arguments (argv without the program's name); size 0: one task a host. Calls
     * starting(ctx, host) before it starts tasks on a host, where it may have to wait for long. */
    dome_members *(*spawn)(const char *path, char **arguments, int size, const char *hub,
                           void (*starting)(void *ctx, const char *host), void *ctx, char **message);

    /* TOGETHER: how many tasks were started with this one, itself included, and its place among them; the first leads. */
    int (*siblings)(int *place);
    dome_members *(*lead)(const char *hub, char **message);

    /* Any other task: hears from task 0 who the members are; then, when it stands, tells that. */
    dome_members *(*join)(double timeout, char **message);
    void (*ready)(const dome_members *members);

    /* Task 0, after spawn or lead: tells the others, and waits until all stand. */
    bool (*all_ready)(const dome_members *members, double timeout, char **message);

    /* KILL: ends tasks by their ids. Called in a process of its own. */
    void (*kill)(const int *ids, int n);

    /* PUBLISH: the text can be read from all hosts until this task ends; the texts of all programs. */
    void (*publish)(const char *text);
    GPtrArray *(*published)(char **message);

    /* ---- for MACHINE: the daemons ---- */

    /* Sets what the daemons need in the environment. Returns what the user should know if a private machine is started; NULL:
     * nothing. */
    const char *(*machine_prepare)(void);

    /* Whether the user's own machine answers. *note (g_free'd): what should be removed, or NULL. */
    bool (*machine_there)(char **note);

    /* Starts a daemon with its files in directory, as a child of this process, on address; NULL: for this host alone. hosts:
     * others will be added. The daemon ends when the last process that has the other end of the socket lifeline is gone (-1:
     * there is none). Returns its pid, or 0. */
    pid_t (*machine_start)(const char *directory, const char *address, bool hosts, int lifeline, double timeout, char **message);

    /* Adds hosts (lines of a hostfile). False with *message naming those that failed. Called in a process of its own. */
    bool (*machine_add)(char **lines, char **message);

    /* This process is to use the private machine of a directory. */
    void (*machine_enter)(const char *directory);

    /* Ends the private machine of a directory: its daemon, those of other hosts if there are any, and the tasks of this host that
     * are left then. Removes the directory. Any process of the user may call it. NULL: there is none. */
    void (*machine_take_down)(const char *directory, bool others);
} dome_launcher;

/* One process, which nobody has to start. */
extern const dome_launcher dome__launcher_self;

#endif
