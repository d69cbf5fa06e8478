/* A wait that looks again and again: for a message of any of several tasks where the provider can wait for one only, and for
 * waits that must be left where the provider waits inside of another library. */
#ifndef DOME_SRC_TRANSPORT_POLLING_H
#define DOME_SRC_TRANSPORT_POLLING_H

#include "transport/provider.h"

/* Returns when `ready` does so with true. For providers with PROBE. channel: of what is waited for. */
void dome__poll_until(dome_transport_provider *p, int channel, bool (*ready)(void *ctx), void *ctx);

#endif
