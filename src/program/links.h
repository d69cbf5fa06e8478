/* The measured network (src/network) in a program: the order of its hosts, and the links of its transport. */
#ifndef DOME_SRC_PROGRAM_LINKS_H
#define DOME_SRC_PROGRAM_LINKS_H

#include "core/environment.h"
#include "network/network.h"

/* For rank 0, before it deals tasks to hosts: puts the hosts into the order of the best ring, the first one staying first.
 * Returns what files know of the network, or NULL: then the order stays, too. */
dome_network *dome__links_order(char **hosts);

/* Collective, when the transport is open: tells the transport about hosts and links. network: what rank 0 knows, NULL elsewhere;
 * freed. Returns a dome_status. */
int dome__links_set(dome_env *env, dome_network *network);

#endif
