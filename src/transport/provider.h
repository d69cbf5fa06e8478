/* A provider, which sends messages between tasks: its table of functions ("slots"), and what it keeps between their calls.
 * src/pvm and self.c implement it; src/local does, too, and holds another one inside. Knowing and starting the tasks is the
 * launcher's job (launcher.h).
 *
 * Between two tasks messages arrive in the order sent, per channel. Only one thread of a task calls the slots. They return a
 * dome_status; on failure they leave a text by dome__transport_error. transport.c alone changes a dome_transport_provider. */
#ifndef DOME_SRC_TRANSPORT_PROVIDER_H
#define DOME_SRC_TRANSPORT_PROVIDER_H

#include "transport/launcher.h"

#include <dome/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct dome_transport dome_transport;
typedef struct dome_transport_provider dome_transport_provider;

enum {
    DOME_CHANNEL_COLLECTIVE,
    DOME_CHANNEL_DATA,
    DOME_CHANNEL_CONTROL,
    DOME_CHANNEL_RELAY,
    DOME_CHANNEL_AHEAD,
    DOME_CHANNEL_PROGRAM,
    DOME_CHANNELS
};

/* The most tasks in a share. */
enum { DOME_NEAR_MAX = 32 };

/* The data of one task in a share. */
typedef struct dome_shared {
    const void *head, *data; /* data: aligned for every type */
    uint64_t bytes;
} dome_shared;

/* A message as a provider carries it. */
typedef struct dome_packet {
    const void *head;
    size_t head_bytes;
    const void *data;
    uint64_t bytes; /* of data */
} dome_packet;

/* The abilities of a transport beyond the required slots. */
typedef enum dome_transport_can {
    DOME_TRANSPORT_OFFER = 1,    /* begin_send and end_send: a send may have to wait for the receiver */
    DOME_TRANSPORT_LISTEN = 2,   /* descriptors, and PROBE: a task can wait for messages and other events at once */
    DOME_TRANSPORT_SHARE = 4,    /* share: tasks share memory */
    DOME_TRANSPORT_PROBE = 8,    /* arrived: a task can look for messages without waiting */
    DOME_TRANSPORT_AT_ONCE = 16, /* send_at_once: some messages leave without any waiting */
    DOME_TRANSPORT_UNTIL = 32,   /* wait_until, and PROBE: a task can sleep until a message of any of several tasks has arrived */
    DOME_TRANSPORT_PEEK = 64     /* peek: a task can read the memory of others of its host */
} dome_transport_can;

typedef struct dome_transport_ops {
    size_t size;
    const char *name; /* the value of --dome-transport: "self", "pvm" */
    unsigned can;     /* dome_transport_can; slots of missing capabilities are NULL */

    /* Opens the transport between a program's tasks, once its launcher knows them. NULL for a transport that is made
     * otherwise. */
    dome_transport *(*open)(const dome_members *members);

    /* Sends a message of any length to another rank (never its own). Its memory may be reused on return. May wait
     * for the receiver, but receives arriving messages meanwhile: two tasks that send to each other do not deadlock. */
    int (*send)(dome_transport_provider *p, int dest, int channel, const dome_packet *packet);

    /* AT_ONCE: sends a message as `send` does if that needs no waiting and is quick; otherwise does nothing and returns false. */
    bool (*send_at_once)(dome_transport_provider *p, int dest, int channel, const dome_packet *packet);

    /* OFFER: send in two steps. The data must not change until end_send, or the next begin_send to the same task, returns. */
    int (*begin_send)(dome_transport_provider *p, int dest, int channel, const dome_packet *packet);
    void (*end_send)(dome_transport_provider *p, int dest);

    /* OFFER: whether end_send would return at once. */
    bool (*sent)(dome_transport_provider *p, int dest);

    /* Waits for the next message from source and gives its head (exactly head_bytes, as sent) and the length of its data. Must
     * be followed by recv_data for the same message. */
    int (*recv_head)(dome_transport_provider *p, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes);
    int (*recv_data)(dome_transport_provider *p, int source, int channel, void *data, uint64_t bytes);

    /* PROBE: receives pending data without blocking, and returns whether recv_head would find a message. source < 0: only
     * receives, what tasks of this host offer included. */
    bool (*arrived)(dome_transport_provider *p, int source, int channel);

    /* UNTIL: calls `ready`, which looks by `arrived` and may send, until it returns true, and sleeps between calls until
     * something has arrived. */
    void (*wait_until)(dome_transport_provider *p, bool (*ready)(void *ctx), void *ctx);

    /* LISTEN, for tasks that also wait for other events (src/local): the descriptors that become readable when data arrives; *fds
     * is the provider's, valid until the next call. */
    int (*descriptors)(dome_transport_provider *p, const int **fds);

    /* SHARE, for the tasks that share memory (the group `near`), if share_bytes is not 0. All of them call it, in the same order.
     * from < 0: each task gives a packet, and waits for those of all others. Otherwise only rank `from` gives, and the
     * others wait for it. given: by position in the group; valid until the next share. */
    int (*share)(dome_transport_provider *p, int from, const dome_packet *packet, dome_shared *given, int *last);

    /* PEEK: reads memory of another task, which does not change it meanwhile: `count` pieces, each as long there as here. False:
     * not all could be read, as from another host, and what is here is undefined. */
    bool (*peek)(dome_transport_provider *p, int rank, const struct iovec *here, const struct iovec *there, size_t count);

    /* Ends the wait of the task's own thread, which is to leave the view (transport.h): in a slot, and in the sleep of one. Any
     * thread may call it. NULL: none is long. */
    void (*rouse)(dome_transport_provider *p);

    /* Leaves the message passing system and frees the provider's state (not the transport). Does not communicate. */
    void (*close)(dome_transport_provider *p);
} dome_transport_ops;

struct dome_transport_provider {
    const dome_transport_ops *ops;
    void *state;               /* the provider's own data */
    unsigned can;              /* dome_transport_can, in this program */
    dome_transport *transport; /* whose messages it carries: it counts them there, and leaves its errors there */
};

#endif
