/* The list of providers: a launcher for each, and the transport between the tasks that it starts. */
#ifndef DOME_SRC_PROVIDERS_H
#define DOME_SRC_PROVIDERS_H

#include "transport/launcher.h"
#include "transport/transport.h"

typedef struct dome_provider {
    const dome_launcher *launcher;
    const dome_transport_ops *transport;
} dome_provider;

/* The one for a program of so many tasks (0: not given): of this name, or if `name` is NULL the first of the list that fits the
 * way in which this process was started. NULL with *message (not to be freed). */
const dome_provider *dome__provider_choose(const char *name, int tasks, const char **message);

/* The first launcher of the list that can do all of this (dome_launcher_can). NULL: none can. */
const dome_launcher *dome__launcher_that_can(unsigned can);

#endif
