/* Typed messages between two tasks, on top of a transport's table.
 *
 * Elements are sent in native form between tasks of equal data formats and in portable form otherwise. Each message carries the
 * sender's stamp; a receiver at another point of the program gets DOME_ERR_MISMATCH and a reason that names both operations. A
 * message of unexpected length is DOME_ERR_MISMATCH, too. A task cannot send to itself or receive from itself. */
#ifndef DOME_SRC_MESSAGE_H
#define DOME_SRC_MESSAGE_H

#include "transport/transport.h"

/* The form in which data travels between this task and rank. */
dome_format dome__format_with(const dome_transport *transport, int rank);

int dome__send(dome_transport *transport, int dest, int channel, dome_type type, const void *data, uint64_t count);
/* dome__send in two steps, between which the task can do other work. The data must not change until dome__end_send, or until the
 * next message to the same task is begun. Tasks that exchange long data receive between the two calls. */
int dome__begin_send(dome_transport *transport, int dest, int channel, dome_type type, const void *data, uint64_t count);
void dome__end_send(dome_transport *transport, int dest);

int dome__recv(dome_transport *transport, int source, int channel, dome_type type, void *data, uint64_t count);

/* Waits until a message from one of these ranks has arrived, and returns the rank: of several, the first after the one that the
 * last call returned. Needs DOME_TRANSPORT_PROBE. */
int dome__wait_for_any(dome_transport *transport, const int *ranks, int count, int channel);

/* What a task gives to a share (provider.h). */
typedef struct dome_share_part {
    int from; /* as in provider.h */
    dome_type type;
    const void *data;
    uint64_t own;           /* elements that this task gives */
    uint64_t least, most;   /* every task of the group gives so many, */
    const uint64_t *counts; /* or, if this is not NULL, task i of the group gives counts[i] */
} dome_share_part;

/* A share among the tasks of the group `near`: like messages of each task to each, with the same checks. The tasks agree in type,
 * most and counts. given: one entry for each task of the group. */
int dome__share(dome_transport *transport, const dome_share_part *sharing, dome_shared *given);

/* Receives a message of any length: *data is allocated with g_malloc (NULL if count is 0), *count elements. */
int dome__recv_new(dome_transport *transport, int source, int channel, dome_type type, void **data, uint64_t *count);

/* Memory for a message of any length. */
typedef struct dome_recv_memory {
    void *(*allocate)(uint64_t bytes); /* NULL: there is none */
    void (*release)(void *data);       /* called if receiving fails */
    void *data;                        /* the result: `count` elements, NULL if there are none */
    uint64_t count;
} dome_recv_memory;

/* dome__recv_new with memory of the caller. */
int dome__recv_in(dome_transport *transport, int source, int channel, dome_type type, dome_recv_memory *memory);

/* ---- messages of the program, outside of its history: the two tasks may be at different operations ---- */

typedef struct dome_message {
    int tag;
    dome_type_kind kind;
    uint64_t type;    /* hash of the sender's type */
    uint64_t element; /* portable size of an element */
    uint64_t count;
    uint64_t bytes; /* of the first part */
} dome_message;

/* An outgoing message. */
typedef struct dome_message_out {
    int dest, tag;
    dome_type type;
    uint64_t hash; /* of the type */
    const void *data;
    uint64_t count;
} dome_message_out;

/* Sends elements on DOME_CHANNEL_PROGRAM. whole: as dome__send, else as dome__begin_send. now: the clock's reading, 0: not known,
 * here and below. */
int dome__message_send(dome_transport *transport, const dome_message_out *message, bool whole, uint64_t now);

/* Sends a message as it was sent before; its data is in native form. The receiver's machine is of the same kind. */
int dome__message_send_again(dome_transport *transport, int dest, const dome_message *message, const void *data);

/* Sends elements to another task if that needs no waiting; otherwise does nothing and returns false. Does not read the clock. */
bool dome__message_at_once(dome_transport *transport, const dome_message_out *message);

/* Waits for the next one from a task. Must be followed by dome__message_data. */
int dome__message_head(dome_transport *transport, int source, dome_message *message, uint64_t now);

/* Receives its elements; type NULL: in the form in which they travel (dome__format_with). */
int dome__message_data(dome_transport *transport, int source, const dome_message *message, dome_type type, void *data);

/* Whether dome__end_send would return at once. */
bool dome__sent(dome_transport *transport, int dest);

/* Whether a message of this task has arrived. Needs DOME_TRANSPORT_PROBE. */
bool dome__message_arrived(dome_transport *transport, int source);

#endif
