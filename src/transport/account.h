/* A task's account of its messages and waits: how many it has sent, whom it waits for now, and for how long it has waited for
 * whom. The thread that sends and receives keeps it; the watcher thread reads part of it, with which the hub finds tasks that
 * wait for each other. Everybody reads it; only the functions of this header and account.c change it. */
#ifndef DOME_SRC_TRANSPORT_ACCOUNT_H
#define DOME_SRC_TRANSPORT_ACCOUNT_H

#include "core/clock.h"
#include "transport/provider.h"

struct dome_board;

/* ns: shorter waits do not interrupt a task's computing. */
enum { DOME_LONG_WAIT = 100 * 1000 };

/* A message that a task waits for in dome_recv or dome_wait, as one word: the rank of its sender, negative for any, and its tag.
 */
#define DOME_AWAITS(rank, tag)     ((uint64_t)1 << 63 | (uint64_t)((rank) < 0 ? 0 : (rank) + 1) << 32 | (uint32_t)(tag))
#define DOME_AWAITED_RANK(awaited) ((int)((awaited) >> 32 & 0x7fffffff) - 1)
#define DOME_AWAITED_TAG(awaited)  ((int)(uint32_t)(awaited))

/* In place of a tag: a lock that the task with this rank holds. */
enum { DOME_AWAITED_LOCK = INT32_MIN };

/* The message for which a task waits, as one word: the next one on a channel from a task, or from any (rank -1). In place of a
 * channel: what it waits for is in memory that tasks share, or is a lock; it waits because it sends; the task's thread for
 * services is to answer (peer/peer.h), which that does soon. 0: it does not wait. */
enum { DOME_WAITS_NEAR = DOME_CHANNELS, DOME_WAITS_TO_SEND, DOME_WAITS_SERVICE };
#define DOME_WAITS(rank, channel) ((uint32_t)((rank) + 1) << 5 | (uint32_t)(channel) << 1 | 1u)
#define DOME_WAITS_RANK(waits)    ((int)((waits) >> 5) - 1)
#define DOME_WAITS_CHANNEL(waits) ((int)((waits) >> 1 & 15))
enum { DOME_AHEAD_WAITS = 4 };

typedef struct dome_transport_account {
    /* Read by the watcher thread. */
    uint64_t wait_ns; /* time spent waiting in send and receive so far: the operation clock subtracts it */
    uint32_t waiting; /* what a send or receive waits for (DOME_WAITS) */
    uint32_t
        ahead_waits[DOME_AHEAD_WAITS]; /* the same for the oldest all-reduces that run ahead: they get on during other waits */
    uint32_t *given, *taken;  /* by rank and channel: the messages of the provider that were given to it for a task, and that were
                               * taken from it; NULL: what was given is there */
    uint64_t awaited;         /* the message of the program, or the lock, that this task waits for (DOME_AWAITS); 0: none */
    uint64_t wait_began;      /* when the wait began, ns */
    uint64_t progress;        /* incremented when anything arrives */
    struct dome_board *board; /* of this task's host (board.h), NULL: none */
    int board_place, board_tasks;

    /* Of the thread that sends and receives. */
    uint64_t *waited_for;     /* wait_ns by the rank waited for */
    uint64_t waits;           /* how often it waited for DOME_LONG_WAIT or longer */
    uint64_t messages, bytes; /* sent so far, or read from another task's memory */
    uint64_t now;             /* the clock's reading at the end of the last wait, ns: saves reading it again */
    uint64_t begun;           /* its reading a moment ago, for the next share; 0: not known */
    int served;               /* the rank that dome__wait_for_any returned last */
} dome_transport_account;

/* ---- waits ---- */

/* Marks the task as waiting: the operation clock subtracts the time, and the watcher thread reports it. While a task waits,
 * all-reduces that run ahead send and receive, too: these waits are part of the outer one. now: the time, 0: not known. Returns
 * when the wait began, 0: it is part of another. */
static inline uint64_t dome__account_begin_wait(dome_transport_account *a, uint32_t waits, uint64_t now)
{
    if (a->waiting)
        return 0;
    __atomic_store_n(&a->waiting, waits, __ATOMIC_RELAXED);
    const uint64_t start = now ? now : dome__now_ns();
    __atomic_store_n(&a->wait_began, start, __ATOMIC_RELAXED);
    return start;
}

/* The wait for this rank, which began at `start`, is over. Returns how long it took. */
static inline uint64_t dome__account_end_wait(dome_transport_account *a, int rank, uint64_t start)
{
    __atomic_store_n(&a->waiting, 0, __ATOMIC_RELAXED);
    a->now = dome__now_ns();
    const uint64_t took = a->now > start ? a->now - start : 0;
    __atomic_store_n(&a->wait_ns, a->wait_ns + took, __ATOMIC_RELAXED);
    a->waits += took >= DOME_LONG_WAIT;
    if (a->waited_for)
        a->waited_for[rank] += took;
    return took;
}

/* Sets another message for which the task waits for a while, or the one before it again. */
static inline void dome__account_wait_for(dome_transport_account *a, uint32_t waits)
{
    __atomic_store_n(&a->waiting, waits, __ATOMIC_RELAXED);
}

static inline void dome__account_ahead_waits(dome_transport_account *a, int k, uint32_t waits)
{
    __atomic_store_n(&a->ahead_waits[k], waits, __ATOMIC_RELAXED);
}

/* The message of the program that the task waits for (DOME_AWAITS), 0: none any more. */
static inline void dome__account_await(dome_transport_account *a, uint64_t awaited)
{
    __atomic_store_n(&a->awaited, awaited, __ATOMIC_RELAXED);
}

static inline void dome__account_serve(dome_transport_account *a, int rank)
{
    a->served = rank;
}

/* The time, for the next share: saves reading the clock. 0: not known. */
static inline void dome__account_set_begun(dome_transport_account *a, uint64_t now)
{
    a->begun = now;
}

/* Whether the task waits from here on is told by `now`, which stays 0 if it does not. */
static inline void dome__account_forget_now(dome_transport_account *a)
{
    a->now = 0;
}

/* ---- messages ---- */

static inline void dome__account_sent(dome_transport_account *a, uint64_t bytes)
{
    a->messages++;
    a->bytes += bytes;
}

/* For providers: something has arrived. */
static inline void dome__account_progress(dome_transport_account *a)
{
    __atomic_store_n(&a->progress, a->progress + 1, __ATOMIC_RELAXED);
}

/* Among the messages of the provider to or from a task by a channel. */
static inline size_t dome__account_pair(int rank, int channel)
{
    return (size_t)rank * DOME_CHANNELS + (size_t)channel;
}

/* For providers that count them, after dome__account_count: a message is given to the provider, or taken from it. */
static inline void dome__account_give(dome_transport_account *a, int rank, int channel)
{
    uint32_t *given = &a->given[dome__account_pair(rank, channel)];
    __atomic_store_n(given, *given + 1, __ATOMIC_RELAXED);
}

static inline void dome__account_take(dome_transport_account *a, int rank, int channel)
{
    uint32_t *taken = &a->taken[dome__account_pair(rank, channel)];
    __atomic_store_n(taken, *taken + 1, __ATOMIC_RELAXED);
}

/* ---- account.c ---- */

void dome__account_open(dome_transport_account *account, int size);
void dome__account_clear(dome_transport_account *account);

/* From now on the messages of the provider are counted, in `given` and `taken`. */
void dome__account_count(dome_transport_account *account, int size);

/* No time has been waited for any of so many tasks. */
void dome__account_forget_waits(dome_transport_account *account, int size);

/* The watcher thread may look at once. */
void dome__account_put_up_board(dome_transport_account *account, struct dome_board *board, int place, int tasks);

#endif
