#include "core/operation.h"
#include "system/unconst.h"

#include <glib.h>
#include <string.h>

static dome_operation_part core_part = DOME_OPERATION_PART(DOME_PART_CORE, DOME_CORE_OPERATIONS);

/* A part for operations of structures. */
typedef struct own_part {
    dome_operation_part part;
    dome_operation_row row[DOME_OPERATION_ROWS];
} own_part;

static uint8_t library_flags[DOME_OPERATION_REGISTERED];
uint8_t *dome__operation_flags = library_flags;
static uint32_t limit = DOME_OPERATION_ROWS, registered;

/* Other threads read the table to name operations, so a row is written before the count is increased, and a part before it is
 * linked. */
static dome_operation_part *part_after(const dome_operation_part *part)
{
    return __atomic_load_n(&part->next, __ATOMIC_ACQUIRE);
}

static uint32_t count_of(const dome_operation_part *part)
{
    return __atomic_load_n(&part->count, __ATOMIC_ACQUIRE);
}

/* NULL: there is no such operation. */
static const dome_operation_row *row_of(uint32_t code)
{
    const dome_operation_part *part = &core_part;
    while (part && part->number != code / DOME_OPERATION_ROWS)
        part = part_after(part);
    return part && code % DOME_OPERATION_ROWS < count_of(part) ? &part->row[code % DOME_OPERATION_ROWS] : NULL;
}

const char *dome__operation_name(uint32_t code)
{
    const dome_operation_row *row = row_of(code);
    return row ? row->name : "an unknown operation";
}

const char *dome__operation_arguments(uint32_t code)
{
    const dome_operation_row *row = row_of(code);
    return row ? row->arguments : "";
}

uint32_t dome__operation_count(void)
{
    uint32_t count = 0;
    for (const dome_operation_part *part = &core_part; part; part = part_after(part))
        count += count_of(part);
    return count;
}

uint32_t dome__operation_at(uint32_t k)
{
    const dome_operation_part *part = &core_part;
    for (; part_after(part) && k >= count_of(part); part = part_after(part))
        k -= count_of(part);
    return part->number * DOME_OPERATION_ROWS + k;
}

uint32_t dome__operation_registered(void)
{
    return __atomic_load_n(&registered, __ATOMIC_ACQUIRE);
}

uint32_t dome__operation_limit(void)
{
    return limit;
}

/* ---- adding ---- */

static void append(dome_operation_part *part)
{
    dome_operation_part *last = &core_part;
    while (last->next)
        last = last->next;
    limit = MAX(limit, (part->number + 1) * DOME_OPERATION_ROWS);
    __atomic_store_n(&last->next, part, __ATOMIC_RELEASE);
}

static bool is_added(const dome_operation_part *part)
{
    const dome_operation_part *one = &core_part;
    while (one && one != part)
        one = one->next;
    return one;
}

void dome__operation_add_part(dome_operation_part *part)
{
    if (is_added(part))
        return;
    for (uint32_t k = 0; k < part->count; k++)
        library_flags[part->number * DOME_OPERATION_ROWS + k] = part->row[k].flags;
    append(part);
}

/* Makes room for the flags of another part of structures' operations. */
static void grow_flags(uint32_t number)
{
    uint8_t *flags = g_malloc0((gsize)(number + 1) * DOME_OPERATION_ROWS);
    memcpy(flags, dome__operation_flags, (size_t)number * DOME_OPERATION_ROWS);
    if (dome__operation_flags != library_flags)
        g_free(dome__operation_flags);
    dome__operation_flags = flags;
}

/* The part of the next operation of a structure. */
static own_part *part_to_fill(void)
{
    dome_operation_part *last = &core_part;
    while (last->next)
        last = last->next;
    if (last->number >= DOME_OPERATION_PARTS && last->count < DOME_OPERATION_ROWS)
        return (own_part *)last;
    own_part *own = g_new0(own_part, 1);
    own->part.number = DOME_OPERATION_PARTS + registered / DOME_OPERATION_ROWS;
    own->part.row = own->row;
    grow_flags(own->part.number);
    append(&own->part);
    return own;
}

uint32_t dome__operation_add(const char *name, const char *arguments, unsigned flags)
{
    own_part *own = part_to_fill();
    const uint32_t k = own->part.count, code = own->part.number * DOME_OPERATION_ROWS + k;
    own->row[k] = (dome_operation_row){.name = g_strdup(name), .arguments = g_strdup(arguments), .flags = (uint8_t)flags};
    dome__operation_flags[code] = (uint8_t)flags;
    __atomic_store_n(&own->part.count, k + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&registered, registered + 1, __ATOMIC_RELEASE);
    return code;
}

static void own_part_free(own_part *own)
{
    for (uint32_t k = 0; k < own->part.count; k++) {
        g_free(dome__unconst(own->row[k].name));
        g_free(dome__unconst(own->row[k].arguments));
    }
    g_free(own);
}

void dome__operation_table_reset(void)
{
    dome_operation_part *last = &core_part;
    while (last->next && last->next->number < DOME_OPERATION_PARTS)
        last = last->next;
    while (last->next) {
        own_part *own = (own_part *)last->next;
        last->next = own->part.next;
        own_part_free(own);
    }
    if (dome__operation_flags != library_flags)
        g_free(dome__operation_flags);
    dome__operation_flags = library_flags;
    limit = MIN(limit, DOME_OPERATION_REGISTERED);
    registered = 0;
}

int64_t dome__operation_find(const char *name)
{
    for (const dome_operation_part *part = &core_part; part; part = part->next)
        for (uint32_t k = 0; k < part->count; k++)
            if (strcmp(part->row[k].name, name) == 0)
                return part->number * DOME_OPERATION_ROWS + k;
    return DOME_OPERATION_NOT_FOUND;
}
