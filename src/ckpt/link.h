/* Connections between the tasks of a program for writing checkpoints: from every task to rank 0, by TCP. They are no part of the
 * transport, which only one thread may use, and work while the program computes. */
#ifndef DOME_SRC_CKPT_LINK_H
#define DOME_SRC_CKPT_LINK_H

#include "ckpt/writer.h"

enum { DOME_CKPT_COOKIE = 16 };

/* What others need to know to reach rank 0. The cookie comes to them by the transport. */
typedef struct dome_ckpt_door {
    uint8_t cookie[DOME_CKPT_COOKIE];
    uint64_t port;
} dome_ckpt_door;

/* Rank 0: a socket that listens at this address (IPv4 in the network's order); -1 with *message on failure. */
int dome__ckpt_link_listen(uint32_t address, dome_ckpt_door *door, char **message);

/* Rank 0: all others are to come. This takes `listening`. */
void dome__ckpt_link_accept(dome_ckpt_link *link, int size, int listening, const dome_ckpt_door *door);

/* Another task: address is a struct sockaddr_in whose port does not count. */
void dome__ckpt_link_connect(dome_ckpt_link *link, int rank, int size, const void *address, const dome_ckpt_door *door);

/* Makes the connections of at most two links for which one of the two above was called, at the same time, since a task may be the
 * one to which others come and go to another one. Both sides prove that they know the cookie (transport/handshake.h); strangers
 * are sent away, and neither failed nor waited for. */
bool dome__ckpt_link_complete(dome_ckpt_link *const *links, int n, double seconds, char **message);

/* Another task: its own address as rank 0 sees it, a struct sockaddr_in. */
bool dome__ckpt_link_local(const dome_ckpt_link *link, void *address);

void dome__ckpt_link_close(dome_ckpt_link *link);

#endif
