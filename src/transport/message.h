/* Typed messages between two tasks, on top of a transport's table.
 *
 * Elements travel in native form between tasks of equal data formats and in portable form otherwise. Each message carries the
 * sender's stamp; a receiver at another point of the program gets DOME_ERR_MISMATCH and a reason that names both. A message of
 * another length than expected is DOME_ERR_MISMATCH as well. Sending to and receiving from the own rank is not possible. */
#ifndef DOME_SRC_MESSAGE_H
#define DOME_SRC_MESSAGE_H

#include "transport/transport.h"

/* The form in which data travels between this task and rank. */
dome_format dome__format_with(const dome_transport *transport, int rank);

int dome__send(dome_transport *transport, int dest, int channel, dome_type type, const void *data, uint64_t count);
/* dome__send in two steps: the data has to rest until the second, or until the next message to the same task is begun, but this
 * task may go on meanwhile. Tasks that exchange long data receive between the two. */
int dome__begin_send(dome_transport *transport, int dest, int channel, dome_type type, const void *data, uint64_t count);
void dome__end_send(dome_transport *transport, int dest);

int dome__recv(dome_transport *transport, int source, int channel, dome_type type, void *data, uint64_t count);

/* A share among the tasks near (transport.h): as messages of each to each, with the same checks. counts: what each gives, by
 * place; NULL: count each. from: as there. given: room for all. */
int dome__share(dome_transport *transport, int from, dome_type type, const void *data, uint64_t count, const uint64_t *counts,
                dome_shared *given);

/* The same of all tasks, each of which gives 1 to `most` elements; `most` is the same everywhere. */
int dome__share_part(dome_transport *transport, dome_type type, const void *data, uint64_t count, uint64_t most,
                     dome_shared *given);

/* Receives a message of any length: *data is allocated with g_malloc (NULL if count is 0), *count elements. */
int dome__recv_new(dome_transport *transport, int source, int channel, dome_type type, void **data, uint64_t *count);

/* The same with memory from allocate(bytes) and free, which it goes to if the data does not come. */
int dome__recv_in(dome_transport *transport, int source, int channel, dome_type type, void *(*allocate)(uint64_t bytes),
                  void (*release)(void *data), void **data, uint64_t *count);

#endif
