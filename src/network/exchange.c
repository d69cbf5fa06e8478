#include "network/exchange.h"

#include "core/time.h"
#include "transport/message.h"

#include <poll.h>

enum { FIRST_SIZE = 4096, WARM_UP = 2, MOST_DESCRIPTORS = 1024 };

/* First words of messages from the leader: the end of the exchange, or the bytes of the message that follows. A word alone is a
 * short message. */
enum { END = 0, SHORT = 1 };

/* Of the longer message's time: a difference that is smaller is noise. */
#define CLEAR_DIFFERENCE 0.25

static double seconds_since(uint64_t begin)
{
    return (double)dome__since_ns(begin) * 1e-9;
}

bool dome__exchange_await(dome_transport *transport, int source, uint64_t silent_ns)
{
    if (!silent_ns || !(transport->can & DOME_TRANSPORT_LISTEN))
        return true; /* receiving waits */
    for (uint64_t begin = dome__now_ns(), spent = 0; !transport->ops->arrived(transport, source, DOME_CHANNEL_CONTROL);) {
        const int *fds;
        struct pollfd p[MOST_DESCRIPTORS];
        int n = MIN(transport->ops->descriptors(transport, &fds), MOST_DESCRIPTORS);
        spent = dome__since_ns(begin);
        if (spent >= silent_ns)
            return false;
        for (int i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(p, (nfds_t)n, (int)((silent_ns - spent) / 1000000 + 1));
    }
    return true;
}

static bool receive(dome_exchange *x, dome_type type, void *data, uint64_t count)
{
    return dome__exchange_await(x->transport, x->partner, x->effort->silent_ns) &&
           !dome__recv(x->transport, x->partner, DOME_CHANNEL_CONTROL, type, data, count);
}

static bool send(const dome_exchange *x, dome_type type, const void *data, uint64_t count)
{
    return !dome__send(x->transport, x->partner, DOME_CHANNEL_CONTROL, type, data, count);
}

static void *buffer_for(dome_exchange *x, uint64_t bytes)
{
    if (x->room < bytes) {
        g_free(x->buffer);
        x->buffer = g_malloc0(bytes);
        x->room = bytes;
    }
    return x->buffer;
}

/* One way, in seconds: half of a round trip. */
static bool time_short(dome_exchange *x, double *seconds)
{
    uint64_t word = SHORT, begin = dome__now_ns();
    if (!send(x, DOME_U64, &word, 1) || !receive(x, DOME_U64, &word, 1))
        return false;
    *seconds = MAX(seconds_since(begin) / 2, 1e-9);
    return true;
}

static bool time_long(dome_exchange *x, uint64_t bytes, double *seconds)
{
    void *buffer = buffer_for(x, bytes);
    uint64_t word = bytes;
    if (!send(x, DOME_U64, &word, 1) || !receive(x, DOME_U64, &word, 1)) /* the partner now waits for the long message */
        return false;
    uint64_t begin = dome__now_ns();
    if (!send(x, DOME_U8, buffer, bytes) || !receive(x, DOME_U8, buffer, bytes))
        return false;
    *seconds = MAX(seconds_since(begin) / 2, 1e-9);
    return true;
}

bool dome__exchange_end(const dome_exchange *x)
{
    return send(x, DOME_U64, &(uint64_t){END}, 1);
}

static double bandwidth_of(const uint64_t sizes[2], const double seconds[2], double latency)
{
    double difference = seconds[1] - seconds[0];
    if (sizes[0] && difference > CLEAR_DIFFERENCE * seconds[1])
        return (double)(sizes[1] - sizes[0]) / difference;
    return (double)sizes[1] / MAX(seconds[1] - latency, seconds[1] / 2);
}

static bool find_latency(dome_exchange *x, uint64_t begin, double *latency)
{
    double seconds;
    *latency = 0;
    for (int i = 0; i < WARM_UP + x->effort->pings; i++) {
        if (!time_short(x, &seconds))
            return false;
        if (i == WARM_UP || (i > WARM_UP && seconds < *latency) || i == 0)
            *latency = seconds;
        if (seconds_since(begin) > x->effort->budget)
            break;
    }
    return true;
}

/* Doubles the size until a message takes long enough. */
static bool find_sizes(dome_exchange *x, uint64_t begin, double seconds[2])
{
    const dome_exchange_effort *effort = x->effort;
    x->sizes[0] = 0;
    x->sizes[1] = FIRST_SIZE;
    if (!time_long(x, x->sizes[1], &seconds[1]))
        return false;
    while (seconds[1] < effort->enough && x->sizes[1] * 2 <= effort->most && seconds_since(begin) < effort->budget) {
        x->sizes[0] = x->sizes[1];
        seconds[0] = seconds[1];
        x->sizes[1] *= 2;
        if (!time_long(x, x->sizes[1], &seconds[1]))
            return false;
    }
    return true;
}

bool dome__exchange_alone(dome_exchange *x, double *latency, double *bandwidth)
{
    uint64_t begin = dome__now_ns();
    double seconds[2] = {0}, again;
    if (!find_latency(x, begin, latency) || !find_sizes(x, begin, seconds))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!x->sizes[i] || seconds_since(begin) > x->effort->budget)
            continue;
        if (!time_long(x, x->sizes[i], &again))
            return false;
        seconds[i] = MIN(seconds[i], again);
    }
    *bandwidth = bandwidth_of(x->sizes, seconds, *latency);
    return dome__exchange_end(x);
}

bool dome__exchange_together(dome_exchange *x, double *bandwidth)
{
    uint64_t begin = dome__now_ns();
    double sum[2] = {0}, seconds;
    int count = 0;
    do {
        for (int i = 0; i < 2; i++) {
            if (!x->sizes[i])
                continue;
            if (!time_long(x, x->sizes[i], &seconds))
                return false;
            sum[i] += seconds;
        }
        count++;
    } while (seconds_since(begin) < x->effort->together);
    *bandwidth = bandwidth_of(x->sizes, (double[]){sum[0] / count, sum[1] / count}, 0);
    return dome__exchange_end(x);
}

bool dome__exchange_follow(dome_exchange *x)
{
    uint64_t word;
    for (;;) {
        if (!receive(x, DOME_U64, &word, 1))
            return false;
        if (word == END)
            return true;
        if (!send(x, DOME_U64, &word, 1))
            return false;
        if (word == SHORT)
            continue;
        void *buffer = buffer_for(x, MIN(word, x->effort->most));
        if (word > x->effort->most || !receive(x, DOME_U8, buffer, word) || !send(x, DOME_U8, buffer, word))
            return false;
    }
}

void dome__exchange_clear(dome_exchange *x)
{
    g_clear_pointer(&x->buffer, g_free);
    x->room = 0;
}
