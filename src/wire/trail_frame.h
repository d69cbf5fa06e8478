/* The trail of a task (core/trail.h) for a message to the hub. */
#ifndef DOME_SRC_TRAIL_FRAME_H
#define DOME_SRC_TRAIL_FRAME_H

#include "core/trail.h"

/* An array of dome_wire_call, newest first, starting with the operation `last`: number, history and the result of
 * dome__trail_call for each. */
GArray *dome__trail_calls(const dome_trail *trail, uint64_t last);

#endif
