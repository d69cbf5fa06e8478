/* The service channel: several of its ends in one process, on loopback; and processes that are killed. */
#include "peer/peer.h"

#include "peer/peer_private.h"
#include "system/bytes.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 6, MB = 1 << 20 };

#define TAG DOME_PEER_OTHERS

/* Which sockets the ends of a test have. */
typedef enum road { NEAR, FAR, BOTH, SIX } road;

typedef struct net {
    int size;
    dome_peer_place places[2 * MOST];
    int listening[MOST][2];
    dome_peer *peer[MOST];
} net;

static bool listens(net *n, road road)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    for (int r = 0; r < n->size; r++) {
        dome_peer_place *place = n->places + 2 * r;
        place[1] = dome__peer_place_here(true);
        if (road == SIX)
            memcpy(&place[1].address, &six, place[1].length = sizeof six);
        n->listening[r][0] = road == NEAR || road == BOTH ? dome__peer_place_listen_near(&place[0]) : -1;
        n->listening[r][1] = road == NEAR ? -1 : dome__peer_place_listen(&place[1]);
        if (road == SIX && n->listening[r][1] < 0)
            return false; /* there is no IPv6 */
        g_assert_true(n->listening[r][0] >= 0 || n->listening[r][1] >= 0);
        if (road == NEAR)
            place[1].length = 0;
    }
    return true;
}

static dome_peer *start(const net *n, int rank, const char *cookie, double patience)
{
    dome_peer_setup setup = {.rank = rank,
                             .size = n->size,
                             .purpose = "test",
                             .listening = {n->listening[rank][0], n->listening[rank][1]},
                             .places = n->places,
                             .patience = patience};
    memcpy(setup.cookie, cookie, sizeof setup.cookie);
    dome_peer *p = dome__peer_new(&setup);
    g_assert_nonnull(p);
    return p;
}

static const char COOKIE[] = "0123456789abcde";

static bool begin(net *n, int size, road road)
{
    *n = (net){.size = size};
    if (!listens(n, road))
        return false;
    for (int r = 0; r < size; r++)
        n->peer[r] = start(n, r, COOKIE, 20);
    return true;
}

static gpointer free_peer(gpointer peer)
{
    dome__peer_free(peer);
    return NULL;
}

/* At the same time, as tasks do: none waits for another's process. */
static void end(net *n)
{
    GThread *threads[MOST];
    for (int r = 0; r < n->size; r++)
        threads[r] = g_thread_new("free", free_peer, n->peer[r]);
    for (int r = 0; r < n->size; r++)
        g_thread_join(threads[r]);
}

/* Waits for a number that another thread counts, and a while longer: it does not go on. */
static void stays_at(int (*count)(void *ctx), void *ctx, int wanted)
{
    for (int k = 0; k < 2000 && count(ctx) < wanted; k++)
        g_usleep(10000);
    g_usleep(100000);
    g_assert_cmpint(count(ctx), ==, wanted);
}

/* Bytes that tell their place. */
static uint8_t *pattern(uint64_t bytes, unsigned seed)
{
    uint8_t *data = g_malloc(bytes + 1);
    for (uint64_t k = 0; k < bytes; k++)
        data[k] = (uint8_t)(seed + k * 7 + (k >> 8) * 13 + (k >> 16));
    return data;
}

static void send_pattern(dome_peer *from, int to, int tag, uint64_t bytes, unsigned seed)
{
    uint8_t *data = pattern(bytes, seed);
    g_assert_cmpint(dome__peer_send(from, to, (dome_peer_tag)tag, data, bytes), ==, DOME_PEER_OK);
    g_free(data);
}

static void receive_pattern(dome_peer *at, int from, int tag, uint64_t bytes, unsigned seed)
{
    void *data = NULL;
    uint64_t got = 0;
    g_assert_cmpint(dome__peer_receive(at, from, (dome_peer_tag)tag, &data, &got), ==, DOME_PEER_OK);
    uint8_t *wanted = pattern(bytes, seed);
    g_assert_cmpuint(got, ==, bytes);
    g_assert_cmpint(memcmp(data, wanted, bytes), ==, 0);
    g_free(wanted);
    g_free(data);
}

/* ---- connecting ---- */

typedef struct talker {
    net *net;
    int rank;
} talker;

/* Says something to all others, and hears them: all connect to each other at the same time. */
static gpointer talk(gpointer data)
{
    const talker *t = data;
    dome_peer *p = t->net->peer[t->rank];
    for (int turn = 0; turn < 3; turn++) {
        for (int k = 1; k < t->net->size; k++)
            send_pattern(p, (t->rank + k) % t->net->size, TAG, 1000u + (unsigned)k, (unsigned)(t->rank + turn));
        for (int k = 1; k < t->net->size; k++) {
            const int from = (t->rank - k + t->net->size) % t->net->size;
            receive_pattern(p, from, TAG, 1000u + (unsigned)k, (unsigned)(from + turn));
        }
    }
    return NULL;
}

static void all_talk(net *n)
{
    talker talkers[MOST];
    GThread *threads[MOST];
    for (int r = 0; r < n->size; r++) {
        talkers[r] = (talker){n, r};
        threads[r] = g_thread_new("talk", talk, &talkers[r]);
    }
    for (int r = 0; r < n->size; r++)
        g_thread_join(threads[r]);
}

static void test_all_at_once(void)
{
    int waited = 0; /* ends that took as long as one waits for a task that does not close */
    for (int turn = 0; turn < 40; turn++) {
        net n;
        if (!begin(&n, 2 + turn % (MOST - 1), (road)(turn % 4)))
            continue;
        all_talk(&n);
        const gint64 began = g_get_monotonic_time();
        end(&n);
        waited += g_get_monotonic_time() - began >= G_USEC_PER_SEC;
    }
    g_assert_cmpint(waited, <, 20); /* a busy machine may be slow; waiting for tasks that have gone would be the rule */
}

/* A local name that nobody listens to, as of another network: TCP is used. */
static void test_name_of_nobody(void)
{
    net n = {.size = 2};
    listens(&n, BOTH);
    ((struct sockaddr_un *)(void *)&n.places[2].address)->sun_path[5] ^= 1;
    for (int r = 0; r < 2; r++)
        n.peer[r] = start(&n, r, COOKIE, 20);
    send_pattern(n.peer[0], 1, TAG, 10, 3);
    receive_pattern(n.peer[1], 0, TAG, 10, 3);
    end(&n);
}

static void test_places(void)
{
    net n = {.size = 1};
    for (int road = NEAR; road <= SIX; road++) {
        uint8_t bytes[DOME_PEER_PLACE_BYTES];
        dome_peer_place back;
        n.places[0] = n.places[1] = (dome_peer_place){0};
        listens(&n, (enum road)road);
        for (int k = 0; k < 2; k++) {
            dome__peer_place_put(bytes, &n.places[k]);
            g_assert_true(dome__peer_place_get(bytes, &back));
            g_assert_cmpmem(&back.address, back.length, &n.places[k].address, n.places[k].length);
            if (n.listening[0][k] >= 0)
                close(n.listening[0][k]);
        }
    }
    g_assert_true(dome__peer_place_is_here(&n.places[1])); /* ::1 */
    uint8_t nonsense[DOME_PEER_PLACE_BYTES] = {77};
    dome_peer_place none;
    g_assert_false(dome__peer_place_get(nonsense, &none));
    nonsense[0] = 1;
    nonsense[1] = 255;
    g_assert_false(dome__peer_place_get(nonsense, &none));
    dome_peer_place loopback = dome__peer_place_here(true), own = dome__peer_place_here(false);
    dome__peer_place_set_port(&own, 1234);
    g_assert_true(dome__peer_place_is_here(&loopback) && dome__peer_place_is_here(&own));
    g_assert_true(dome__peer_place_seen_from(&loopback, &own));
    dome__peer_place_set_port(&loopback, 1234);
    g_assert_cmpmem(&own.address, own.length, &loopback.address, loopback.length);
    ((struct sockaddr_in *)(void *)&own.address)->sin_addr.s_addr = htonl(0x0a000001);
    g_assert_false(dome__peer_place_is_here(&own));
}

static int connect_to(const dome_peer_place *place)
{
    int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (const struct sockaddr *)&place->address, place->length), ==, 0);
    return fd;
}

/* Strangers who say nothing, too little or nonsense cause no delay, and those who stay are sent away. */
static void test_pending(void)
{
    enum { PENDING = 40 };
    net n = {.size = 4};
    int pending[PENDING];
    char nonsense[200];
    memset(nonsense, 'x', sizeof nonsense);
    listens(&n, FAR);
    for (int k = 0; k < PENDING; k++) {
        const size_t bytes = k % 3 == 1 ? 5 : k % 3 == 2 ? sizeof nonsense : 0;
        pending[k] = connect_to(&n.places[2 * (k % n.size) + 1]);
        g_assert_cmpint(send(pending[k], nonsense, bytes, MSG_NOSIGNAL), ==, bytes);
    }
    const gint64 began = g_get_monotonic_time();
    for (int r = 0; r < n.size; r++)
        n.peer[r] = start(&n, r, COOKIE, 20);
    all_talk(&n);
    g_assert_cmpint(g_get_monotonic_time() - began, <, 4 * G_USEC_PER_SEC);
    for (int k = 0; k < PENDING; k++) {
        char byte;
        while (recv(pending[k], &byte, 1, 0) > 0)
            continue;
        close(pending[k]);
    }
    g_assert_cmpint(g_get_monotonic_time() - began, <, 9 * G_USEC_PER_SEC);
    end(&n);
}

static void test_wrong_cookie(void)
{
    net n = {.size = 2};
    listens(&n, BOTH);
    n.peer[0] = start(&n, 0, COOKIE, 20);
    n.peer[1] = start(&n, 1, "0123456789abcdx", 0.3);
    g_assert_cmpint(dome__peer_reach(n.peer[1], 0), ==, DOME_PEER_UNREACHABLE);
    g_assert_cmpint(dome__peer_error(n.peer[1], 0), ==, ETIMEDOUT);
    end(&n);
}

/* Nobody listens where another task should: that is known at once. */
static void test_nobody(void)
{
    net n = {.size = 2};
    listens(&n, BOTH);
    close(n.listening[1][0]);
    close(n.listening[1][1]);
    n.peer[0] = start(&n, 0, COOKIE, 20);
    void *data;
    uint64_t bytes;
    g_assert_cmpint(dome__peer_receive(n.peer[0], 1, TAG, &data, &bytes), ==, DOME_PEER_UNREACHABLE);
    g_assert_cmpint(dome__peer_error(n.peer[0], 1), ==, ECONNREFUSED);
    g_assert_cmpint(dome__peer_send(n.peer[0], 1, TAG, "x", 1), ==, DOME_PEER_UNREACHABLE);
    dome__peer_free(n.peer[0]);
}

/* ---- requests ---- */

/* Gives the number of the request as text, as often as it says. */
static void serve(void *ctx, const dome_peer_request *r)
{
    g_assert_cmpuint(r->bytes, ==, 8);
    const uint64_t bytes = dome__get_u64(r->data);
    uint8_t *data = pattern(bytes, (unsigned)(r->from + 10 * GPOINTER_TO_INT(ctx)));
    dome__peer_reply(r->peer, r->from, r->id, data, (uint32_t)bytes);
    g_free(data);
}

static void ask_pattern(dome_peer *p, int rank, int to, uint64_t bytes)
{
    uint8_t number[8], *wanted = pattern(bytes, (unsigned)(rank + 10 * to));
    GByteArray *reply = NULL;
    dome__put_u64(number, bytes);
    g_assert_cmpint(dome__peer_ask(p, to, TAG, number, sizeof number, &reply), ==, DOME_PEER_OK);
    g_assert_cmpmem(reply->data, reply->len, wanted, bytes);
    g_byte_array_unref(reply);
    g_free(wanted);
}

static gpointer ask_all(gpointer data)
{
    const talker *t = data;
    for (int turn = 0; turn < 60; turn++)
        for (int r = 0; r < t->net->size; r++)
            if (r != t->rank)
                ask_pattern(t->net->peer[t->rank], t->rank, r, (uint64_t)(turn == 30 ? DOME_PEER_MOST : turn * 37));
    return NULL;
}

/* Several threads of each task ask all others, and all of them serve meanwhile. */
static void test_requests(void)
{
    for (int road = NEAR; road <= FAR; road++) {
        net n;
        talker talkers[MOST];
        GThread *threads[2 * MOST];
        begin(&n, 4, (enum road)road);
        for (int r = 0; r < n.size; r++)
            dome__peer_on(n.peer[r], TAG, serve, GINT_TO_POINTER(r));
        for (int r = 0; r < n.size; r++)
            talkers[r] = (talker){&n, r};
        for (int k = 0; k < 2 * n.size; k++)
            threads[k] = g_thread_new("ask", ask_all, &talkers[k % n.size]);
        for (int k = 0; k < 2 * n.size; k++)
            g_thread_join(threads[k]);
        end(&n);
    }
}

/* A question is a frame of the one, its reply one of the other. */
static void test_sent(void)
{
    net n;
    dome_peer_count before[2];
    begin(&n, 2, NEAR);
    for (int r = 0; r < n.size; r++)
        dome__peer_on(n.peer[r], TAG, serve, GINT_TO_POINTER(r));
    ask_pattern(n.peer[0], 0, 1, 0);
    for (int r = 0; r < n.size; r++)
        before[r] = dome__peer_sent(n.peer[r]);
    ask_pattern(n.peer[0], 0, 1, 1000);
    ask_pattern(n.peer[0], 0, 1, 30);
    const dome_peer_count asked = dome__peer_sent(n.peer[0]), answered = dome__peer_sent(n.peer[1]);
    g_assert_cmpuint(asked.frames - before[0].frames, ==, 2);
    g_assert_cmpuint(asked.bytes - before[0].bytes, ==, 2 * dome__peer_frame_bytes(8));
    g_assert_cmpuint(answered.frames - before[1].frames, ==, 2);
    g_assert_cmpuint(answered.bytes - before[1].bytes, ==, dome__peer_frame_bytes(1000) + dome__peer_frame_bytes(30));
    end(&n);
}

static void test_no_handler(void)
{
    net n;
    GByteArray *reply = NULL;
    begin(&n, 2, BOTH);
    g_assert_cmpint(dome__peer_ask(n.peer[0], 1, TAG, NULL, 0, &reply), ==, DOME_PEER_REFUSED);
    g_assert_null(reply);
    dome__peer_on(n.peer[1], TAG, serve, GINT_TO_POINTER(1));
    ask_pattern(n.peer[0], 0, 1, 5);
    dome__peer_on(n.peer[1], TAG, NULL, NULL);
    g_assert_cmpint(dome__peer_ask(n.peer[0], 1, TAG, NULL, 0, &reply), ==, DOME_PEER_REFUSED);
    end(&n);
}

/* A lock: the handler keeps a request, which is answered later. */
static void keep_request(void *ctx, const dome_peer_request *r)
{
    g_async_queue_push(ctx, GSIZE_TO_POINTER(r->id));
}

static gpointer ask_once(gpointer data)
{
    const talker *t = data;
    GByteArray *reply = NULL;
    const dome_peer_status status = dome__peer_ask(t->net->peer[t->rank], 1 - t->rank, TAG, "lock", 4, &reply);
    if (status == DOME_PEER_OK)
        g_byte_array_unref(reply);
    return GINT_TO_POINTER(status);
}

static int count_kept(void *queue)
{
    return g_async_queue_length(queue);
}

static void test_later_replies(void)
{
    net n;
    GAsyncQueue *kept = g_async_queue_new();
    talker t = {&n, 0};
    GThread *threads[3 * DOME_PEER_ASKS];
    begin(&n, 2, BOTH);
    dome__peer_on(n.peer[1], TAG, keep_request, kept);
    for (size_t k = 0; k < G_N_ELEMENTS(threads); k++)
        threads[k] = g_thread_new("ask", ask_once, &t);
    stays_at(count_kept, kept, DOME_PEER_ASKS); /* the others wait for their turn */
    for (size_t k = 0; k < G_N_ELEMENTS(threads); k++)
        dome__peer_reply(n.peer[1], 0, GPOINTER_TO_SIZE(g_async_queue_pop(kept)), "yours", 5);
    for (size_t k = 0; k < G_N_ELEMENTS(threads); k++)
        g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(threads[k])), ==, DOME_PEER_OK);
    g_async_queue_unref(kept);
    end(&n);
}

/* ---- questions, answered in the channel's thread ---- */

enum { CHAIN = 500 };

typedef struct chain {
    net *net;
    int rank, left;
    GAsyncQueue *done; /* gets the chain */
    int statuses[DOME_PEER_FULL + 1];
} chain;

static void go_on(void *ctx, const dome_peer_answer *answer);

static void ask_next(chain *c)
{
    const dome_peer_question q = {
        .rank = 1 - c->rank, .tag = TAG, .data = "12345678", .bytes = (uint32_t)(c->left % 9), .then = go_on, .ctx = c};
    g_assert_cmpint(dome__peer_ask_then(c->net->peer[c->rank], &q), ==, DOME_PEER_OK);
}

static void give_back(void *ctx, const dome_peer_request *r)
{
    (void)ctx;
    dome__peer_reply(r->peer, r->from, r->id, r->data, r->bytes);
}

/* Each answer leads to the next question: from the channel's thread, which would wait for itself if asking waited. */
static void go_on(void *ctx, const dome_peer_answer *answer)
{
    chain *c = ctx;
    g_assert_cmpint(answer->status, ==, DOME_PEER_OK);
    g_assert_true(answer->peer == c->net->peer[c->rank] && answer->from == 1 - c->rank);
    g_assert_cmpmem(answer->data, answer->bytes, "12345678", (size_t)(c->left % 9));
    if (--c->left > 0)
        ask_next(c);
    else
        g_async_queue_push(c->done, c);
}

static void test_chains(void)
{
    for (int road = NEAR; road <= FAR; road++) {
        net n;
        chain chains[8];
        GAsyncQueue *done = g_async_queue_new();
        begin(&n, 2, (enum road)road);
        for (int r = 0; r < 2; r++)
            dome__peer_on(n.peer[r], TAG, give_back, NULL);
        for (int k = 0; k < 8; k++) {
            chains[k] = (chain){.net = &n, .rank = k % 2, .left = CHAIN, .done = done};
            ask_next(&chains[k]);
        }
        for (int k = 0; k < 8; k++)
            g_async_queue_pop(done);
        g_async_queue_unref(done);
        end(&n);
    }
}

static void count_status(void *ctx, const dome_peer_answer *answer)
{
    chain *c = ctx;
    g_assert_true((answer->data != NULL) == (answer->bytes > 0));
    g_atomic_int_inc(&c->statuses[answer->status]);
    g_atomic_int_inc(&c->left);
}

static int count_left(void *ctx)
{
    return g_atomic_int_get(&((chain *)ctx)->left);
}

/* As many as are taken. */
static int ask_until_full(chain *c, uint32_t bytes)
{
    const dome_peer_question q = {
        .rank = 1 - c->rank, .tag = TAG, .data = g_malloc0(bytes + 1), .bytes = bytes, .then = count_status, .ctx = c};
    int taken = 0;
    dome_peer_status status;
    while (!(status = dome__peer_ask_then(c->net->peer[c->rank], &q)))
        taken++;
    g_assert_cmpint(status, ==, DOME_PEER_FULL);
    g_free((void *)(uintptr_t)q.data);
    return taken;
}

/* Who is never answered keeps a number of bytes; the channel's end answers all. Callers who wait have their turn between. */
static void test_bounded_questions(void)
{
    static const uint32_t lengths[] = {0, 10000, DOME_PEER_MOST};
    static const int wanted[] = {DOME_PEER_KEPT / DOME_PEER_KEPT_EACH, DOME_PEER_KEPT / (10000 + DOME_PEER_KEPT_EACH), 1};
    for (size_t k = 0; k < G_N_ELEMENTS(lengths); k++) {
        net n;
        GAsyncQueue *kept = g_async_queue_new();
        begin(&n, 2, BOTH);
        dome__peer_on(n.peer[1], TAG, keep_request, kept);
        chain c = {.net = &n};
        g_assert_cmpint(ask_until_full(&c, lengths[k]), ==, wanted[k]);
        dome__peer_reply(n.peer[1], 0, GPOINTER_TO_SIZE(g_async_queue_pop(kept)), NULL, 0);
        stays_at(count_left, &c, 1);
        g_assert_cmpint(ask_until_full(&c, lengths[k]), ==, 1);
        dome__peer_free(n.peer[0]);
        g_assert_cmpint(c.statuses[DOME_PEER_OK], ==, 1);
        g_assert_cmpint(c.left, ==, wanted[k] + 1);
        g_async_queue_unref(kept);
        dome__peer_free(n.peer[1]);
    }
}

/* Why there is no answer: nobody serves; nobody is there; the other side ends. */
static void test_unanswered(void)
{
    net n;
    chain c = {.net = &n};
    const dome_peer_question q = {.rank = 1, .tag = TAG, .then = count_status, .ctx = &c};
    begin(&n, 3, BOTH);
    g_assert_cmpint(dome__peer_ask_then(n.peer[0], &q), ==, DOME_PEER_OK);
    stays_at(count_left, &c, 1);
    g_assert_cmpint(c.statuses[DOME_PEER_REFUSED], ==, 1);
    GAsyncQueue *kept = g_async_queue_new();
    dome__peer_on(n.peer[1], TAG, keep_request, kept);
    for (int k = 0; k < 2 * DOME_PEER_ASKS; k++) /* half of them are not even sent */
        g_assert_cmpint(dome__peer_ask_then(n.peer[0], &q), ==, DOME_PEER_OK);
    g_async_queue_pop(kept);
    dome__peer_free(n.peer[1]);
    stays_at(count_left, &c, 1 + 2 * DOME_PEER_ASKS);
    g_assert_cmpint(c.statuses[DOME_PEER_GONE], ==, 2 * DOME_PEER_ASKS);
    g_assert_cmpint(dome__peer_ask_then(n.peer[0], &q), ==, DOME_PEER_GONE);
    g_async_queue_unref(kept);
    dome__peer_free(n.peer[0]);
    dome__peer_free(n.peer[2]);
}

static void test_nobody_answers(void)
{
    net n = {.size = 2};
    chain c = {.net = &n};
    listens(&n, BOTH);
    close(n.listening[1][0]);
    close(n.listening[1][1]);
    n.peer[0] = start(&n, 0, COOKIE, 20);
    const dome_peer_question q = {.rank = 1, .tag = TAG, .then = count_status, .ctx = &c};
    g_assert_cmpint(dome__peer_ask_then(n.peer[0], &q), ==, DOME_PEER_OK);
    stays_at(count_left, &c, 1);
    g_assert_cmpint(c.statuses[DOME_PEER_UNREACHABLE], ==, 1);
    dome__peer_free(n.peer[0]);
}

typedef struct hearing {
    net *net;
    GAsyncQueue *done;
    uint64_t heard;     /* words, which carry their numbers */
    _Atomic bool asked; /* the question between them came in its place */
} hearing;

static void hear_word(void *ctx, const dome_peer_request *r)
{
    hearing *h = ctx;
    if (r->id) { /* the question, which is kept */
        h->asked = h->heard == CHAIN;
        return;
    }
    g_assert_cmpuint(r->bytes, ==, 8 + h->heard % 3 * 5000);
    g_assert_cmpuint(dome__get_u64(r->data), ==, h->heard);
    if (++h->heard == 2 * CHAIN)
        g_async_queue_push(h->done, h);
}

static void tell(const net *n, uint64_t number)
{
    uint8_t word[8 + 10000] = {0};
    dome__put_u64(word, number);
    g_assert_cmpint(dome__peer_tell(n->peer[0], 1, TAG, word, (uint32_t)(8 + number % 3 * 5000)), ==, DOME_PEER_OK);
}

/* What is told arrives in its order, and in that of the questions; nobody answers. */
static void test_words(void)
{
    for (int road = NEAR; road <= FAR; road++) {
        net n;
        chain c = {.net = &n};
        hearing h = {.net = &n, .done = g_async_queue_new()};
        const dome_peer_question q = {.rank = 1, .tag = TAG, .then = count_status, .ctx = &c};
        begin(&n, 2, (enum road)road);
        dome__peer_tell(n.peer[0], 1, TAG + 1, NULL, 0); /* nobody serves that */
        dome__peer_on(n.peer[1], TAG, hear_word, &h);
        for (uint64_t k = 0; k < 2 * CHAIN; k++) {
            if (k == CHAIN)
                g_assert_cmpint(dome__peer_ask_then(n.peer[0], &q), ==, DOME_PEER_OK);
            tell(&n, k);
        }
        g_async_queue_pop(h.done);
        g_assert_true(h.asked);
        g_async_queue_unref(h.done);
        end(&n);
        g_assert_cmpint(c.left, ==, 1); /* the question ended with the channel */
    }
}

/* ---- timers ---- */

typedef struct ringing {
    dome_peer *peer;
    GAsyncQueue *rung;
    int number, again;
    gint64 due; /* us */
} ringing;

static void ring(void *ctx)
{
    ringing *r = ctx;
    g_assert_cmpint(g_get_monotonic_time(), >=, r->due);
    if (r->again-- > 0) {
        r->due = g_get_monotonic_time() + 1000;
        g_assert_cmpuint(dome__peer_after(r->peer, 0.001, ring, r), !=, 0);
    } else
        g_async_queue_push(r->rung, r);
}

static uint64_t ring_after(ringing *r, int ms)
{
    r->due = g_get_monotonic_time() + 1000 * ms;
    return dome__peer_after(r->peer, ms / 1000.0, ring, r);
}

static void test_timers(void)
{
    static const int ms[] = {60, 5, 30, 5, 0, 90, 60};
    static const int order[] = {4, 1, 3, 2, 0, 5};
    net n;
    begin(&n, 1, FAR);
    ringing r[G_N_ELEMENTS(ms)];
    uint64_t id[G_N_ELEMENTS(ms)];
    GAsyncQueue *rung = g_async_queue_new();
    for (size_t k = 0; k < G_N_ELEMENTS(ms); k++) {
        r[k] = (ringing){.peer = n.peer[0], .rung = rung, .number = (int)k, .again = k == 5 ? 20 : 0};
        id[k] = ring_after(&r[k], ms[k]);
    }
    g_assert_true(dome__peer_cancel(n.peer[0], id[6]));
    g_assert_false(dome__peer_cancel(n.peer[0], id[6]));
    for (size_t k = 0; k < G_N_ELEMENTS(order); k++)
        g_assert_cmpint(((ringing *)g_async_queue_pop(rung))->number, ==, order[k]);
    g_assert_false(dome__peer_cancel(n.peer[0], id[4]));
    ring_after(&r[0], 60000); /* dropped with the channel */
    end(&n);
    g_assert_cmpint(g_async_queue_length(rung), ==, 0);
    g_async_queue_unref(rung);
}

/* ---- messages ---- */

static const uint64_t lengths[] = {0, 1,       1000, DOME_PEER_PART_MOST, DOME_PEER_PART_MOST + 1, MB - 1, MB, 3 * MB + 5,
                                   0, 20 * MB, 2};

static gpointer send_lengths(gpointer data)
{
    const talker *t = data;
    for (unsigned k = 0; k < G_N_ELEMENTS(lengths); k++)
        send_pattern(t->net->peer[t->rank], 1 - t->rank, TAG, lengths[k], k);
    return NULL;
}

static void test_lengths(void)
{
    for (int road = NEAR; road <= FAR; road++) {
        net n;
        begin(&n, 2, (enum road)road);
        talker t[] = {{&n, 0}, {&n, 1}};
        GThread *threads[] = {g_thread_new("send", send_lengths, &t[0]), g_thread_new("send", send_lengths, &t[1])};
        for (int at = 0; at < 2; at++)
            for (unsigned k = 0; k < G_N_ELEMENTS(lengths); k++)
                receive_pattern(n.peer[at], 1 - at, TAG, lengths[k], k);
        g_thread_join(threads[0]);
        g_thread_join(threads[1]);
        end(&n);
    }
}

static int sent; /* messages so far; atomic */

static gpointer send_many(gpointer data)
{
    const talker *t = data;
    for (unsigned k = 0; k < 200; k++) {
        send_pattern(t->net->peer[t->rank], 1 - t->rank, TAG, 100000, k);
        g_atomic_int_inc(&sent);
    }
    return NULL;
}

static int count_sent(void *ctx)
{
    (void)ctx;
    return g_atomic_int_get(&sent);
}

/* A sender waits for a receiver who takes nothing; requests and messages of other tags pass meanwhile. */
static void test_back_pressure(void)
{
    net n;
    begin(&n, 2, BOTH);
    talker t = {&n, 0};
    g_atomic_int_set(&sent, 0);
    dome__peer_on(n.peer[1], TAG, serve, GINT_TO_POINTER(1));
    GThread *thread = g_thread_new("send", send_many, &t);
    stays_at(count_sent, NULL, DOME_PEER_WINDOW / 100000);
    ask_pattern(n.peer[0], 0, 1, 1000);
    send_pattern(n.peer[0], 1, TAG + 1, 500000, 9);
    receive_pattern(n.peer[1], 0, TAG + 1, 500000, 9);
    g_assert_cmpint(g_atomic_int_get(&sent), ==, DOME_PEER_WINDOW / 100000);
    for (unsigned k = 0; k < 200; k++)
        receive_pattern(n.peer[1], 0, TAG, 100000, k);
    g_thread_join(thread);
    end(&n);
}

/* What a task has sent before its end arrives, however late it is taken; then the wait ends. */
static void test_end_of_other(void)
{
    net n;
    void *data;
    uint64_t bytes;
    begin(&n, 3, BOTH);
    for (unsigned k = 0; k < 9; k++)
        send_pattern(n.peer[0], 1, TAG, 100000, k);
    dome__peer_free(n.peer[0]);
    for (unsigned k = 0; k < 9; k++)
        receive_pattern(n.peer[1], 0, TAG, 100000, k);
    g_assert_cmpint(dome__peer_receive(n.peer[1], 0, TAG, &data, &bytes), ==, DOME_PEER_GONE);
    g_assert_cmpint(dome__peer_send(n.peer[1], 0, TAG, "x", 1), ==, DOME_PEER_GONE);
    send_pattern(n.peer[1], 2, TAG, 7, 1); /* the others go on */
    receive_pattern(n.peer[2], 1, TAG, 7, 1);
    dome__peer_free(n.peer[1]);
    dome__peer_free(n.peer[2]);
}

/* ---- wrong bytes ---- */

static gpointer receive_status(gpointer data)
{
    const talker *t = data;
    void *message;
    uint64_t bytes;
    return GINT_TO_POINTER(dome__peer_receive(t->net->peer[t->rank], 1 - t->rank, TAG, &message, &bytes));
}

/* As far as the other side takes them. */
static void put_all(int fd, const GByteArray *bytes)
{
    guint done = 0;
    for (int k = 0; k < 10000 && done < bytes->len; k++) {
        const ssize_t n = send(fd, bytes->data + done, bytes->len - done, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            return;
        if (n < 0)
            g_usleep(1000);
        done += n > 0 ? (guint)n : 0;
    }
}

/* Puts these bytes into the connection of task 0: task 1 notices, and no wait of either is left. */
static void puts_wrong(void (*make)(dome_mac *mac, GByteArray *bytes, size_t which), size_t which)
{
    net n;
    begin(&n, 2, which % 2 ? NEAR : FAR);
    talker t = {&n, 1};
    GAsyncQueue *kept = g_async_queue_new();
    dome__peer_on(n.peer[1], TAG, keep_request, kept);
    GThread *receiver = g_thread_new("receive", receive_status, &t);
    talker other = {&n, 0};
    GThread *asker = g_thread_new("ask", ask_once, &other);
    g_async_queue_pop(kept); /* the connection is made, and nothing else is under way */
    GByteArray *bytes = g_byte_array_new();
    pthread_mutex_lock(&n.peer[0]->lock);
    dome_peer_end *line = n.peer[0]->other[1]->end;
    make(&line->macs.out, bytes, which);
    put_all(line->fd, bytes);
    pthread_mutex_unlock(&n.peer[0]->lock);
    g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(receiver)), ==, DOME_PEER_ALTERED);
    g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(asker)), ==, DOME_PEER_GONE);
    g_byte_array_unref(bytes);
    g_async_queue_unref(kept);
    end(&n);
}

static void put_frame(GByteArray *bytes, const dome_peer_frame *frame, const char *data, dome_mac *mac)
{
    g_byte_array_set_size(bytes, (guint)dome__peer_frame_bytes(frame->length));
    dome__peer_frame_put(bytes->data, frame, data, mac);
}

static const char text[] = "which blocks this task has";
static const size_t altered_at[] = {
    0, 7, 8, 15, 16, 31, DOME_PEER_START, DOME_PEER_START + 5, DOME_PEER_START + sizeof text, DOME_PEER_START + sizeof text + 15};

static void make_altered(dome_mac *mac, GByteArray *bytes, size_t which)
{
    put_frame(bytes, &(dome_peer_frame){.kind = DOME_PEER_PART, .tag = TAG, .length = sizeof text, .id = sizeof text}, text, mac);
    bytes->data[altered_at[which]] ^= 0x10;
}

static void test_altered(void)
{
    for (size_t k = 0; k < G_N_ELEMENTS(altered_at); k++)
        puts_wrong(make_altered, k);
}

/* A good frame once more. */
static void make_repeated(dome_mac *mac, GByteArray *bytes, size_t which)
{
    put_frame(bytes, &(dome_peer_frame){.kind = DOME_PEER_PART, .tag = TAG + 1, .length = 5, .id = 5}, "again", mac);
    GByteArray *twice = g_byte_array_append(g_byte_array_new(), bytes->data, bytes->len);
    g_byte_array_append(bytes, twice->data, twice->len);
    g_byte_array_unref(twice);
    (void)which;
}

/* Heads with the right code that make no sense. */
static const dome_peer_frame malformed[] = {
    {.kind = 0},
    {.kind = DOME_PEER_WORD + 1},
    {.kind = DOME_PEER_WORD, .tag = TAG, .id = 1},
    {.kind = DOME_PEER_HELLO},
    {.kind = DOME_PEER_REQUEST, .tag = DOME_PEER_TAGS},
    {.kind = DOME_PEER_REQUEST, .flags = 1},
    {.kind = DOME_PEER_REPLY, .flags = 2},
    {.kind = DOME_PEER_REPLY, .id = 999},
    {.kind = DOME_PEER_PART, .tag = TAG, .id = 3},
    {.kind = DOME_PEER_CREDIT, .tag = TAG, .id = 1},
    {.kind = DOME_PEER_CREDIT, .tag = TAG, .id = UINT64_MAX},
};

static void make_malformed(dome_mac *mac, GByteArray *bytes, size_t which)
{
    put_frame(bytes, &malformed[which], NULL, mac);
}

/* A length that nobody may send: it is not waited for. */
static void make_long(dome_mac *mac, GByteArray *bytes, size_t which)
{
    static const uint32_t wrong[] = {DOME_PEER_PART_MOST + 1, UINT32_MAX};
    g_byte_array_set_size(bytes, DOME_PEER_START);
    bytes->data[0] = DOME_PEER_PART;
    bytes->data[1] = TAG;
    bytes->data[2] = bytes->data[3] = 0;
    dome__put_u32(bytes->data + 4, wrong[which]);
    dome__put_u64(bytes->data + 8, UINT64_MAX);
    dome__mac_next(mac, bytes->data, DOME_PEER_HEAD, bytes->data + DOME_PEER_HEAD);
}

/* More than the receiver has said that it would hold. */
static void make_flood(dome_mac *mac, GByteArray *bytes, size_t which)
{
    char *part = g_malloc0(DOME_PEER_PART_MOST);
    GByteArray *one = g_byte_array_new();
    for (int k = 0; k < 5; k++) {
        const dome_peer_frame f = {
            .kind = DOME_PEER_PART, .tag = TAG + 1, .length = DOME_PEER_PART_MOST, .id = (uint64_t)(5 - k) * DOME_PEER_PART_MOST};
        put_frame(one, &f, part, mac);
        g_byte_array_append(bytes, one->data, one->len);
    }
    g_byte_array_unref(one);
    g_free(part);
    (void)which;
}

/* The number of bytes to come is not what it was. */
static void make_torn(dome_mac *mac, GByteArray *bytes, size_t which)
{
    GByteArray *second = g_byte_array_new();
    put_frame(bytes, &(dome_peer_frame){.kind = DOME_PEER_PART, .tag = TAG, .length = 4, .id = 9}, "part", mac);
    put_frame(second, &(dome_peer_frame){.kind = DOME_PEER_PART, .tag = TAG, .length = 4, .id = 6}, "part", mac);
    g_byte_array_append(bytes, second->data, second->len);
    g_byte_array_unref(second);
    (void)which;
}

static void test_malformed(void)
{
    for (size_t k = 0; k < G_N_ELEMENTS(malformed); k++)
        puts_wrong(make_malformed, k);
    for (size_t k = 0; k < 2; k++)
        puts_wrong(make_long, k);
    puts_wrong(make_repeated, 0);
    puts_wrong(make_flood, 0);
    puts_wrong(make_torn, 0);
}

/* ---- losses ---- */

/* A process that serves nothing more: it is killed while others wait for it. */
static void be_killed(const net *n, int rank)
{
    GAsyncQueue *kept = g_async_queue_new();
    dome_peer *p = start(n, rank, COOKIE, 20);
    dome__peer_on(p, TAG, keep_request, kept);
    g_async_queue_pop(kept);
    kill(getpid(), SIGKILL);
}

static void test_killed(void)
{
    for (int road = NEAR; road <= FAR; road++) {
        net n = {.size = 2};
        listens(&n, (enum road)road);
        const pid_t child = fork();
        if (child == 0) {
            be_killed(&n, 1);
            _exit(1);
        }
        for (int k = 0; k < 2; k++)
            if (n.listening[1][k] >= 0)
                close(n.listening[1][k]);
        n.peer[0] = start(&n, 0, COOKIE, 20);
        talker t = {&n, 0};
        GThread *receiver = g_thread_new("receive", receive_status, &t);
        int status;
        while ((status = GPOINTER_TO_INT(ask_once(&t))) == DOME_PEER_REFUSED) /* it has not said yet who answers */
            g_usleep(1000);
        g_assert_cmpint(status, ==, DOME_PEER_GONE);
        g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(receiver)), ==, DOME_PEER_GONE);
        dome__peer_free(n.peer[0]);
        g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
    }
}

/* A link that is cut: a sender who waits for room, and a receiver in the middle of a message. */
static void test_cut(void)
{
    net n;
    begin(&n, 2, FAR);
    talker t[] = {{&n, 0}, {&n, 1}};
    g_assert_cmpint(dome__peer_reach(n.peer[0], 1), ==, DOME_PEER_OK);
    GThread *receiver = g_thread_new("receive", receive_status, &t[0]);
    g_usleep(50000);
    pthread_mutex_lock(&n.peer[0]->lock);
    shutdown(n.peer[0]->other[1]->end->fd, SHUT_RDWR);
    pthread_mutex_unlock(&n.peer[0]->lock);
    g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(receiver)), ==, DOME_PEER_GONE);
    g_assert_cmpint(GPOINTER_TO_INT(receive_status(&t[1])), ==, DOME_PEER_GONE);
    end(&n);
}

/* This side closes while a thread of its own still asks. */
static gpointer ask_until_stopped(gpointer data)
{
    return ask_once(data);
}

static void test_stopped_sender(void)
{
    net n;
    begin(&n, 2, FAR);
    talker t = {&n, 0};
    GAsyncQueue *kept = g_async_queue_new();
    dome__peer_on(n.peer[1], TAG, keep_request, kept);
    GThread *asker = g_thread_new("ask", ask_until_stopped, &t);
    g_async_queue_pop(kept);
    dome__peer_free(n.peer[1]);
    g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(asker)), ==, DOME_PEER_GONE);
    dome__peer_free(n.peer[0]);
    g_async_queue_unref(kept);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/peer/places", test_places);
    g_test_add_func("/peer/all-at-once", test_all_at_once);
    g_test_add_func("/peer/name-of-nobody", test_name_of_nobody);
    g_test_add_func("/peer/strangers", test_pending);
    g_test_add_func("/peer/wrong-cookie", test_wrong_cookie);
    g_test_add_func("/peer/nobody", test_nobody);
    g_test_add_func("/peer/requests", test_requests);
    g_test_add_func("/peer/sent", test_sent);
    g_test_add_func("/peer/no-handler", test_no_handler);
    g_test_add_func("/peer/later-replies", test_later_replies);
    g_test_add_func("/peer/chains", test_chains);
    g_test_add_func("/peer/bounded-questions", test_bounded_questions);
    g_test_add_func("/peer/unanswered", test_unanswered);
    g_test_add_func("/peer/nobody-answers", test_nobody_answers);
    g_test_add_func("/peer/words", test_words);
    g_test_add_func("/peer/timers", test_timers);
    g_test_add_func("/peer/lengths", test_lengths);
    g_test_add_func("/peer/back-pressure", test_back_pressure);
    g_test_add_func("/peer/end-of-other", test_end_of_other);
    g_test_add_func("/peer/altered", test_altered);
    g_test_add_func("/peer/malformed", test_malformed);
    g_test_add_func("/peer/killed", test_killed);
    g_test_add_func("/peer/cut", test_cut);
    g_test_add_func("/peer/stopped", test_stopped_sender);
    return g_test_run();
}
