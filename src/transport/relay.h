/* An all-gather in which no task waits: each task gives its numbers and continues. The numbers travel up a tree of tasks, and
 * those of all tasks down again, one step whenever a task looks (dome__relay_advance).
 *
 * A task sends one message up and one down to each task below it. Messages carry the stamp of the operation in which the relay
 * began: tasks that disagree are detected, although they receive in later operations. */
#ifndef DOME_SRC_RELAY_H
#define DOME_SRC_RELAY_H

#include "transport/transport.h"

typedef struct dome_relay dome_relay;

/* The tree. By hosts: the tasks that share memory below their leader, the leaders of a cluster below its first, those below rank
 * 0, with at most 16 leaders directly below one. Narrow: at most two tasks below one, neighbouring ranks near each other. */
typedef enum dome_relay_form { DOME_RELAY_BY_HOSTS, DOME_RELAY_NARROW } dome_relay_form;

/* By rank, the task above; -1 for rank 0. A task's rank is higher than that of the task above. g_free. */
int *dome__relay_parents(const dome_transport *transport, dome_relay_form form);

/* NULL if the transport cannot tell whether a message has arrived. */
dome_relay *dome__relay_new(dome_transport *transport, dome_relay_form form);
void dome__relay_free(dome_relay *relay);

/* Begins an all-gather of counts[r] numbers of each rank r; counts is the same on all tasks. Copies its arguments. The one before
 * must be complete. All tasks call it in the same operation. Returns a dome_status, as do the others. */
int dome__relay_begin(dome_relay *relay, const double *numbers, const uint64_t *counts);

/* Receives and passes on what has arrived; wait: until the all-gather is complete. */
int dome__relay_advance(dome_relay *relay, bool wait);
bool dome__relay_complete(const dome_relay *relay);

/* The numbers of a rank, once complete; valid until the next begin. */
const double *dome__relay_numbers(const dome_relay *relay, int rank);

#endif
