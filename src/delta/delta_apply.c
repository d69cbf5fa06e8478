/* Using a delta: writing its values to memory, its runs. */
#include "delta/delta_private.h"

#include <glib.h>
#include <string.h>

static void apply_part(const dome_delta_part *part, unsigned unit, uint8_t *memory)
{
    size_t group = (size_t)DOME_DELTA_GROUP * unit;
    uint8_t *to = memory + part->index * group;
    if (part->mask == UINT64_MAX)
        memcpy(to, part->values, part->groups * group);
    else
        dome__delta_code()->unpack[dome__delta_log(unit)](to, part->values, part->mask);
}

bool dome__delta_apply(const dome_delta *delta, void *memory, size_t bytes, void *twin)
{
    dome_delta_part part;
    dome_delta_reader reader = dome__delta_reader(delta);
    if (delta->end > bytes / delta->unit)
        return false;
    while (dome__delta_next(&reader, &part)) {
        apply_part(&part, delta->unit, memory);
        if (twin)
            apply_part(&part, delta->unit, twin);
    }
    return true;
}

/* ---- runs ---- */

/* A run that may go on in the next group. */
typedef struct run {
    uint64_t first, count;
    const uint8_t *values;
    unsigned unit;
    dome_delta_run *visit;
    void *context;
} run;

static void end_run(run *r)
{
    if (r->count)
        r->visit(r->context, r->first, r->count, r->values);
    r->count = 0;
}

/* Values of a run lie one behind the other within a record alone. */
static void add_run(run *r, uint64_t first, uint64_t count, const uint8_t *values)
{
    if (!r->count || r->first + r->count != first || r->values + r->count * r->unit != values) {
        end_run(r);
        r->first = first;
        r->values = values;
    }
    r->count += count;
}

void dome__delta_runs(const dome_delta *delta, dome_delta_run *visit, void *context)
{
    dome_delta_part part;
    dome_delta_reader reader = dome__delta_reader(delta);
    run r = {.unit = delta->unit, .visit = visit, .context = context};
    while (dome__delta_next(&reader, &part)) {
        uint64_t first = part.index * DOME_DELTA_GROUP;
        const uint8_t *values = part.values;
        if (part.mask == UINT64_MAX) {
            add_run(&r, first, part.groups * DOME_DELTA_GROUP, values);
            continue;
        }
        for (uint64_t mask = part.mask; mask;) {
            unsigned from = (unsigned)__builtin_ctzll(mask), count = (unsigned)__builtin_ctzll(~(mask >> from));
            add_run(&r, first + from, count, values);
            values += count * delta->unit;
            mask &= ~((((UINT64_C(1) << count) - 1)) << from);
        }
    }
    end_run(&r);
}

void dome__delta_spans(const dome_delta *delta, dome_delta_run *visit, void *context)
{
    dome_delta_part part;
    dome_delta_reader reader = dome__delta_reader(delta);
    uint64_t first = 0, end = 0; /* groups */
    while (dome__delta_next(&reader, &part)) {
        if (part.index != end) {
            if (end > first)
                visit(context, first * DOME_DELTA_GROUP, (end - first) * DOME_DELTA_GROUP, NULL);
            first = part.index;
        }
        end = part.index + part.groups;
    }
    if (end > first)
        visit(context, first * DOME_DELTA_GROUP, (end - first) * DOME_DELTA_GROUP, NULL);
}
