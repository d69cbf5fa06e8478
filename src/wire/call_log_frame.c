#include "wire/call_log_frame.h"

#include "wire/wire.h"

GArray *dome__call_log_frame(const dome_call_log *call_log, uint64_t last)
{
    GArray *calls = dome__wire_calls_new();
    dome_call_log_entry e;
    for (uint64_t s = last; s > 0 && last - s < DOME_CALL_LOG_LENGTH && dome__call_log_take(call_log, s, &e); s--) {
        dome_wire_call call = {.sequence = s, .history = e.history};
        call.text = dome__call_log_call(call_log->names, &e, &call.arguments);
        g_array_append_val(calls, call);
    }
    return calls;
}
