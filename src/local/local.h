/* The road between tasks of one host: shared memory instead of the message passing system.
 *
 * A transport that holds another one inside: it takes what goes to tasks of the same host, and gives the rest to the one inside.
 * Messages go through a ring for each pair of tasks. Long ones are read by the receiver out of the sender's memory
 * (process_vm_readv) where the system allows that, and else go through the ring as well. The memory has no name in any file
 * system: nothing can be left behind. */
#ifndef DOME_SRC_LOCAL_H
#define DOME_SRC_LOCAL_H

#include "core/options.h"
#include "transport/transport.h"

/* Collective over all tasks of a transport that nothing has been sent on yet: the transport becomes the road, and what it was
 * stands inside. hosts: names by rank. Tasks for which the road cannot be had keep the transport as it is, and the lowest of them
 * on a host says why on stderr. Returns a dome_status: that of talking to the others. */
int dome__local_open(dome_transport *transport, char *const *hosts, dome_road road);

/* The road of this task to others of its host. */
dome_road dome__local_road(const dome_transport *transport);

#endif
