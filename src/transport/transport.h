/* What Dome needs to send messages, and what providers (src/pvm, self.c) fill in. Which tasks there are, and how they are
 * started, is the launcher's (launcher.h).
 *
 * A transport connects the tasks 0 ... size - 1 of one program. Between two tasks messages arrive in the order sent, per
 * channel. Only one thread of a task calls it. Slots return a dome_status; on failure `reason` holds the text.
 * Objects, balance and ckpt use message.h and collective.h, which stand on this table, and never a provider. */
#ifndef DOME_SRC_TRANSPORT_H
#define DOME_SRC_TRANSPORT_H

#include "core/stamp.h"
#include "transport/launcher.h"

#include <dome/error.h>
#include <dome/type.h>

#include <stdarg.h>

typedef struct dome_transport dome_transport;

enum { DOME_CHANNEL_COLLECTIVE, DOME_CHANNEL_DATA, DOME_CHANNEL_CONTROL, DOME_CHANNELS };

/* A share joins no more tasks than this. */
enum { DOME_NEAR_MAX = 32 };

/* What a task has given in a share. */
typedef struct dome_shared {
    const void *head, *data; /* data: aligned for every type */
    uint64_t bytes;
} dome_shared;

/* Tasks that have something in common, by rank, in ascending order. */
typedef struct dome_group {
    int count, place; /* how many; which of them this task is, -1: none */
    const int *rank;
} dome_group;

/* What a transport can do beyond the required slots. */
typedef enum dome_transport_can {
    DOME_TRANSPORT_OFFER = 1,  /* begin_send and end_send: sending may wait for the receiver */
    DOME_TRANSPORT_LISTEN = 2, /* arrived and descriptors: a task can wait for other news as well */
    DOME_TRANSPORT_SHARE = 4   /* share: tasks share memory */
} dome_transport_can;

typedef struct dome_transport_ops {
    size_t size;
    const char *name; /* "self", "pvm": what --dome-transport takes */
    unsigned can;     /* dome_transport_can; the slots of what it cannot do are NULL */

    /* The transport between the tasks of a program, when its launcher knows them. NULL where a transport is made in another way.
     */
    dome_transport *(*open)(const dome_members *members);

    /* Sends head and data as one message of any length to another rank (never the own). Both may be reused on return. May wait
     * for the receiver, but takes in what arrives meanwhile: two tasks that send to each other do not block each other. */
    int (*send)(dome_transport *transport, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                uint64_t bytes);

    /* OFFER: the same in two steps. The data has to rest until end_send, or until begin_send to the same task, returns. */
    int (*begin_send)(dome_transport *transport, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                      uint64_t bytes);
    void (*end_send)(dome_transport *transport, int dest);

    /* Waits for the next message from source and gives its head (exactly head_bytes, as sent) and the length of its data. Must
     * be followed by recv_data for the same message. */
    int (*recv_head)(dome_transport *transport, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes);
    int (*recv_data)(dome_transport *transport, int source, int channel, void *data, uint64_t bytes);

    /* LISTEN, for tasks that wait for news from elsewhere as well (src/local). arrived: takes in what there is without waiting,
     * and says whether recv_head would find a message (source < 0: just takes in). descriptors: those that can be read when
     * something comes; *fds is the provider's and changes with the next call. */
    bool (*arrived)(dome_transport *transport, int source, int channel);
    int (*descriptors)(dome_transport *transport, const int **fds);

    /* SHARE, for tasks that share memory, the group `near`, when share_bytes is set. All of them call it, in the same order.
     * Gives head and data to all; waits for what the task at `from` gives, which alone gives something then, or for all (from <
     * 0). given, by place: stays until the next share. */
    int (*share)(dome_transport *transport, int from, const void *head, size_t head_bytes, const void *data, uint64_t bytes,
                 dome_shared *given, int *last);

    /* Leaves the message passing system and frees the provider's state (not the transport). No communication. */
    void (*close)(dome_transport *transport);
} dome_transport_ops;

struct dome_transport {
    const dome_transport_ops *ops;
    void *provider;
    unsigned can;          /* dome_transport_can, in this program */
    dome_transport *outer; /* the one that holds this one inside, and is what the task sees; NULL: there is none */
    int rank, size;
    int *data_format;         /* by rank: equal numbers mean equal native forms; NULL when all are equal */
    dome_stamp stamp;         /* of the operation under way; set by operation.c */
    uint64_t wait_ns;         /* time spent waiting in send and receive so far: the operation clock subtracts it */
    int waiting;              /* a send or receive is waiting for another task: read by the watcher thread */
    uint64_t wait_began;      /* when that began, ns; likewise */
    uint64_t progress;        /* goes up when anything arrives: likewise */
    uint64_t messages, bytes; /* sent so far */
    uint64_t share_bytes;     /* the most that a share takes; 0: this program has none */
    dome_group near;          /* tasks that share memory with this one */
    dome_group leaders;       /* the lowest of each such group, or a task alone */
    const int *leader;        /* by rank */
    int *groups;              /* memory of these */
    bool asks;                /* this task wants all to know something: the next all-reduce tells them */
    bool asked;               /* a task has asked in an all-reduce: the same on all tasks after it */
    bool flag;                /* travels with messages: what is known of that in the all-reduce under way */
    char *(*describe)(dome_transport *transport, int rank,
                      const dome_stamp *stamp); /* text for messages, g_free'd; may be NULL */
    void (*waited)(dome_transport *transport, int rank, uint64_t start, uint64_t took); /* called after waiting; may be NULL */
    void *owner;                                                                        /* the dome_env */
    char reason[512];
};

/* For providers. */
dome_transport *dome__transport_new(const dome_transport_ops *ops, void *provider, int rank, int size);

/* For providers: something has arrived. */
void dome__transport_progress(dome_transport *transport);

/* Fills `reason` of the transport that the task sees and returns status, for `return dome__transport_error(t, DOME_ERR_COMM,
 * ...)`. */
int dome__transport_error(dome_transport *transport, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* One process; `open` needs no members. */
extern const dome_transport_ops dome__transport_self;

/* Closes and frees. NULL is allowed. */
void dome__transport_free(dome_transport *transport);

#endif
