/* The members of the clock, for core alone. */
#ifndef DOME_SRC_CLOCK_PRIVATE_H
#define DOME_SRC_CLOCK_PRIVATE_H

#include "core/clock.h"
#include "core/operation.h"

#include <string.h>

struct dome_clock {
    dome_clock_entry *entry; /* by code of operation */
    uint32_t entries;
    uint64_t began_ns;          /* when all tasks had started */
    dome_processor_time began;  /* of this thread by then */
    int thread;                 /* it; 0: the clock has not started */
    uint64_t eval_ns;           /* time spent running deferred work within other operations */
    uint64_t helped_ns, helped; /* time spent on blocks of other tasks; their number */
    uint64_t apart_ns;          /* time spent on what the other tasks have no part in */
    GPtrArray *block_times;     /* dome_block_times */
};

/* Makes room for operations that have been registered. */
static inline void dome__clock_fit(struct dome_clock *clock)
{
    const uint32_t had = clock->entries, entries = dome__operation_limit();
    if (entries <= had)
        return;
    clock->entry = g_renew(dome_clock_entry, clock->entry, entries);
    memset(clock->entry + had, 0, (entries - had) * sizeof *clock->entry);
    clock->entries = entries;
}

#endif
