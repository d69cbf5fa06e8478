/* The road between tasks of one host: shared memory instead of the message passing system.
 *
 * It stands before a provider in a transport's table and takes what goes to tasks of the same host; the provider keeps the rest,
 * and starts, addresses and ends tasks as before. Messages go through a ring for each pair of tasks. Long ones are read
 * by the receiver out of the sender's memory (process_vm_readv) where the system allows that, and else go through the ring as
 * well. The memory has no name in any file system: nothing can be left behind. */
#ifndef DOME_SRC_LOCAL_H
#define DOME_SRC_LOCAL_H

#include "transport/transport.h"

typedef enum dome_road {
    DOME_ROAD_BEST, /* the best of the next that the machine allows */
    DOME_ROAD_VM,   /* shared memory; long messages out of the sender's memory */
    DOME_ROAD_SHM,  /* shared memory for all */
    DOME_ROAD_PVM   /* the provider for all */
} dome_road;

/* Collective over all tasks of a transport that nothing has been sent on yet. hosts: names by rank. Tasks for which the road
 * cannot be had keep the provider, and the lowest of them on a host says why on stderr. Returns a dome_status: that of talking to
 * the others. */
int dome__local_open(dome_transport *transport, char *const *hosts, dome_road road);

/* The road of this task to others of its host. */
dome_road dome__local_road(const dome_transport *transport);

#endif
