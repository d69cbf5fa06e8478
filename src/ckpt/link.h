/* Connections between the tasks of a program for writing checkpoints: from every task to rank 0, by TCP. They are no part of the
 * transport, which only one thread may use, and work while the program computes. */
#ifndef DOME_SRC_CKPT_LINK_H
#define DOME_SRC_CKPT_LINK_H

#include "ckpt/writer.h"

enum { DOME_CKPT_COOKIE = 16 };

/* What others need to know to reach rank 0. */
typedef struct dome_ckpt_door {
    uint8_t cookie[DOME_CKPT_COOKIE];
    uint64_t port;
} dome_ckpt_door;

/* Rank 0: a socket that listens; -1 with *message on failure. */
int dome__ckpt_link_listen(dome_ckpt_door *door, char **message);

/* Rank 0: waits until all others are there; closes `listening`. */
bool dome__ckpt_link_accept(dome_ckpt_link *link, int size, int listening, const dome_ckpt_door *door, double seconds,
                            char **message);

/* Another task: address is a struct sockaddr_in whose port does not count. */
bool dome__ckpt_link_connect(dome_ckpt_link *link, int rank, int size, const void *address, const dome_ckpt_door *door,
                             char **message);

/* Another task: its own address as rank 0 sees it, a struct sockaddr_in. */
bool dome__ckpt_link_local(const dome_ckpt_link *link, void *address);

void dome__ckpt_link_close(dome_ckpt_link *link);

#endif
