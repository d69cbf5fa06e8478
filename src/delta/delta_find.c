/* Comparing memory with its copy. */
#include "delta/delta_private.h"

#include <glib.h>
#include <string.h>

size_t dome__delta_equal(const void *a, const void *b, size_t bytes)
{
    const uint8_t *x = a, *y = b;
    size_t steps = bytes - bytes % DOME_DELTA_STEP, at = dome__delta_code()->equal(x, y, steps);
    return at == steps && memcmp(x + at, y + at, bytes - at) == 0 ? bytes : at;
}

/* Writes down the units of a group, and brings them to the copy. */
static void write_group(dome_delta *delta, uint64_t index, uint64_t mask, const uint8_t *now, uint8_t *then)
{
    const dome_delta_code *code = dome__delta_code();
    unsigned log = dome__delta_log(delta->unit);
    uint8_t *values = dome__delta_put(delta, index, mask);
    code->pack[log](values, now, mask);
    if (then)
        code->unpack[log](then, values, mask);
}

/* Up to a whole number of groups of one size, which differ in all units. */
static size_t full_groups(const dome_delta *delta, const uint8_t *now, const uint8_t *then, size_t bytes)
{
    const dome_delta_code *code = dome__delta_code();
    size_t group = (size_t)DOME_DELTA_GROUP * delta->unit, most = bytes / group, n = 1;
    while (n < most && n < DOME_DELTA_STEP / delta->unit &&
           code->differ[dome__delta_log(delta->unit)](now + n * group, then + n * group) == UINT64_MAX)
        n++;
    return n;
}

static void write_full(dome_delta *delta, uint64_t index, size_t groups, const uint8_t *now, uint8_t *then)
{
    size_t bytes = groups * DOME_DELTA_GROUP * delta->unit;
    uint8_t *values = dome__delta_put_full(delta, index, groups);
    memcpy(values, now, bytes);
    if (then)
        memcpy(then, values, bytes);
}

/* The last units, fewer than a group: compared in copies, because the code for a group reads all of it. */
static void find_rest(dome_delta *delta, uint64_t index, const uint8_t *now, uint8_t *then, size_t bytes, bool take)
{
    uint8_t a[DOME_DELTA_GROUP * 8] = {0}, b[DOME_DELTA_GROUP * 8] = {0};
    memcpy(a, now, bytes);
    memcpy(b, then, bytes);
    uint64_t mask = dome__delta_code()->differ[dome__delta_log(delta->unit)](a, b);
    if (mask)
        write_group(delta, index, mask, a, take ? then : NULL);
}

/* Looks at the groups from this one on as far as they are alike: whole ones, or one. Returns how many. */
static size_t find_groups(dome_delta *delta, uint64_t index, const uint8_t *now, uint8_t *then, size_t bytes, bool take)
{
    uint64_t mask = dome__delta_code()->differ[dome__delta_log(delta->unit)](now, then);
    size_t groups = mask == UINT64_MAX ? full_groups(delta, now, then, bytes) : 1;
    if (mask == UINT64_MAX)
        write_full(delta, index, groups, now, take ? then : NULL);
    else if (mask)
        write_group(delta, index, mask, now, take ? then : NULL);
    return groups;
}

void dome__delta_find(dome_delta *delta, uint64_t offset, const void *now, void *then, size_t bytes, unsigned flags)
{
    const size_t group = (size_t)DOME_DELTA_GROUP * delta->unit;
    g_assert(offset % group == 0 && offset / group >= delta->next && bytes % delta->unit == 0);
    const bool take = flags & DOME_DELTA_TAKE;
    const dome_delta_code *code = dome__delta_code();
    const uint8_t *x = now;
    uint8_t *y = then;
    const size_t whole = bytes - bytes % group;
    size_t at = 0;
    while (at < whole) {
        at += code->equal(x + at, y + at, (whole - at) - (whole - at) % DOME_DELTA_STEP);
        for (size_t end = MIN(at + DOME_DELTA_STEP, whole); at < end;)
            at += group * find_groups(delta, (offset + at) / group, x + at, y + at, whole - at, take);
    }
    if (at < bytes)
        find_rest(delta, (offset + at) / group, x + at, y + at, bytes - at, take);
}

void dome__delta_add(dome_delta *delta, uint64_t offset, const void *now, size_t bytes)
{
    const size_t group = (size_t)DOME_DELTA_GROUP * delta->unit;
    g_assert(offset % group == 0 && offset / group >= delta->next && bytes % delta->unit == 0);
    size_t groups = bytes / group, rest = bytes % group / delta->unit;
    if (groups)
        write_full(delta, offset / group, groups, now, NULL);
    if (rest)
        memcpy(dome__delta_put(delta, offset / group + groups, (UINT64_C(1) << rest) - 1), (const uint8_t *)now + groups * group,
               rest * delta->unit);
}
