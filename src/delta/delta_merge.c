/* Merging two deltas of one interval. */
#include "delta/delta_private.h"

#include <glib.h>
#include <string.h>

typedef struct merging {
    dome_delta *into;
    dome_delta_conflict *tell;
    void *context;
} merging;

/* The next groups of a delta; groups 0: there is none. */
typedef struct side {
    dome_delta_reader reader;
    dome_delta_part part;
} side;

static void next(side *s)
{
    if (!dome__delta_next(&s->reader, &s->part))
        s->part.groups = 0;
}

static side begin(const dome_delta *delta)
{
    side s = {.reader = dome__delta_reader(delta)};
    next(&s);
    return s;
}

static uint64_t index_of(const side *s)
{
    return s->part.groups ? s->part.index : UINT64_MAX;
}

/* Copies all groups of a part that stand before this one. */
static void copy_before(dome_delta *into, side *s, uint64_t index)
{
    size_t group = (size_t)DOME_DELTA_GROUP * into->unit;
    uint64_t groups = MIN(s->part.groups, index - s->part.index);
    if (s->part.mask == UINT64_MAX) {
        memcpy(dome__delta_put_full(into, s->part.index, groups), s->part.values, groups * group);
    } else {
        size_t bytes = dome__delta_bits(s->part.mask) * into->unit;
        memcpy(dome__delta_put(into, s->part.index, s->part.mask), s->part.values, bytes);
    }
    s->part.index += groups;
    s->part.values += groups * group;
    s->part.groups -= groups;
    if (!s->part.groups)
        next(s);
}

static void tell_conflicts(const merging *m, uint64_t first_unit, uint64_t both, const uint8_t *a, const uint8_t *b)
{
    for (; both; both &= both - 1) {
        unsigned k = (unsigned)__builtin_ctzll(both), unit = m->into->unit;
        if (memcmp(a + k * unit, b + k * unit, unit) != 0)
            m->tell(m->context, first_unit + k, a + k * unit, b + k * unit);
    }
}

/* The group at which both stand. */
static void merge_group(const merging *m, side *first, side *second)
{
    uint8_t a[DOME_DELTA_GROUP * 8], b[DOME_DELTA_GROUP * 8], both[DOME_DELTA_GROUP * 8];
    const dome_delta_code *code = dome__delta_code();
    unsigned log = dome__delta_log(m->into->unit);
    uint64_t index = first->part.index, masks[2] = {first->part.mask, second->part.mask};
    code->unpack[log](a, first->part.values, masks[0]);
    code->unpack[log](b, second->part.values, masks[1]);
    if (m->tell)
        tell_conflicts(m, index * DOME_DELTA_GROUP, masks[0] & masks[1], a, b);
    code->unpack[log](both, first->part.values, masks[0]);
    code->unpack[log](both, second->part.values, masks[1]);
    code->pack[log](dome__delta_put(m->into, index, masks[0] | masks[1]), both, masks[0] | masks[1]);
    if (!dome__delta_drop_group(&first->part, m->into->unit))
        next(first);
    if (!dome__delta_drop_group(&second->part, m->into->unit))
        next(second);
}

void dome__delta_merge(dome_delta *into, const dome_delta *first, const dome_delta *second, dome_delta_conflict *tell,
                       void *context)
{
    g_assert(!into->used && into->unit == first->unit && into->unit == second->unit);
    const merging m = {into, tell, context};
    side a = begin(first), b = begin(second);
    while (a.part.groups || b.part.groups) {
        if (index_of(&a) == index_of(&b))
            merge_group(&m, &a, &b);
        else if (index_of(&a) < index_of(&b))
            copy_before(into, &a, index_of(&b));
        else
            copy_before(into, &b, index_of(&a));
    }
}
