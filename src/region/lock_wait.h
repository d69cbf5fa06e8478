/* What a task does while it waits for a lock: it says which task has it, so that the hub finds tasks that wait for each other,
 * and it serves others, because the holder may wait for that. A wait does not end when another task is lost: the watcher thread
 * then ends the process, or lets it go back. */
#ifndef DOME_SRC_REGION_LOCK_WAIT_H
#define DOME_SRC_REGION_LOCK_WAIT_H

#include "transport/message.h"

typedef struct dome_lock_wait {
    dome_transport *transport;
    int whom; /* the rank that the wait counts for */
    uint64_t start;
    uint64_t ns;  /* so long it may sleep until it looks again */
    int64_t turn; /* at the last look: another one is progress */
    int status;   /* of messages that were served meanwhile */
} dome_lock_wait;

dome_lock_wait dome__lock_wait_begin(dome_transport *transport, int whom);

/* Each time that it has slept. holder: the rank of the task that has the lock; -1: it is just changing hands. turn: a number that
 * changes when the lock changes hands. */
void dome__lock_wait_look(dome_lock_wait *wait, int holder, int64_t turn);

/* Returns the status of messages that were served meanwhile; the lock is this task's then, too. */
int dome__lock_wait_end(dome_lock_wait *wait);

#endif
