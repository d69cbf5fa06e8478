#include "network/measure.h"

#include "network/network_exchange.h"
#include "network/survey.h"
#include "system/time.h"
#include "transport/message.h"

#include <time.h>

/* A request of task 0: a word, a partner's rank; for LEAD_TOGETHER the bytes of a message, and those that do not count yet. While
 * pairs exchange messages together, BEGIN_COUNT, END_COUNT and END_STREAM follow. */
enum { STOP, MEET, LEAD_ALONE, LEAD_TOGETHER, FOLLOW, BEGIN_COUNT, END_COUNT, END_STREAM, ORDER_WORDS = 4, REPLY_NUMBERS = 4 };

/* With more hosts a connection opens when it is used first. */
enum { MEET_ALL = 33 };

/* A measurement takes up to half a second and one silence, so task 0 waits longer for its result. */
static const dome_exchange_effort effort = {.pings = 10, .most = 4 << 20, .enough = 8e-3, .budget = 0.5, .silent_ns = 2000000000};
static const uint64_t RESULT_NS = 4000000000;

/* While all pairs of a round exchange messages, their bytes count for as long as it takes the slowest of them to send some alone.
 * Seconds. */
enum { MESSAGES_TOGETHER = 4 };
static const double LEAST_TOGETHER = 0.08, MOST_TOGETHER = 0.3;

/* Alone each of these messages takes so long, so that they end soon after they are told to. Seconds, bytes. */
static const double ONE_TOGETHER = 0.02, SHORTEST_TOGETHER = 2048;

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
    for (int step = 1; step < t->group.size - 1; step++) {
        int to = 1 + (t->group.rank - 1 + step) % (t->group.size - 1),
            from = 1 + (t->group.rank - 1 + t->group.size - 1 - step) % (t->group.size - 1);
        x->partner = to;
        good &= dome__exchange_end(x);
        x->partner = from;
        good &= dome__exchange_follow(x); /* a silent one's word is missed, those of the others must be taken */
    }
    return good;
}

/* An exchange beside those of other pairs, which task 0 directs. Bytes count from the moment at which all of them exchange
 * messages to one at which all of them still do: the bandwidth of a pair while others have not begun yet, or have ended, says
 * nothing. */
typedef struct beside {
    dome_exchange *x;
    bool running, good;
    uint64_t before;       /* bytes that pass first: what buffers take at once */
    uint64_t begin, bytes; /* of what counts */
} beside;

/* Does what task 0 has said in the meantime; false: the exchange ends. */
static bool directed(beside *s, uint64_t bytes)
{
    dome_transport *t = s->x->transport;
    uint64_t order[ORDER_WORDS];
    if (!dome__transport_arrived(t, 0, DOME_CHANNEL_CONTROL))
        return true;
    s->good = !dome__recv(t, 0, DOME_CHANNEL_CONTROL, DOME_U64, order, ORDER_WORDS);
    if (s->good && order[0] == BEGIN_COUNT) {
        s->begin = dome__now_ns();
        s->bytes = bytes;
    } else if (s->good && order[0] == END_COUNT) {
        double seconds = MAX((double)dome__since_ns(s->begin) * 1e-9, 1e-9);
        s->good = reply(t, true, 0, MAX((double)(bytes - s->bytes), 1) / seconds, s->x->size);
    }
    return s->good && order[0] != END_STREAM;
}

static bool go_on(void *ctx, uint64_t bytes)
{
    beside *s = ctx;
    if (!s->running && bytes >= s->before) {
        s->running = true;
        s->good = reply(s->x->transport, true, 0, 0, s->x->size);
    }
    return s->good && directed(s, bytes);
}

/* Replies three times: that it exchanges messages, the bandwidth, and that it has ended; that the partner does not answer is the
 * last reply. False: task 0 cannot be reached. */
static bool lead_together(dome_exchange *x, uint64_t before)
{
    beside s = {.x = x, .good = true, .before = before};
    bool answered = dome__exchange_stream(x, go_on, &s);
    return s.good && reply(x->transport, answered, 0, 0, x->size);
}

bool dome__network_obey(dome_transport *t, void (*idle)(void))
{
    uint64_t order[ORDER_WORDS] = {STOP};
    dome_exchange x = {.transport = t, .effort = &effort};
    bool good = true;
    do {
        idle();
        good = !dome__recv(t, 0, DOME_CHANNEL_CONTROL, DOME_U64, order, ORDER_WORDS) && order[1] < (uint64_t)t->group.size;
        double latency = 0, bandwidth = 0;
        if (!good)
            break;
        x.partner = (int)order[1];
        x.size = CLAMP(order[2], 1, effort.most);
        bool answered = true;
        if (order[0] == FOLLOW)
            dome__exchange_follow(&x); /* its leader tells task 0 if this fails */
        else if (order[0] == MEET)
            answered = t->group.size > MEET_ALL || meet(&x);
        else if (order[0] == LEAD_ALONE)
            answered = dome__exchange_alone(&x, &latency, &bandwidth);
        else if (order[0] == LEAD_TOGETHER)
            good = lead_together(&x, order[3]);
        if (order[0] == MEET || order[0] == LEAD_ALONE)
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

/* link: whose messages are meant; -1: none. */
static void order(const asker *s, int host, int what, int partner, int link)
{
    uint64_t words[ORDER_WORDS] = {(uint64_t)what, (uint64_t)partner + 1};
    if (s->silent[host])
        return;
    if (link >= 0 && s->message[link] > 0) {
        words[2] = (uint64_t)CLAMP(s->size[link] * ONE_TOGETHER / s->message[link], SHORTEST_TOGETHER, s->size[link]);
        words[3] = (uint64_t)s->size[link];
    }
    s->asking(s->ctx, host);
    dome__send(s->transport, host + 1, DOME_CHANNEL_CONTROL, DOME_U64, words, ORDER_WORDS); /* a failure shows as silence */
}

/* Waits for what host a says of its exchange with b. */
static bool result(const asker *s, int a, int b, double numbers[REPLY_NUMBERS])
{
    s->asking(s->ctx, a);
    if (!dome__exchange_await(s->transport, a + 1, RESULT_NS) ||
        dome__recv(s->transport, a + 1, DOME_CHANNEL_CONTROL, DOME_F64, numbers, REPLY_NUMBERS)) {
        s->silent[a] = true;
        return false;
    }
    if (!(numbers[0] > 0) && a != b)
        s->silent[b] = true;
    return numbers[0] > 0;
}

static bool alone(void *ctx, int a, int b, double *latency, double *bandwidth)
{
    const asker *s = ctx;
    double numbers[REPLY_NUMBERS];
    if (s->silent[a] || s->silent[b])
        return false;
    order(s, b, FOLLOW, a, -1);
    order(s, a, LEAD_ALONE, b, -1);
    if (!result(s, a, b, numbers))
        return false;
    *latency = numbers[1];
    *bandwidth = numbers[2];
    s->size[a * s->hosts + b] = s->size[b * s->hosts + a] = numbers[3];
    s->message[a * s->hosts + b] = s->message[b * s->hosts + a] = numbers[2] > 0 ? numbers[3] / numbers[2] : 0;
    return true;
}

/* Which of the pairs, marked in `there`, exchange messages until task 0 ends that. */
static void begin_together(const asker *s, int pairs, const int *pair, bool *there)
{
    double numbers[REPLY_NUMBERS];
    for (int i = 0; i < pairs; i++) {
        there[i] = !s->silent[pair[2 * i]] && !s->silent[pair[2 * i + 1]];
        if (there[i])
            order(s, pair[2 * i + 1], FOLLOW, pair[2 * i], -1);
    }
    for (int i = 0; i < pairs; i++)
        if (there[i])
            order(s, pair[2 * i], LEAD_TOGETHER, pair[2 * i + 1], pair[2 * i] * s->hosts + pair[2 * i + 1]);
    for (int i = 0; i < pairs; i++)
        there[i] = there[i] && result(s, pair[2 * i], pair[2 * i + 1], numbers);
}

static void tell_all(const asker *s, int what, int pairs, const int *pair, const bool *there)
{
    for (int i = 0; i < pairs; i++)
        if (there[i])
            order(s, pair[2 * i], what, pair[2 * i + 1], -1);
}

static void together(void *ctx, int pairs, const int *pair, double *bandwidth)
{
    const asker *s = ctx;
    double numbers[REPLY_NUMBERS], seconds = LEAST_TOGETHER;
    bool *there = g_new0(bool, pairs);
    for (int i = 0; i < pairs; i++)
        seconds = MAX(seconds, MESSAGES_TOGETHER * s->message[pair[2 * i] * s->hosts + pair[2 * i + 1]]);
    begin_together(s, pairs, pair, there);
    tell_all(s, BEGIN_COUNT, pairs, pair, there);
    g_usleep((gulong)(MIN(seconds, MOST_TOGETHER) * 1e6));
    tell_all(s, END_COUNT, pairs, pair, there);
    for (int i = 0; i < pairs; i++) {
        there[i] = there[i] && result(s, pair[2 * i], pair[2 * i + 1], numbers);
        bandwidth[i] = there[i] ? numbers[2] : 0;
    }
    tell_all(s, END_STREAM, pairs, pair, there);
    for (int i = 0; i < pairs; i++)
        if (there[i])
            result(s, pair[2 * i], pair[2 * i + 1], numbers);
    g_free(there);
}

int dome__network_measure(dome_transport *transport, dome_network *network, void (*asking)(void *ctx, int host), void *ctx,
                          bool *silent)
{
    int n = network->hosts;
    asker s = {.transport = transport, .asking = asking, .ctx = ctx, .silent = silent, .hosts = n};
    s.size = g_new0(double, (gsize)n *(gsize)n + 1);
    s.message = g_new0(double, (gsize)n *(gsize)n + 1);
    const dome_probe probe = {.ctx = &s, .alone = alone, .together = together};
    double nothing[REPLY_NUMBERS];
    for (int i = 0; i < network->hosts; i++)
        order(&s, i, MEET, i, -1);
    for (int i = 0; i < network->hosts; i++)
        result(&s, i, i, nothing);
    int links = dome__network_survey(network, &probe);
    network->measured = (int64_t)time(NULL);
    for (int i = 0; i < network->hosts; i++)
        order(&s, i, STOP, i, -1);
    g_free(s.size);
    g_free(s.message);
    return links;
}
