/* Stream sockets that block: all of the bytes, whatever a single call does. False if the other end is gone, or after an error
 * (errno). A lost reader is no signal. */
#ifndef DOME_SRC_SOCKETS_H
#define DOME_SRC_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

bool dome__socket_send(int fd, const void *data, uint64_t bytes);
bool dome__socket_receive(int fd, void *data, uint64_t bytes);

/* For a connection of few, short messages that must not be late: each is sent at once, and one that is lost is sent again after
 * pauses that do not grow at first, so that the messages go on soon after a link that was cut. */
void dome__socket_be_quick(int fd);

#endif
