/* The first part of dome_init: makes this process one of the program's tasks, and opens the transport between them. */
#ifndef DOME_SRC_START_H
#define DOME_SRC_START_H

#include "core/environment.h"

/* arguments: the program's, unchanged, because the other tasks read the same options. Prints a line and ends the process if the
 * program cannot be started. */
void dome__start(dome_env *env, char **arguments);

/* The second part of it (init.c), for a task that has left its view and enters the next one in place: it becomes a task of that
 * view, with its objects. In a boundary's operation. Fails by dome__fail. Collective. */
int dome__enter_in_place(dome_env *env);

/* What all tasks of a view do when they have found each other, in an operation (init.c). stays: this task has been in the view
 * before, and goes on where it is (go_over.h). Collective. Returns a status, after dome__fail. */
int dome__join_view(dome_env *env, bool stays);

/* Prints a line and ends the process; for failures before there is an operation to name. env may be NULL. */
void dome__start_failed(dome_env *env, int exit_status, const char *text) __attribute__((noreturn));

/* What is said to a program that calls dome_init where that has been done for it; NULL: it was the program that has called it
 * before. */
extern const char *dome__second_init;

/* Whether a status of the transport means that a task, a host or a daemon has been lost. */
bool dome__is_loss(int status);

#endif
