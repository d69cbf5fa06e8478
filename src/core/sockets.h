/* Stream sockets that block: all of the bytes, whatever a single call does. False if the other end is gone, or after an error
 * (errno). A lost reader is no signal. */
#ifndef DOME_SRC_SOCKETS_H
#define DOME_SRC_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

bool dome__socket_send(int fd, const void *data, uint64_t bytes);
bool dome__socket_receive(int fd, void *data, uint64_t bytes);

#endif
