/* Stops the process until something comes on a descriptor. */
#ifndef DOME_SRC_WATCH_STOP_H
#define DOME_SRC_WATCH_STOP_H

/* Stops all threads of this process, as SIGSTOP does, until the descriptor can be read or its other end is closed. Without room
 * for the process that wakes this one it does nothing. */
void dome__stop_until(int fd);

#endif
