#include "capture/zeros.h"

#include "system/bytes.h"

enum { FIELD_BITS = 4, FIELD_MOST = 15 };

static uint64_t zeros_at(const uint8_t *bytes, uint64_t at, uint64_t length)
{
    const uint64_t first = at;
    while (at < length && bytes[at] == 0)
        at++;
    return at - first;
}

/* Up to the next two zeros: a single one takes as many bytes as a new piece. */
static uint64_t others_at(const uint8_t *bytes, uint64_t at, uint64_t length)
{
    const uint64_t first = at;
    while (at < length && (bytes[at] != 0 || (at + 1 < length && bytes[at + 1] != 0)))
        at++;
    return at - first;
}

void dome__capture_zeros_leave_out(GByteArray *to, uint8_t kind, const uint8_t *bytes, uint64_t length)
{
    dome__append_bytes(to, &kind, sizeof kind);
    dome__append_leb128(to, length);
    for (uint64_t at = 0; at < length;) {
        const uint64_t zeros = zeros_at(bytes, at, length), others = others_at(bytes, at + zeros, length);
        const uint8_t piece = (uint8_t)(MIN(zeros, FIELD_MOST) << FIELD_BITS | MIN(others, FIELD_MOST));
        dome__append_bytes(to, &piece, sizeof piece);
        if (zeros >= FIELD_MOST)
            dome__append_leb128(to, zeros - FIELD_MOST);
        if (others >= FIELD_MOST)
            dome__append_leb128(to, others - FIELD_MOST);
        dome__append_bytes(to, bytes + at + zeros, others);
        at += zeros + others;
    }
}

static uint64_t read_field(unsigned field, dome_bytes *from)
{
    const uint64_t more = field == FIELD_MOST ? dome__read_leb128(from) : 0;
    from->bad |= more > DOME_CAPTURE_ZEROS_MOST;
    return from->bad ? 0 : field + more;
}

uint8_t *dome__capture_zeros_put_back(const uint8_t *bytes, uint64_t count, uint64_t *length)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)count);
    *length = dome__read_leb128(&from);
    if (from.bad || *length == 0 || *length > DOME_CAPTURE_ZEROS_MOST)
        return NULL;
    uint8_t *to = g_malloc0((gsize)*length);
    for (uint64_t at = 0; at < *length;) {
        const uint8_t *piece = dome__read_bytes(&from, sizeof *piece);
        const uint64_t zeros = read_field(piece ? *piece >> FIELD_BITS : 0, &from),
                       others = read_field(piece ? *piece & FIELD_MOST : 0, &from);
        const uint8_t *rest = dome__read_bytes(&from, others);
        from.bad |= zeros + others == 0 || zeros + others > *length - at;
        if (from.bad)
            break;
        memcpy(to + at + zeros, rest, (size_t)others);
        at += zeros + others;
    }
    if (dome__read_all(&from))
        return to;
    g_free(to);
    return NULL;
}
