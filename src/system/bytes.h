/* Numbers and texts as bytes, for messages and files: big-endian unless a name says le. There are three sets of functions: put
 * and get at an address where the caller guarantees enough room; append to a GByteArray; read in order from untrusted bytes. */
#ifndef DOME_SRC_BYTES_H
#define DOME_SRC_BYTES_H

#include <glib.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- at an address, of any alignment ---- */

static inline void dome__put_u32(void *to, uint32_t value)
{
    value = GUINT32_TO_BE(value);
    memcpy(to, &value, sizeof value);
}

static inline void dome__put_u64(void *to, uint64_t value)
{
    value = GUINT64_TO_BE(value);
    memcpy(to, &value, sizeof value);
}

static inline uint32_t dome__get_u32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return GUINT32_FROM_BE(value);
}

static inline uint64_t dome__get_u64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return GUINT64_FROM_BE(value);
}

static inline uint16_t dome__get_le_u16(const void *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return GUINT16_FROM_LE(value);
}

static inline uint32_t dome__get_le_u32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return GUINT32_FROM_LE(value);
}

static inline uint64_t dome__get_le_u64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return GUINT64_FROM_LE(value);
}

static inline void dome__put_le_u32(void *to, uint32_t value)
{
    value = GUINT32_TO_LE(value);
    memcpy(to, &value, sizeof value);
}

static inline void dome__put_le_u64(void *to, uint64_t value)
{
    value = GUINT64_TO_LE(value);
    memcpy(to, &value, sizeof value);
}

/* ---- appended ---- */

void dome__append_u32(GByteArray *to, uint32_t value);
void dome__append_u64(GByteArray *to, uint64_t value);
void dome__append_f64(GByteArray *to, double value);
void dome__append_bytes(GByteArray *to, const void *data, size_t bytes);

/* Appends the text's length as u32, then its bytes; a text of more than `most` bytes is truncated. NULL becomes the empty
 * text. */
void dome__append_text(GByteArray *to, const char *text, size_t most);

/* Appends a number in as few bytes as it needs: seven bits in each, the lowest first, the highest bit of each but the last set
 * (unsigned LEB128, as in DWARF and WebAssembly). */
void dome__append_leb128(GByteArray *to, uint64_t value);

/* The same at an address; returns the one behind it. Of the largest number DOME_LEB128_MOST bytes. */
uint8_t *dome__put_leb128(uint8_t *to, uint64_t value);
size_t dome__leb128_bytes(uint64_t value);
enum { DOME_LEB128_MOST = 10 };

/* ---- read in order ---- */

/* The unread rest of a message. Reading past its end sets `bad`, and from then on returns 0 or an empty text: a caller reads all
 * fields, then checks `bad` once. */
typedef struct dome_bytes {
    const uint8_t *at, *end;
    bool bad;
} dome_bytes;

dome_bytes dome__bytes_of(const void *data, size_t bytes);
uint32_t dome__read_u32(dome_bytes *from);
uint64_t dome__read_u64(dome_bytes *from);
double dome__read_f64(dome_bytes *from);
uint64_t dome__read_leb128(dome_bytes *from);                   /* bad, too, if it has more bytes than it needs */
const void *dome__read_bytes(dome_bytes *from, uint64_t bytes); /* points into the message; NULL if fewer bytes are left */
char *dome__read_text(dome_bytes *from);                        /* g_free'd by the caller; never NULL */

/* Whether all fields were present, and nothing follows them. */
bool dome__read_all(const dome_bytes *from);

#endif
