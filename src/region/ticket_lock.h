/* A lock of the tasks of one host: tickets in shared memory. A task takes the next ticket and waits until it is served, so tasks
 * get the lock in the order in which they have asked. */
#ifndef DOME_SRC_REGION_TICKET_LOCK_H
#define DOME_SRC_REGION_TICKET_LOCK_H

#include "transport/transport.h"

#include <stdatomic.h>

/* All 0: free. It has lines of the cache of its own. */
typedef struct dome_ticket_lock {
    _Alignas(128) atomic_uint next; /* the ticket of the next task that asks */
    atomic_uint serving;            /* the ticket of the holder, or of the next one; a futex */
    atomic_int holder;              /* its rank + 1; 0: nobody, or it is just changing */
} dome_ticket_lock;

/* Returns the status of messages that were served meanwhile; the lock is this task's then, too. */
int dome__ticket_lock_take(dome_ticket_lock *lock, dome_transport *transport);

void dome__ticket_lock_give(dome_ticket_lock *lock);

/* The holder's rank; -1: nobody has it. */
int dome__ticket_lock_holder(dome_ticket_lock *lock);

#endif
