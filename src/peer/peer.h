/* The service channel: from any task of a program to any other, beside the transport, which only one thread may call.
 *
 *     static void serve(void *ctx, const dome_peer_request *r)           // called in the channel's thread
 *     {
 *         const double *values = ctx;
 *         dome__peer_reply(r->peer, r->from, r->id, values + dome__get_u64(r->data), 4 * sizeof *values);
 *     }
 *
 *     dome__peer_on(peer, DOME_PEER_OTHERS, serve, values);                                // task 2
 *     dome__peer_ask(peer, 2, DOME_PEER_OTHERS, index, sizeof index, &reply);              // task 0, while task 2 computes
 *
 * Each task has one thread for it, in which handlers run; it blocks all signals. A connection is made when it is first used, and
 * serves both directions: between tasks of one host a local socket, otherwise TCP. Both ends prove that they know a cookie
 * (transport/handshake.h), and each frame has a code (peer_frame.h). Memory is bounded: a sender waits until the receiver has
 * taken what came before. A task that is lost ends all waits for it with a status. A host that vanishes without a word is
 * noticed by the hub alone, which then ends this process or lets it go back; a wait may last until then.
 *
 * All functions may be called by any thread. Handlers, and functions that get a reply or a timer, run in the channel's thread,
 * one at a time. They may call the functions that never wait: dome__peer_reply, _ask_then, _tell, _after, _cancel. */
#ifndef DOME_SRC_PEER_H
#define DOME_SRC_PEER_H

#include "peer/peer_place.h"
#include "transport/transport.h"

#include <glib.h>

typedef struct dome_peer dome_peer;

/* What a request or a message is for. Messages of one tag between two tasks stay in order. */
typedef enum dome_peer_tag {
    DOME_PEER_CHECKPOINT, /* writing a checkpoint together: ckpt/writer.h */
    DOME_PEER_COPIES,     /* its copies for the next group: ckpt/piece.c */
    DOME_PEER_REGION,     /* units of regions */
    DOME_PEER_RELEASE,    /* units of regions with release consistency */
    DOME_PEER_LOCK,       /* locks */
    DOME_PEER_SPACE,      /* the lock over all tasks of a program whose memory is shared: space/token.c */
    DOME_PEER_OTHERS,     /* free */
    DOME_PEER_TAGS = 8
} dome_peer_tag;

typedef enum dome_peer_status {
    DOME_PEER_OK,
    DOME_PEER_GONE,        /* the connection is lost, or closed by the other side */
    DOME_PEER_ALTERED,     /* the other side's bytes were not what it has sent; the connection is closed */
    DOME_PEER_UNREACHABLE, /* no connection could be made: dome__peer_error */
    DOME_PEER_REFUSED,     /* the other side has no handler for this tag */
    DOME_PEER_NO_MEMORY,   /* for the message, which is dropped */
    DOME_PEER_FULL,        /* too many questions wait for replies: dome__peer_ask_then */
    DOME_PEER_STOPPED      /* this side is about to close */
} dome_peer_status;

enum { DOME_PEER_COOKIE = 16 };

typedef struct dome_peer_setup {
    int rank, size;
    const char *purpose; /* of the handshake; static */
    uint8_t cookie[DOME_PEER_COOKIE];
    int listening[2];              /* a local socket and TCP; -1: none. The channel takes them over */
    const dome_peer_place *places; /* two for each rank, likewise; copied */
    double patience;               /* seconds until a task that does not answer counts as unreachable */
    dome_transport *transport;     /* where the calling thread's waits are counted; NULL: nowhere */
} dome_peer_setup;

/* Starts the thread. NULL: errno. */
dome_peer *dome__peer_new(const dome_peer_setup *setup);

/* Sends what is queued, ends the thread and frees. Waits of other threads must be over. */
void dome__peer_free(dome_peer *peer);

/* What this task has sent so far, what belongs to frames included. */
typedef struct dome_peer_count {
    uint64_t frames, bytes;
} dome_peer_count;
dome_peer_count dome__peer_sent(dome_peer *peer);

/* ---- requests ---- */

typedef struct dome_peer_request {
    dome_peer *peer;
    int from;
    uint64_t id;      /* 0: no reply is wanted (dome__peer_tell) */
    const void *data; /* until the handler returns */
    uint32_t bytes;
} dome_peer_request;

typedef void (*dome_peer_handler)(void *ctx, const dome_peer_request *request);

/* From now on this handler gets the requests of a tag. NULL: none does; when the call returns, the one before runs no more. */
void dome__peer_on(dome_peer *peer, dome_peer_tag tag, dome_peer_handler handler, void *ctx);

/* Answers a request: in the handler, or later in any thread. At most DOME_PEER_MOST bytes (peer_frame.h). */
void dome__peer_reply(dome_peer *peer, int to, uint64_t id, const void *data, uint32_t bytes);

/* Asks a task, and waits for its reply, g_byte_array_unref'd by the caller; unchanged on failure. A request has at most
 * DOME_PEER_MOST bytes. */
dome_peer_status dome__peer_ask(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint32_t bytes,
                                GByteArray **reply);

typedef struct dome_peer_answer {
    dome_peer *peer;
    int from;
    dome_peer_status status;
    const void *data; /* until the function returns; NULL without DOME_PEER_OK */
    uint32_t bytes;
} dome_peer_answer;

typedef void (*dome_peer_then)(void *ctx, const dome_peer_answer *answer);

typedef struct dome_peer_question {
    int rank;
    dome_peer_tag tag;
    const void *data; /* copied */
    uint32_t bytes;
    dome_peer_then then; /* called once, in the channel's thread, with the reply or why there is none */
    void *ctx;
} dome_peer_question;

/* Asks without waiting. The channel sends the questions to a task in the order of the calls of this function and dome__peer_ask,
 * and keeps a question until it can be sent. Memory is bounded: the unanswered questions to a task have DOME_PEER_KEPT bytes at
 * most, where each counts DOME_PEER_KEPT_EACH bytes more than it has; a single question may be longer. With another status than
 * DOME_PEER_OK the question is dropped, and `then` is not called. */
dome_peer_status dome__peer_ask_then(dome_peer *peer, const dome_peer_question *question);

enum { DOME_PEER_KEPT = 1 << 20, DOME_PEER_KEPT_EACH = 128 };

/* Gives the handler of a tag something without waiting and without a reply, in order with the questions to the same task. Whether
 * it arrives is not said: it is lost with the connection, or if nobody serves the tag. Memory is bounded as above by
 * DOME_PEER_TOLD bytes for all that the kernel has not taken yet. Otherwise than DOME_PEER_OK: it is dropped. */
dome_peer_status dome__peer_tell(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint32_t bytes);

enum { DOME_PEER_TOLD = 1 << 24 };

/* ---- timers ---- */

typedef void (*dome_peer_run)(void *ctx);

/* Calls the function in so many seconds, in the channel's thread. Returns the timer's number, which is not 0. Timers that are
 * still running when the channel is freed are dropped. */
uint64_t dome__peer_after(dome_peer *peer, double seconds, dome_peer_run run, void *ctx);

/* Stops a timer. False: its function has been called; when this returns, it does not run any more (unless it makes this call). */
bool dome__peer_cancel(dome_peer *peer, uint64_t timer);

/* ---- messages, of any length ---- */

/* Waits until the kernel has all of the message: it is on its way, even if this process is killed. */
dome_peer_status dome__peer_send(dome_peer *peer, int rank, dome_peer_tag tag, const void *data, uint64_t bytes);

/* Waits for the next message; *data is g_free'd by the caller. What arrived before a connection was lost is still there. */
dome_peer_status dome__peer_receive(dome_peer *peer, int rank, dome_peer_tag tag, void **data, uint64_t *bytes);

/* ---- connections ---- */

/* Waits until there is a connection. */
dome_peer_status dome__peer_reach(dome_peer *peer, int rank);

/* Why a task could not be reached: errno. */
int dome__peer_error(dome_peer *peer, int rank);

#endif
