#include "supervision/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

GByteArray *dome__wire_new(dome_wire_kind kind)
{
    GByteArray *frame = g_byte_array_sized_new(64);
    dome__wire_put_u32(frame, 0); /* length, filled in by send */
    dome__wire_put_u32(frame, kind);
    return frame;
}

void dome__wire_put_u32(GByteArray *frame, uint32_t value)
{
    value = GUINT32_TO_BE(value);
    g_byte_array_append(frame, (const guint8 *)&value, sizeof value);
}

void dome__wire_put_u64(GByteArray *frame, uint64_t value)
{
    dome__wire_put_u32(frame, (uint32_t)(value >> 32));
    dome__wire_put_u32(frame, (uint32_t)value);
}

void dome__wire_put_string(GByteArray *frame, const char *text)
{
    size_t length = strlen(text);
    if (length > DOME_WIRE_MAX / 4)
        length = DOME_WIRE_MAX / 4;
    dome__wire_put_u32(frame, (uint32_t)length);
    g_byte_array_append(frame, (const guint8 *)text, (guint)length);
}

bool dome__wire_send(int fd, GByteArray *frame)
{
    uint32_t length = GUINT32_TO_BE(frame->len - 4);
    memcpy(frame->data, &length, sizeof length);
    size_t sent = 0;
    while (sent < frame->len) {
        ssize_t n = send(fd, frame->data + sent, frame->len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    bool all = sent == frame->len;
    g_byte_array_free(frame, TRUE);
    return all;
}

int dome__wire_next(GByteArray *in, GByteArray *frame)
{
    uint32_t length;
    if (in->len < sizeof length)
        return 0;
    memcpy(&length, in->data, sizeof length);
    length = GUINT32_FROM_BE(length);
    if (length < 4 || length > DOME_WIRE_MAX)
        return -1;
    if (in->len < 4 + length)
        return 0;
    g_byte_array_set_size(frame, 0);
    g_byte_array_append(frame, in->data + 4, length);
    g_byte_array_remove_range(in, 0, 4 + length);
    return 1;
}

dome_wire_kind dome__wire_open(dome_wire_reader *reader, const GByteArray *frame)
{
    reader->at = frame->data;
    reader->end = frame->data + frame->len;
    reader->bad = false;
    return (dome_wire_kind)dome__wire_get_u32(reader);
}

uint32_t dome__wire_get_u32(dome_wire_reader *reader)
{
    uint32_t value;
    if ((size_t)(reader->end - reader->at) < sizeof value) {
        reader->bad = true;
        return 0;
    }
    memcpy(&value, reader->at, sizeof value);
    reader->at += sizeof value;
    return GUINT32_FROM_BE(value);
}

uint64_t dome__wire_get_u64(dome_wire_reader *reader)
{
    uint64_t high = dome__wire_get_u32(reader);
    return high << 32 | dome__wire_get_u32(reader);
}

char *dome__wire_get_string(dome_wire_reader *reader)
{
    uint32_t length = dome__wire_get_u32(reader);
    if (reader->bad || (size_t)(reader->end - reader->at) < length) {
        reader->bad = true;
        return g_strdup("");
    }
    char *text = g_strndup((const char *)reader->at, length);
    reader->at += length;
    return text;
}
