/* Views: a view is the list of members of a program with a number. A program that changes its number of tasks enters the next
 * view. This is the hub's side as a state machine: messages go in, each returns at most one thing to do. It knows neither
 * connections nor time.
 *
 *     STEADY    all tasks compute
 *     ASKING    a user wants another number of tasks. Every task was told to hold at its next loop boundary, and answers how many
 *               it has passed
 *     ORDERED   all have answered: no task has passed the boundary after the highest answer, so all can change there
 *     ENTERING  tasks have announced that they go over into the next view, by a plan of its members (view_plan.h). Those that
 *               stay become the program anew by exec, and come back; others leave, or are started
 *
 * A program that asks by itself (dome_resize) needs no order: its tasks know, and the first announcement leads to ENTERING from
 * any state.
 *
 * A program that polls between its operations (src/capture) also meets at a boundary without changing, to write a checkpoint:
 * the order then is the plan of the same members, and task 0 answers it by a refusal. A user's order for which it finds no place
 * at that boundary is postponed: tasks try it again at later ones by themselves. It is STEADY meanwhile, so they can meet.
 *
 * A loss either ends the whole, or is healed, in any phase: all tasks that are left go back, which is ENTERING again, into a view
 * in which newcomers take the places of the lost. Nothing is announced then: tasks are told. If a loss interrupts a change, the
 * view that the change leads to is healed: tasks on their way into it are told again when they greet. A view that heals skips one
 * number: tasks may have begun a change of their own before they are told, and that change has the number between. Or the others
 * go on without the lost ones: then ranks change, and a view that was interrupted keeps what they have become.
 *
 * If only newcomers are lost before the view stands, nothing of the program is lost, and the change is taken back. Tasks of the
 * interrupted view go over into one with the members of the view before, with the state that they carry. Until the hub has said
 * that a view stands, its tasks leave that state as it is.
 */
#ifndef DOME_SRC_VIEW_H
#define DOME_SRC_VIEW_H

#include "wire/view_plan.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum dome_view_phase { DOME_VIEW_STEADY, DOME_VIEW_ASKING, DOME_VIEW_ORDERED, DOME_VIEW_ENTERING } dome_view_phase;

typedef struct dome_view_task {
    bool answered;  /* to the present order */
    uint64_t loop;  /* its answer */
    bool announced; /* it goes over into the next view, or leaves */
    int next;       /* ENTERING: its rank in the next view; -1: it leaves */
} dome_view_task;

/* A member of the next view. */
typedef struct dome_view_arrival {
    bool here; /* it has come */
    int id;    /* its launcher's id there */
} dome_view_arrival;

/* A view that was interrupted by a loss, after which the others go on without the lost. */
typedef struct dome_view_past {
    uint32_t number;
    int size, *next; /* by rank there: the rank in the next view; -1: none */
} dome_view_past;

typedef struct dome_view {
    uint32_t number; /* of the present view, from 0 */
    int size;        /* its tasks; 0: the program is still starting */
    int least, most; /* --dome-min, --dome-max; most 0: no limit */
    dome_view_phase phase;
    bool asked;                  /* a user waits for an answer */
    uint64_t order;              /* number of the last order, from 1 */
    dome_view_plan wanted;       /* by that order */
    uint64_t late_order;         /* a user's order that is postponed; 0: none */
    dome_view_plan late;         /* its plan */
    uint32_t next_number;        /* ENTERING: of the next view */
    dome_view_plan next;         /* its plan */
    bool healing;                /* ENTERING after a loss */
    bool returns;                /* ENTERING a view that takes a change back */
    dome_view_task *tasks;       /* by rank in the present view */
    dome_view_arrival *arrivals; /* ENTERING: by rank in the next view */
    GArray *past;                /* ENTERING: of dome_view_past, by number; NULL: none */
} dome_view;

typedef enum dome_view_action {
    DOME_VIEW_NOTHING,
    DOME_VIEW_HOLD,    /* tell all tasks to hold at their next boundary: order */
    DOME_VIEW_TARGET,  /* tell all tasks at which boundary to change, and how: order, loop, and the plan `wanted` */
    DOME_VIEW_MEMBERS, /* tell task 0 the ids of the tasks that have come back */
    DOME_VIEW_DONE,    /* answer the user: text */
    DOME_VIEW_REFUSED, /* answer the user: text */
    DOME_VIEW_AGAIN,   /* the task is on its way into a view that was interrupted: tell it where to go */
    DOME_VIEW_WRONG    /* the message fits nothing: its sender is not of this view */
} dome_view_action;

typedef struct dome_view_act {
    dome_view_action action;
    uint64_t order, loop;
    char *text; /* g_free'd by the caller */
} dome_view_act;

void dome__view_init(dome_view *view);
void dome__view_clear(dome_view *view);

/* A user wants these members; the plan is taken over. Task 0 stays what it is. */
dome_view_act dome__view_ask(dome_view *view, dome_view_plan *plan);

/* All tasks are to meet at a boundary, without a change. Nothing, if the program cannot now: ask again later. */
dome_view_act dome__view_meet(dome_view *view);

/* Whether they are about to. A user's order waits meanwhile. */
bool dome__view_meets(const dome_view *view);

/* A task holds at its next boundary, and has passed (or entered) so many. */
dome_view_act dome__view_held(dome_view *view, int rank, uint64_t order, uint64_t loop);

/* Whether a user's order would be taken: nothing else is about to happen. */
bool dome__view_is_free(const dome_view *view);

/* Whether the hub has ordered this plan. */
bool dome__view_has_ordered(const dome_view *view, const dome_view_plan *plan);

/* The program cannot change here, and tries again at later boundaries. */
dome_view_act dome__view_postpone(dome_view *view, uint64_t order);

/* The program cannot change, and goes on as it was. Order 0: its own request. */
dome_view_act dome__view_refuse(dome_view *view, uint64_t order, const char *why);

/* A task goes over into view `number`, which is made by this plan. */
dome_view_act dome__view_announce(dome_view *view, int rank, uint32_t number, const dome_view_plan *plan);

/* A task greets from view `number`. */
dome_view_act dome__view_greet(dome_view *view, int rank, uint32_t number, int id);

/* All tasks of view `number` have joined, as task 0 says. */
dome_view_act dome__view_stands(dome_view *view, uint32_t number, int size, int least, int most);

/* The program has ended, or is about to. */
dome_view_act dome__view_end(dome_view *view);

/* Tasks are lost: makes the next view, into which those that are left must be told to go back. lost: by rank in the view that is
 * to be healed, of dome__view_healed_size tasks; dome__view_place tells these ranks. hosts: where newcomers are started, or NULL:
 * anywhere. The text of the act is for a user whose order is dropped. */
dome_view_act dome__view_heal(dome_view *view, const bool *lost, const char *const *hosts);
int dome__view_healed_size(const dome_view *view);

/* The same, but the others go on without the lost tasks (dome__view_plan_without). */
dome_view_act dome__view_go_on(dome_view *view, const bool *lost);

/* Whether the change under way can be taken back when these tasks are lost: newcomers alone. lost: by rank in the next view. */
bool dome__view_can_take_back(const dome_view *view, const bool *lost);

/* Takes it back. hosts: of the tasks of the present view, by rank: where they are started again that have left. why: for a user
 * whose order it was. Tell those that have come into the next view to go over; those on their way are told when they greet. */
dome_view_act dome__view_take_back(dome_view *view, const char *const *hosts, const char *why);

/* Whether a task of the present view is between two views: its process goes on, without a connection. */
bool dome__view_away(const dome_view *view, int rank);

/* The rank in the newest view, which is the next one while ENTERING, of a task that has this rank in view `number`; -1: it is not
 * in it. */
int dome__view_place(const dome_view *view, uint32_t number, int rank);

#endif
