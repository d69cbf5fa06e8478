/* Loop boundaries: what is due there, a checkpoint, an order of the hub or a request of the program for another number of tasks.
 *
 * dome_checkpoint in two steps, for a program that is saved inside its calls (src/capture): between them its functions return,
 * and what they have becomes an object. */
#ifndef DOME_SRC_BOUNDARY_H
#define DOME_SRC_BOUNDARY_H

#include <dome/env.h>

#include <stdbool.h>
#include <stddef.h>

/* The state of an environment's boundaries. */
typedef struct dome_boundary dome_boundary;
dome_boundary *dome__boundary_new(void);
void dome__boundary_free(dome_boundary *boundary);

/* In dome_init, at its end: the program is at its beginning, or goes on from a boundary. */
void dome__boundary_begin(dome_env *env);

/* The task is at a loop boundary. *due: a checkpoint or a change of the number of tasks is, and dome__boundary_pass must follow.
 * Collective. */
dome_status dome__boundary_reach(dome_env *env, bool *due);

/* The same at a poll of a program that polls after each operation: it costs little as long as nothing is due. asked: what
 * dome__boundary_ask has returned. */
dome_status dome__boundary_poll(dome_env *env, bool asked, bool *due);

/* This task wants a checkpoint: the hub then chooses the first poll that no task has passed. True: there is no hub, because there
 * is no other task, and it may be at the next poll. */
bool dome__boundary_ask(dome_env *env);

/* Does it; with a status other than DOME_OK (the program's state is not in objects) it refuses what was ordered and fails by that
 * status. bound: why the program cannot go on with another number of tasks, the same text on all tasks; NULL: it can.
 * Collective; does not return if the program enters another view. */
dome_status dome__boundary_pass(dome_env *env, dome_status status, const char *bound);

/* The program goes on from a checkpoint, or from the view before. bound: by the same number of tasks only. */
void dome__boundary_restored(dome_env *env, bool bound);

/* In dome_finalize: there is no other boundary for what waits. */
void dome__boundary_end(dome_env *env);

/* Function k that dome_on_view was given in this view, and its data; NULL: there are no more. */
dome_view_function dome__boundary_function(const dome_env *env, size_t k, void **data);

#endif
