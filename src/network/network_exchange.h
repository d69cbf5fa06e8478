/* Two tasks measure the link between them: one leads, the other follows. The receiver of each message waits for it before it is
 * sent, as in Dome 1995, so the time holds no more than the message itself. Times are monotonic. */
#ifndef DOME_SRC_NETWORK_NETWORK_EXCHANGE_H
#define DOME_SRC_NETWORK_NETWORK_EXCHANGE_H

#include "transport/transport.h"

/* How thoroughly a link is measured. */
typedef struct dome_exchange_effort {
    int pings;          /* round trips of short messages; the fastest counts */
    uint64_t most;      /* bytes of the longest message */
    double enough;      /* seconds: a message that takes longer is long enough */
    double budget;      /* seconds: after it the exchange ends soon */
    uint64_t silent_ns; /* a partner that sends nothing for so long does not answer; 0: waits as a program's receive does */
} dome_exchange_effort;

/* Long messages travel in pieces of so many bytes, each of which is answered, and few are under way at a time: they fit into the
 * buffers of a connection, so no task is ever stuck in sending to one that stopped. */
enum { DOME_EXCHANGE_PIECE = 16384 };

typedef struct dome_exchange {
    dome_transport *transport;
    int partner;
    const dome_exchange_effort *effort;
    uint64_t size; /* of messages that are long enough */
    uint8_t piece[DOME_EXCHANGE_PIECE];
} dome_exchange;

/* The partner follows meanwhile. Return false if it does not answer, or the transport fails. Sets latency, bandwidth and size. */
bool dome__exchange_alone(dome_exchange *exchange, double *latency, double *bandwidth);

/* After alone, with its size: long messages one after the other, up to the one in which go_on returns false. It is called after
 * each piece, with the bytes that have arrived so far, until then. */
bool dome__exchange_stream(dome_exchange *exchange, bool (*go_on)(void *ctx, uint64_t bytes), void *ctx);

/* Leads an exchange of nothing. */
bool dome__exchange_end(const dome_exchange *exchange);

/* Follows until the leader's exchange ends. */
bool dome__exchange_follow(dome_exchange *exchange);

/* Waits until a message of this task has arrived; false after silent_ns (0: never), or if the transport cannot tell. */
bool dome__exchange_await(dome_transport *transport, int source, uint64_t silent_ns);

#endif
