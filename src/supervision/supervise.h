/* The process in front of the hub that starts a program again when a task or host was lost: `dome run --restarts`. It runs no
 * code of the program, and each start is a process of its own, so that it survives the loss of the hub as well. */
#ifndef DOME_SRC_SUPERVISE_H
#define DOME_SRC_SUPERVISE_H

#include "transport/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of the checkpoint that the program would go on from. */
typedef struct dome_supervise_point {
    uint64_t number; /* 0: there is none, it would begin at the beginning */
    uint64_t loop;
} dome_supervise_point;

/* One start. */
typedef struct dome_attempt {
    int number;        /* 0: the first; then restarts, from 1 */
    bool resume;       /* go on from the newest checkpoint of this run, if there is one */
    int report_fd;     /* for dome_launch_request; closed on exec */
    const char *avoid; /* hosts that fell silent in earlier starts, by blanks; "" if none */
} dome_attempt;

typedef struct dome_supervision {
    int restarts;   /* at most so many */
    double timeout; /* --dome-timeout */
    const dome_launcher *launcher;
    void *ctx;

    /* In a child: becomes the hub of the program, or the program itself. Does not return. */
    void (*start)(void *ctx, const dome_attempt *attempt);

    /* Before a restart, in the supervisor: sees what is left to run on. The text goes into the line: "on 2 hosts (without h3)";
     * g_free'd, may be "". */
    char *(*prepare)(void *ctx, const char *avoid);

    void (*point)(void *ctx, dome_supervise_point *point);

    /* When all is over. */
    void (*finish)(void *ctx);
} dome_supervision;

/* Runs the program to its end. Returns its exit status, or ends by the signal it ended by. */
int dome__supervise(const dome_supervision *supervision);

/* In a start that fails before there is a hub: tells why, and ends the process. */
void dome__supervise_failed(const dome_attempt *attempt, const char *message) __attribute__((noreturn));

#endif
