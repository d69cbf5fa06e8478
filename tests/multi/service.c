/* The service channel between tasks that compute: each asks all others for parts of what they hold, while they work on it or wait
 * in collectives; a thread of each does so, too. */
#include "comm/comm_operations.h"
#include "core/environment.h"
#include "core/operation.h"
#include "peer/peer_start.h"
#include "rounds.h"
#include "system/bytes.h"
#include "transport/transport.h"

#include <pthread.h>

enum { N = 4096, HELD = 5000, ROUNDS = 60, THREAD_ASKS = 200 };

static uint64_t held[HELD];

static uint64_t value_of(int rank, uint64_t index)
{
    return ((uint64_t)rank + 1) * 1000003 + index;
}

/* A request is an index and a count; the values are big-endian. */
static void serve(void *ctx, const dome_peer_request *r)
{
    const uint64_t first = dome__get_u64(r->data), count = dome__get_u64((const char *)r->data + 8);
    GByteArray *values = g_byte_array_sized_new((guint)(8 * count));
    uint8_t bytes[8];
    for (uint64_t k = 0; k < count; k++) {
        dome__put_u64(bytes, held[first + k]);
        g_byte_array_append(values, bytes, sizeof bytes);
    }
    dome__peer_reply(r->peer, r->from, r->id, values->data, values->len);
    g_byte_array_unref(values);
    (void)ctx;
}

static bool ask(int rank, uint64_t first, uint64_t count)
{
    uint8_t request[16];
    GByteArray *reply = NULL;
    dome__put_u64(request, first);
    dome__put_u64(request + 8, count);
    bool good = dome__peer_ask(env->peer, rank, DOME_PEER_OTHERS, request, sizeof request, &reply) == DOME_PEER_OK &&
                reply->len == 8 * count;
    for (uint64_t k = 0; good && k < count; k++)
        good = dome__get_u64(reply->data + 8 * k) == value_of(rank, first + k);
    if (reply)
        g_byte_array_unref(reply);
    return good;
}

static void *ask_beside(void *wrong)
{
    for (int k = 0; k < THREAD_ASKS; k++)
        for (int r = 0; r < dome_size(env); r++)
            if (r != dome_rank(env))
                *(int *)wrong += !ask(r, (uint64_t)k, 10);
    return NULL;
}

static void start(void)
{
    dome_operation op;
    dome__begin(&op, env, DOME_OP_BARRIER, NULL, 0);
    const int status = dome__peer_start(env, "this test");
    dome__end(&op, status);
    EXPECT(status == DOME_OK, "the channel is not there");
    for (uint64_t k = 0; k < HELD; k++)
        held[k] = value_of(dome_rank(env), k);
    dome__peer_on(env->peer, DOME_PEER_OTHERS, serve, NULL);
    dome_barrier(env);
}

/* A wait for an answer counts as one for the task that gives it, and for no other. */
static void ask_each(void)
{
    uint64_t *for_whom = env->transport->account.waited_for;
    for (int r = 0; r < dome_size(env); r++) {
        if (r == dome_rank(env))
            continue;
        const uint64_t before = for_whom ? for_whom[r] : 0, all = env->transport->account.wait_ns;
        EXPECT(ask(r, (uint64_t)round_number, 1 + (uint64_t)round_number * 80), "task %d has answered something else", r);
        EXPECT(!for_whom || for_whom[r] > before, "the wait for task %d does not count", r);
        EXPECT(!for_whom || for_whom[r] - before == env->transport->account.wait_ns - all, "another wait counts");
        EXPECT(env->transport->account.waiting == 0, "the task still waits");
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int wrong = 0;
    env = dome_init(&argc, &argv);
    if (dome_size(env) > 1) {
        start();
        dvec *x = dvec_new(env, "x", DOME_F64, N);
        dvec_fill(x, 1);
        EXPECT(pthread_create(&thread, NULL, ask_beside, &wrong) == 0, "no thread");
        for (round_number = 0; round_number < ROUNDS; round_number++) {
            if ((round_number + dome_rank(env)) % 3)
                ask_each();
            dvec_adds(x, x, 1);
            EXPECT(dvec_sum(x) == N * (round_number + 2.0), "sum");
        }
        pthread_join(thread, NULL);
        EXPECT(wrong == 0, "%d answers to the thread were wrong", wrong);
        dome_barrier(env);
        dome__peer_on(env->peer, DOME_PEER_OTHERS, NULL, NULL);
    }
    dome_print(env, "ok service on %d tasks\n", dome_size(env));
    return dome_finalize(env) ? 1 : 0;
}
