/* A delta with a head that says what it is, for files and for machines of either byte order. */
#include "delta/delta_private.h"
#include "system/bytes.h"
#include "system/checksum.h"

#include <glib.h>
#include <string.h>

enum { VERSION = 1, SUM_AT = 24 };

void dome__delta_head(const dome_delta *delta, uint8_t head[DOME_DELTA_HEAD])
{
    memcpy(head, "DLTA", 4);
    head[4] = VERSION;
    head[5] = (uint8_t)delta->unit;
    head[6] = G_BYTE_ORDER == G_BIG_ENDIAN;
    head[7] = 0;
    dome__put_le_u64(head + 8, delta->used);
    dome__put_le_u64(head + 16, delta->units);
    dome__put_le_u64(head + SUM_AT, dome__checksum64_of_two(head, SUM_AT, delta->bytes, delta->used));
}

static const char *check_head(const uint8_t *head, size_t bytes)
{
    if (bytes < DOME_DELTA_HEAD || memcmp(head, "DLTA", 4) != 0)
        return "it is no delta";
    if (head[4] != VERSION)
        return "its version is not known here";
    if ((head[5] != 1 && head[5] != 2 && head[5] != 4 && head[5] != 8) || head[6] > 1 || head[7])
        return "its head is damaged";
    if (dome__get_le_u64(head + 8) != bytes - DOME_DELTA_HEAD)
        return "it is not complete";
    if (dome__get_le_u64(head + SUM_AT) != dome__checksum64_of_two(head, SUM_AT, head + DOME_DELTA_HEAD, bytes - DOME_DELTA_HEAD))
        return "its checksum differs";
    return NULL;
}

static void swap_units(uint8_t *values, uint64_t units, unsigned unit)
{
    for (uint64_t k = 0; k < units; k++, values += unit)
        for (unsigned j = 0; j < unit / 2; j++) {
            uint8_t byte = values[j];
            values[j] = values[unit - 1 - j];
            values[unit - 1 - j] = byte;
        }
}

/* The values lie in the records of this very delta. */
static void swap_values(dome_delta *delta)
{
    dome_delta_part part;
    dome_delta_reader reader = dome__delta_reader(delta);
    while (dome__delta_next(&reader, &part))
        swap_units(delta->bytes + (part.values - delta->bytes), part.groups * dome__delta_bits(part.mask), delta->unit);
}

dome_delta *dome__delta_read(const void *data, size_t bytes, uint64_t limit, const char **why)
{
    const uint8_t *head = data;
    *why = check_head(head, bytes);
    if (*why)
        return NULL;
    dome_delta *delta = dome__delta_new(head[5]);
    if (!dome__delta_set_records(delta, head + DOME_DELTA_HEAD, bytes - DOME_DELTA_HEAD, limit) ||
        delta->units != dome__get_le_u64(head + 16)) {
        *why = "its records are damaged, or speak of more memory than there is";
        dome__delta_free(delta);
        return NULL;
    }
    if (head[6] != (G_BYTE_ORDER == G_BIG_ENDIAN))
        swap_values(delta);
    return delta;
}
