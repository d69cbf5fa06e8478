#include "peer/peer_need.h"

#include "transport/transport.h"

#include <errno.h>
#include <semaphore.h>

typedef struct asking {
    GByteArray *reply;
    sem_t come;
} asking;

/* In the channel's thread. */
static void answered(void *ctx, const dome_peer_answer *answer)
{
    asking *a = ctx;
    if (answer->status != DOME_PEER_OK)
        return;
    g_byte_array_append(a->reply, answer->data, answer->bytes);
    sem_post(&a->come);
}

void dome__peer_needed(dome_peer_status status, int rank)
{
    if (status == DOME_PEER_FULL || status == DOME_PEER_NO_MEMORY) /* nobody would answer */
        g_error("a question that this task needs answered cannot be sent to task %d: %s", rank,
                status == DOME_PEER_FULL ? "too many wait for their answers" : "no memory");
}

GByteArray *dome__peer_need(dome_peer *peer, dome_transport *transport, const dome_peer_question *question)
{
    dome_transport *t = transport;
    asking a = {.reply = g_byte_array_new()};
    dome_peer_question q = *question;
    sem_init(&a.come, 0, 0);
    q.then = answered;
    q.ctx = &a;
    const uint64_t start = dome__account_begin_wait(&t->account, DOME_WAITS(q.rank, DOME_WAITS_SERVICE), 0);
    dome__peer_needed(dome__peer_ask_then(peer, &q), q.rank); /* one question at a time: it has room */
    while (sem_wait(&a.come) < 0 && errno == EINTR)
        continue;
    const uint64_t took = start ? dome__account_end_wait(&t->account, q.rank, start) : 0;
    if (start && t->waited)
        t->waited(t, q.rank, start, took);
    sem_destroy(&a.come);
    return a.reply;
}
