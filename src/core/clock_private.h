/* The members of the clock, for core alone. */
#ifndef DOME_SRC_CLOCK_PRIVATE_H
#define DOME_SRC_CLOCK_PRIVATE_H

#include "core/clock.h"
#include "core/operation.h"

struct dome_clock {
    dome_clock_entry entry[DOME_OPERATIONS_MAX];
    uint64_t began_ns;          /* when all tasks had started */
    dome_processor_time began;  /* of this thread by then */
    int thread;                 /* it; 0: the clock has not started */
    uint64_t eval_ns;           /* time spent running deferred work within other operations */
    uint64_t helped_ns, helped; /* time spent on blocks of other tasks; their number */
    GPtrArray *block_times;     /* dome_block_times */
};

#endif
