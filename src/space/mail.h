/* Short messages between the tasks of one host, in memory that they share: nobody is woken for them. The sender learns whether
 * the receiver looks for mail, and if not, can call it in another way.
 *
 *     receiver                                           sender
 *     watch(SLEEPS)                                      put(bytes): SLEEPS
 *     take(): nothing; sleeps                            calls it
 *
 * Both steps of either side are sequentially consistent, so one of the two sees the other. A task's messages to another one stay
 * in order. Any thread may call these functions, but one at a time. The mail may be NULL: nothing is put. */
#ifndef DOME_SRC_SPACE_MAIL_H
#define DOME_SRC_SPACE_MAIL_H

#include "memory/memory.h"

typedef struct dome_mail dome_mail;

/* What a task does. */
typedef enum dome_mail_state {
    DOME_MAIL_BUSY,   /* something else: it looks later */
    DOME_MAIL_LOOKS,  /* it looks again and again */
    DOME_MAIL_SLEEPS, /* it does not look before it is called */
    DOME_MAIL_REFUSED /* the message was not put: it is too long, there is no room, or the task is on another host */
} dome_mail_state;

typedef struct dome_mail_setup {
    dome_memory *memory;  /* of all tasks of the host, zero at first; the mail's from then on */
    unsigned task, tasks; /* this one's number among them; how many there are */
    const int *ranks;     /* theirs */
    int size;             /* of the program */
} dome_mail_setup;

/* Bytes of memory for so many tasks. */
uint64_t dome__mail_bytes(unsigned tasks);

dome_mail *dome__mail_new(const dome_mail_setup *setup);
void dome__mail_free(dome_mail *mail);

/* Leaves a message for a task; what that task does. */
dome_mail_state dome__mail_put(dome_mail *mail, int rank, const void *message, size_t bytes);

/* This task does something else from now on. */
void dome__mail_watch(dome_mail *mail, dome_mail_state state);

/* This task has news that it does not send yet: others are to call it before they sleep. False: it must send them, since a task
 * sleeps already or is on another host. Until it sends them, or for good. */
bool dome__mail_defer(dome_mail *mail);
void dome__mail_deferred(dome_mail *mail);

/* For a task that is about to sleep, after watch: a rank that defers news; -1: none does. */
int dome__mail_deferrer(const dome_mail *mail);

/* Whether there may be something to take. */
bool dome__mail_waits(const dome_mail *mail);

/* Gives the messages that are there to `take`, which may put others. Whether there were any. */
typedef void dome_mail_take(void *ctx, int from, const void *message, size_t bytes);
bool dome__mail_take(dome_mail *mail, dome_mail_take *take, void *ctx);

#endif
