/* A question without whose answer the task cannot go on. */
#ifndef DOME_SRC_PEER_PEER_NEED_H
#define DOME_SRC_PEER_PEER_NEED_H

#include "peer/peer.h"

/* Returns the answer, g_byte_array_unref'd by the caller. If the task asked is lost, the caller waits until it goes back or ends.
 * For the thread that calls the transport. */
GByteArray *dome__peer_need(dome_peer *peer, dome_transport *transport, const dome_peer_question *question);

/* With the status of such a question: ends the task if it was not sent, since no answer would come. */
void dome__peer_needed(dome_peer_status status, int rank);

#endif
