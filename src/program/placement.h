/* Binds tasks to processors. */
#ifndef DOME_SRC_PLACEMENT_H
#define DOME_SRC_PLACEMENT_H

#include "core/options.h"

#include <stdbool.h>

/* Binds this thread, and those it starts later, to one of the processors that it may use. place: this task's position among the
 * `tasks` of this host, which are spread over the processors. Returns false and changes nothing if there are more tasks than
 * processors, or the system refuses. */
bool dome__bind_to_core(int place, int tasks);

#endif
