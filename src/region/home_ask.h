/* A question to the home of a unit, which its answer ends. */
#ifndef DOME_SRC_REGION_HOME_ASK_H
#define DOME_SRC_REGION_HOME_ASK_H

#include "peer/peer.h"

/* Returns the answer, g_byte_array_unref'd by the caller. If the home is lost, the task waits until it goes back or ends. For the
 * thread that calls the transport. */
GByteArray *dome__home_ask(dome_peer *peer, dome_transport *transport, const dome_peer_question *question);

/* With the status of such a question: ends the task if it was not sent, since no answer would come. */
void dome__home_asked(dome_peer_status status, int rank);

#endif
