/* The list of providers: each is a launcher and the transport between the tasks that it starts. */
#ifndef DOME_SRC_PROVIDERS_H
#define DOME_SRC_PROVIDERS_H

#include "transport/launcher.h"
#include "transport/transport.h"

typedef struct dome_provider {
    const dome_launcher *launcher;
    const dome_transport_ops *transport;
} dome_provider;

/* The provider for a program of so many tasks (0: not given): the one of this name, or, if `name` is NULL, the first whose
 * launcher fits how this process was started. NULL with *message (not to be freed). */
const dome_provider *dome__provider_choose(const char *name, int tasks, const char **message);

/* The title of the provider of several tasks: of the first in the list, or of the one that this library was built without. */
const char *dome__provider_title(void);

/* The first launcher of the list with all of these capabilities (dome_launcher_can); NULL if there is none. */
const dome_launcher *dome__launcher_that_can(unsigned can);

#endif
