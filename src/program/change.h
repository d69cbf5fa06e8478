/* Changing the number of tasks while the program runs: a task's side of wire/view.h. At a loop boundary all tasks write the state
 * into memory; tasks that stay become the program anew by exec, tasks that leave end, and dome_init of the next view starts the
 * missing ones. docs/elastic.md describes what users see. */
#ifndef DOME_SRC_CHANGE_H
#define DOME_SRC_CHANGE_H

#include "ckpt/handover.h"
#include "ckpt/kept.h"
#include "core/environment.h"
#include "program/providers.h"
#include "program/transit.h"
#include "wire/view_plan.h"

#include <signal.h>

typedef struct dome_view_call {
    dome_view_function function;
    void *data;
} dome_view_call;

/* The tries of an order, or of a wish, that has been tried in vain. */
typedef struct dome_tries {
    unsigned count;
    uint64_t left; /* boundaries until it is tried again */
} dome_tries;

struct dome_change {
    uint32_t view;     /* number of the present view */
    uint64_t loops;    /* boundaries passed in earlier views */
    int wish;          /* of dome_resize; 0: none */
    bool passed;       /* the program has come to a boundary in this view */
    bool polls;        /* it polls after each operation */
    GArray *functions; /* dome_view_call: what dome_on_view was given; NULL: nothing */
    uint64_t order;    /* the hub's for this boundary, with its plan, until it is carried out; 0 and NULL: none */
    char *ordered;
    /* The same of an order and of a wish that wait for another boundary: one at which values are equal on all tasks
     * (dome__boundary_poll), or without messages in transit (transit.h). */
    uint64_t late_order;
    char *late;
    int late_wish;
    dome_tries order_tries, wish_tries;
    dome_transit transit;
    bool bound; /* no other number of tasks can go on from the newest checkpoint; the same on all tasks */
    const dome_provider *provider;
    char *hub;             /* the hub's address as text; NULL: there is no hub */
    bool console;          /* task 0: the program was started from the PVM console */
    const char *directory; /* in which this process began; NULL: it is not known */
    char **words;          /* with which it was started: it may write over them later */
    char *program;         /* its name, by which task 0 was started */
    char *slots;           /* task 0: of the hosts, as DOME_VARIABLE_SLOTS has them; NULL: none */
    char *avoid;   /* task 0: hosts that are down, separated by blanks: no task is started there unless that is asked for */
    char *host;    /* of this task */
    char *held;    /* descriptors of connections to the daemon, of earlier views, with blanks around: see go_back */
    bool requests; /* SIGTERM and SIGUSR1 were not blocked when the program was started */
    bool supervised;
    uint64_t first; /* number of the newest checkpoint when the program was started; known with --dome-restart=NUMBER */

    /* for a task that is told to go back, and for a process in place of task 0; fixed before the watcher's thread starts */
    char *legacy;              /* what does not depend on the view */
    char *carried;             /* the same, and the piece of the state: until the view stands it can be taken back */
    char **environment;        /* for execve */
    sigset_t mask;             /* of signals, in the main thread */
    int losses;                /* after which the program has gone on, */
    uint64_t program_ns;       /* and when it began (dome__now_ns of this host) */
    int kept[DOME_KEPT_FILES]; /* what the task keeps for itself (--on-loss tell); -1: nothing */
    int stood;                 /* tasks of the last view that stood; 0: unknown. Atomic: the watcher's thread reads it */

    /* in a task that has come back, for dome_init */
    bool back;
    bool heals; /* the view heals a loss: it goes on from a checkpoint. Known to all tasks by dome__change_share */
    int before; /* tasks of the last view that stood before this one; the same on all tasks */
    int rank;
    dome_view_plan plan;       /* by which the view was made */
    int *parked;               /* task 0: the launcher's ids of newcomers that wait, by rank; 0: none */
    dome_handover_piece piece; /* of the state */
    uint64_t begun_ns;         /* dome__now_ns when the change began */
    uint64_t members_ns;       /* how long parts of it took: wire/history.h */
    uint64_t blocks_ns;
    bool unblock; /* SIGTERM and SIGUSR1 wait until dome_init can handle them */
    bool outside; /* on another host than task 0 */
    char *provider_name;
    uint64_t stood_ns; /* when dome_init was over */
    bool told;         /* the hub knows how long the change took */

    int profile; /* task 0: a file in memory with the profile of the views before; -1: none */
};

/* Call it first in dome_init: notes which descriptors the process has been given, and by which file it was started. */
void dome__change_begin(void);

/* In dome_init: takes what this process has left for itself, if it was in the view before; else the first view, or that of the
 * members that it joins. */
dome_change *dome__change_new(dome_env *env);
void dome__change_free(dome_change *change);

/* Before the watcher's thread starts: prepares for being told to go back. */
void dome__change_ready(dome_env *env, const char *host);

/* When the tasks have found each other, before checkpoints are looked for: all learn what task 0 knows of the view. Collective.
 */
int dome__change_share(dome_env *env);

/* Whether each task keeps the state for itself: --on-loss tell, where there is a hub that tells of losses. The same on all tasks.
 */
bool dome__change_keeps(const dome_env *env);

/* The piece of the state for the reader of checkpoints, which closes it. The task keeps it, too, until the view stands. */
dome_handover_piece dome__change_piece(const dome_env *env);

/* When all tasks have joined, and before any part of the state is used up: does not return before the hub knows that the view
 * stands. Until then the change is taken back if a newcomer is lost. Fails by dome__fail. Collective. */
int dome__change_settle(dome_env *env);

/* At the end of dome_init. Task 0 tells the hub. */
void dome__change_stands(dome_env *env);

/* At the first loop boundary of a view, or its end: task 0 tells the hub how long the change into it took. Comes before
 * dome__checkpoint_decide, after which nobody knows when objects got their values. */
void dome__change_over(dome_env *env);

/* At a loop boundary, where the hub's order demands a change by this plan (view_plan.h, as text; NULL: no order): does not return
 * if the program changes. bound: why it cannot go on with another number of tasks, or NULL. Fails by dome__fail. Collective. */
int dome__change_boundary(dome_env *env, uint64_t order, const char *ordered, const char *bound);

/* Tells the hub that the program goes on as it was. */
void dome__change_refuse(dome_env *env, uint64_t order, const char *why);

/* The same for an order (0: none), and for the program's own wish (0: none), by a line. */
void dome__change_say_no(dome_env *env, uint64_t order, int wish, const char *why);

#endif
