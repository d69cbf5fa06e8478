/* The process of task 0, which this process has started or which has started this one, and the signals that it is passed.
 * hub_rank0.c alone changes these members. */
#ifndef DOME_SRC_HUB_RANK0_H
#define DOME_SRC_HUB_RANK0_H

#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/types.h>

typedef struct hub_state hub_state;
typedef struct hub_client hub_client;

typedef struct hub_rank0 {
    pid_t pid;
    bool ended;
    int status; /* as waitpid gives it */
    double ended_at;
    double started_at; /* when the hub has started task 0 anew; 0: it has not, or task 0 has come */
    int passed_on;     /* the last signal that the hub has sent to it */
    bool ending;       /* a signal from the keyboard or a user ended the program: nothing is lost */
} hub_rank0;

void dome__hub_rank0_open(hub_state *s);

/* waitpid has told of its end. */
void dome__hub_rank0_ended(hub_state *s, int status);

/* Afterwards: notices the failure that its end is, if it is one. watch: its connection, whose last messages have been read; NULL:
 * there was none. */
void dome__hub_rank0_judge(hub_state *s, const hub_client *watch);

/* Its connection is closed: waits some time for the end of its process, which tells more, before reporting the loss. */
void dome__hub_rank0_left(hub_state *s, hub_client *c);

/* Handles a signal that was meant for the program. */
void dome__hub_pass_on(hub_state *s, const struct signalfd_siginfo *info);

/* The hub has started it anew. */
void dome__hub_rank0_started(hub_state *s, pid_t pid);

/* It has joined the program. */
void dome__hub_rank0_came(hub_state *s);

/* Notices that it does not come within so many seconds. */
void dome__hub_look_for_rank0(hub_state *s, double limit);

#endif
