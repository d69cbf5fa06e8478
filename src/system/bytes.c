#include "system/bytes.h"

void dome__append_bytes(GByteArray *to, const void *data, size_t bytes)
{
    if (bytes > 0)
        g_byte_array_append(to, data, (guint)bytes);
}

void dome__append_u32(GByteArray *to, uint32_t value)
{
    uint8_t bytes[sizeof value];
    dome__put_u32(bytes, value);
    g_byte_array_append(to, bytes, sizeof bytes);
}

void dome__append_u64(GByteArray *to, uint64_t value)
{
    uint8_t bytes[sizeof value];
    dome__put_u64(bytes, value);
    g_byte_array_append(to, bytes, sizeof bytes);
}

void dome__append_f64(GByteArray *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    dome__append_u64(to, bits);
}

void dome__append_text(GByteArray *to, const char *text, size_t most)
{
    size_t length = text ? strlen(text) : 0;
    length = MIN(length, most);
    dome__append_u32(to, (uint32_t)length);
    dome__append_bytes(to, text, length);
}

uint8_t *dome__put_leb128(uint8_t *to, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

size_t dome__leb128_bytes(uint64_t value)
{
    size_t bytes = 1;
    for (; value > 0x7f; value >>= 7)
        bytes++;
    return bytes;
}

void dome__append_leb128(GByteArray *to, uint64_t value)
{
    uint8_t bytes[DOME_LEB128_MOST];
    dome__append_bytes(to, bytes, (size_t)(dome__put_leb128(bytes, value) - bytes));
}

dome_bytes dome__bytes_of(const void *data, size_t bytes)
{
    const uint8_t *begin = data ? data : (const void *)""; /* nothing has no address, and none can be added to it */
    return (dome_bytes){.at = begin, .end = begin + bytes};
}

const void *dome__read_bytes(dome_bytes *from, uint64_t bytes)
{
    if (from->bad || (uint64_t)(from->end - from->at) < bytes) {
        from->bad = true;
        return NULL;
    }
    const void *data = from->at;
    from->at += bytes;
    return data;
}

uint32_t dome__read_u32(dome_bytes *from)
{
    const void *data = dome__read_bytes(from, sizeof(uint32_t));
    return data ? dome__get_u32(data) : 0;
}

uint64_t dome__read_u64(dome_bytes *from)
{
    const void *data = dome__read_bytes(from, sizeof(uint64_t));
    return data ? dome__get_u64(data) : 0;
}

double dome__read_f64(dome_bytes *from)
{
    uint64_t bits = dome__read_u64(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t dome__read_leb128(dome_bytes *from)
{
    enum { BITS = 7, LAST = 63 }; /* the last byte of the longest has one bit */
    uint64_t value = 0;
    for (unsigned shift = 0; !from->bad && from->at < from->end && shift <= LAST; shift += BITS) {
        const uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if ((byte > 0 || shift == 0) && (byte <= 1 || shift < LAST))
            return value;
        break;
    }
    from->bad = true;
    return 0;
}

char *dome__read_text(dome_bytes *from)
{
    const char *text = dome__read_bytes(from, dome__read_u32(from));
    return text && !from->bad ? g_strndup(text, (size_t)(from->at - (const uint8_t *)text)) : g_strdup("");
}

bool dome__read_all(const dome_bytes *from)
{
    return !from->bad && from->at == from->end;
}
