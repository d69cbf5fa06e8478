/* Frames between tasks and the hub: whatever arrives is a frame or is refused. */
#include "supervision/wire.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GByteArray *in = g_byte_array_new(), *frame = g_byte_array_new();
    g_byte_array_append(in, data, (guint)size);
    while (dome__wire_next(in, frame) > 0) {
        dome_wire_reader reader;
        dome__wire_open(&reader, frame);
        while (!reader.bad && reader.at < reader.end) {
            char *text = dome__wire_get_string(&reader);
            if (strlen(text) > DOME_WIRE_MAX)
                abort();
            g_free(text);
            dome__wire_get_u64(&reader);
        }
        if (reader.at > reader.end)
            abort();
    }
    g_byte_array_free(in, TRUE);
    g_byte_array_free(frame, TRUE);
    return 0;
}
