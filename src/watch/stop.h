/* Stops the process until something comes on a socket. */
#ifndef DOME_SRC_WATCH_STOP_H
#define DOME_SRC_WATCH_STOP_H

#include <stddef.h>

/* Stops all threads of this process, as SIGSTOP does, until something can be read from the socket or its other end is closed.
 * When they have stopped, these bytes are sent there; if they cannot be stopped, too, and the process goes on. */
void dome__stop_until(int fd, const void *said, size_t bytes);

#endif
