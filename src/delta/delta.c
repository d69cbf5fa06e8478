/* The records of a delta: writing and reading them. */
#include "delta/delta_private.h"
#include "system/bytes.h"

#include <glib.h>
#include <string.h>

enum { ONE, RANGE, MAP, FULL };
enum { KIND_BITS = 2, KIND = 3, GAP_MOST = 63 };

/* The longest head: the tag, more, and a map or the count of a FULL record. */
enum { HEAD_MOST = 1 + DOME_LEB128_MOST + 8 };

static void make_room(dome_delta *delta, size_t bytes)
{
    if (delta->room - delta->used >= bytes)
        return;
    delta->room = MAX(delta->used + bytes, delta->room + delta->room / 2 + 4096);
    delta->bytes = g_realloc(delta->bytes, delta->room);
}

dome_delta *dome__delta_new(unsigned unit)
{
    g_assert(unit == 1 || unit == 2 || unit == 4 || unit == 8);
    dome_delta *delta = g_new0(dome_delta, 1);
    delta->unit = unit;
    make_room(delta, 64);
    return delta;
}

void dome__delta_free(dome_delta *delta)
{
    if (delta)
        g_free(delta->bytes);
    g_free(delta);
}

void dome__delta_clear(dome_delta *delta)
{
    delta->used = delta->full_at = 0;
    delta->units = delta->next = delta->end = 0;
}

unsigned dome__delta_unit(const dome_delta *delta)
{
    return delta->unit;
}

uint64_t dome__delta_units(const dome_delta *delta)
{
    return delta->units;
}

const void *dome__delta_records(const dome_delta *delta, size_t *bytes)
{
    *bytes = delta->used;
    return delta->bytes;
}

/* ---- writing ---- */

/* Writes the tag of a record whose group has this index. */
static uint8_t *put_tag(dome_delta *delta, uint64_t index, unsigned kind)
{
    uint8_t *to = delta->bytes + delta->used;
    uint64_t gap = index - delta->next;
    *to = (uint8_t)(MIN(gap, GAP_MOST) << KIND_BITS | kind);
    return gap < GAP_MOST ? to + 1 : dome__put_leb128(to + 1, gap - GAP_MOST);
}

/* Units of the record whose last group has this index and these units. */
static void count(dome_delta *delta, uint64_t index, uint64_t mask, uint64_t units)
{
    delta->units += units;
    delta->next = index + 1;
    delta->end = index * DOME_DELTA_GROUP + 64 - (unsigned)__builtin_clzll(mask);
}

static uint8_t *close_head(dome_delta *delta, uint8_t *values, uint64_t units)
{
    delta->used = (size_t)(values - delta->bytes) + units * delta->unit;
    return values;
}

uint8_t *dome__delta_put_full(dome_delta *delta, uint64_t index, uint64_t groups)
{
    make_room(delta, HEAD_MOST + groups * DOME_DELTA_GROUP * delta->unit);
    uint64_t before = delta->full_at && index == delta->next ? dome__get_le_u32(delta->bytes + delta->full_at) : 0;
    uint8_t *to = delta->bytes + delta->used;
    if (!before || before + groups > UINT32_MAX) {
        to = put_tag(delta, index, FULL);
        delta->full_at = (size_t)(to - delta->bytes);
        to += 4;
        before = 0;
    }
    dome__put_le_u32(delta->bytes + delta->full_at, (uint32_t)(before + groups));
    count(delta, index + groups - 1, UINT64_MAX, groups * DOME_DELTA_GROUP);
    return close_head(delta, to, groups * DOME_DELTA_GROUP);
}

uint8_t *dome__delta_put(dome_delta *delta, uint64_t index, uint64_t mask)
{
    if (mask == UINT64_MAX)
        return dome__delta_put_full(delta, index, 1);
    make_room(delta, HEAD_MOST + DOME_DELTA_GROUP * delta->unit);
    delta->full_at = 0;
    unsigned first = (unsigned)__builtin_ctzll(mask), units = dome__delta_bits(mask);
    uint64_t run = mask >> first;
    unsigned kind = units == 1 ? ONE : run & (run + 1) ? MAP : RANGE;
    uint8_t *to = put_tag(delta, index, kind);
    if (kind == MAP) {
        dome__put_le_u64(to, mask);
        to += 8;
    } else {
        *to++ = (uint8_t)first;
        if (kind == RANGE)
            *to++ = (uint8_t)(units - 1);
    }
    count(delta, index, mask, units);
    return close_head(delta, to, units);
}

/* ---- reading ---- */

dome_delta_reader dome__delta_reader(const dome_delta *delta)
{
    return (dome_delta_reader){delta->bytes, delta->bytes + delta->used, delta->unit, 0, false};
}

static uint64_t read_byte(dome_bytes *from)
{
    const uint8_t *byte = dome__read_bytes(from, 1);
    return byte ? *byte : 0;
}

static uint64_t read_count(dome_bytes *from)
{
    const void *at = dome__read_bytes(from, 4);
    return at ? dome__get_le_u32(at) : 0;
}

static uint64_t read_map(dome_bytes *from)
{
    const void *at = dome__read_bytes(from, 8);
    return at ? dome__get_le_u64(at) : 0;
}

/* The units of a ONE or RANGE record. */
static uint64_t read_range(dome_bytes *from, bool one)
{
    uint64_t first = read_byte(from), units = one ? 1 : read_byte(from) + 1;
    if (first + units > DOME_DELTA_GROUP || units >= DOME_DELTA_GROUP) {
        from->bad = true;
        return 0;
    }
    return ((UINT64_C(1) << units) - 1) << first;
}

static void read_body(dome_bytes *from, unsigned kind, dome_delta_part *part)
{
    part->groups = 1;
    part->mask = UINT64_MAX;
    if (kind == FULL)
        part->groups = read_count(from);
    else
        part->mask = kind == MAP ? read_map(from) : read_range(from, kind == ONE);
    from->bad |= !part->mask || !part->groups;
}

/* The gap before a record. No memory has more groups than this. */
static uint64_t read_gap(dome_bytes *from, uint8_t tag)
{
    const uint64_t most = UINT64_MAX / ((uint64_t)16 * DOME_DELTA_GROUP);
    uint64_t gap = tag >> KIND_BITS;
    uint64_t more = gap == GAP_MOST ? dome__read_leb128(from) : 0;
    from->bad |= more > most;
    return from->bad ? 0 : gap + more;
}

bool dome__delta_next(dome_delta_reader *reader, dome_delta_part *part)
{
    if (reader->at == reader->end || reader->bad)
        return false;
    uint8_t tag = *reader->at;
    dome_bytes from = {reader->at + 1, reader->end, false};
    part->index = reader->next + read_gap(&from, tag);
    read_body(&from, tag & KIND, part);
    part->values = dome__read_bytes(&from, part->groups * dome__delta_bits(part->mask) * reader->unit);
    reader->at = from.at;
    reader->next = part->index + part->groups;
    reader->bad = from.bad || reader->next > UINT64_MAX / ((uint64_t)16 * DOME_DELTA_GROUP);
    return !reader->bad;
}

bool dome__delta_drop_group(dome_delta_part *part, unsigned unit)
{
    part->index++;
    part->groups--;
    part->values += (size_t)DOME_DELTA_GROUP * unit; /* only parts of FULL records have another group */
    return part->groups > 0;
}

bool dome__delta_set_records(dome_delta *delta, const void *records, size_t bytes, uint64_t limit)
{
    dome_delta_part part;
    dome__delta_clear(delta);
    make_room(delta, bytes);
    if (bytes)
        memcpy(delta->bytes, records, bytes);
    delta->used = bytes;
    dome_delta_reader reader = dome__delta_reader(delta);
    while (dome__delta_next(&reader, &part))
        count(delta, part.index + part.groups - 1, part.mask, part.groups * dome__delta_bits(part.mask));
    bool good = !reader.bad && delta->end <= limit / delta->unit;
    if (!good)
        dome__delta_clear(delta);
    return good;
}
