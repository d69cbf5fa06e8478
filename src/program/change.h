/* Changing the number of tasks while the program runs: a task's side of wire/view.h. At a loop boundary all tasks write the state
 * into memory; tasks that stay become the program anew by exec, tasks that leave end, and dome_init of the next view starts the
 * missing ones. docs/elastic.md describes what users see. */
#ifndef DOME_SRC_CHANGE_H
#define DOME_SRC_CHANGE_H

#include "ckpt/handover.h"
#include "core/environment.h"
#include "program/exec.h"
#include "program/healing.h"
#include "program/in_place.h"
#include "program/providers.h"
#include "program/view_times.h"
#include "wire/view_plan.h"

/* How this process has become a task: start.c finds it out, or it is in the note that the process has left (exec.c). */
typedef struct dome_started {
    const dome_provider *provider;
    char *provider_name; /* of a task that has come back */
    char *hub;           /* the hub's address as text; NULL: there is no hub */
    bool console;        /* task 0: the program was started from the PVM console */
    bool supervised;
    char *program; /* its name, by which task 0 was started */
    char *host;    /* of this task */
    bool outside;  /* on another host than task 0 */
    char *slots;   /* task 0: of the hosts, as DOME_VARIABLE_SLOTS has them; NULL: none */
    char *avoid;   /* task 0: hosts that are down, separated by blanks: no task is started there unless that is asked for */
} dome_started;

/* The present view. */
typedef struct dome_view_entered {
    uint32_t number;
    uint64_t loops;            /* boundaries passed in earlier views */
    bool in_place;             /* tasks that stayed have entered it in place (in_place.h). The same on all tasks */
    bool back;                 /* the task was in the view before; the following are for dome_init */
    int rank;                  /* its rank */
    dome_view_plan plan;       /* by which the view was made */
    int *standby;              /* task 0: the launcher's ids of newcomers that wait, by rank; 0: none */
    dome_handover_piece piece; /* of the state */
} dome_view_entered;

struct dome_change {
    struct dome_boundary *boundary; /* what is asked for at loop boundaries: boundary.c */
    dome_started start;
    dome_view_entered view;
    dome_in_place in_place;
    dome_exec exec;        /* what goes through exec */
    dome_healing healing;  /* after a loss */
    dome_view_times times; /* of the change into this view */
    int profile;           /* task 0: a file in memory with the profile of the views before; -1: none. Of profile.c */
};

/* In dome_init: takes what this process has left for itself, if it was in the view before; else the first view, or that of the
 * members that it joins. */
dome_change *dome__change_new(dome_env *env);
void dome__change_free(dome_change *change);

/* The piece of the state for the reader of checkpoints, which closes it. The task keeps it, too, until the view stands. */
dome_handover_piece dome__change_piece(const dome_env *env);

/* When all tasks have joined, and before any part of the state is used up: does not return before the hub knows that the view
 * stands. Until then the change is taken back if a newcomer is lost. Fails by dome__fail. Collective. */
int dome__change_settle(dome_env *env);

/* At the end of dome_init. Task 0 tells the hub. */
void dome__change_stands(dome_env *env);

/* The demand at a loop boundary: the hub's order (0: none) with its plan (view_plan.h, as text), or the program's own request (0:
 * none). bound: why it cannot go on with another number of tasks, or NULL. */
typedef struct dome_change_demand {
    uint64_t order;
    const char *plan;
    int resize;
    const char *bound;
} dome_change_demand;

/* Does not return if the program changes, unless it enters the next view in place (in_place.h). Fails by dome__fail. Collective.
 */
int dome__change_boundary(dome_env *env, const dome_change_demand *demand);

/* Why this program cannot have so many tasks, the same on all of them: a static text, or NULL. */
const char *dome__change_objection(const dome_env *env, int size);

/* Why it keeps its tasks, which only task 0 knows: g_free'd, or NULL. */
char *dome__change_never(const dome_env *env);

/* Tells the hub that the program goes on as it was. */
void dome__change_refuse(dome_env *env, uint64_t order, const char *why);

/* The same for an order (0: none), and for the program's own request (0: none), by a line. */
void dome__change_say_no(dome_env *env, uint64_t order, int resize, const char *why);

#endif
