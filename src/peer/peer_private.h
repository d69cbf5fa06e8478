/* Shared by the files peer*.c. One lock guards everything that is not said to be of the thread alone: callers (peer.c) queue
 * frames and wait for `changed`; the thread (peer_thread.c) makes connections and reads frames (peer_connection.c). */
#ifndef DOME_SRC_PEER_PRIVATE_H
#define DOME_SRC_PEER_PRIVATE_H

#include "peer/peer.h"
#include "peer/peer_frame.h"
#include "system/deadline.h"
#include "transport/handshake.h"

#include <pthread.h>

/* Bytes of messages of a tag that the other side has not taken yet, at most: it must hold them. Bytes of frames in a connection's
 * queue from which on senders wait. Requests to one task at a time. */
enum { DOME_PEER_WINDOW = 1 << 20, DOME_PEER_QUEUE_MOST = 1 << 20, DOME_PEER_ASKS = 64 };

/* A descriptor that the thread watches. It makes, changes and frees these. */
typedef enum dome_peer_role {
    DOME_PEER_WAKES, /* the end of a pipe into which callers write */
    DOME_PEER_LISTENS,
    DOME_PEER_RINGS,    /* the clock of timers */
    DOME_PEER_STRANGER, /* has connected here, and not proven who it is */
    DOME_PEER_ATTEMPT,  /* this task's attempt to connect */
    DOME_PEER_LINE,     /* a connection in use */
    DOME_PEER_DEAD      /* closed; freed when the current events are over */
} dome_peer_role;

typedef struct dome_peer_end {
    dome_peer_role role;
    int fd, rank;        /* rank: of an attempt and a line */
    bool near;           /* a local socket */
    bool connected;      /* attempt: the other side's handshake can begin */
    bool proven;         /* attempt: the handshake is done, and the other side is to say that it accepts */
    dome_deadline until; /* of its handshake */
    dome_handshake handshake;
    dome_peer_reader reader;
    dome_macs macs; /* in: of the thread; out: under the lock */
} dome_peer_end;

/* A frame to send, whole. */
typedef struct dome_peer_parcel {
    size_t bytes;
    uint8_t frame[];
} dome_peer_parcel;

/* Messages of a tag from another task. All counts are of bytes. */
typedef struct dome_peer_inbox {
    GQueue messages;      /* dome_peer_message * */
    uint8_t *part;        /* the message that is arriving; NULL: none, or there is no memory for it */
    uint64_t total, have; /* of it */
    uint64_t held;        /* in messages and part */
    uint64_t unused;      /* of these, how many the sender still counts as not taken */
    uint64_t owed;        /* taken, and the sender does not know yet */
    unsigned readers;     /* callers that wait for a message */
} dome_peer_inbox;

typedef struct dome_peer_message {
    uint8_t *data; /* NULL: there was no memory */
    uint64_t bytes;
} dome_peer_message;

/* Messages of a tag to another task. */
typedef struct dome_peer_outbox {
    bool busy;      /* a caller sends a message */
    uint64_t there; /* bytes that the other side has not taken */
} dome_peer_outbox;

/* A question that has no answer yet. */
typedef struct dome_peer_asker {
    uint64_t id;
    int rank;
    uint8_t tag;
    uint32_t bytes;
    const void *data;
    pthread_cond_t *answered; /* of the caller who waits; NULL: `then` gets the answer, and this is freed after that; both NULL:
                               * no answer is wanted */
    bool done;                /* the caller has its answer */
    dome_peer_status status;
    GByteArray *reply;
    dome_peer_then then;
    void *ctx;
} dome_peer_asker;

typedef enum dome_peer_state {
    DOME_PEER_UNUSED,
    DOME_PEER_REACHING,
    DOME_PEER_OPEN,
    DOME_PEER_OVER /* for good */
} dome_peer_state;

/* Another task. */
typedef struct dome_peer_other {
    int rank;
    dome_peer_state state;
    dome_peer_status why;       /* OVER */
    int error;                  /* UNREACHABLE: errno */
    dome_peer_end *end;         /* OPEN: the line; REACHING: the attempt, NULL: there is none now */
    bool far;                   /* its local socket cannot be reached */
    dome_deadline again, until; /* REACHING: the next attempt, the end of patience */
    GQueue out;                 /* dome_peer_parcel * */
    size_t sent;                /* of the first */
    uint64_t queued;
    uint64_t put, passed; /* frames so far that were queued, and that the kernel has */
    bool watched;         /* the thread is told when more can be sent */
    bool shut;            /* nothing more is sent: this side closes */
    GQueue later;         /* dome_peer_asker *: questions, and what is told, still to be sent */
    GPtrArray *askers;    /* those that were */
    uint64_t kept;        /* bytes of questions without a caller who waits, in both */
    uint64_t told;        /* bytes of what is told in the first */
    dome_peer_inbox in[DOME_PEER_TAGS];
    dome_peer_outbox to[DOME_PEER_TAGS];
} dome_peer_other;

struct dome_peer {
    dome_peer_setup setup;
    dome_peer_place *places;
    pthread_t thread, owner; /* owner: the one whose waits are counted */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int set, wake[2];
    bool stopping, closed; /* closed: nothing listens any more */
    dome_deadline stop_until;
    uint64_t asked; /* the last id of a question, and of a timer */
    dome_peer_count sent;
    dome_peer_other **other; /* by rank; NULL: never used */
    GPtrArray *reaching;     /* dome_peer_other *, REACHING */
    struct {
        dome_peer_handler handler;
        void *ctx;
    } handlers[DOME_PEER_TAGS];
    bool handling;  /* a handler runs */
    GQueue unheard; /* dome_peer_asker *: ended without a reply, and `then` has not been called */
    GQueue timers;  /* dome_peer_timer *, the earliest first */
    int clock;      /* rings at the first one's time */

    /* of the thread */
    dome_peer_end *own[4];     /* the pipe, what listens, the clock; NULL: closed */
    GPtrArray *pending, *dead; /* dome_peer_end *, the oldest first */
    bool deaf;                 /* no connection is accepted for a while, since there are no descriptors */
    dome_deadline hears_again;
};

/* ---- peer_other.c; the lock is held ---- */

/* The thread looks at what callers have changed. */
void dome__peer_wake(const dome_peer *peer);

/* The other task; made at its first use. */
dome_peer_other *dome__peer_other(dome_peer *peer, int rank);

/* The same, and a connection is made if there is none yet. */
dome_peer_other *dome__peer_use(dome_peer *peer, int rank);

/* Whether the task can be reached, as far as is known. */
dome_peer_status dome__peer_fate(const dome_peer *peer, const dome_peer_other *other);

/* A handler is about to run, in the thread: without the lock. */
void dome__peer_handling(dome_peer *peer);
void dome__peer_handled(dome_peer *peer);

/* Waits until no handler runs, unless the caller is one. */
void dome__peer_wait_handled(dome_peer *peer);

/* ---- peer_question.c: questions; the lock is held ---- */

/* Sends questions that wait, as many as may be sent. */
void dome__peer_questions_send(dome_peer *peer, dome_peer_other *other);

/* A reply, in the thread. False: nobody asked. */
bool dome__peer_questions_take(dome_peer *peer, dome_peer_other *other, dome_peer_reader *reader);

/* No reply will come. Callers stop waiting; functions are called by dome__peer_questions_tell. */
void dome__peer_questions_end(dome_peer *peer, dome_peer_other *other, dome_peer_status why);

/* The same for callers alone, who wait for any task. */
void dome__peer_questions_stop(dome_peer *peer);

/* Calls the functions of questions that have ended so, in the thread. */
void dome__peer_questions_tell(dome_peer *peer);

/* ---- peer_timer.c ---- */

typedef struct dome_peer_timer {
    uint64_t id;
    dome_deadline at;
    dome_peer_run run;
    void *ctx;
} dome_peer_timer;

/* The clock has rung, in the thread; the lock is held. */
void dome__peer_timers_run(dome_peer *peer);

/* ---- peer_line.c: what passes over a connection; the lock is held ---- */

/* Queues a frame, and sends as much as the connection takes. */
void dome__peer_line_put(dome_peer *peer, dome_peer_other *other, const dome_peer_frame *frame, const void *data);

void dome__peer_line_flush(dome_peer *peer, dome_peer_other *other);

/* Tells the sender of messages what has been taken, if that is enough for a frame. */
void dome__peer_line_credit(dome_peer *peer, dome_peer_other *other, int tag);

/* Processes a frame, in the thread. False: it makes no sense. */
bool dome__peer_line_take(dome_peer *peer, dome_peer_other *other, dome_peer_reader *reader);

/* Drops what can be neither sent nor completed any more. */
void dome__peer_line_drop(dome_peer_other *other);

/* ---- peer_connection.c: making and losing connections, in the thread; the lock is held ---- */

/* Watches a descriptor; takes it over. NULL: errno, and it is closed. */
dome_peer_end *dome__peer_end_new(dome_peer *peer, dome_peer_role role, int fd, uint32_t events);
void dome__peer_end_close(dome_peer *peer, dome_peer_end *end);

/* Something has happened at a descriptor. */
void dome__peer_end_event(dome_peer *peer, dome_peer_end *end, uint32_t events);

/* Attempts and handshakes whose time has come. */
void dome__peer_look(dome_peer *peer);

/* The task cannot be reached any more. */
void dome__peer_over(dome_peer *peer, dome_peer_other *other, dome_peer_status why, int error);

/* ---- peer_thread.c ---- */

void *dome__peer_serve(void *peer);

#endif
