/* A task's part in the promise that its standard output is shown once (wire/shown.h): it tells the hub at which places of its
 * output it is saved, and from which it goes on.
 *
 *     before dome_init        what main prints goes nowhere in a process that is the program anew
 *     dome_init               BACK: the boundary from which the program goes on
 *     the last object         MADE
 *     the first update of an
 *     object, or boundary     PASS
 *     boundaries              MARK, where the program is saved
 *
 * The hub has all that was printed before it answers. */
#ifndef DOME_SRC_WATCH_ONCE_H
#define DOME_SRC_WATCH_ONCE_H

#include "core/environment.h"

/* In dome_init: from here on what the program prints is shown, here or by the hub. dropped: what main has printed so far has been
 * shown by the process before. */
void dome__once_open(bool dropped);

/* Task 0, before it greets the hub: whether its output leads there. */
void dome__once_begin(void);

/* The view begins at this loop boundary; 0: at the program's beginning. */
void dome__once_back(dome_env *env, uint64_t loop);

void dome__once_made(dome_env *env);

/* The program is about to compute new values of this object. If that is one with which it goes on, its loop has begun: what it
 * prints from now on is what it printed after the boundary, even if a line in front of the loop had the same text. */
void dome__once_updates(dome_env *env, const dome_object *object);

void dome__once_pass(dome_env *env);
void dome__once_mark(dome_env *env, uint64_t loop);

#endif
