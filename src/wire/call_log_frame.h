/* The call log of a task (core/call_log.h) for a message to the hub. */
#ifndef DOME_SRC_CALL_LOG_FRAME_H
#define DOME_SRC_CALL_LOG_FRAME_H

#include "core/call_log.h"

/* An array of dome_wire_call, newest first, starting with the operation `last`: number, history and the result of
 * dome__call_log_call for each. */
GArray *dome__call_log_frame(const dome_call_log *call_log, uint64_t last);

#endif
