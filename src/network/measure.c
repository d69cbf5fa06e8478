#include "network/measure.h"

#include "network/exchange.h"
#include "network/survey.h"
#include "transport/message.h"

#include <time.h>

/* What task 0 asks for: a word, a partner's rank; for LEAD_TOGETHER microseconds, and the bytes of a message. */
enum { STOP, MEET, LEAD_ALONE, LEAD_TOGETHER, FOLLOW, ORDER_WORDS = 4, REPLY_NUMBERS = 4 };

/* With more hosts a connection opens when it is used first. */
enum { MEET_ALL = 33 };

/* A measurement takes up to half a second and one silence, so task 0 waits longer for its result. */
static const dome_exchange_effort effort = {.pings = 10, .most = 4 << 20, .enough = 8e-3, .budget = 0.5, .silent_ns = 2000000000};
static const uint64_t RESULT_NS = 4000000000;

/* All pairs of a round exchange messages for as long as it takes the slowest of them to send some alone. Seconds. */
enum { MESSAGES_TOGETHER = 4 };
static const double LEAST_TOGETHER = 0.025, MOST_TOGETHER = 0.3;

/* ---- the other tasks ---- */

/* Sends what was measured; its first number says whether the partner answered. */
static bool reply(dome_transport *t, bool good, double latency, double bandwidth, uint64_t size)
{
    const double numbers[REPLY_NUMBERS] = {good, latency, bandwidth, (double)size};
    return !dome__send(t, 0, DOME_CHANNEL_CONTROL, DOME_F64, numbers, REPLY_NUMBERS);
}

/* Each task sends a word to each other one, which opens their connection: PVM's daemons take part in that, and they are slow once
 * a host of theirs is silent. */
static bool meet(dome_exchange *x)
{
    const dome_transport *t = x->transport;
    bool good = true;
    for (int step = 1; step < t->size - 1; step++) {
        int to = 1 + (t->rank - 1 + step) % (t->size - 1), from = 1 + (t->rank - 1 + t->size - 1 - step) % (t->size - 1);
        x->partner = to;
        good &= dome__exchange_end(x);
        x->partner = from;
        good &= dome__exchange_follow(x); /* a silent one's word is missed, those of the others must be taken */
    }
    return good;
}

bool dome__network_obey(dome_transport *t, void (*idle)(void))
{
    uint64_t order[ORDER_WORDS] = {STOP};
    dome_exchange x = {.transport = t, .effort = &effort};
    bool good = true;
    do {
        idle();
        good = !dome__recv(t, 0, DOME_CHANNEL_CONTROL, DOME_U64, order, ORDER_WORDS) && order[1] < (uint64_t)t->size;
        double latency = 0, bandwidth = 0;
        if (!good)
            break;
        x.partner = (int)order[1];
        x.size = CLAMP(order[3], 1, effort.most);
        bool answered = true;
        if (order[0] == FOLLOW)
            dome__exchange_follow(&x); /* its leader tells task 0 if this fails */
        else if (order[0] == MEET)
            answered = t->size > MEET_ALL || meet(&x);
        else if (order[0] == LEAD_ALONE)
            answered = dome__exchange_alone(&x, &latency, &bandwidth);
        else if (order[0] == LEAD_TOGETHER)
            answered = dome__exchange_together(&x, (double)order[2] * 1e-6, &bandwidth);
        if (order[0] != STOP && order[0] != FOLLOW)
            good = reply(t, answered, latency, bandwidth, x.size);
    } while (good && order[0] != STOP);
    return good;
}

/* ---- task 0 ---- */

typedef struct asker {
    dome_transport *transport;
    void (*asking)(void *ctx, int host);
    void *ctx;
    bool *silent;
    int hosts;
    double *size;    /* bytes of a long message, by link, both ways */
    double *message; /* seconds that it takes */
} asker;

static void order(const asker *s, int host, int what, int partner, double seconds, double size)
{
    const uint64_t words[ORDER_WORDS] = {(uint64_t)what, (uint64_t)partner + 1, (uint64_t)(seconds * 1e6), (uint64_t)size};
    if (s->silent[host])
        return;
    s->asking(s->ctx, host);
    dome__send(s->transport, host + 1, DOME_CHANNEL_CONTROL, DOME_U64, words, ORDER_WORDS); /* a failure shows as silence */
}

/* Waits for what host a has measured with b. */
static bool result(const asker *s, int a, int b, double *latency, double *bandwidth)
{
    double numbers[REPLY_NUMBERS];
    s->asking(s->ctx, a);
    if (!dome__exchange_await(s->transport, a + 1, RESULT_NS) ||
        dome__recv(s->transport, a + 1, DOME_CHANNEL_CONTROL, DOME_F64, numbers, REPLY_NUMBERS)) {
        s->silent[a] = true;
        return false;
    }
    *latency = numbers[1];
    *bandwidth = numbers[2];
    s->size[a * s->hosts + b] = s->size[b * s->hosts + a] = numbers[3];
    s->message[a * s->hosts + b] = s->message[b * s->hosts + a] = numbers[2] > 0 ? numbers[3] / numbers[2] : 0;
    if (!(numbers[0] > 0) && a != b)
        s->silent[b] = true;
    return numbers[0] > 0;
}

static bool alone(void *ctx, int a, int b, double *latency, double *bandwidth)
{
    const asker *s = ctx;
    if (s->silent[a] || s->silent[b])
        return false;
    order(s, b, FOLLOW, a, 0, 0);
    order(s, a, LEAD_ALONE, b, 0, 0);
    return result(s, a, b, latency, bandwidth);
}

static void together(void *ctx, int pairs, const int *pair, double *bandwidth)
{
    const asker *s = ctx;
    double latency, seconds = LEAST_TOGETHER;
    bool *ordered = g_new0(bool, pairs);
    for (int i = 0; i < pairs; i++) {
        ordered[i] = !s->silent[pair[2 * i]] && !s->silent[pair[2 * i + 1]];
        seconds = MAX(seconds, MESSAGES_TOGETHER * s->message[pair[2 * i] * s->hosts + pair[2 * i + 1]]);
    }
    seconds = MIN(seconds, MOST_TOGETHER);
    for (int i = 0; i < pairs; i++)
        if (ordered[i])
            order(s, pair[2 * i + 1], FOLLOW, pair[2 * i], 0, 0);
    for (int i = 0; i < pairs; i++)
        if (ordered[i])
            order(s, pair[2 * i], LEAD_TOGETHER, pair[2 * i + 1], seconds, s->size[pair[2 * i] * s->hosts + pair[2 * i + 1]]);
    for (int i = 0; i < pairs; i++)
        if (ordered[i] && !result(s, pair[2 * i], pair[2 * i + 1], &latency, &bandwidth[i]))
            bandwidth[i] = 0;
    g_free(ordered);
}

int dome__network_measure(dome_transport *transport, dome_network *network, void (*asking)(void *ctx, int host), void *ctx,
                          bool *silent)
{
    int n = network->hosts;
    asker s = {.transport = transport, .asking = asking, .ctx = ctx, .silent = silent, .hosts = n};
    s.size = g_new0(double, (gsize)n *(gsize)n + 1);
    s.message = g_new0(double, (gsize)n *(gsize)n + 1);
    const dome_probe probe = {.ctx = &s, .alone = alone, .together = together};
    double nothing;
    for (int i = 0; i < network->hosts; i++)
        order(&s, i, MEET, i, 0, 0);
    for (int i = 0; i < network->hosts; i++)
        result(&s, i, i, &nothing, &nothing);
    int links = dome__network_survey(network, &probe);
    network->measured = (int64_t)time(NULL);
    for (int i = 0; i < network->hosts; i++)
        order(&s, i, STOP, i, 0, 0);
    g_free(s.size);
    g_free(s.message);
    return links;
}
