/* The road: exchanges data between tasks of one host through shared memory, instead of the message passing system.
 *
 * It is a transport that wraps another: it handles messages between tasks of the same host, and passes the others to the wrapped
 * transport. Each pair of tasks has a ring buffer for messages. If the system allows, the receiver reads long messages directly
 * from the sender's memory (process_vm_readv); otherwise they go through the ring, too. The memory has no name in any file
 * system, so nothing can be left behind. */
#ifndef DOME_SRC_LOCAL_H
#define DOME_SRC_LOCAL_H

#include "core/options.h"
#include "transport/transport.h"

/* Collective over all tasks of a transport on which nothing has been sent yet: turns the transport into the road, which wraps the
 * original. hosts: names by rank. Tasks of a host on which the road cannot be set up keep the transport as it is, and the lowest
 * rank of them prints why on stderr. Returns the dome_status of the communication. */
int dome__local_open(dome_transport *transport, char *const *hosts, dome_road road);

/* Whether the transport is the road. */
bool dome__local_is(const dome_transport *transport);

/* The road between this task and the others of its host. */
dome_road dome__local_road(const dome_transport *transport);

#endif
