/* Locks of tasks that have no memory together, over the service channel. One task has the queue of a lock:
 *
 *     task 2 -> queue     ASK                  the reply is the lock, when its turn has come, and what it carries
 *     task 2 -> queue     RELEASE, and what the lock carries from now on
 *     task 5 -> queue     HOLDER               the reply: task 2's rank; task 5 waits for the lock and says so to the hub
 *
 * Tasks get a lock in the order in which their questions arrive at the queue. */
#ifndef DOME_SRC_REGION_LOCK_SERVICE_H
#define DOME_SRC_REGION_LOCK_SERVICE_H

#include "peer/peer.h"

typedef struct dome_lock_service dome_lock_service;

dome_lock_service *dome__lock_service_new(dome_peer *peer, dome_transport *transport);

/* After the channel is freed, which may still call it. NULL is allowed. */
void dome__lock_service_free(dome_lock_service *service);

/* lock: a number that all tasks have for it, and no other lock. Called by the thread that calls the transport. Returns the status
 * of messages that were served meanwhile; the lock is this task's then, too. *carried is what it carries, which is the service's
 * until the next call. */
int dome__lock_service_take(dome_lock_service *service, uint64_t lock, const GByteArray **carried);

/* carried: NULL means nothing. */
void dome__lock_service_give(dome_lock_service *service, uint64_t lock, const GByteArray *carried);

/* The holder's rank; -1: nobody has it, or the queue's task is lost. */
int dome__lock_service_holder(dome_lock_service *service, uint64_t lock);

#endif
