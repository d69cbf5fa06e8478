/* The plan of a view: for each rank of the next view, the rank that the task has in the view before, or none for a newcomer. A
 * plan is made by the hub or, where all tasks ask for it (dome_resize), by each task alike; these are pure functions.
 *
 *     "0 1 - -@h7"    the text form: ranks 0 and 1 stay, rank 2 is started anywhere, rank 3 on host h7
 *
 * Tasks of the view before that no rank names leave. */
#ifndef DOME_SRC_VIEW_PLAN_H
#define DOME_SRC_VIEW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Instead of a rank: the task is started. */
enum { DOME_VIEW_NEWCOMER = -1 };

typedef struct dome_view_member {
    int before;       /* its rank in the view before, or DOME_VIEW_NEWCOMER */
    const char *host; /* of a newcomer: a name (g_intern_string); NULL: anywhere */
} dome_view_member;

typedef struct dome_view_plan {
    int size; /* 0: there is no plan */
    dome_view_member *members;
} dome_view_plan;

/* ---- making plans: all are cleared by the caller ---- */

/* `more` newcomers after the tasks that are there. host: where; NULL: anywhere. */
dome_view_plan dome__view_plan_grow(int size, int more, const char *host);

/* The highest ranks leave. */
dome_view_plan dome__view_plan_shrink(int size, int tasks);

/* One of these two; the same tasks if their number does not change. */
dome_view_plan dome__view_plan_resize(int size, int tasks);

/* Newcomers take the places of the lost tasks. hosts: by rank, where they were, or NULL: anywhere. */
dome_view_plan dome__view_plan_replace(int size, const bool *lost, const char *const *hosts);

/* The other tasks go on without the lost ones, in the order of their ranks. A newcomer takes the place of task 0. */
dome_view_plan dome__view_plan_without(int size, const bool *lost);

/* Newcomers on host `to` take the places of all tasks of host `from`. No plan if there are none. hosts: by rank. */
dome_view_plan dome__view_plan_move(int size, const char *const *hosts, const char *from, const char *to);

dome_view_plan dome__view_plan_copy(const dome_view_plan *plan);
void dome__view_plan_clear(dome_view_plan *plan);

/* ---- reading plans ---- */

bool dome__view_plan_equal(const dome_view_plan *a, const dome_view_plan *b);

/* The rank in the next view of a task with this rank in the view before; -1: it leaves. */
int dome__view_plan_next(const dome_view_plan *plan, int before);

/* Whether anyone stays, leaves or comes. size: of the view before. */
bool dome__view_plan_changes(const dome_view_plan *plan, int size);

/* How many members are newcomers. */
int dome__view_plan_newcomers(const dome_view_plan *plan);

/* The text form; g_free'd. */
char *dome__view_plan_text(const dome_view_plan *plan);

/* False if the text is not that of a plan for a view after one of `size` tasks (0: any): a rank that is named twice, say. */
bool dome__view_plan_parse(const char *text, int size, dome_view_plan *plan);

#endif
