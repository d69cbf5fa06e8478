/* A task's side of an order to change the number of tasks (view.h): its watcher hears the order, its main thread holds at a loop
 * boundary until it is known at which boundary all tasks change. Counting boundaries costs an atomic addition.
 *
 * The two threads use no lock, because their two steps are in opposite order:
 *
 *     main thread    counts the boundary   then looks for an order
 *     watcher        notes the order       then reads the count
 *
 *     order noted before the look    the main thread sees it, and holds at this boundary
 *     order noted after the look     the count that the watcher reads includes this boundary, so the target lies after it
 *
 * If operations do not make tasks wait for each other, task 0 may have answered an order at its boundary, and the next order may
 * arrive, before this task has come to that boundary: orders stand in a queue. The target of the next one is later, because task
 * 0 has counted the boundary. */
#ifndef DOME_SRC_HOLD_H
#define DOME_SRC_HOLD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct dome_hold dome_hold;

dome_hold *dome__hold_new(void);
void dome__hold_free(dome_hold *hold);

/* ---- the watcher ---- */

/* Notes an order, which replaces one whose target is not known; returns how many boundaries the task has passed or entered. */
uint64_t dome__hold_order(dome_hold *hold, uint64_t order);

/* All tasks change at boundary `loop` by this plan (view_plan.h). */
void dome__hold_target(dome_hold *hold, uint64_t order, uint64_t loop, const char *plan);

/* The ids of the tasks that have come back into this view, separated by blanks, by rank; 0: a newcomer. */
void dome__hold_members(dome_hold *hold, const char *ids);

/* The hub's answer about the newcomers that task 0 wanted. */
void dome__hold_standby(dome_hold *hold, const char *line);

/* The hub's answer about the task's output. */
void dome__hold_shown(dome_hold *hold, uint64_t answer);

/* The hub knows that this view stands. */
void dome__hold_stands(dome_hold *hold);

/* ---- the main thread ---- */

/* Counts a boundary. Returns the plan by which to change here (g_free'd), with the number of the order; NULL: none. After an
 * order it waits until the target is known; the hub tells it as soon as all watchers have answered, or ends the program. */
char *dome__hold_pass(dome_hold *hold, uint64_t *order);

uint64_t dome__hold_passed(const dome_hold *hold);

/* Waits for the ids of the n members of this view; false if they do not come within so many seconds. */
bool dome__hold_wait_members(dome_hold *hold, int *ids, int n, double seconds);

/* Waits for what the hub says of newcomers (g_free'd); NULL: it has not come within so many seconds. */
char *dome__hold_wait_standby(dome_hold *hold, double seconds);

/* Waits for what the hub answers about the task's output; false as above. */
bool dome__hold_wait_shown(dome_hold *hold, double seconds, uint64_t *answer);

/* Waits until the hub knows that this view stands; false as above. */
bool dome__hold_wait_stands(dome_hold *hold, double seconds);

#endif
