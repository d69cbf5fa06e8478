/* All-reduces in which no task waits: each task gives its data and continues. What is sent and received follows a list of steps,
 * and each poll does the steps that need no waiting. (T. Hoefler, A. Lumsdaine, W. Rehm, "Implementation and performance analysis
 * of non-blocking collective operations for MPI", SC 2007, section 3.)
 *
 * Tasks that share memory are combined by their leader; leaders, or the heads of clusters, exchange by recursive doubling, so
 * that the result takes as many messages one after the other as in dome__allreduce. Any number of all-reduces may be under way.
 * Their messages carry the stamp of the operation in which they began: tasks that disagree are detected, although they receive
 * in later operations. */
#ifndef DOME_SRC_AHEAD_H
#define DOME_SRC_AHEAD_H

#include "transport/collective.h"

/* One all-reduce. */
typedef struct dome_ahead dome_ahead;

/* Begins an all-reduce of count elements, which are copied. All tasks call it in the same operation. combine must commute; it is
 * called, with ctx, until the all-reduce is complete. */
dome_ahead *dome__ahead_begin(dome_transport *transport, dome_type type, const void *data, uint64_t count, dome_combine combine,
                              void *ctx);

bool dome__ahead_complete(const dome_ahead *ahead);

/* Waits until it is complete. Returns a dome_status; on failure, which is final, `reason` of the transport holds the text. */
int dome__ahead_finish(dome_ahead *ahead);

/* The result, once complete. */
const void *dome__ahead_data(const dome_ahead *ahead);

/* Frees an all-reduce, which must be complete or have failed. */
void dome__ahead_free(dome_ahead *ahead);

/* Does the steps of all that are under way which need no waiting. Returns the status of the first that has failed, with its
 * `reason`. */
int dome__ahead_drive(dome_transport *transport);

/* Before waiting for a message: drives until it has arrived, or until no other task depends on steps of this one. Returns as
 * dome__ahead_drive. */
int dome__ahead_wait(dome_transport *transport, int source, int channel);

void dome__ahead_poll_now(dome_transport *transport);

/* For loops that take long: drives, if some time has passed since the last poll. A failure is returned later, by finish. */
static inline void dome__ahead_poll(dome_transport *transport)
{
    if (__builtin_expect(transport->ahead != NULL, 0))
        dome__ahead_poll_now(transport);
}

void dome__ahead_line_free(dome_transport *transport);

#endif
