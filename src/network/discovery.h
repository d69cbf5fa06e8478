/* The network as the tasks of a program know it when it starts.
 *
 * In the program's start:
 *   1. Task 0, before it deals tasks to hosts: dome__network_read (network_file.h) with the names of the hosts, then
 *   dome__network_tour.
 *   2. All tasks, once the transport is open: dome__network_share, where task 0 passes what it read. If files know nothing and
 * there are three hosts or more, one task of each host measures for a short time; tasks are dealt by then, so this serves the
 *      collectives and the cost of moving only. */
#ifndef DOME_SRC_NETWORK_DISCOVERY_H
#define DOME_SRC_NETWORK_DISCOVERY_H

#include "network/network.h"
#include "transport/transport.h"

/* Collective. host: names by rank. *network: what task 0 knows of the distinct hosts in the order of their lowest ranks, NULL
 * elsewhere or if that is nothing; on return the same on all tasks (NULL: nothing), the caller's. Measuring begins no exchange
 * after 50 ms; each lasts for some milliseconds, or a message of 4 KiB on a slow link. Returns a dome_status. */
int dome__network_share(dome_transport *transport, char *const *host, dome_network **network);

/* The number of distinct hosts. number (by rank) becomes their numbers, in the order of their lowest ranks; leader (by host, as
 * long as there are ranks) these ranks. */
int dome__network_hosts(int ranks, char *const *host, int *number, int *leader);

#endif
