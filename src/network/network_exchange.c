#include "network/network_exchange.h"

#include "system/deadline.h"
#include "system/time.h"
#include "transport/message.h"

#include <math.h>
#include <poll.h>

enum { FIRST_SIZE = 4096, PIECE = DOME_EXCHANGE_PIECE, UNDER_WAY = 3, WARM_UP = 2, MOST_DESCRIPTORS = 1024 };

/* First words of messages from the leader: the end of the exchange, or the bytes of the message that follows. A word alone is a
 * short message. */
enum { END = 0, SHORT = 1 };

static double seconds_since(uint64_t begin)
{
    return (double)dome__since_ns(begin) * 1e-9;
}

bool dome__exchange_await(dome_transport *transport, int source, uint64_t silent_ns)
{
    if (!silent_ns || !(transport->provider.can & DOME_TRANSPORT_LISTEN))
        return true; /* receiving waits */
    const dome_deadline until = dome__deadline_in((double)silent_ns * 1e-9);
    while (!dome__transport_arrived(transport, source, DOME_CHANNEL_CONTROL)) {
        const int *fds;
        struct pollfd p[MOST_DESCRIPTORS];
        int n = MIN(transport->provider.ops->descriptors(&transport->provider, &fds), MOST_DESCRIPTORS);
        if (dome__deadline_passed(until))
            return false;
        for (int i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(p, (nfds_t)n, dome__deadline_ms(until));
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

/* One way, in seconds: half of a round trip. */
static bool time_short(dome_exchange *x, double *seconds)
{
    uint64_t word = SHORT, begin = dome__now_ns();
    if (!send(x, DOME_U64, &word, 1) || !receive(x, DOME_U64, &word, 1))
        return false;
    *seconds = MAX(seconds_since(begin) / 2, 1e-9);
    return true;
}

/* Called after each piece, until it returns false; bytes: that have arrived, with those of earlier messages. */
typedef struct tell {
    bool (*go_on)(void *ctx, uint64_t bytes);
    void *ctx;
    uint64_t bytes;
    bool more;
} tell;

/* Announces a long message: the partner then waits for its first piece. */
static bool open_long(dome_exchange *x, uint64_t bytes)
{
    uint64_t word = bytes;
    return send(x, DOME_U64, &word, 1) && receive(x, DOME_U64, &word, 1);
}

/* Until the answer to the last piece. told may be NULL. */
static bool send_pieces(dome_exchange *x, uint64_t bytes, tell *told)
{
    uint64_t word, sent = 0, answered = 0, pieces = (bytes + PIECE - 1) / PIECE;
    for (; answered < pieces; answered++) {
        for (; sent < pieces && sent < answered + UNDER_WAY; sent++)
            if (!send(x, DOME_U8, x->piece, MIN(bytes - sent * PIECE, PIECE)))
                return false;
        if (!receive(x, DOME_U64, &word, 1))
            return false;
        if (told && told->more) {
            told->bytes += MIN(bytes - answered * PIECE, PIECE);
            told->more = told->go_on(told->ctx, told->bytes);
        }
    }
    return true;
}

static bool time_long(dome_exchange *x, uint64_t bytes, double *seconds)
{
    if (!open_long(x, bytes))
        return false;
    uint64_t begin = dome__now_ns();
    if (!send_pieces(x, bytes, NULL))
        return false;
    *seconds = MAX(seconds_since(begin), 1e-9);
    return true;
}

static bool take_long(dome_exchange *x, uint64_t bytes)
{
    uint64_t word = 0;
    for (uint64_t at = 0; at < bytes; at += PIECE)
        if (!receive(x, DOME_U8, x->piece, MIN(bytes - at, PIECE)) || !send(x, DOME_U64, &word, 1))
            return false;
    return true;
}

bool dome__exchange_end(const dome_exchange *x)
{
    return send(x, DOME_U64, &(uint64_t){END}, 1);
}

static double bandwidth_of(uint64_t bytes, double seconds, double latency)
{
    return (double)bytes / MAX(seconds - 2 * latency, seconds / 2);
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

static bool in_time(const dome_exchange *x, uint64_t begin)
{
    return seconds_since(begin) < x->effort->budget;
}

/* The message once more: what network and kernel buffer, or let pass at once after a pause, is used up by then. If that is so
 * short that noise counts, a third time: the shorter of the two counts. */
static bool time_again(dome_exchange *x, uint64_t begin, double *seconds)
{
    double third = INFINITY;
    if (in_time(x, begin) && !time_long(x, x->size, seconds))
        return false;
    if (in_time(x, begin) && *seconds < 2 * x->effort->enough && !time_long(x, x->size, &third))
        return false;
    *seconds = MIN(*seconds, third);
    return true;
}

/* Doubles the size until a message takes long enough each time: once or twice may be a pause of this process. */
static bool find_size(dome_exchange *x, uint64_t begin, double *seconds)
{
    const dome_exchange_effort *effort = x->effort;
    for (x->size = FIRST_SIZE;; x->size *= 2) {
        bool last = x->size * 2 > effort->most || !in_time(x, begin);
        if (!time_long(x, x->size, seconds))
            return false;
        if (!last && *seconds < effort->enough)
            continue;
        if (!time_again(x, begin, seconds))
            return false;
        if (last || *seconds >= effort->enough / 2)
            return true;
    }
}

bool dome__exchange_alone(dome_exchange *x, double *latency, double *bandwidth)
{
    uint64_t begin = dome__now_ns();
    double seconds;
    if (!find_latency(x, begin, latency) || !find_size(x, begin, &seconds))
        return false;
    *bandwidth = bandwidth_of(x->size, seconds, *latency);
    return dome__exchange_end(x);
}

bool dome__exchange_stream(dome_exchange *x, bool (*go_on)(void *ctx, uint64_t bytes), void *ctx)
{
    tell told = {.go_on = go_on, .ctx = ctx, .more = true};
    while (told.more)
        if (!open_long(x, x->size) || !send_pieces(x, x->size, &told))
            return false;
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
        if (word != SHORT && (word > x->effort->most || !take_long(x, word)))
            return false;
    }
}
