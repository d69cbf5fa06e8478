/* Records of a delta that arrive from elsewhere: refused, or applied within their memory; and what is read is written again as it
 * was told, by its runs and by merging it with others. */
#include "delta/delta.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 16 };

typedef struct written {
    uint8_t memory[LIMIT];
    unsigned unit;
    uint64_t units, next;
} written;

static void write_run(void *context, uint64_t first, uint64_t count, const void *values)
{
    written *w = context;
    if (first < w->next || !count || (first + count) * w->unit > LIMIT)
        abort();
    memcpy(w->memory + first * w->unit, values, count * w->unit);
    w->units += count;
    w->next = first + count;
}

static void no_conflict(void *context, uint64_t unit, const void *first, const void *second)
{
    (void)context, (void)unit, (void)first, (void)second;
    abort();
}

static void check(const dome_delta *delta)
{
    static uint8_t memory[LIMIT], twin[LIMIT];
    static written w;
    memset(memory, 0, LIMIT);
    memset(twin, 0, LIMIT);
    memset(&w, 0, sizeof w);
    w.unit = dome__delta_unit(delta);
    dome__delta_runs(delta, write_run, &w);
    if (!dome__delta_apply(delta, memory, LIMIT, twin) || memcmp(memory, w.memory, LIMIT) != 0 ||
        memcmp(twin, memory, LIMIT) != 0 || w.units != dome__delta_units(delta))
        abort();
    dome_delta *both = dome__delta_new(w.unit);
    dome__delta_merge(both, delta, delta, no_conflict, NULL);
    memset(twin, 0, LIMIT);
    if (dome__delta_units(both) != w.units || !dome__delta_apply(both, twin, LIMIT, NULL) || memcmp(memory, twin, LIMIT) != 0)
        abort();
    dome__delta_free(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *why;
    if (!size)
        return 0;
    dome_delta *delta = dome__delta_read(data, size, LIMIT, &why);
    if (delta)
        check(delta);
    else if (!why)
        abort();
    dome__delta_free(delta);
    delta = dome__delta_new(1u << data[0] % 4);
    if (dome__delta_set_records(delta, data + 1, size - 1, LIMIT))
        check(delta);
    dome__delta_free(delta);
    return 0;
}
