/* Messages in transit at a loop boundary: sent and not received, or with a request that has not ended. No checkpoint contains
 * them, and no other view has them. So what is due at such a boundary, a checkpoint or another number of tasks, waits for the
 * next one without them: 10 seconds, and at least 10 boundaries. Then an order and a request are refused, and the checkpoint is
 * left out, with a line that names the sender. */
#ifndef DOME_SRC_TRANSIT_H
#define DOME_SRC_TRANSIT_H

#include "core/environment.h"

#include <dome/dvec.h>

/* Of something that waits. */
typedef struct dome_transit {
    bool waits;        /* something does; this and `tries` are the same on all tasks */
    uint64_t tries;    /* boundaries at which this has been looked at since */
    char *text;        /* what was in transit at the last of them */
    uint64_t began_ns; /* task 0: when the first was, */
    uint64_t last_ns;  /* and the last */
    uint64_t gap;      /* boundaries from the last to the next */
} dome_transit;

typedef struct dome_transit_found {
    bool open;    /* messages are in transit */
    uint64_t gap; /* boundaries until the next try; 0: it has waited for long enough */
} dome_transit_found;

/* At a boundary where something is due. Collective. Fails by dome__fail. */
int dome__transit_find(dome_env *env, dome_transit *transit, dome_transit_found *found);

/* Why no checkpoint, or no other view (`what`), can be had: the whole line but for its beginning; g_free'd. */
char *dome__transit_in_vain(const dome_transit *transit, const char *what);

bool dome__transit_waits(const dome_transit *transit);

/* Messages that are under way become an object of the checkpoint that is written at this boundary, called DOME_CHANNEL, which has
 * those of all tasks on each of them. make: *channel is freed when the task's copy has been made; NULL: there are none. restore:
 * in dome_init, from the checkpoint that the program goes on from. Collective. Fail by dome__fail. */
#define DOME_CHANNEL "dome's messages"

int dome__channel_make(dome_env *env, dvec **channel);
int dome__channel_restore(dome_env *env);

/* Likewise for a checkpoint of this task alone: bytes of its own. Not collective. */
int dome__channel_put(dome_env *env, const GByteArray *own, dvec **channel);

/* Where hosts share no directory: gives this task's partner on another host what it keeps of messages and has not given before.
 * Returns the numbers of the files in which a checkpoint would refer to them, for dome__own_write; NULL: there are no copies. */
GArray *dome__copy_messages(dome_env *env);

/* When a view begins, a task that has a checkpoint and no complete copy of it gives it to its partner, with the messages. Fails
 * by dome__fail. */
int dome__renew_copies(dome_env *env);

/* Nothing waits any longer. */
void dome__transit_stop(dome_transit *transit);
void dome__transit_clear(dome_transit *transit);

#endif
