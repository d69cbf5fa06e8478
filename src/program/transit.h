/* Messages in transit at a loop boundary: sent and not received, or with a request that has not ended. No checkpoint contains
 * them, and no other view has them. So what is due at such a boundary, a checkpoint or another number of tasks, waits for the
 * next one without them: 10 seconds, and at least 10 boundaries. Then an order and a wish are refused, and the checkpoint is left
 * out, with a line that names the sender. */
#ifndef DOME_SRC_TRANSIT_H
#define DOME_SRC_TRANSIT_H

#include "core/environment.h"

/* Part of dome_change. */
typedef struct dome_transit {
    bool waits;        /* something does; this and `tries` are the same on all tasks */
    uint64_t tries;    /* boundaries at which this has been looked at since */
    char *text;        /* what was in transit at the last of them */
    uint64_t began_ns; /* task 0: when the first was, */
    uint64_t last_ns;  /* and the last */
    uint64_t gap;      /* boundaries from the last to the next */
} dome_transit;

/* At a boundary where something is due, before the program is captured for it (src/capture), and once more before it is done.
 * *due becomes false if messages are in transit: then only an order to meet is left to be answered. Collective. Fails by
 * dome__fail. */
int dome__transit_look(dome_env *env, bool *due);

/* In dome_finalize: there is no other boundary for what waits. */
void dome__transit_end(dome_env *env);

/* The order, or the wish, of this boundary is tried again after so many boundaries. The hub learns that the order waits. */
void dome__transit_put_off_order(const dome_env *env, uint64_t boundaries);
void dome__transit_put_off_wish(const dome_env *env, uint64_t boundaries);

#endif
