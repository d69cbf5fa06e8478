/* A transport sends messages between the tasks 0 ... size - 1 of one program. It has three parts: a provider, which carries the
 * messages (provider.h); an account of messages and waits (account.h); and the group of tasks (group.h). Each part's members are
 * changed by its own file alone.
 *
 * Only one thread of a task calls it. Objects, balance and ckpt use message.h and collective.h, which are built on the slots, and
 * never a provider. */
#ifndef DOME_SRC_TRANSPORT_H
#define DOME_SRC_TRANSPORT_H

#include "core/stamp.h"
#include "transport/account.h"
#include "transport/group.h"
#include "transport/provider.h"

#include <dome/type.h>

#include <setjmp.h>

struct dome_transport {
    dome_transport_provider provider;
    dome_transport_account account;
    dome_transport_group group;
    struct dome_ahead_line *ahead; /* all-reduces that run while the program continues (ahead.h); NULL: none so far */
    dome_stamp stamp;              /* of the current operation; set by operation.c */
    char *(*describe)(dome_transport *transport, int rank,
                      const dome_stamp *stamp); /* text for messages, g_free'd; may be NULL */
    void (*waited)(dome_transport *transport, int rank, uint64_t start, uint64_t took); /* called after waiting; may be NULL */
    bool (*is_ruled)(const void *data, size_t bytes); /* a system call on such data may fail: copy it before; NULL: on none */
    bool logs;                                        /* messages of the program are logged: no others are allowed, */
    bool meets;                                       /* but for those by which the library begins and ends a view */
    void *owner;                                      /* the dome_env */
    char reason[512];                                 /* on failure, until the next one */
};

/* For providers: a transport whose messages this one carries. */
dome_transport *dome__transport_new(const dome_transport_ops *ops, void *state, int rank, int size);

/* For a provider that carries some of the messages itself and leaves the others to the one before: takes its place in the
 * transport. Returns the one before, which the new one closes when it is closed itself. can: as in the slots' table, or less. */
dome_transport_provider dome__transport_wrap(dome_transport *transport, const dome_transport_ops *ops, void *state, unsigned can);

/* From now on this process sends nothing more: a task is lost, and the hub says within seconds how the program goes on, which
 * this process does not survive as it is. If the daemon of the lost task's host is gone, too, a message to that host would hold
 * up those to all others. Any thread may call it. */
void dome__transport_stop(void);

/* Nobody listens to the hub any more (dome_finalize): what this process sends in another program, after another dome_init, is
 * sent. */
void dome__transport_resume(void);

/* For providers, before a message is sent: does not return once this process has been stopped. */
void dome__transport_may_send(void);

/* ---- a task that leaves the view where it is, and goes on in the next one (program/go_over.h) ---- */

/* From now on its own thread leaves where it waits. Any thread may call it. */
void dome__transport_ask_to_leave(void);
bool dome__transport_asks_to_leave(void);

/* Its own thread is in another view, and stays. */
void dome__transport_stays(void);

/* Where that thread goes on (longjmp) instead of waiting; NULL: nowhere, it waits. What it leaves is never used again: the
 * transport is freed. */
void dome__transport_leave_to(jmp_buf *place);

bool dome__transport_can_leave(void);

/* For providers, where they wait: inside of another library they must not, while the thread can leave (polling.h). */
void dome__transport_may_leave(void);

/* Fills `reason` and returns status, for `return dome__transport_error(p->transport, DOME_ERR_COMM, ...)`. */
int dome__transport_error(dome_transport *transport, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The transport of a program of one process; `open` needs no members. */
extern const dome_transport_ops dome__transport_self;

/* PROBE: whether a message from source has arrived (the slot `arrived`). */
static inline bool dome__transport_arrived(dome_transport *transport, int source, int channel)
{
    return transport->provider.ops->arrived(&transport->provider, source, channel);
}

/* As the slot `peek`. False if the task is on another host, too, or this machine does not allow it. */
static inline bool dome__transport_peek(dome_transport *transport, int rank, const struct iovec *here, const struct iovec *there,
                                        size_t count)
{
    dome_transport_provider *p = &transport->provider;
    return p->can & DOME_TRANSPORT_PEEK && p->ops->peek(p, rank, here, there, count);
}

/* Closes and frees. NULL is allowed. */
void dome__transport_free(dome_transport *transport);

#endif
