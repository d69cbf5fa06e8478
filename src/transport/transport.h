/* The interface of a transport, which sends messages between tasks. src/pvm and self.c implement it. Knowing and starting the
 * tasks is the launcher's job (launcher.h).
 *
 * A transport connects the tasks 0 ... size - 1 of one program. Between two tasks messages arrive in the order sent, per channel.
 * Only one thread of a task calls it. Slots return a dome_status; on failure `reason` holds the text. Objects, balance and ckpt
 * use message.h and collective.h, which are built on this table, and never a provider. */
#ifndef DOME_SRC_TRANSPORT_H
#define DOME_SRC_TRANSPORT_H

#include "core/stamp.h"
#include "transport/launcher.h"

#include <dome/error.h>
#include <dome/type.h>

#include <stdarg.h>

typedef struct dome_transport dome_transport;

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

/* What one task has given in a share. */
typedef struct dome_shared {
    const void *head, *data; /* data: aligned for every type */
    uint64_t bytes;
} dome_shared;

/* A subset of the tasks: their ranks in ascending order. */
typedef struct dome_group {
    int count, place; /* number of tasks; this task's position among them, -1: not a member */
    const int *rank;
} dome_group;

/* How far apart two tasks are. A cluster is a set of hosts with fast links among them. */
typedef enum dome_reach {
    DOME_REACH_HOST,    /* on one host */
    DOME_REACH_CLUSTER, /* on two hosts of one cluster */
    DOME_REACH_FAR,     /* in two clusters */
    DOME_REACHES
} dome_reach;

/* What is known of the links between the tasks, the same on all tasks. Without measurements all members are 0. */
typedef struct dome_transport_links {
    const int *host, *cluster;      /* by rank: equal numbers mean the same host, the same cluster; NULL: not known */
    double latency[DOME_REACHES];   /* s for a message of few bytes, one way; 0: not known */
    double bandwidth[DOME_REACHES]; /* bytes/s of one pair alone; 0: not known */
    double crowded[DOME_REACHES];   /* bytes/s of a pair while all pairs send; 0: not known */
} dome_transport_links;

/* How far apart two ranks are by such numbers; DOME_REACH_CLUSTER if nothing is known. */
static inline dome_reach dome__reach(const int *host, const int *cluster, int a, int b)
{
    if (a == b || (host && host[a] == host[b]))
        return DOME_REACH_HOST;
    return cluster && cluster[a] != cluster[b] ? DOME_REACH_FAR : DOME_REACH_CLUSTER;
}

/* Collectives that have a pattern for short data and one for long data. */
typedef enum dome_pattern { DOME_PATTERN_BCAST, DOME_PATTERN_ALLREDUCE, DOME_PATTERN_GATHER, DOME_PATTERNS } dome_pattern;

typedef struct dome_clusters dome_clusters;

/* What a transport can do beyond the required slots. */
typedef enum dome_transport_can {
    DOME_TRANSPORT_OFFER = 1,    /* begin_send and end_send: a send may have to wait for the receiver */
    DOME_TRANSPORT_LISTEN = 2,   /* descriptors, and PROBE: a task can wait for messages and other events at once */
    DOME_TRANSPORT_SHARE = 4,    /* share: tasks share memory */
    DOME_TRANSPORT_PROBE = 8,    /* arrived: a task can look for messages without waiting */
    DOME_TRANSPORT_AT_ONCE = 16, /* send_at_once: some messages leave without any waiting */
    DOME_TRANSPORT_UNTIL = 32    /* wait_until, and PROBE: a task can sleep until a message of any of several tasks has arrived */
} dome_transport_can;

typedef struct dome_transport_ops {
    size_t size;
    const char *name; /* the value of --dome-transport: "self", "pvm" */
    unsigned can;     /* dome_transport_can; slots of missing capabilities are NULL */

    /* Opens the transport between a program's tasks, once its launcher knows them. NULL for a transport that is made
     * otherwise. */
    dome_transport *(*open)(const dome_members *members);

    /* Sends head and data as one message of any length to another rank (never its own). Both may be reused on return. May wait
     * for the receiver, but receives arriving messages meanwhile: two tasks that send to each other do not deadlock. */
    int (*send)(dome_transport *transport, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                uint64_t bytes);

    /* AT_ONCE: sends a message as `send` does if that needs no waiting and is quick; otherwise does nothing and returns false. */
    bool (*send_at_once)(dome_transport *transport, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                         uint64_t bytes);

    /* OFFER: send in two steps. The data must not change until end_send, or the next begin_send to the same task, returns. */
    int (*begin_send)(dome_transport *transport, int dest, int channel, const void *head, size_t head_bytes, const void *data,
                      uint64_t bytes);
    void (*end_send)(dome_transport *transport, int dest);

    /* OFFER: whether end_send would return at once. */
    bool (*sent)(dome_transport *transport, int dest);

    /* Waits for the next message from source and gives its head (exactly head_bytes, as sent) and the length of its data. Must
     * be followed by recv_data for the same message. */
    int (*recv_head)(dome_transport *transport, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes);
    int (*recv_data)(dome_transport *transport, int source, int channel, void *data, uint64_t bytes);

    /* PROBE: receives pending data without blocking, and returns whether recv_head would find a message. source < 0: only
     * receives, what tasks of this host offer included. */
    bool (*arrived)(dome_transport *transport, int source, int channel);

    /* UNTIL: calls `ready`, which looks by `arrived` and may send, until it returns true, and sleeps between calls until
     * something has arrived. */
    void (*wait_until)(dome_transport *transport, bool (*ready)(void *ctx), void *ctx);

    /* LISTEN, for tasks that also wait for other events (src/local): the descriptors that become readable when data arrives; *fds
     * is the provider's, valid until the next call. */
    int (*descriptors)(dome_transport *transport, const int **fds);

    /* SHARE, for the tasks that share memory (the group `near`), if share_bytes is not 0. All of them call it, in the same order.
     * from < 0: each task gives head and data, and waits for those of all others. Otherwise only rank `from` gives, and the
     * others wait for it. given: by position in the group; valid until the next share. */
    int (*share)(dome_transport *transport, int from, const void *head, size_t head_bytes, const void *data, uint64_t bytes,
                 dome_shared *given, int *last);

    /* Leaves the message passing system and frees the provider's state (not the transport). Does not communicate. */
    void (*close)(dome_transport *transport);
} dome_transport_ops;

/* ns: shorter waits do not interrupt a task's computing. */
enum { DOME_LONG_WAIT = 100 * 1000 };

/* A message that a task waits for in dome_recv or dome_wait, as one word: the rank of its sender, negative for any, and its tag.
 */
#define DOME_AWAITS(rank, tag)     ((uint64_t)1 << 63 | (uint64_t)((rank) < 0 ? 0 : (rank) + 1) << 32 | (uint32_t)(tag))
#define DOME_AWAITED_RANK(awaited) ((int)((awaited) >> 32 & 0x7fffffff) - 1)
#define DOME_AWAITED_TAG(awaited)  ((int)(uint32_t)(awaited))

/* What a task waits for, as one word: the next message on a channel from a task, or from any (rank -1). In place of a channel:
 * what it waits for is in memory that tasks share; it waits because it sends. 0: it does not wait. */
enum { DOME_WAITS_NEAR = DOME_CHANNELS, DOME_WAITS_TO_SEND };
#define DOME_WAITS(rank, channel) ((uint32_t)((rank) + 1) << 4 | (uint32_t)(channel) << 1 | 1u)
#define DOME_WAITS_RANK(waits)    ((int)((waits) >> 4) - 1)
#define DOME_WAITS_CHANNEL(waits) ((int)((waits) >> 1 & 7))
enum { DOME_AHEAD_WAITS = 4 };

struct dome_transport {
    const dome_transport_ops *ops;
    void *provider;
    unsigned can;          /* dome_transport_can, in this program */
    dome_transport *outer; /* the transport that wraps this one and is the one that the task uses; NULL: none */
    int rank, size;
    int *data_format;                       /* by rank: equal numbers mean equal native data formats; NULL when all are equal */
    dome_stamp stamp;                       /* of the current operation; set by operation.c */
    uint64_t wait_ns;                       /* time spent waiting in send and receive so far: the operation clock subtracts it */
    uint64_t *waited_for;                   /* the same by the rank waited for; NULL: not counted */
    uint64_t waits;                         /* how often it waited for DOME_LONG_WAIT or longer */
    uint32_t waiting;                       /* what a send or receive waits for (DOME_WAITS): read by the watcher thread */
    uint32_t ahead_waits[DOME_AHEAD_WAITS]; /* the same for the oldest all-reduces that run ahead: they get on during other waits
                                             */
    /* By rank and channel: the messages of the provider that were given to it for a task, and that were taken from it; NULL: what
     * was given is there. Read by the watcher thread. */
    uint32_t *given, *taken;
    uint64_t awaited;         /* the message of the program that this task waits for (DOME_AWAITS); 0: none; likewise */
    uint64_t wait_began;      /* when the wait began, ns; read by the watcher thread */
    uint64_t progress;        /* incremented when anything arrives; read by the watcher thread */
    uint64_t messages, bytes; /* sent so far */
    struct dome_board *board; /* of this task's host (board.h), NULL: none; read by the watcher thread */
    int board_place, board_tasks;
    uint64_t share_bytes; /* the most bytes a task can give in a share; 0: no shares in this program */
    dome_group near;      /* tasks that share memory with this one */
    dome_group leaders;   /* the lowest rank of each such group; a task that shares memory with none is its own leader */
    const int *leader;    /* by rank */
    int *groups;          /* memory of these */
    dome_transport_links links;
    dome_clusters *clusters;             /* the groups of collectives, by `links`; NULL: all tasks are alike */
    uint64_t short_bytes[DOME_PATTERNS]; /* up to how many bytes collectives use the pattern for short data; 0: the default */
    struct dome_ahead_line *ahead;       /* all-reduces that run while the program continues (ahead.h); NULL: none so far */
    uint64_t together;                   /* collectives so far in which each task waits for all others; the same on all tasks */
    bool asks;                           /* this task has a request to all tasks: the next all-reduce passes it on */
    bool asked;                          /* a task has made such a request in an all-reduce; after it the same on all tasks */
    bool flag;                           /* sent with messages: whether a request is known in the current all-reduce */
    char *(*describe)(dome_transport *transport, int rank,
                      const dome_stamp *stamp); /* text for messages, g_free'd; may be NULL */
    void (*waited)(dome_transport *transport, int rank, uint64_t start, uint64_t took); /* called after waiting; may be NULL */
    void *owner;                                                                        /* the dome_env */
    char reason[512];
    uint64_t now;   /* the clock's reading at the end of the last wait, ns: saves reading it again */
    uint64_t begun; /* its reading a moment ago, for the next share; 0: not known */
    int served;     /* the rank that dome__wait_for_any returned last */
};

/* For providers. */
dome_transport *dome__transport_new(const dome_transport_ops *ops, void *provider, int rank, int size);

/* For providers: counts an arrival (`progress`). */
void dome__transport_progress(dome_transport *transport);

/* From now on this process sends nothing more: a task is lost, and the hub says within seconds how the program goes on, which
 * this process does not survive as it is. Where the daemon of the lost task's host has gone, too, a message to that host would
 * hold up those of all others. Any thread may call it. */
void dome__transport_stop(void);

/* Nobody listens to the hub any more (dome_finalize): what this process sends in another program, after another dome_init, is
 * sent. */
void dome__transport_resume(void);

/* For providers, before a message is sent: does not return once this process has been stopped. */
void dome__transport_may_send(void);

/* Fills `reason` of the outermost transport and returns status, for `return dome__transport_error(t, DOME_ERR_COMM, ...)`. */
int dome__transport_error(dome_transport *transport, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets `links` to a copy of these, and `clusters` and `short_bytes` accordingly. Call it at most once, with the same numbers on
 * all tasks, when `near` and `leaders` are known. From then on collectives use them. */
void dome__transport_set_links(dome_transport *transport, const dome_transport_links *links);
void dome__transport_free_links(dome_transport *transport);

/* dome__reach by `links`. */
dome_reach dome__transport_reach(const dome_transport *transport, int a, int b);

/* The transport of a program of one process; `open` needs no members. */
extern const dome_transport_ops dome__transport_self;

/* Closes and frees. NULL is allowed. */
void dome__transport_free(dome_transport *transport);

#endif
