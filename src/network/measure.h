/* Measuring links between the hosts of a virtual machine, for `dome net`.
 *
 * Task 0 asks; each other task stands for a host and exchanges messages with those that task 0 names. Task 0 itself exchanges no
 * long messages, so it is never stuck in sending to a host that stopped reading. */
#ifndef DOME_SRC_NETWORK_MEASURE_H
#define DOME_SRC_NETWORK_MEASURE_H

#include "network/network.h"
#include "transport/transport.h"

/* Tasks other than 0: obeys until task 0 ends the measurement; false if that fails. idle() is called before each wait for task
 * 0. */
bool dome__network_obey(dome_transport *transport, void (*idle)(void));

/* Task 0: host i of the network is task i + 1. silent[i] becomes true if host i does not answer; the others are measured.
 * asking(host): called before task 0 waits for this host. Returns the number of links measured. */
int dome__network_measure(dome_transport *transport, dome_network *network, void (*asking)(void *ctx, int host), void *ctx,
                          bool *silent);

#endif
