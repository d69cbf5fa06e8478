/* Declarations shared by the files of this folder. */
#ifndef DOME_SRC_LOCAL_PRIVATE_H
#define DOME_SRC_LOCAL_PRIVATE_H

#include "local/local.h"

#include <glib.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

enum { LINE = 128, HEAD_MAX = 96, CELL_HEAD = 64, CELL_BYTES = 32 };

/* ---- in shared memory: 32-bit atomics, which all machines support ---- */

typedef enum sleep_kind { AWAKE, FOR_WORD, FOR_ROOM } sleep_kind;

typedef struct shared_task {
    _Alignas(LINE) atomic_uint bell; /* a futex, which wakes a sleeping task */
    atomic_uint sleeping;            /* sleep_kind */
    _Alignas(LINE) atomic_uint done; /* number of shares whose data this task no longer reads */
} shared_task;

/* From one task to another. Byte counts wrap at 2^32, which a ring's size divides.
 *
 * A short message whose receiver has taken all earlier ones goes into the cell: the receiver finds it in the line of memory at
 * which it looks anyway, where a message in the ring costs it two more. While the cell is full, messages go through the ring, so
 * the one in the cell is the oldest. */
typedef struct shared_channel {
    _Alignas(LINE) atomic_uint tail; /* bytes written */
    atomic_uint answered;            /* number of the other task's offered transfers that were answered */
    atomic_uint refused;             /* number of the last of them that could not be read and must be sent through the ring */

    /* the cell: what stands in it changes only while it is empty */
    atomic_uint put;        /* messages that have been in it */
    uint32_t taken, read;   /* of the other direction: messages taken from the cell, bytes read, when this one was written */
    uint8_t channel, bytes; /* of the message */
    uint8_t head_bytes;     /* of its head; SAME_HEAD: its head is that of the one before */
    uint8_t data[CELL_BYTES];
    _Alignas(LINE / 2) uint8_t cell_head[CELL_HEAD];

    _Alignas(LINE) atomic_uint head; /* bytes read by the other task */
    atomic_uint emptied;             /* messages that it has taken from the cell */
} shared_channel;

enum { SAME_HEAD = 255 };

_Static_assert(offsetof(shared_channel, cell_head) == LINE / 2,
               "a message in the cell with the head of the one before is in one line");

/* At the start of the memory. It is followed by a shared_task for each task, a shared_channel for each pair (from, to), their
 * rings, and the slots of shares. */
typedef struct shared_header {
    _Alignas(LINE) uint64_t nonce[2];
} shared_header;

/* ---- private to this task ---- */

typedef struct frame {
    uint32_t channel, head_bytes;
    uint64_t bytes, address; /* address: of the data in the sender's memory; 0: it follows in the ring */
} frame;

typedef struct message {
    frame frame;
    uint8_t head[HEAD_MAX];
    char *data;
    uint64_t got;
} message;

/* A transfer that this task has offered and the peer has not answered. */
typedef struct transfer {
    uint32_t number;
    const char *data; /* NULL: there is none */
    uint64_t bytes;
} transfer;

/* The message at the front of an incoming ring. */
typedef struct arrival {
    bool framed;       /* frame and head have been read */
    bool direct;       /* recv_head has returned its head, and recv_data will read its data */
    char *to;          /* recv_data reads it there; else NULL */
    uint64_t got;      /* bytes of it that are there */
    bool through_ring; /* its data is in the ring */
    bool in_cell;      /* its data has been taken from the cell */
    frame frame;
    const uint8_t *head; /* ring_head, or taken_head of the peer */
    uint8_t ring_head[HEAD_MAX], cell_data[CELL_BYTES];
} arrival;

typedef struct peer {
    int rank;
    pid_t pid;
    shared_task *task;
    shared_channel *out, *in;
    char *out_ring, *in_ring;
    uint32_t out_tail, in_head;
    uint32_t out_head;     /* how far the peer had read when this task last looked */
    uint32_t put, emptied; /* messages put into the outgoing cell, and taken from it when this task last looked */
    uint32_t taken;        /* messages taken from the incoming cell */
    uint64_t written;      /* bytes written to the outgoing ring since this task last took a message from the incoming cell */
    bool heard;            /* the peer has sent something through the ring since this task last looked */
    uint8_t put_head[CELL_HEAD], put_head_bytes;    /* the head of the last message in the outgoing cell */
    uint8_t taken_head[HEAD_MAX], taken_head_bytes; /* of the incoming one */

    transfer offer;
    arrival front;
    message *part;    /* a message being buffered */
    GQueue *messages; /* buffered messages of all channels, in order of arrival */
} peer;

typedef struct dome_local {
    dome_transport *transport;    /* the transport whose provider this is */
    dome_transport_provider base; /* the provider inside, for tasks of other hosts */
    int place, tasks;             /* this task's position among the tasks of its host, in rank order; their number */
    dome_road road;
    peer *peers;   /* by place */
    int *place_of; /* by rank; -1: another host */
    void *memory;
    size_t memory_bytes;
    uint32_t ring;
    shared_task *own;
    unsigned spins, yields; /* the most spins and yields of a wait before it sleeps */
    unsigned eager, sleeps; /* the part of these in use, of EAGER; waits that slept (wait.c) */
    unsigned crowded;       /* so many waits do without a yield, which would give the processor to other programs for long */
    bool alone;             /* all tasks are on this host */
    int doorbell;      /* a socket by which others wake this task, if it also waits for the provider's descriptors; else -1 */
    char *doorbells;   /* prefix of the doorbells' names */
    message *taken;    /* the buffered message whose head recv_head has returned */
    char *slots;       /* of shares, by place */
    uint32_t shares;   /* number of shares that this task has begun */
    uint32_t all_done; /* all others are known to have finished reading the shares up to this number */
} dome_local;

/* ---- waiting: for (dome__pause w = {0}; !condition; dome__rest(local, &w, kind)); dome__rested(local, &w); ---- */

enum { EAGER = 64 };

typedef struct dome__pause {
    unsigned turns;
    bool armed;
    bool slept;  /* has slept, or a yield took so long that sleeping would have been better */
    bool waited; /* offered data was left unread: the next sleep lasts OFFER_NS at most, then the data is read */
    uint32_t bell;
    uint64_t yielded; /* ns of the last yield, after which the condition is looked at */
} dome__pause;

void dome__rest(dome_local *local, dome__pause *w, sleep_kind kind);

/* The slot: ends this task's sleep. */
void dome__local_rouse(dome_transport_provider *self);
void dome__rested(dome_local *local, dome__pause *w);

/* Wakes a task if it sleeps until this kind of event; call it after writing the data. */
void dome__ring(const dome_local *local, int place, sleep_kind news);

void dome__ring_all(const dome_local *local, sleep_kind news);

/* Opens this task's doorbell. Returns an errno. */
int dome__doorbell_open(dome_local *local);

/* Calls `arrived` of the provider inside. */
bool dome__base_arrived(dome_local *local, int source, int channel);

/* Receives available data from all peers into buffers, without waiting; but data of this task that a peer could not read goes
 * through its ring, which may have to become empty. Offered data is read only if `offers`, since it is copied twice then. Returns
 * whether offered data is left unread. */
bool dome__take_in(dome_local *local, bool offers);

#endif
