/* Links between the threads that write a checkpoint: messages of one tag of the service channel (peer/peer.h), by which these
 * threads reach each other while the program computes. A link may have ranks of its own. */
#ifndef DOME_SRC_CKPT_LINK_H
#define DOME_SRC_CKPT_LINK_H

#include "ckpt/writer.h"
#include "peer/peer.h"

/* ranks: the program's ranks of the link's, which it takes over (g_free); NULL: they are the same. */
void dome__ckpt_link_open(dome_ckpt_link *link, dome_peer *peer, dome_peer_tag tag, int rank, int size, int *ranks);

/* Waits until there is a connection. False with *message: none can be made. */
bool dome__ckpt_link_reach(const dome_ckpt_link *link, int to, char **message);

/* The connections belong to the service channel and stay. */
void dome__ckpt_link_close(dome_ckpt_link *link);

#endif
