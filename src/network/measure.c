#include "network/measure.h"

#include "network/exchange.h"
#include "network/survey.h"
#include "transport/message.h"

#include <time.h>

/* What task 0 asks for: a word and a partner's rank. */
enum { STOP, ANSWER, LEAD_ALONE, LEAD_TOGETHER, FOLLOW, ORDER_WORDS = 2, REPLY_NUMBERS = 3 };

/* A measurement takes up to half a second and one silence, so task 0 waits longer for its result. */
static const dome_exchange_effort effort = {
    .pings = 10, .most = 4 << 20, .enough = 8e-3, .budget = 0.5, .together = 0.025, .silent_ns = 2000000000};
static const uint64_t RESULT_NS = 4000000000;

/* ---- the other tasks ---- */

/* Sends what was measured; its first number says whether the partner answered. */
static bool reply(dome_transport *t, bool good, double latency, double bandwidth)
{
    const double numbers[REPLY_NUMBERS] = {good, latency, bandwidth};
    return !dome__send(t, 0, DOME_CHANNEL_CONTROL, DOME_F64, numbers, REPLY_NUMBERS);
}

bool dome__network_obey(dome_transport *t, void (*idle)(void))
{
    uint64_t order[ORDER_WORDS] = {STOP, 0};
    uint64_t(*sizes)[2] = g_malloc0((gsize)t->size * sizeof *sizes);
    dome_exchange x = {.transport = t, .effort = &effort};
    bool good = true;
    do {
        idle();
        good = !dome__recv(t, 0, DOME_CHANNEL_CONTROL, DOME_U64, order, ORDER_WORDS) && order[1] < (uint64_t)t->size;
        double latency = 0, bandwidth = 0;
        if (!good)
            break;
        x.partner = (int)order[1];
        x.sizes[0] = sizes[x.partner][0];
        x.sizes[1] = sizes[x.partner][1];
        bool answered = true;
        if (order[0] == FOLLOW)
            dome__exchange_follow(&x); /* its leader tells task 0 if this fails */
        else if (order[0] == LEAD_ALONE)
            answered = dome__exchange_alone(&x, &latency, &bandwidth);
        else if (order[0] == LEAD_TOGETHER)
            answered = dome__exchange_together(&x, &bandwidth);
        sizes[x.partner][0] = x.sizes[0];
        sizes[x.partner][1] = x.sizes[1];
        if (order[0] != STOP && order[0] != FOLLOW)
            good = reply(t, answered, latency, bandwidth);
    } while (good && order[0] != STOP);
    dome__exchange_clear(&x);
    g_free(sizes);
    return good;
}

/* ---- task 0 ---- */

typedef struct asker {
    dome_transport *transport;
    void (*asking)(void *ctx, int a, int b);
    void *ctx;
    dome_silent *silent;
} asker;

static bool fall_silent(const asker *s, int a, int b)
{
    *s->silent = (dome_silent){.count = b < 0 ? 1 : 2, .host = {a, b}};
    return false;
}

static void order(const asker *s, int host, int what, int partner)
{
    const uint64_t words[ORDER_WORDS] = {(uint64_t)what, (uint64_t)partner + 1};
    dome__send(s->transport, host + 1, DOME_CHANNEL_CONTROL, DOME_U64, words, ORDER_WORDS); /* a failure shows as silence */
}

/* Waits for what host a has measured with b; -1: with none. */
static bool result(const asker *s, int a, int b, double *latency, double *bandwidth)
{
    double numbers[REPLY_NUMBERS];
    s->asking(s->ctx, a, b);
    if (!dome__exchange_await(s->transport, a + 1, RESULT_NS) ||
        dome__recv(s->transport, a + 1, DOME_CHANNEL_CONTROL, DOME_F64, numbers, REPLY_NUMBERS))
        return fall_silent(s, a, b);
    *latency = numbers[1];
    *bandwidth = numbers[2];
    return numbers[0] > 0 || fall_silent(s, b, -1);
}

static bool alone(void *ctx, int a, int b, double *latency, double *bandwidth)
{
    const asker *s = ctx;
    s->asking(s->ctx, a, b);
    order(s, b, FOLLOW, a);
    order(s, a, LEAD_ALONE, b);
    return result(s, a, b, latency, bandwidth);
}

static bool together(void *ctx, int pairs, const int *pair, double *bandwidth)
{
    const asker *s = ctx;
    double latency;
    bool good = true;
    for (int i = 0; i < pairs; i++) {
        s->asking(s->ctx, pair[2 * i], pair[2 * i + 1]);
        order(s, pair[2 * i + 1], FOLLOW, pair[2 * i]);
    }
    for (int i = 0; i < pairs; i++)
        order(s, pair[2 * i], LEAD_TOGETHER, pair[2 * i + 1]);
    for (int i = 0; i < pairs && good; i++)
        good = result(s, pair[2 * i], pair[2 * i + 1], &latency, &bandwidth[i]);
    return good;
}

int dome__network_measure(dome_transport *transport, dome_network *network, void (*asking)(void *ctx, int a, int b), void *ctx,
                          dome_silent *silent)
{
    asker s = {.transport = transport, .asking = asking, .ctx = ctx, .silent = silent};
    const dome_probe probe = {.ctx = &s, .alone = alone, .together = together};
    double nothing;
    bool there = true;
    *silent = (dome_silent){0};
    for (int i = 0; i < network->hosts && there; i++) {
        asking(ctx, i, -1);
        order(&s, i, ANSWER, i);
        there = result(&s, i, -1, &nothing, &nothing);
    }
    int links = there ? dome__network_survey(network, &probe) : -1;
    if (links >= 0)
        network->measured = (int64_t)time(NULL);
    for (int i = 0; i < network->hosts; i++)
        if (links >= 0 || (i != silent->host[0] && (silent->count < 2 || i != silent->host[1])))
            order(&s, i, STOP, i);
    return links;
}
