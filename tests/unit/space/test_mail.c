/* Mail between tasks, which here are threads of one process: what is put is taken, once and in order; and who sleeps is called.
 */
#include "space/mail.h"

#include "system/bytes.h"

#include <glib.h>

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { TASKS = 3, RANKS = 5, MOST = 1020 };

static const int ranks[TASKS] = {0, 2, 4}; /* 1 and 3 are on another host */

typedef struct got {
    unsigned messages;
    int from;
    size_t bytes;
    uint8_t message[MOST];
} got;

static void keep(void *ctx, int from, const void *message, size_t bytes)
{
    got *g = ctx;
    g->messages++;
    g->from = from;
    g->bytes = bytes;
    memcpy(g->message, message, bytes);
}

/* Task k's mail, by a mapping of its own. */
static void begin(dome_mail *mail[TASKS])
{
    const char *why;
    dome_memory *memory[TASKS] = {dome__memory_new("mail", dome__mail_bytes(TASKS), &why)};
    g_assert_nonnull(memory[0]);
    const dome_memory_offer offer = dome__memory_offer(memory[0]);
    for (unsigned k = 0; k < TASKS; k++) {
        memory[k] = k ? dome__memory_attach(&offer, &why) : memory[0];
        g_assert_nonnull(memory[k]);
        mail[k] = dome__mail_new(&(dome_mail_setup){memory[k], k, TASKS, ranks, RANKS});
    }
    dome__memory_taken(memory[0]);
}

static void end(dome_mail *mail[TASKS])
{
    for (unsigned k = 0; k < TASKS; k++)
        dome__mail_free(mail[k]);
}

static void test_one(void)
{
    dome_mail *mail[TASKS];
    got g = {0};
    begin(mail);
    g_assert_false(dome__mail_waits(mail[1]));
    g_assert_false(dome__mail_take(mail[1], keep, &g));
    g_assert_cmpint(dome__mail_put(mail[2], 2, "word", 4), ==, DOME_MAIL_BUSY);
    g_assert_true(dome__mail_waits(mail[1]));
    g_assert_false(dome__mail_waits(mail[0]));
    g_assert_true(dome__mail_take(mail[1], keep, &g));
    g_assert_cmpuint(g.messages, ==, 1);
    g_assert_cmpint(g.from, ==, 4);
    g_assert_cmpmem(g.message, g.bytes, "word", 4);
    g_assert_false(dome__mail_take(mail[1], keep, &g));
    end(mail);
}

/* News are deferred if all tasks of the program are on this host and none sleeps; one that is about to sleep finds who defers. */
static void test_defer(void)
{
    const char *why;
    static const int all[] = {0, 1};
    dome_memory *memory = dome__memory_new("mail", dome__mail_bytes(2), &why), *other;
    g_assert_nonnull(memory);
    const dome_memory_offer offer = dome__memory_offer(memory);
    other = dome__memory_attach(&offer, &why);
    g_assert_nonnull(other);
    dome__memory_taken(memory);
    dome_mail *mail[2] = {dome__mail_new(&(dome_mail_setup){memory, 0, 2, all, 2}),
                          dome__mail_new(&(dome_mail_setup){other, 1, 2, all, 2})};
    g_assert_cmpint(dome__mail_deferrer(mail[1]), ==, -1);
    dome__mail_watch(mail[1], DOME_MAIL_LOOKS);
    g_assert_true(dome__mail_defer(mail[0]));
    g_assert_cmpint(dome__mail_deferrer(mail[1]), ==, 0);
    g_assert_cmpint(dome__mail_deferrer(mail[0]), ==, -1); /* itself */
    dome__mail_deferred(mail[0]);
    g_assert_cmpint(dome__mail_deferrer(mail[1]), ==, -1);
    dome__mail_watch(mail[1], DOME_MAIL_SLEEPS);
    g_assert_false(dome__mail_defer(mail[0]));
    g_assert_cmpint(dome__mail_deferrer(mail[1]), ==, -1);
    g_assert_false(dome__mail_defer(NULL));
    g_assert_cmpint(dome__mail_deferrer(NULL), ==, -1);
    dome__mail_free(mail[0]);
    dome__mail_free(mail[1]);
    dome_mail *some[TASKS];
    begin(some);
    g_assert_false(dome__mail_defer(some[0])); /* others are on another host */
    end(some);
}

static void test_states(void)
{
    dome_mail *mail[TASKS];
    begin(mail);
    for (dome_mail_state s = DOME_MAIL_BUSY; s < DOME_MAIL_REFUSED; s++) {
        dome__mail_watch(mail[0], s);
        g_assert_cmpint(dome__mail_put(mail[1], 0, "", 1), ==, s);
        g_assert_cmpint(dome__mail_put(mail[0], 2, "", 1), ==, DOME_MAIL_BUSY); /* that one's */
    }
    end(mail);
}

/* What cannot be put leaves no trace. */
static void test_refused(void)
{
    dome_mail *mail[TASKS];
    got g = {0};
    uint8_t longest[MOST + 1];
    memset(longest, 7, sizeof longest);
    begin(mail);
    g_assert_cmpint(dome__mail_put(mail[0], 1, "", 1), ==, DOME_MAIL_REFUSED);
    g_assert_cmpint(dome__mail_put(NULL, 1, "", 1), ==, DOME_MAIL_REFUSED);
    g_assert_cmpint(dome__mail_put(mail[0], 4, longest, MOST + 1), ==, DOME_MAIL_REFUSED);
    g_assert_false(dome__mail_waits(mail[2]));
    unsigned put = 0;
    while (dome__mail_put(mail[0], 4, longest, MOST) == DOME_MAIL_BUSY)
        g_assert_cmpuint(++put, <, 1000);
    g_assert_cmpuint(put, >, 0);
    g_assert_cmpint(dome__mail_put(mail[1], 4, "", 1), ==, DOME_MAIL_BUSY); /* each task has room of its own */
    g_assert_true(dome__mail_take(mail[2], keep, &g));
    g_assert_cmpuint(g.messages, ==, put + 1);
    g_assert_cmpint(dome__mail_put(mail[0], 4, longest, MOST), ==, DOME_MAIL_BUSY);
    end(mail);
}

/* ---- two threads send, one looks, or sleeps until it is called ---- */

enum { MESSAGES = 20000 };

typedef struct sender {
    dome_mail *mail;
    sem_t *calls;
} sender;

static void *send_all(void *argument)
{
    const sender *s = argument;
    for (uint64_t k = 1; k <= MESSAGES;) {
        uint8_t message[8];
        dome__put_u64(message, k);
        const dome_mail_state state = dome__mail_put(s->mail, 0, message, sizeof message);
        if (state == DOME_MAIL_SLEEPS)
            sem_post(s->calls);
        k += state != DOME_MAIL_REFUSED;
    }
    return NULL;
}

typedef struct counting {
    uint64_t last[RANKS], wrong;
} counting;

static void count(void *ctx, int from, const void *message, size_t bytes)
{
    counting *c = ctx;
    const uint64_t k = bytes == 8 ? dome__get_u64(message) : 0;
    c->wrong += k != c->last[from] + 1;
    c->last[from] = k;
}

/* As the token does (token.c): after a look it says that it sleeps, looks once more, and sleeps. */
static void take_all(dome_mail *mail, sem_t *calls, counting *c)
{
    for (unsigned look = 0; c->last[2] < MESSAGES || c->last[4] < MESSAGES; look++) {
        const bool sleeps = look % 3 == 2;
        dome__mail_watch(mail, sleeps ? DOME_MAIL_SLEEPS : DOME_MAIL_LOOKS);
        if (!dome__mail_take(mail, count, c) && sleeps)
            sem_wait(calls); /* for ever, if a call is missing */
    }
}

static void test_threads(void)
{
    dome_mail *mail[TASKS];
    sem_t calls;
    pthread_t threads[2];
    counting c = {0};
    begin(mail);
    sem_init(&calls, 0, 0);
    sender senders[2] = {{mail[1], &calls}, {mail[2], &calls}};
    for (int k = 0; k < 2; k++)
        g_assert_cmpint(pthread_create(&threads[k], NULL, send_all, &senders[k]), ==, 0);
    take_all(mail[0], &calls, &c);
    for (int k = 0; k < 2; k++)
        pthread_join(threads[k], NULL);
    g_assert_cmpuint(c.wrong, ==, 0);
    sem_destroy(&calls);
    end(mail);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/one", test_one);
    g_test_add_func("/mail/states", test_states);
    g_test_add_func("/mail/defer", test_defer);
    g_test_add_func("/mail/refused", test_refused);
    g_test_add_func("/mail/threads", test_threads);
    return g_test_run();
}
