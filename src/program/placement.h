/* Keeping tasks on processors of their own. */
#ifndef DOME_SRC_PLACEMENT_H
#define DOME_SRC_PLACEMENT_H

#include "core/options.h"

#include <stdbool.h>

/* Binds this thread, and those it starts from now on, to one of the processors that it may use: that of the place among so many
 * tasks of this host, spread over them. False, and nothing is changed, where tasks are more than processors or the system
 * refuses. */
bool dome__bind_to_core(int place, int tasks);

#endif
