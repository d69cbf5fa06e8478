/* Messages between tasks of one host, with a transport of socket pairs beneath. */
#include "collective_checks.h"
#include "local/local_private.h"
#include "local_transport.h"
#include "transport/ahead.h"
#include "transport/message.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool cannot_read;     /* the memory of other tasks, from now on */
static dome_local *together; /* this task's, if it goes on from each read that fails together with the other task */
static atomic_uint *yields;  /* of both, behind such reads */
static unsigned failures, due;

/* In the place of the C library's. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                         unsigned long nthere, unsigned long flags)
{
    if (!cannot_read)
        return syscall(SYS_process_vm_readv, pid, here, nhere, there, nthere, flags);
    if (together) {
        together->eager = EAGER; /* so that it yields before it sleeps */
        due = 2 * ++failures;
    }
    errno = EPERM;
    return -1;
}

int sched_yield(void)
{
    if (!due)
        return (int)syscall(SYS_sched_yield);
    /* The other task may not come: it sleeps if it has not read yet, and has nothing to wait for if its data is there. */
    const gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND / 100;
    for (atomic_fetch_add(yields, 1); atomic_load(yields) < due && g_get_monotonic_time() < until;)
        continue;
    due = 0;
    return 0;
}

typedef struct setting {
    dome_road road;
    const char *hosts; /* a letter each */
    int (*check)(dome_transport *t);
} setting;

static int on_road(dome_transport *t, void *ctx)
{
    const setting *s = ctx;
    char **hosts = g_new0(char *, t->group.size + 1);
    int near = 0;
    for (int r = 0; r < t->group.size; r++) {
        hosts[r] = g_strndup(s->hosts + r, 1);
        near += s->hosts[r] == s->hosts[t->group.rank];
    }
    int failed = dome__local_open(t, hosts, s->road);
    dome_road road = dome__local_road(t);
    if (!failed && near > 1 && road != s->road) {
        fprintf(stderr, "task %d: road %d instead of %d\n", t->group.rank, road, s->road);
        failed = 1;
    }
    failed = failed || s->check(t);
    g_strfreev(hosts);
    return failed;
}

static int battery(dome_transport *t)
{
    const dome_type types[] = {DOME_F64, DOME_U8, DOME_I16, DOME_C128};
    return check_collectives(t, types, g_test_slow() ? G_N_ELEMENTS(types) : 2, 11);
}

static void test_battery(const void *data)
{
    static const char *const hosts[] = {"aa", "abaab", "aaaa", "abcabca"};
    for (size_t i = 0; i < (g_test_slow() ? G_N_ELEMENTS(hosts) : 2); i++) {
        setting s = {GPOINTER_TO_INT(data), hosts[i], battery};
        g_assert_cmpint(local_run((int)strlen(hosts[i]), NULL, on_road, &s), ==, 0);
    }
}

static uint8_t content(int from, int to, uint64_t number, uint64_t i)
{
    return (uint8_t)((uint64_t)from * 31 + (uint64_t)to * 17 + number * 7 + i * 13 + (i >> 8));
}

enum { TALK = 1000 }; /* messages with such numbers are short as a rule */

static uint64_t length_of(int from, int to, uint64_t number)
{
    static const uint64_t lengths[] = {0, 1, 60, 4000, 16383, 16384, 70000, 262144, 300003};
    static const uint64_t talk[] = {0, 1, 8, 31, 32, 33, 1, 200, 5000, 20000, 8, 1};
    if (number >= TALK)
        return talk[(number + (uint64_t)from) % G_N_ELEMENTS(talk)];
    return lengths[((uint64_t)from * 5 + (uint64_t)to * 3 + number) % G_N_ELEMENTS(lengths)];
}

static int take(dome_transport *t, int from, int channel, uint64_t number)
{
    uint64_t n = length_of(from, t->group.rank, number);
    uint8_t *data = g_malloc0(n + 1);
    int failed = dome__recv(t, from, channel, DOME_U8, data, n);
    for (uint64_t i = 0; i < n && !failed; i++)
        failed = data[i] != content(from, t->group.rank, number, i);
    if (failed)
        fprintf(stderr, "task %d: message %d of task %d: %s\n", t->group.rank, (int)number, from, t->reason);
    g_free(data);
    return failed;
}

static int give(dome_transport *t, int to, int channel, uint64_t number)
{
    uint64_t n = length_of(t->group.rank, to, number);
    uint8_t *data = g_malloc(n + 1);
    for (uint64_t i = 0; i < n; i++)
        data[i] = content(t->group.rank, to, number, i);
    int failed = dome__send(t, to, channel, DOME_U8, data, n);
    memset(data, 0, n); /* the sender may change it again */
    g_free(data);
    return failed;
}

/* Every task sends to all before any task receives, on two channels that are received in the other order. */
static int crossing(dome_transport *t)
{
    int failed = 0;
    for (int k = 1; k < t->group.size; k++)
        for (uint64_t number = 0; number < 14 && !failed; number++)
            failed = give(t, (t->group.rank + k) % t->group.size, number % 2 ? DOME_CHANNEL_DATA : DOME_CHANNEL_CONTROL, number);
    for (int odd = 1; odd >= 0; odd--)
        for (int k = t->group.size - 1; k > 0; k--)
            for (uint64_t number = (uint64_t)odd; number < 14 && !failed; number += 2)
                failed = take(t, (t->group.rank + k) % t->group.size, odd ? DOME_CHANNEL_DATA : DOME_CHANNEL_CONTROL, number);
    return failed;
}

/* Long messages go around a ring while one task waits for another: offered messages must be read while waiting. */
static int around(dome_transport *t)
{
    int next = (t->group.rank + 1) % t->group.size, previous = (t->group.rank + t->group.size - 1) % t->group.size, failed = 0;
    for (uint64_t number = 0; number < 20 && !failed; number++) {
        failed = give(t, next, DOME_CHANNEL_DATA, number);
        if (number % 3 == 0)
            sched_yield();
        failed = failed || take(t, previous, DOME_CHANNEL_DATA, number);
    }
    return failed;
}

/* Each task offers long data to the next one and waits for that of the previous one, which cannot be read. */
static int refusing(dome_transport *t)
{
    enum { LONG = 300000 };
    int next = (t->group.rank + 1) % t->group.size, previous = (t->group.rank + t->group.size - 1) % t->group.size, failed = 0;
    uint8_t *data = g_malloc(LONG), *got = g_malloc(LONG);
    for (uint64_t i = 0; i < LONG; i++)
        data[i] = content(t->group.rank, next, 0, i);
    cannot_read = true;
    failed = dome__begin_send(t, next, DOME_CHANNEL_DATA, DOME_U8, data, LONG);
    failed = failed || dome__recv(t, previous, DOME_CHANNEL_DATA, DOME_U8, got, LONG);
    dome__end_send(t, next);
    failed = failed || !dome__sent(t, next);
    cannot_read = false;
    for (uint64_t i = 0; i < LONG && !failed; i++)
        failed = got[i] != content(previous, t->group.rank, 0, i);
    g_free(data);
    g_free(got);
    return failed;
}

/* The same, so that both know that their data must go through the rings, which that fills, before they look for other data. */
static int refusing_at_once(dome_transport *t)
{
    int failed = 0;
    together = t->provider.state;
    together->spins = 0;
    together->yields = 1;
    for (int round = 0; round < 200 && !failed; round++)
        failed = refusing(t);
    return failed;
}

/* Long data is on its way on one channel while its receiver waits for a short message of the same task on another. */
static int in_front(dome_transport *t)
{
    enum { LONG = 20000 };
    int next = (t->group.rank + 1) % t->group.size, previous = (t->group.rank + t->group.size - 1) % t->group.size, failed = 0;
    uint8_t *data = g_malloc0(LONG), word = 7, got = 0;
    failed = dome__begin_send(t, next, DOME_CHANNEL_RELAY, DOME_U8, data, LONG);
    if (t->group.rank == 0)
        failed = failed || dome__send(t, next, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
    failed = failed || dome__wait_for_any(t, &previous, 1, DOME_CHANNEL_DATA) != previous ||
             dome__recv(t, previous, DOME_CHANNEL_DATA, DOME_U8, &got, 1) || got != word;
    if (t->group.rank != 0)
        failed = failed || dome__send(t, next, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
    uint8_t *taken = g_malloc(LONG);
    failed = failed || dome__recv(t, previous, DOME_CHANNEL_RELAY, DOME_U8, taken, LONG);
    dome__end_send(t, next);
    g_free(taken);
    g_free(data);
    return failed;
}

/* Short messages among some long ones, answered or not, are received in the order sent on each channel, and in the other order of
 * channels. Which tasks talk in a step and how much, all tasks draw alike. */
static int talking(dome_transport *t)
{
    uint64_t state = 1;
    for (uint64_t step = 0; step < 1500; step++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t drawn = state >> 33;
        const bool usual = drawn % 4 != 0; /* tasks 0 and 1 */
        const int from = (int)(drawn / 4 % (usual ? 2 : (uint64_t)t->group.size));
        const int to = usual ? 1 - from : (from + 1 + (int)(drawn / 256 % (uint64_t)(t->group.size - 1))) % t->group.size;
        const uint64_t first = TALK + drawn / 16 % 997, end = first + (drawn / 8192 % 3 ? 1 : 5);
        for (uint64_t number = first; number < end && t->group.rank == from; number++)
            if (give(t, to, number % 2 ? DOME_CHANNEL_DATA : DOME_CHANNEL_CONTROL, number))
                return 1;
        for (uint64_t odd = 0; odd < 2 && t->group.rank == to; odd++)
            for (uint64_t number = first + (first % 2 != odd); number < end; number += 2)
                if (take(t, from, number % 2 ? DOME_CHANNEL_DATA : DOME_CHANNEL_CONTROL, number))
                    return 1;
    }
    return 0;
}

/* Task 0 gets messages from any of the others, of which all have sent several: each is served in turn. */
static int fair(dome_transport *t)
{
    enum { EACH = 4 };
    uint8_t word = 1;
    int failed = 0, others[8];
    for (int k = 0; k < EACH && t->group.rank && !failed; k++)
        failed = dome__send(t, 0, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
    if (t->group.rank)
        return failed || dome__send(t, 0, DOME_CHANNEL_CONTROL, DOME_U8, &word, 1);
    for (int r = 1; r < t->group.size && !failed; r++) {
        others[r - 1] = r;
        failed = dome__recv(t, r, DOME_CHANNEL_CONTROL, DOME_U8, &word, 1);
    }
    for (int k = 0, before = 0; k < EACH * (t->group.size - 1) && !failed; k++) {
        const int rank = dome__wait_for_any(t, others, t->group.size - 1, DOME_CHANNEL_DATA),
                  wanted = before % (t->group.size - 1) + 1;
        if (rank != wanted)
            fprintf(stderr, "task %d is served after task %d\n", rank, before);
        failed = rank != wanted || dome__recv(t, rank, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
        before = rank;
    }
    return failed;
}

/* A task that waits for any of the others for long is woken by the first message, and not by a clock: it sleeps a few times. */
static int woken(dome_transport *t)
{
    enum { LONG_US = 300000, FEW = 30 };
    uint8_t word = 1;
    int failed = 0, others[8];
    if (t->group.rank) {
        g_usleep(LONG_US * (gulong)t->group.rank);
        return dome__send(t, 0, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
    }
    for (int r = 1; r < t->group.size; r++)
        others[r - 1] = r;
    for (int r = 1; r < t->group.size && !failed; r++) {
        struct rusage before, after;
        getrusage(RUSAGE_THREAD, &before);
        failed = dome__wait_for_any(t, others, t->group.size - 1, DOME_CHANNEL_DATA) != r ||
                 dome__recv(t, r, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
        getrusage(RUSAGE_THREAD, &after);
        const long sleeps = after.ru_nvcsw - before.ru_nvcsw;
        if (sleeps > FEW)
            fprintf(stderr, "the task slept %ld times\n", sleeps);
        failed = failed || sleeps > FEW;
    }
    return failed;
}

static void test_woken(void)
{
    setting s = {DOME_ROAD_SHM, "aaa", woken};
    g_assert_cmpint(local_run(3, NULL, on_road, &s), ==, 0);
}

/* All-reduces that run ahead get on while a task waits for any of the others, who wait for their results first. */
static int ahead_of(dome_transport *t)
{
    uint8_t word = 1;
    int failed = 0, others[8];
    for (int round = 0; round < 200 && !failed; round++) {
        uint64_t value = (uint64_t)t->group.rank + 1, sum = 0;
        dome_ahead *a = dome__ahead_begin(t, DOME_U64, &value, 1, dome__combine_sum_i64, NULL);
        const int master = round % t->group.size;
        int n = 0;
        for (int r = 0; r < t->group.size; r++)
            if (r != master)
                others[n++] = r;
        for (int k = 0; k < n && t->group.rank == master && !failed; k++) {
            const int rank = dome__wait_for_any(t, others, n, DOME_CHANNEL_DATA);
            failed = dome__recv(t, rank, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
        }
        failed = failed || dome__ahead_finish(a);
        if (!failed)
            memcpy(&sum, dome__ahead_data(a), sizeof sum);
        dome__ahead_free(a);
        failed = failed || sum != (uint64_t)t->group.size * (uint64_t)(t->group.size + 1) / 2;
        if (t->group.rank != master && !failed)
            failed = dome__send(t, master, DOME_CHANNEL_DATA, DOME_U8, &word, 1);
    }
    return failed;
}

/* In memory of both tasks: how often each has spoken. No call of the transport waits meanwhile, which would take messages in. */
static _Atomic int *spoken;

static void say_and_hear(int said, int heard)
{
    spoken[said]++;
    while (spoken[heard] < spoken[said])
        sched_yield();
}

/* A short message tells how far its sender had read, and is received after so many bytes that it seems to have read further. */
static int late_news(dome_transport *t)
{
    enum { LONG = 200000, MANY = 11000, LAST = 600000 };
    const int me = t->group.rank, other = 1 - me;
    uint8_t *data = g_malloc0(LAST), word = 1;
    int failed = me ? dome__send(t, other, DOME_CHANNEL_CONTROL, DOME_U8, &word, 1) : 0;
    say_and_hear(me, other);
    for (int k = 0; k < MANY && !failed; k++) {
        failed = me ? dome__recv(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LONG)
                    : dome__send(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LONG);
        say_and_hear(me, other);
    }
    for (uint64_t i = 0; i < LAST && !me; i++)
        data[i] = content(0, 1, 0, i);
    spoken[me] = INT_MAX;
    if (me) {
        g_usleep(100000); /* the sender must wait for room */
        failed = failed || dome__recv(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LAST);
    } else {
        failed = failed || dome__recv(t, other, DOME_CHANNEL_CONTROL, DOME_U8, &word, 1) ||
                 dome__send(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LAST);
    }
    for (uint64_t i = 0; i < LAST && me && !failed; i++)
        failed = data[i] != content(0, 1, 0, i);
    g_free(data);
    return failed;
}

/* Messages at which a task looks before it receives them are not buffered: their sender could be faster for ever. */
static int looked_at(dome_transport *t)
{
    enum { MANY = 9, WORDS = 100 };
    const int me = t->group.rank, other = 1 - me;
    const peer *q = &((dome_local *)t->provider.state)->peers[other];
    int64_t words[WORDS] = {0};
    int failed = 0;
    for (int k = 0; k < MANY && me && !failed; k++) {
        words[0] = k;
        failed = dome__send(t, other, DOME_CHANNEL_DATA, DOME_I64, words, k % 3 ? WORDS : 1);
    }
    say_and_hear(me, other);
    for (int k = 0; k < MANY && !me && !failed; k++)
        failed = !t->provider.ops->arrived(&t->provider, other, DOME_CHANNEL_DATA) ||
                 t->provider.ops->arrived(&t->provider, other, DOME_CHANNEL_CONTROL) ||
                 dome__recv(t, other, DOME_CHANNEL_DATA, DOME_I64, words, k % 3 ? WORDS : 1) || words[0] != k ||
                 (k < 1 && q->messages->length != MANY - 1);
    say_and_hear(me, other);
    for (int k = 0; k < MANY && me && !failed; k++) {
        words[0] = k;
        failed = dome__send(t, other, DOME_CHANNEL_DATA, DOME_I64, words, k % 3 ? WORDS : 1);
    }
    say_and_hear(me, other);
    for (int k = 0; k < MANY && !me && !failed; k++)
        failed = !t->provider.ops->arrived(&t->provider, other, DOME_CHANNEL_DATA) || q->messages->length ||
                 dome__recv(t, other, DOME_CHANNEL_DATA, DOME_I64, words, k % 3 ? WORDS : 1) || words[0] != k;
    return failed || t->provider.ops->arrived(&t->provider, other, DOME_CHANNEL_DATA);
}

/* The numbers of offered transfers begin again at 0, which is none that was refused. */
static int again_from_zero(dome_transport *t)
{
    enum { LONG = 20000 };
    const int me = t->group.rank, other = 1 - me;
    peer *q = &((dome_local *)t->provider.state)->peers[other];
    uint8_t data[LONG], got[LONG];
    int failed = 0;
    q->offer.number = UINT32_MAX - 1;
    q->out->answered = UINT32_MAX - 1;
    say_and_hear(me, other);
    for (uint64_t number = 0; number < 4 && !failed; number++) {
        for (uint64_t i = 0; i < LONG; i++)
            data[i] = content(me, other, number, i);
        failed = dome__begin_send(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LONG) ||
                 dome__recv(t, other, DOME_CHANNEL_DATA, DOME_U8, got, LONG);
        dome__end_send(t, other);
        for (uint64_t i = 0; i < LONG && !failed; i++)
            failed = got[i] != content(other, me, number, i);
    }
    return failed;
}

/* Data that its receiver cannot read has not been sent when the receiver has said so: it still has to go through the ring. */
static int refused_offer(dome_transport *t)
{
    enum { LONG = 300000 };
    const int me = t->group.rank, other = 1 - me;
    const peer *q = &((dome_local *)t->provider.state)->peers[other];
    uint8_t *data = g_malloc0(LONG);
    int failed = 0;
    if (me) {
        cannot_read = true;
        say_and_hear(me, other);
        failed = dome__recv(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LONG);
        cannot_read = false;
    } else {
        failed = dome__begin_send(t, other, DOME_CHANNEL_DATA, DOME_U8, data, LONG);
        say_and_hear(me, other);
        while (atomic_load(&q->in->answered) != q->offer.number)
            sched_yield();
        failed = failed || dome__sent(t, other);
        dome__end_send(t, other);
        failed = failed || !dome__sent(t, other);
    }
    g_free(data);
    return failed;
}

static void test_counts(const void *check)
{
    static const setting settings[] = {{DOME_ROAD_SHM, "aa", late_news},
                                       {DOME_ROAD_VM, "aa", again_from_zero},
                                       {DOME_ROAD_SHM, "aa", looked_at},
                                       {DOME_ROAD_VM, "aa", refused_offer},
                                       {DOME_ROAD_VM, "aa", refusing_at_once}};
    setting s = settings[GPOINTER_TO_INT(check)];
    spoken = mmap(NULL, 2 * sizeof *spoken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(spoken != MAP_FAILED);
    g_assert_cmpint(local_run(2, NULL, on_road, &s), ==, 0);
    munmap(spoken, 2 * sizeof *spoken);
}

static void test_messages(const void *data)
{
    static int (*const checks[])(dome_transport *) = {crossing, around, refusing, in_front, talking, fair, ahead_of};
    static const char *const hosts[] = {"aaa", "aabb", "aaaaa", "aabbb"};
    for (size_t i = 0; i < (g_test_slow() ? G_N_ELEMENTS(hosts) : 2); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(checks); k++) {
            setting s = {GPOINTER_TO_INT(data), hosts[i], checks[k]};
            g_assert_cmpint(local_run((int)strlen(hosts[i]), NULL, on_road, &s), ==, 0);
        }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    yields = mmap(NULL, sizeof *yields, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(yields != MAP_FAILED);
    g_test_add_data_func("/local/battery/vm", GINT_TO_POINTER(DOME_ROAD_VM), test_battery);
    g_test_add_data_func("/local/battery/shm", GINT_TO_POINTER(DOME_ROAD_SHM), test_battery);
    g_test_add_data_func("/local/messages/vm", GINT_TO_POINTER(DOME_ROAD_VM), test_messages);
    g_test_add_data_func("/local/messages/shm", GINT_TO_POINTER(DOME_ROAD_SHM), test_messages);
    g_test_add_func("/local/woken", test_woken);
    g_test_add_data_func("/local/counts/late-news", GINT_TO_POINTER(0), test_counts);
    g_test_add_data_func("/local/counts/again-from-zero", GINT_TO_POINTER(1), test_counts);
    g_test_add_data_func("/local/counts/looked-at", GINT_TO_POINTER(2), test_counts);
    g_test_add_data_func("/local/counts/refused-offer", GINT_TO_POINTER(3), test_counts);
    g_test_add_data_func("/local/counts/refusing-at-once", GINT_TO_POINTER(4), test_counts);
    return g_test_run();
}
