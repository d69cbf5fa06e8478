/* The trail of a task (core/trail.h) as a message to the hub. */
#ifndef DOME_SRC_TRAIL_FRAME_H
#define DOME_SRC_TRAIL_FRAME_H

#include "core/trail.h"

/* Appends to a DOME_WIRE_TRAIL, newest first from the operation `last` on, as much as a frame holds: for each its number, the
 * history and what dome__trail_call says. */
void dome__trail_put(const dome_trail *trail, uint64_t last, GByteArray *frame);

#endif
