/* Messages between tasks of one host, for the transport's table in local.c. The ranks must be of this host. */
#ifndef DOME_SRC_LOCAL_LOCAL_MESSAGES_H
#define DOME_SRC_LOCAL_LOCAL_MESSAGES_H

#include "local/local_private.h"

/* Begins to send; the data must not change until end_send, or the next begin_send, to the same rank returns. */
int dome__local_begin_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet);
void dome__local_end_send(dome_transport_provider *self, int dest);

/* Sends a short message if the peer has taken all earlier ones; otherwise does nothing and returns false. */
bool dome__local_send_at_once(dome_transport_provider *self, int dest, int channel, const dome_packet *packet);

/* Whether end_send would return at once. */
bool dome__local_sent(dome_transport_provider *self, int dest);

/* Whether recv_head would find a message. Takes in what has arrived from this rank, but for offered data. */
bool dome__local_arrived(dome_transport_provider *self, int source, int channel);

int dome__local_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes);
int dome__local_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes);

void dome__local_forget_messages(dome_local *local);

#endif
