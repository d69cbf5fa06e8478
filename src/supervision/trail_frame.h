/* The trail of a task (core/trail.h) for a message to the hub. */
#ifndef DOME_SRC_TRAIL_FRAME_H
#define DOME_SRC_TRAIL_FRAME_H

#include "core/trail.h"

/* Of dome_wire_call, newest first from the operation `last` on: for each its number, its history and what dome__trail_call says.
 */
GArray *dome__trail_calls(const dome_trail *trail, uint64_t last);

#endif
