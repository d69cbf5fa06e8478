/* Messages between tasks and the hub: whatever arrives is refused, or is a message that becomes the same bytes again, if its
 * texts are not longer than those that are sent. */
#include "wire/wire.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frames become stable after one round: a text with a zero byte ends there, and a long one is cut. */
static void check(const dome_wire_message *message)
{
    dome_wire_message second, third;
    GByteArray *once = dome__wire_frame(message), *in = g_byte_array_new();
    if (once->len > 4 + DOME_WIRE_MAX)
        abort();
    g_byte_array_append(in, once->data, once->len);
    if (dome__wire_next(in, NULL, &second) != 1 || in->len != 0 || second.kind != message->kind)
        abort();
    GByteArray *twice = dome__wire_frame(&second);
    if (twice->len != once->len || memcmp(twice->data, once->data, once->len) != 0)
        abort();
    if (dome__wire_next(twice, NULL, &third) != 1)
        abort();
    dome__wire_clear(&second);
    dome__wire_clear(&third);
    g_byte_array_unref(once);
    g_byte_array_unref(twice);
    g_byte_array_unref(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GByteArray *in = g_byte_array_new();
    dome_wire_message message;
    g_byte_array_append(in, data, (guint)size);
    while (dome__wire_next(in, NULL, &message) > 0) {
        check(&message);
        dome__wire_clear(&message);
    }
    g_byte_array_free(in, TRUE);
    return 0;
}
