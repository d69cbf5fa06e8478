/* What the files of this folder share. */
#ifndef DOME_SRC_LOCAL_PRIVATE_H
#define DOME_SRC_LOCAL_PRIVATE_H

#include "local/local.h"

#include <glib.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { LINE = 128, HEAD_MAX = 96 };

/* ---- in shared memory: 32-bit atomics, which every machine has ---- */

typedef enum sleep_kind { AWAKE, FOR_WORD, FOR_ROOM } sleep_kind;

typedef struct shared_task {
    _Alignas(LINE) atomic_uint bell; /* a futex: rung for a task that sleeps */
    atomic_uint sleeping;            /* sleep_kind */
    _Alignas(LINE) atomic_uint done; /* shares that this task has done with */
} shared_task;

/* From one task to another. Counts of bytes go on past 2^32: a ring's size divides it. */
typedef struct shared_channel {
    _Alignas(LINE) atomic_uint tail; /* bytes written */
    atomic_uint answered;            /* of the transfers that the other has offered */
    atomic_uint refused;             /* the last of them could not be read: it has to come through the ring */
    _Alignas(LINE) atomic_uint head; /* bytes taken, by the other */
} shared_channel;

/* At the start of the memory. After it a shared_task for each task, a shared_channel for each pair (from, to), their rings, and
 * the slots of shares.
 */
typedef struct shared_header {
    _Alignas(LINE) uint64_t nonce[2];
} shared_header;

/* ---- of this task ---- */

typedef struct frame {
    uint32_t channel, head_bytes;
    uint64_t bytes, address; /* address: in the sender's memory, where the data is; 0: it follows in the ring */
} frame;

typedef struct message {
    frame frame;
    uint8_t head[HEAD_MAX];
    char *data;
    uint64_t got;
} message;

typedef struct peer {
    int rank;
    pid_t pid;
    shared_task *task;
    shared_channel *out, *in;
    char *out_ring, *in_ring;
    uint32_t out_tail, in_head;

    /* a transfer that has been offered and not answered */
    uint32_t offered;
    const char *offer;
    uint64_t offer_bytes;

    /* what is at the front of the ring */
    bool framed;       /* frame and head have been read */
    bool direct;       /* by recv_head: recv_data is next */
    bool through_ring; /* its data comes through the ring */
    frame frame;
    uint8_t head[HEAD_MAX];
    message *part;    /* being put aside */
    GQueue *messages; /* put aside, in order, of all channels */
} peer;

typedef struct dome_local {
    dome_transport *transport; /* that this is the provider of */
    dome_transport *base;      /* inside of it, for tasks of other hosts */
    int place, tasks;          /* of this task among those of its host, in the order of ranks; how many they are */
    dome_road road;
    peer *peers;   /* by place */
    int *place_of; /* by rank; -1: another host */
    void *memory;
    size_t memory_bytes;
    uint32_t ring;
    shared_task *own;
    unsigned spins, yields; /* how often a wait spins and yields before it sleeps: at most */
    unsigned eager, sleeps; /* how much of that is worth while now, of EAGER; sleeps since that was all */
    bool alone;             /* all tasks are of this host */
    int doorbell;           /* a socket on which others ring, where news may come from the provider too; else -1 */
    char *doorbells;        /* what their names begin with */
    message *taken;         /* by recv_head */

    char *slots;       /* of shares, by place */
    uint32_t shares;   /* begun by this task */
    uint32_t all_done; /* a share that all others are known to have done with */
} dome_local;

/* ---- waiting: for (dome__pause w = {0}; !condition; dome__rest(local, &w, kind)); dome__rested(local, &w); ---- */

enum { EAGER = 64 };

typedef struct dome__pause {
    unsigned turns;
    bool armed;
    bool slept;  /* or should have */
    bool waited; /* for as long as data that is offered may wait for the call that wants it */
    uint32_t bell;
} dome__pause;

void dome__rest(dome_local *local, dome__pause *w, sleep_kind kind);
void dome__rested(dome_local *local, dome__pause *w);

/* Rings for a task that sleeps for this kind of news, after it has been written. */
void dome__ring(const dome_local *local, int place, sleep_kind news);

void dome__ring_all(const dome_local *local, sleep_kind news);

/* The socket on which others ring for this task. Returns an errno. */
int dome__doorbell_open(dome_local *local);

/* The provider's: whether a message of another host has come; source < 0: just takes in what there is. */
bool dome__base_arrived(dome_local *local, int source, int channel);

/* Takes in what has come from all peers, without waiting. Data that has been offered is read only if offers says so: it would be
 * copied twice. True if some is left. */
bool dome__take_in(dome_local *local, bool offers);

#endif
