/* The first part of dome_init: this process becomes one of the program's tasks, and the transport between them stands. */
#ifndef DOME_SRC_START_H
#define DOME_SRC_START_H

#include "core/environment.h"

/* arguments: of the program as they were given, as the other tasks read the same options. Ends the process with a line if the
 * program cannot be started. */
void dome__start(dome_env *env, char **arguments);

/* Ends the process with a line: before the environment stands there is no operation to name. env may be NULL. */
void dome__start_failed(dome_env *env, int exit_status, const char *text) __attribute__((noreturn));

#endif
