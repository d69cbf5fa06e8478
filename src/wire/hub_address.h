/* The address at which a program's hub listens, and connecting to it. */
#ifndef DOME_SRC_HUB_ADDRESS_H
#define DOME_SRC_HUB_ADDRESS_H

#include "wire/wire.h"

/* The address of the hub; its text form, for an environment variable or a start message, is
 * "cookie;address:port,address:port;directory of a private virtual machine". */
typedef struct dome_hub_address {
    char *cookie;
    char **endpoints;
    char *directory; /* of the private virtual machine, "" if none */
} dome_hub_address;

bool dome__hub_address_parse(dome_hub_address *address, const char *text);
void dome__hub_address_clear(dome_hub_address *address);

/* Removes loopback addresses, for a task on another host than the hub: there another process may listen at them. */
void dome__hub_address_outside(dome_hub_address *address);

/* Connects to one of the hub's endpoints and completes the handshake; -1 on failure. Each of the two steps takes at most so many
 * seconds. */
int dome__hub_connect(const dome_hub_address *address, const char *endpoint, dome_wire_channel channel, double seconds,
                      dome_macs *macs);

#endif
