/* The hub: the supervising process of a program of more than one task. It is connected to all tasks, ends all of them when one is
 * lost, prints the one line that says why, and takes down what was started for the run. It runs no code of the program, so no
 * error of the program can end it. */
#ifndef DOME_SRC_HUB_H
#define DOME_SRC_HUB_H

#include "core/options.h"
#include "transport/launcher.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* The virtual machine on which the program's tasks run. */
typedef struct dome_hub_machine {
    const dome_launcher *launcher;
    pid_t daemon;          /* of a private machine, a child; 0: none */
    const char *directory; /* the private machine's; NULL: none */
    bool others;           /* it has other hosts */
} dome_hub_machine;

typedef struct dome_hub {
    int listen_fd;
    const char *cookie;
    double timeout;      /* seconds of silence after which a task is considered lost */
    pid_t rank0;         /* pid of rank 0 */
    bool rank0_is_child; /* else the hub is rank 0's child (started from the console) */
    bool rank0_in_init;  /* rank 0 is in dome_init, so its start has a time limit; else it may take any time to call it */
    int signal_fd;       /* signalfd for dome__hub_signals */
    int rank0_output;    /* where rank 0's standard output comes; 0: it leads elsewhere */
    int shown_fd;        /* the supervisor's file of what has been shown (wire/shown_store.h); 0: there is none */
    int report_fd;       /* the supervisor's, or -1: gets a DOME_WIRE_REPORT at the end; the line of a loss goes there, too */
    dome_hub_machine machine;
    const char *script; /* of hosts: --hosts-script; NULL: none */
    bool size_auto;     /* --dome-size auto */
    bool by_command;    /* these two are options of dome run, written without dome- */

    bool heals; /* losses are healed: --on-loss */
    bool tells; /* with heals: the other tasks go on without the lost */
    bool logs;  /* with heals: the lost tasks alone go back, each to a checkpoint of its own */
    int left;   /* the most losses; below 0: no limit */

    /* Starts the program as rank 0 of a later view, with this value of DOME_VARIABLE_VIEW. Returns its pid; 0 on failure. */
    pid_t (*start_rank0)(void *ctx, const char *view);

    /* Whether the file of the program is still the one that was started: tasks of two programs must not meet. */
    bool (*same_file)(void *ctx);

    /* Tells the supervisor, if there is one, that a loss is being healed. */
    void (*healing)(void *ctx, pid_t rank0);
    void *ctx;
} dome_hub;

/* Blocks the signals that the hub and the supervisor handle, so that none is lost around the fork, and returns a signalfd for
 * them; sets *old_mask to the mask to restore in rank 0. A signal that was ignored when the program was started (nohup, a
 * background job) stays ignored. -1: there is no signalfd (errno), and no signal is blocked. */
int dome__hub_signals(sigset_t *old_mask);

/* The most tasks to which a hub that this process becomes can have connections, all_output: with --dome-output all. *files: the
 * limit on open files that is the reason. */
int dome__hub_most_tasks(bool all_output, unsigned *files);

/* Supervises the program until its end. Returns the exit status for this process; sets *signal_number to the signal that ended
 * rank 0, or 0. */
int dome__hub_run(const dome_hub *hub, int *signal_number);

#endif
