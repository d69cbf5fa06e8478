/* Checks the results of every collective, with many counts, roots and types, and with skewed counts. Used on processes joined by
 * socket pairs (tests/unit/transport/test_transport.c) and on the real transport (tests/multi/collectives.c). */
#ifndef DOME_TESTS_COLLECTIVE_CHECKS_H
#define DOME_TESTS_COLLECTIVE_CHECKS_H

#include "transport/ahead.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/relay.h"

#include <glib.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct check {
    dome_transport *t;
    dome_type type;
    uint64_t random; /* random state, the same on all tasks */
    const char *what;
    int failures;
} check;

static uint64_t check_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t check_random(check *c)
{
    return check_mix(c->random += UINT64_C(0x9e3779b97f4a7c15));
}

/* Elements from `first` on of a known endless sequence: arbitrary bits, converted from the portable form. */
static void *check_values(const check *c, uint64_t stream, uint64_t first, uint64_t count)
{
    size_t portable = dome_type_portable_size(c->type), size = dome_type_size(c->type);
    uint64_t start = first * portable, words = (start % 8 + count * portable) / 8 + 1;
    uint64_t *bits = g_new(uint64_t, words);
    for (uint64_t i = 0; i < words; i++)
        bits[i] = GUINT64_TO_LE(check_mix(stream * UINT64_C(0x9e3779b97f4a7c15) + start / 8 + i));
    void *values = g_malloc0(count * size + 1);
    dome_type_unpack(c->type, DOME_PORTABLE, values, (char *)bits + start % 8, count);
    g_free(bits);
    return values;
}

static void *check_room(const check *c, uint64_t count)
{
    char *room = g_malloc(count * dome_type_size(c->type) + 1);
    memset(room, 0x5a, count * dome_type_size(c->type) + 1);
    return room;
}

static void check_say(check *c, const char *what, uint64_t place)
{
    fprintf(stderr, "task %d of %d: %s of %s: %s (element %" PRIu64 ")\n", c->t->group.rank, c->t->group.size, c->what,
            dome_type_name(c->type), what, place);
    c->failures++;
}

/* Ends a task that has failed: it is out of step with the others, who notice its end. */
static void check_status(check *c, int status)
{
    if (!status)
        return;
    check_say(c, c->t->reason, 0);
    fflush(NULL);
    _exit(1);
}

/* Compares data with count elements of a stream, except padding, and checks that the byte after it is unchanged. */
static void check_same(check *c, const void *data, uint64_t count, uint64_t stream, uint64_t first)
{
    size_t size = dome_type_size(c->type), portable = dome_type_portable_size(c->type);
    void *expected = check_values(c, stream, first, count);
    char *a = g_malloc(portable), *b = g_malloc(portable);
    bool equal = !count || !memcmp(data, expected, count * size);
    for (uint64_t i = 0; i < count && !equal; i++) {
        const char *x = (const char *)data + i * size, *y = (const char *)expected + i * size;
        if (!memcmp(x, y, size))
            continue;
        dome_type_pack(c->type, DOME_PORTABLE, a, x, 1);
        dome_type_pack(c->type, DOME_PORTABLE, b, y, 1);
        if (memcmp(a, b, portable)) {
            check_say(c, "wrong value", i);
            break;
        }
    }
    g_free(a);
    g_free(b);
    g_free(expected);
}

static void check_bound(check *c, const void *data, uint64_t count)
{
    if (((const char *)data)[count * dome_type_size(c->type)] != 0x5a)
        check_say(c, "written behind the end", count);
}

static int rounds_up(int tasks)
{
    int rounds = 0;
    while ((1 << rounds) < tasks)
        rounds++;
    return rounds;
}

static void check_barrier(check *c)
{
    c->what = "barrier";
    const dome_transport *t = c->t;
    uint64_t before = t->account.messages, rounds = 0;
    bool shares = t->group.share_bytes > 0, near = shares && t->group.near.count > 1;
    if (!shares || t->group.leaders.place >= 0)
        rounds = (uint64_t)rounds_up(shares ? t->group.leaders.count : t->group.size);
    /* a share is one message; the leader of a host adds one for its result */
    rounds += near + (near && t->group.leaders.place >= 0 && t->group.leaders.count > 1);
    check_status(c, dome__barrier(c->t));
    if (t->group.clusters) /* to the cluster's head and back, and among the heads */
        rounds = 2 * (uint64_t)rounds_up(t->group.size) + 2;
    if (t->group.clusters ? c->t->account.messages - before > rounds : c->t->account.messages - before != rounds)
        check_say(c, "not of logarithmic depth", c->t->account.messages - before);
}

static void check_bcast(check *c, int root, uint64_t count)
{
    c->what = "bcast";
    uint64_t stream = check_random(c);
    void *data = check_room(c, count);
    if (c->t->group.rank == root) {
        void *values = check_values(c, stream, 0, count);
        memcpy(data, values, count * dome_type_size(c->type));
        g_free(values);
    }
    check_status(c, dome__bcast(c->t, root, c->type, data, count));
    check_same(c, data, count, stream, 0);
    check_bound(c, data, count);
    g_free(data);
}

/* Pairs (a, b) stand for x -> a * x + b, whose composition is associative but does not commute. The last of an odd number of
 * values is added. */
static void check_compose(void *inout, const void *in, uint64_t count, void *ctx)
{
    uint64_t *f = inout;
    const uint64_t *g = in;
    for (uint64_t i = 0; i + 1 < count; i += 2) {
        f[i + 1] = g[i] * f[i + 1] + g[i + 1];
        f[i] *= g[i];
    }
    if (count % 2)
        f[count - 1] += g[count - 1];
    ++*(uint64_t *)ctx;
}

/* A product of values increased by 1: dome__allreduce combines tasks of one host first, and any part of the elements at a time.
 */
static void check_commute(void *inout, const void *in, uint64_t count, void *ctx)
{
    uint64_t *f = inout;
    const uint64_t *g = in;
    for (uint64_t i = 0; i < count; i++)
        f[i] += g[i] + f[i] * g[i];
    ++*(uint64_t *)ctx;
}

static void check_reduce(check *c, int root, uint64_t count, bool all)
{
    c->what = all ? "allreduce" : "reduce";
    dome_type type = c->type;
    c->type = DOME_U64;
    uint64_t stream = check_random(c) >> 8, combined = 0, ignored = 0, rounds = 0;
    rounds = (uint64_t)rounds_up(c->t->group.size);
    if (c->t->group.clusters) /* long data: with all tasks of a cluster, then among clusters */
        rounds = all ? (uint64_t)c->t->group.size + rounds : 2 * rounds;
    dome_combine combine = all ? check_commute : check_compose;
    uint64_t *data = check_values(c, stream + (uint64_t)c->t->group.rank, 0, count),
             *expected = check_values(c, stream, 0, count);
    for (int r = 1; r < c->t->group.size; r++) {
        uint64_t *next = check_values(c, stream + (uint64_t)r, 0, count);
        combine(expected, next, count, &ignored);
        g_free(next);
    }
    if (all)
        check_status(c, dome__allreduce(c->t, DOME_U64, data, count, combine, &combined));
    else
        check_status(c, dome__reduce(c->t, root, &(dome_combining){DOME_U64, data, count, combine, &combined}));
    if ((all || c->t->group.rank == root) && count && memcmp(data, expected, count * sizeof *data))
        check_say(c, "wrong result", 0);
    if (combined >
        rounds + (uint64_t)(all ? c->t->group.near.count : 0)) /* among tasks of one host, each combines the data of all */
        check_say(c, "not of logarithmic depth", combined);
    g_free(data);
    g_free(expected);
    c->type = type;
}

static void check_gather(check *c, int root, uint64_t count, bool all)
{
    c->what = all ? "allgather" : "gather";
    uint64_t stream = check_random(c) >> 8, total = count * (uint64_t)c->t->group.size;
    void *send = check_values(c, stream + (uint64_t)c->t->group.rank, 7, count), *recv = check_room(c, total);
    if (all)
        check_status(c, dome__allgather(c->t, c->type, send, count, recv));
    else
        check_status(c, dome__gather(c->t, root, c->type, send, count, c->t->group.rank == root ? recv : NULL));
    for (int r = 0; r < c->t->group.size && (all || c->t->group.rank == root); r++)
        check_same(c, (char *)recv + (uint64_t)r * count * dome_type_size(c->type), count, stream + (uint64_t)r, 7);
    check_bound(c, recv, total);
    g_free(send);
    g_free(recv);
}

/* Mostly 0, sometimes small, rarely large. */
static uint64_t check_skewed(check *c)
{
    uint64_t dice = check_random(c);
    if (dice % 8 < 4)
        return 0;
    return dice % 8 < 7 ? 1 + (dice >> 8) % 40 : (dice >> 8) % 30000;
}

static void check_gatherv(check *c, int root, bool all)
{
    c->what = all ? "allgatherv" : "gatherv";
    int size = c->t->group.size;
    uint64_t stream = check_random(c) >> 8, total = 0;
    uint64_t *counts = g_new(uint64_t, size);
    for (int r = 0; r < size; r++)
        total += counts[r] = check_skewed(c);
    void *send = check_values(c, stream + (uint64_t)c->t->group.rank, 0, counts[c->t->group.rank]), *recv = check_room(c, total);
    uint64_t before = c->t->account.messages;
    if (all)
        check_status(c, dome__allgatherv(c->t, c->type, send, counts, recv));
    else
        check_status(c, dome__gatherv(c->t, root, c->type, send, counts, c->t->group.rank == root ? recv : NULL));
    if (!total && c->t->account.messages != before)
        check_say(c, "nothing was sent in messages", c->t->account.messages - before);
    uint64_t at = 0;
    for (int r = 0; r < size && (all || c->t->group.rank == root); at += counts[r++])
        check_same(c, (char *)recv + at * dome_type_size(c->type), counts[r], stream + (uint64_t)r, 0);
    check_bound(c, recv, total);
    g_free(send);
    g_free(recv);
    g_free(counts);
}

static void check_alltoall(check *c, uint64_t count)
{
    c->what = "alltoall";
    int size = c->t->group.size, rank = c->t->group.rank;
    uint64_t stream = check_random(c) >> 16, total = count * (uint64_t)size;
    void *send = check_values(c, stream + (uint64_t)rank, 0, total), *recv = check_room(c, total);
    check_status(c, dome__alltoall(c->t, c->type, send, count, recv));
    for (int r = 0; r < size; r++)
        check_same(c, (char *)recv + (uint64_t)r * count * dome_type_size(c->type), count, stream + (uint64_t)r,
                   (uint64_t)rank * count);
    check_bound(c, recv, total);
    g_free(send);
    g_free(recv);
}

static void check_alltoallv(check *c, bool nothing)
{
    c->what = "alltoallv";
    int size = c->t->group.size, rank = c->t->group.rank;
    uint64_t stream = check_random(c) >> 16, out = 0, in = 0;
    uint64_t *counts = g_new0(uint64_t, size * size), *recv_counts = g_new(uint64_t, size);
    for (int i = 0; i < size * size && !nothing; i++)
        counts[i] = check_skewed(c);
    uint64_t partners = 0;
    for (int r = 0; r < size; r++) {
        out += counts[rank * size + r];
        in += recv_counts[r] = counts[r * size + rank];
        partners += r != rank && counts[rank * size + r];
    }
    void *send = check_values(c, stream + (uint64_t)rank, 0, out), *recv = check_room(c, in);
    uint64_t before = c->t->account.messages, bytes = c->t->account.bytes;
    check_status(c, dome__alltoallv(c->t, c->type, send, counts + rank * size, recv, recv_counts));
    if (c->t->account.messages - before != partners)
        check_say(c, "number of messages", c->t->account.messages - before);
    if ((c->t->account.bytes != bytes) != (partners != 0))
        check_say(c, "bytes were not counted", c->t->account.bytes - bytes);
    uint64_t at = 0;
    for (int r = 0; r < size; at += recv_counts[r++]) {
        uint64_t place = 0;
        for (int i = 0; i < rank; i++)
            place += counts[r * size + i];
        check_same(c, (char *)recv + at * dome_type_size(c->type), recv_counts[r], stream + (uint64_t)r, place);
    }
    check_bound(c, recv, in);
    g_free(send);
    g_free(recv);
    g_free(counts);
    g_free(recv_counts);
}

/* Messages between each two tasks: both ways at once, of a length that the receiver does not know. */
static void check_pairs(check *c, uint64_t count)
{
    c->what = "send and receive";
    int size = c->t->group.size, rank = c->t->group.rank;
    uint64_t stream = check_random(c) >> 16;
    void *send = check_values(c, stream + (uint64_t)rank, 0, count);
    for (int i = 1; i < size; i++) {
        int dest = (rank + i) % size, source = (rank + size - i) % size;
        void *recv = NULL;
        uint64_t got = 0;
        check_status(c, dome__send(c->t, dest, DOME_CHANNEL_DATA, c->type, send, count));
        check_status(c, dome__recv_new(c->t, source, DOME_CHANNEL_DATA, c->type, &recv, &got));
        if (got != count)
            check_say(c, "wrong length", got);
        else
            check_same(c, recv, count, stream + (uint64_t)source, 0);
        if (!count && recv)
            check_say(c, "storage for nothing", 0);
        g_free(recv);
    }
    g_free(send);
}

static double check_relayed(int rank, uint64_t i, int round)
{
    return rank + 1000.0 * (double)i + 1e6 * round;
}

/* One relay, in which a task looks some times before it waits; the tasks are then in different operations. */
static void check_relay_round(check *c, dome_relay *relay, const uint64_t *counts, int round)
{
    dome_transport *t = c->t;
    const dome_stamp now = t->stamp;
    double *mine = g_new(double, counts[t->group.rank] + 1);
    for (uint64_t i = 0; i < counts[t->group.rank]; i++)
        mine[i] = check_relayed(t->group.rank, i, round);
    check_status(c, dome__relay_begin(relay, mine, counts));
    g_free(mine);
    for (int look = (t->group.rank * 7 + round) % 5; look > 0; look--) {
        t->stamp.sequence++;
        check_status(c, dome__relay_advance(relay, false));
        sched_yield();
    }
    check_status(c, dome__relay_advance(relay, true));
    t->stamp = now;
    for (int r = 0; r < t->group.size; r++)
        for (uint64_t i = 0; i < counts[r]; i++)
            if (dome__relay_numbers(relay, r)[i] != check_relayed(r, i, round))
                check_say(c, "another number was relayed", i);
}

static void check_relay(check *c, dome_relay_form form)
{
    dome_relay *relay = dome__relay_new(c->t, form);
    uint64_t *counts = g_new(uint64_t, c->t->group.size);
    c->what = "relay";
    for (int round = 0; relay && round < 12; round++) {
        for (int r = 0; r < c->t->group.size; r++)
            counts[r] = 1 + check_random(c) % (round == 5 ? 5000 : 20);
        check_relay_round(c, relay, counts, round);
    }
    check_barrier(c); /* its last messages have been read */
    dome__relay_free(relay);
    g_free(counts);
}

/* Several all-reduces under way while the tasks do other things, finished in an order of each task's own. */
static void check_ahead_round(check *c, int round)
{
    enum { MOST = 5 };
    dome_transport *t = c->t;
    const dome_stamp now = t->stamp;
    const int many = 1 + round % MOST;
    dome_ahead *a[MOST];
    uint64_t counts[MOST];
    for (int k = 0; k < many; k++) {
        counts[k] = 1 + check_random(c) % (round == 7 ? 5000 : 100);
        int64_t *mine = g_new(int64_t, counts[k]);
        for (uint64_t i = 0; i < counts[k]; i++)
            mine[i] = (t->group.rank + 1) * (int64_t)(i + 1) + k;
        t->stamp.sequence++;
        a[k] = dome__ahead_begin(t, DOME_I64, mine, counts[k], dome__combine_sum_i64, NULL);
        g_free(mine);
        if ((round + k) % 3 == 0)
            check_status(c, dome__barrier(t));
    }
    if (round % 4 == 1)
        check_pairs(c, 20);
    for (int look = (t->group.rank * 7 + round) % 5; look > 0; look--) {
        t->stamp.sequence++;
        check_status(c, dome__ahead_drive(t));
        sched_yield();
    }
    c->what = "all-reduce ahead";
    const int64_t ranks = (int64_t)t->group.size * (t->group.size + 1) / 2;
    for (int n = 0; n < many; n++) {
        const int k = (n + t->group.rank + round) % many;
        check_status(c, dome__ahead_finish(a[k]));
        const int64_t *sum = dome__ahead_data(a[k]);
        for (uint64_t i = 0; i < counts[k]; i++)
            if (sum[i] != ranks * (int64_t)(i + 1) + (int64_t)t->group.size * k)
                check_say(c, "another sum", i);
        dome__ahead_free(a[k]);
    }
    t->stamp = now;
    t->stamp.sequence += (uint64_t)many;
}

/* Runs all checks. Returns the number of failures that this task has found; each is a line on standard error. */
static int check_collectives(dome_transport *t, const dome_type *types, size_t ntypes, uint64_t seed)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 5, 8, 61, 1000, 16385};
    check c = {.t = t, .random = seed};
    for (size_t k = 0; k < ntypes; k++) {
        c.type = types[k];
        uint64_t edge =
            (128 << 10) / dome_type_portable_size(c.type); /* the length at which the algorithms for long data begin */
        for (size_t n = 0; n < G_N_ELEMENTS(counts) + 2 && !c.failures; n++) {
            uint64_t count = n < G_N_ELEMENTS(counts) ? counts[n] : edge + (n == G_N_ELEMENTS(counts));
            int root = (int)(check_random(&c) % (uint64_t)t->group.size);
            check_barrier(&c);
            check_bcast(&c, root, count);
            check_reduce(&c, root, count, false);
            check_reduce(&c, root, count, true);
            check_gather(&c, root, count, false);
            check_gather(&c, root, count, true);
            check_alltoall(&c, count);
            check_pairs(&c, count);
        }
        for (int root = 0; root < t->group.size && !c.failures; root++) {
            check_bcast(&c, root, 3);
            check_bcast(&c, root, edge + 5);
            check_reduce(&c, root, 4, false);
            check_gather(&c, root, 2, false);
            check_gatherv(&c, root, false);
        }
        for (int round = 0; round < 10 && !c.failures; round++) {
            check_gatherv(&c, (int)(check_random(&c) % (uint64_t)t->group.size), false);
            check_gatherv(&c, 0, true);
            check_alltoallv(&c, round == 0);
        }
    }
    if (!c.failures) {
        check_relay(&c, DOME_RELAY_BY_HOSTS);
        check_relay(&c, DOME_RELAY_NARROW);
        for (int round = 0; round < 25; round++)
            check_ahead_round(&c, round);
    }
    return c.failures;
}

#endif
