#include "wire/trail_frame.h"

#include "wire/wire.h"

GArray *dome__trail_calls(const dome_trail *trail, uint64_t last)
{
    GArray *calls = dome__wire_calls_new();
    dome_trail_entry e;
    for (uint64_t s = last; s > 0 && last - s < DOME_TRAIL_LENGTH && dome__trail_take(trail, s, &e); s--) {
        dome_wire_call call = {.sequence = s, .history = e.history};
        call.text = dome__trail_call(trail->names, &e, &call.arguments);
        g_array_append_val(calls, call);
    }
    return calls;
}
