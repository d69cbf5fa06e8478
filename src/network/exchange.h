/* Two tasks measure the link between them: one leads, the other follows. The receiver of each message waits for it before it is
 * sent, as in Dome 1995, so the time holds no more than the message itself. Times are monotonic. */
#ifndef DOME_SRC_NETWORK_EXCHANGE_H
#define DOME_SRC_NETWORK_EXCHANGE_H

#include "transport/transport.h"

/* How thoroughly a link is measured. */
typedef struct dome_exchange_effort {
    int pings;          /* round trips of short messages; the fastest counts */
    uint64_t most;      /* bytes of the longest message */
    double enough;      /* seconds: a message that takes longer is long enough */
    double budget;      /* seconds: after it the exchange ends soon */
    double together;    /* seconds for which the exchange lasts while others go on */
    uint64_t silent_ns; /* a partner that sends nothing for so long does not answer; 0: waits as a program's receive does */
} dome_exchange_effort;

typedef struct dome_exchange {
    dome_transport *transport;
    int partner;
    const dome_exchange_effort *effort;
    uint64_t sizes[2]; /* of two long messages from whose times the bandwidth follows: what both have in common, latency and a
                        * first part that the network buffers, does not count */
    uint8_t *buffer;
    uint64_t room;
} dome_exchange;

/* The partner follows meanwhile. Return false if it does not answer, or the transport fails.
 * alone: sets latency, bandwidth, and sizes. together: after alone, with its sizes; sets the bandwidth. */
bool dome__exchange_alone(dome_exchange *exchange, double *latency, double *bandwidth);
bool dome__exchange_together(dome_exchange *exchange, double *bandwidth);

/* Leads an exchange of nothing. */
bool dome__exchange_end(const dome_exchange *exchange);

/* Follows until the leader's exchange ends. */
bool dome__exchange_follow(dome_exchange *exchange);

/* Frees what the struct holds. */
void dome__exchange_clear(dome_exchange *exchange);

/* Waits until a message of this task has arrived; false after silent_ns (0: never), or if the transport cannot tell. */
bool dome__exchange_await(dome_transport *transport, int source, uint64_t silent_ns);

#endif
