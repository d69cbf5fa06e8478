/* The bytes transferred over this process's TCP connections, as counted by the system: they show the progress of a long message
 * on a slow link before any of it is delivered to the program. */
#ifndef DOME_SRC_MOVED_H
#define DOME_SRC_MOVED_H

#include <netinet/in.h>
#include <stdint.h>

/* Bytes received, plus bytes sent and acknowledged, over all connections except those to one address. */
uint64_t dome__bytes_moved(const struct sockaddr_in *except);

#endif
