#include "supervision/trail_frame.h"

#include "supervision/wire.h"

void dome__trail_put(const dome_trail *trail, uint64_t last, GByteArray *frame)
{
    dome_trail_entry e;
    for (uint64_t s = last; s > 0 && last - s < DOME_TRAIL_LENGTH && frame->len < DOME_WIRE_MAX - 4096; s--) {
        if (!dome__trail_take(trail, s, &e))
            break;
        char **arguments, *text = dome__trail_call(trail->names, &e, &arguments);
        dome__wire_put_u64(frame, s);
        dome__wire_put_u64(frame, e.history);
        dome__wire_put_string(frame, text);
        dome__wire_put_u32(frame, g_strv_length(arguments));
        for (char **a = arguments; *a; a++)
            dome__wire_put_string(frame, *a);
        g_strfreev(arguments);
        g_free(text);
    }
}
