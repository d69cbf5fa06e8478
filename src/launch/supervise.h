/* The supervisor of `dome run --restarts` and --dome-restarts: it starts the hub, and restarts the program when a task or host is
 * lost. It runs no code of the program, and each attempt is a separate process, so that it survives the loss of the hub, too. */
#ifndef DOME_SRC_SUPERVISE_H
#define DOME_SRC_SUPERVISE_H

#include "transport/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* The checkpoint that the program would resume from. */
typedef struct dome_supervise_point {
    uint64_t number; /* 0: none, the program would start from the beginning */
    uint64_t loop;   /* 0: not known */
    int tasks;       /* as many as it needs; 0: any number */
    bool saves;      /* the program writes checkpoints */
    bool doubted;    /* the program verifies it first, and may take an older one */
} dome_supervise_point;

/* One attempt to run the program. */
typedef struct dome_attempt {
    int number;        /* 0: the first; from 1: restarts */
    bool resume;       /* resume from the newest checkpoint of this run, if there is one */
    int tasks;         /* the program has to have so many; 0: those of its start */
    int report_fd;     /* for dome_launch_request; closed on exec */
    int shown_fd;      /* the same: the file of what has been shown (wire/shown_store.h); -1: there is none */
    const char *avoid; /* hosts that fell silent in earlier attempts, separated by blanks; "" if none */
    int losses;        /* after which the program has gone on so far */
    double seconds;    /* since it was first started */
    bool anew;         /* the program has run before, here or on another host: its text before dome_init has been shown */
    int left;          /* losses that may still be healed or answered by another attempt; below 0: healed without limit */
} dome_attempt;

typedef struct dome_supervision {
    int restarts;             /* the most restarts, and losses healed by the hub; 0: none, and the hub heals without limit */
    double timeout;           /* --dome-timeout */
    const char *output_state; /* the file for a copy of what has been shown; NULL: none is kept */
    const dome_launcher *launcher;
    void *ctx;

    /* Called in a child: becomes the hub of the program, or the program itself. Does not return. */
    void (*start)(void *ctx, const dome_attempt *attempt);

    /* Called in the supervisor before a restart: finds the remaining hosts. Returns a text for the line about the restart, such
     * as "on 2 hosts (without h3)"; g_free'd, may be "". */
    char *(*prepare)(void *ctx, const char *avoid);

    /* resume: the newest one of this run; otherwise the one that the program's own options ask for. */
    void (*point)(void *ctx, bool resume, dome_supervise_point *point);

    /* Called with the names of the hosts on which tasks are, at the beginning of each view. */
    void (*hosts)(void *ctx, char **names);

    /* Called after the last attempt. losses: those after which the program went on. */
    void (*finish)(void *ctx, int losses);
} dome_supervision;

/* Runs the program to its end. Exits with its status, or by the signal that ended it. */
int dome__supervise(const dome_supervision *supervision);

/* For an attempt that fails before its hub runs: reports why, and ends the process. lost: the cause is a loss. */
void dome__supervise_failed(const dome_attempt *attempt, bool lost, const char *message) __attribute__((noreturn));

#endif
