/* What has gone through this process's TCP connections, as the system counts it: a long message on a slow link is seen to move
 * while no part of it has come to the program. */
#ifndef DOME_SRC_MOVED_H
#define DOME_SRC_MOVED_H

#include <netinet/in.h>
#include <stdint.h>

/* Bytes received, and bytes sent that the other end has; without connections to one address. */
uint64_t dome__bytes_moved(const struct sockaddr_in *except);

#endif
