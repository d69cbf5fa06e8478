/* The addresses of this host. */
#ifndef DOME_SRC_ADDRESS_H
#define DOME_SRC_ADDRESS_H

#include <stdbool.h>

/* An address of this host by which others may reach it: its name, if that is no loopback address, or the address of an interface.
 * NULL: there is none. g_free'd. */
char *dome__outside_address(void);

/* False with *message (g_free'd) if no other host reaches this one by that address. */
bool dome__address_is_outside(const char *address, char **message);

#endif
