/* The road between tasks of one host: shared memory instead of the message passing system.
 *
 * It stands before a provider in a transport's table and takes what goes to tasks of the same host; the provider keeps the rest,
 * and starts, addresses and ends tasks as before. Messages go through a ring for each pair of tasks. Long ones are read
 * by the receiver out of the sender's memory (process_vm_readv) where the system allows that, and else go through the ring as
 * well. The memory has no name in any file system: nothing can be left behind. */
#ifndef DOME_SRC_LOCAL_H
#define DOME_SRC_LOCAL_H

#include "core/options.h"
#include "transport/transport.h"

/* Collective over all tasks of a transport that nothing has been sent on yet. hosts: names by rank. Tasks for which the road
 * cannot be had keep the provider, and the lowest of them on a host says why on stderr. Returns a dome_status: that of talking to
 * the others. */
int dome__local_open(dome_transport *transport, char *const *hosts, dome_road road);

/* The road of this task to others of its host. */
dome_road dome__local_road(const dome_transport *transport);

#endif
