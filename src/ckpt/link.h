/* Connections between the tasks of a program for writing checkpoints: from every task to rank 0, by TCP. They are separate from
 * the transport, which only one thread may use, and work while the program computes. Each message has a code (transport/mac.h).
 */
#ifndef DOME_SRC_CKPT_LINK_H
#define DOME_SRC_CKPT_LINK_H

#include "ckpt/writer.h"

enum { DOME_CKPT_COOKIE = 16 };

/* The data that other tasks need to reach rank 0. They get the cookie by the transport. */
typedef struct dome_ckpt_door {
    uint8_t cookie[DOME_CKPT_COOKIE];
    uint64_t port;
} dome_ckpt_door;

/* Rank 0: opens a socket that listens at this address (IPv4 in network order); -1 with *message on failure. */
int dome__ckpt_link_listen(uint32_t address, dome_ckpt_door *door, char **message);

/* Rank 0: expects connections from all others. Takes ownership of `listening`. */
void dome__ckpt_link_accept(dome_ckpt_link *link, int size, int listening, const dome_ckpt_door *door);

/* Another task: address is a struct sockaddr_in, whose port is ignored. */
void dome__ckpt_link_connect(dome_ckpt_link *link, int rank, int size, const void *address, const dome_ckpt_door *door);

/* Makes the connections of at most two links for which one of the two functions above was called. They are made at the same time,
 * since a task may accept connections on one link and connect to another task on the other. Both sides prove that they know the
 * cookie (transport/handshake.h); strangers are disconnected; they cause neither failure nor delay. */
bool dome__ckpt_link_complete(dome_ckpt_link *const *links, int n, double seconds, char **message);

/* Another task: gets its own address as rank 0 sees it, a struct sockaddr_in. */
bool dome__ckpt_link_local(const dome_ckpt_link *link, void *address);

void dome__ckpt_link_close(dome_ckpt_link *link);

#endif
