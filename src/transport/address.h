/* The addresses of this host. */
#ifndef DOME_SRC_ADDRESS_H
#define DOME_SRC_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

/* The address of an interface by which other hosts may reach this one. Asks no name server. */
bool dome__outside_interface(char text[INET_ADDRSTRLEN]);

/* An address by which other hosts may reach this one: its name, unless that resolves to a loopback address, or the address of an
 * interface. NULL if there is none. g_free'd by the caller. */
char *dome__outside_address(void);

/* Returns false with *message (g_free'd) if other hosts cannot reach this one by that address. */
bool dome__address_is_outside(const char *address, char **message);

#endif
