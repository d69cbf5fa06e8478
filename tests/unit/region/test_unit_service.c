/* Units over the service channel: tasks of several members in one process, each with a channel of its own. Rights are numbers
 * that an access looks at, as a processor does, so that this runs anywhere, with sanitizers too. */
#include "region/unit_service.h"

#include "region/unit_packet.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 5, MEMBERS = 4, UNITS = 300, WORDS = 512, UNIT_BYTES = WORDS * (int)sizeof(uint64_t) };

typedef struct member {
    uint64_t values[UNITS][WORDS];
    pthread_mutex_t memory; /* tasks of a member see what the processor gives: here, one access after the other */
    _Atomic uint8_t offers[TASKS * UNITS];
    int ranks[TASKS];
    unsigned tasks;
} member;

struct world;

typedef struct task {
    struct world *world;
    int rank;
    unsigned member, number;
    dome_peer *peer;
    dome_unit_service *service;
    dome_units *units;
    pthread_mutex_t lock;
    uint8_t right[UNITS];
    uint64_t faults;
    GRand *random;
} task;

typedef struct world {
    unsigned members;
    int tasks;
    uint32_t hold;
    member *of;
    int firsts[MEMBERS];
    uint16_t homes[UNITS];
    task task[TASKS];
    dome_peer_place places[2 * TASKS];
} world;

/* ---- tasks ---- */

static uint32_t pack(void *ctx, uint64_t unit, unsigned to, void *message)
{
    const task *t = ctx;
    (void)to;
    memcpy(message, t->world->of[t->member].values[unit], UNIT_BYTES);
    return UNIT_BYTES;
}

static bool unpack(void *ctx, uint64_t unit, unsigned from, const void *message, uint32_t bytes)
{
    const task *t = ctx;
    (void)from;
    if (bytes == UNIT_BYTES)
        memcpy(t->world->of[t->member].values[unit], message, UNIT_BYTES);
    return bytes == UNIT_BYTES;
}

static void allow(void *ctx, uint64_t unit, dome_unit_right right)
{
    task *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->right[unit] = (uint8_t)right;
    pthread_mutex_unlock(&t->lock);
}

/* What a task does with a unit's words. */
typedef uint64_t (*work)(uint64_t words[WORDS], uint64_t value);

static uint64_t access_unit(task *t, uint64_t unit, dome_unit_right right, work work, uint64_t value)
{
    member *m = &t->world->of[t->member];
    for (;;) {
        pthread_mutex_lock(&t->lock);
        if (t->right[unit] >= right) {
            pthread_mutex_lock(&m->memory);
            const uint64_t result = work(m->values[unit], value);
            pthread_mutex_unlock(&m->memory);
            pthread_mutex_unlock(&t->lock);
            return result;
        }
        pthread_mutex_unlock(&t->lock);
        t->faults++;
        dome__units_want(t->units, unit, 1, right == DOME_UNIT_WRITE);
    }
}

static void open_task(world *w, int rank, unsigned at, bool near, int listening[2])
{
    task *t = &w->task[rank];
    dome_peer_place *place = &w->places[2 * rank + !near];
    if (!near)
        *place = dome__peer_place_here(true);
    listening[!near] = near ? dome__peer_place_listen_near(place) : dome__peer_place_listen(place);
    listening[near] = -1;
    g_assert_cmpint(listening[!near], >=, 0);
    *t = (task){.world = w, .rank = rank, .member = at, .number = w->of[at].tasks, .random = g_rand_new_with_seed((guint32)rank)};
    pthread_mutex_init(&t->lock, NULL);
    if (t->number == 0)
        w->firsts[at] = rank;
    w->of[at].ranks[w->of[at].tasks++] = rank;
}

static void start_task(world *w, int rank, int listening[2])
{
    task *t = &w->task[rank];
    const dome_peer_setup peer = {.rank = rank,
                                  .size = w->tasks,
                                  .purpose = "test",
                                  .listening = {listening[0], listening[1]},
                                  .places = w->places,
                                  .patience = 20};
    const dome_units_setup setup = {.region = 7,
                                    .members = w->members,
                                    .member = t->member,
                                    .task = t->number,
                                    .tasks = w->of[t->member].tasks,
                                    .firsts = w->firsts,
                                    .ranks = w->of[t->member].ranks,
                                    .units = UNITS,
                                    .bytes = UNIT_BYTES,
                                    .hold = w->hold,
                                    .offers = w->of[t->member].offers,
                                    .homes = w->homes,
                                    .calls = {.allow = allow, .pack = pack, .unpack = unpack},
                                    .ctx = t};
    t->peer = dome__peer_new(&peer);
    t->service = dome__unit_service_new(t->peer, NULL);
    t->units = dome__units_new(t->service, &setup);
}

/* at: the member of each task. */
static world *begin(int tasks, const unsigned *at, bool near, uint32_t hold)
{
    world *w = g_new0(world, 1);
    int listening[TASKS][2];
    w->of = g_new0(member, MEMBERS);
    w->tasks = tasks;
    w->hold = hold;
    for (int r = 0; r < tasks; r++) {
        w->members = MAX(w->members, at[r] + 1);
        open_task(w, r, at[r], near, listening[r]);
    }
    for (unsigned m = 0; m < w->members; m++)
        pthread_mutex_init(&w->of[m].memory, NULL);
    for (unsigned u = 0; u < UNITS; u++)
        w->homes[u] = (uint16_t)(u % w->members);
    for (int r = 0; r < tasks; r++)
        start_task(w, r, listening[r]);
    return w;
}

static gpointer stop_task(gpointer data)
{
    task *t = data;
    dome__peer_free(t->peer);
    return NULL;
}

/* The last messages (DONE, or a timer) may still be under way. */
static void end(world *w)
{
    GThread *threads[TASKS];
    g_usleep(20000);
    for (int r = 0; r < w->tasks; r++)
        threads[r] = g_thread_new("stop", stop_task, &w->task[r]);
    for (int r = 0; r < w->tasks; r++)
        g_thread_join(threads[r]);
    for (int r = 0; r < w->tasks; r++) {
        dome__units_free(w->task[r].units);
        dome__unit_service_free(w->task[r].service);
        g_rand_free(w->task[r].random);
    }
    g_free(w->of);
    g_free(w);
}

static void run_all(world *w, GThreadFunc run)
{
    GThread *threads[TASKS];
    for (int r = 0; r < w->tasks; r++)
        threads[r] = g_thread_new("run", run, &w->task[r]);
    for (int r = 0; r < w->tasks; r++)
        g_thread_join(threads[r]);
}

static uint64_t load(uint64_t words[WORDS], uint64_t value)
{
    (void)value;
    for (int k = 1; k < WORDS; k++)
        g_assert_cmpuint(words[k], ==, words[0]);
    return words[0];
}

static uint64_t add(uint64_t words[WORDS], uint64_t value)
{
    for (int k = 0; k < WORDS; k++)
        words[k] += value;
    return words[0];
}

static uint64_t store(uint64_t words[WORDS], uint64_t value)
{
    for (int k = 0; k < WORDS; k++)
        words[k] = value;
    return value;
}

/* ---- counters ---- */

enum { ACCESSES = 1500, COUNTERS = 4, PLACES = 4 };

/* Adds to counters, and sees that none ever falls, nor is torn. */
static gpointer count(gpointer data)
{
    task *t = data;
    uint64_t seen[COUNTERS] = {0};
    for (int k = 0; k < ACCESSES; k++) {
        const int c = g_rand_int_range(t->random, 0, COUNTERS);
        const bool adds = g_rand_int_range(t->random, 0, 3) == 0;
        const uint64_t now =
            adds ? access_unit(t, (uint64_t)c, DOME_UNIT_WRITE, add, 1) : access_unit(t, (uint64_t)c, DOME_UNIT_READ, load, 0);
        g_assert_cmpuint(now, >=, seen[c] + adds);
        seen[c] = now;
        if (adds) /* behind the last counter: how many this task has added */
            access_unit(t, COUNTERS + (uint64_t)t->rank, DOME_UNIT_WRITE, add, 1);
    }
    return NULL;
}

static const unsigned places[PLACES][TASKS] = {{0, 1}, {0, 1, 2, 3}, {0, 0, 1, 1, 2}, {0, 1, 1, 0, 1}};
static const int counts[PLACES] = {2, 4, 5, 5};

static void test_counters(void)
{
    for (int k = 0; k < 2 * PLACES; k++) {
        world *w = begin(counts[k / 2], places[k / 2], k % 2, k / 2 % 2 ? 0 : 1000);
        uint64_t sum = 0, added = 0, faults = 0;
        run_all(w, count);
        for (uint64_t c = 0; c < COUNTERS; c++)
            sum += access_unit(&w->task[c % (uint64_t)w->tasks], c, DOME_UNIT_READ, load, 0);
        for (int r = 0; r < w->tasks; r++) {
            added += access_unit(&w->task[0], COUNTERS + (uint64_t)r, DOME_UNIT_READ, load, 0);
            faults += w->task[r].faults;
        }
        g_assert_cmpuint(sum, >, 0);
        g_assert_cmpuint(sum, ==, added);
        g_test_message("%d tasks, %u members: %" G_GUINT64_FORMAT " faults", w->tasks, w->members, faults);
        end(w);
    }
}

/* ---- one order of all accesses ---- */

enum { ROUNDS = 200 };

static pthread_barrier_t meets;
static uint64_t found[2];

/* Each stores to its own place, then loads the other's: at least one finds what the other has stored. */
static gpointer store_and_load(gpointer data)
{
    task *t = data;
    const uint64_t own = (uint64_t)t->rank, other = 1 - own;
    for (uint64_t k = 1; k <= ROUNDS; k++) {
        pthread_barrier_wait(&meets);
        access_unit(t, own, DOME_UNIT_WRITE, store, k);
        found[own] = access_unit(t, other, DOME_UNIT_READ, load, 0);
        pthread_barrier_wait(&meets);
        g_assert_true(found[0] == k || found[1] == k);
    }
    return NULL;
}

static void test_one_order(void)
{
    static const unsigned two[] = {0, 1};
    for (uint32_t hold = 0; hold <= 1000; hold += 1000) {
        world *w = begin(2, two, false, hold);
        pthread_barrier_init(&meets, NULL, 2);
        run_all(w, store_and_load);
        pthread_barrier_destroy(&meets);
        end(w);
    }
}

/* ---- homes that move ---- */

enum { MOVES = 6 };

static gpointer move_homes(gpointer data)
{
    task *t = data;
    world *w = t->world;
    uint16_t homes[UNITS];
    memcpy(homes, w->homes, sizeof homes);
    for (unsigned round = 1; round <= MOVES; round++) {
        for (int k = 0; k < 200; k++) { /* all units are wanted by all, also those that are about to move */
            const uint64_t unit = (uint64_t)g_rand_int_range(t->random, 0, UNITS);
            access_unit(t, unit, g_rand_boolean(t->random) ? DOME_UNIT_WRITE : DOME_UNIT_READ, add, 0);
        }
        access_unit(t, (uint64_t)t->rank, DOME_UNIT_WRITE, add, 1);
        pthread_barrier_wait(&meets);
        for (unsigned u = 0; u < UNITS; u++) {
            const uint16_t was = homes[u];
            homes[u] = (uint16_t)((u * (round + 1) + round) % w->members);
            if (t->number == 0 && homes[u] == t->member && was != homes[u])
                dome__units_want(t->units, u, 1, true);
        }
        pthread_barrier_wait(&meets);
        g_assert_cmpint(dome__units_flush(t->units), ==, DOME_PEER_OK);
        pthread_barrier_wait(&meets);
        dome__units_move(t->units, homes);
        pthread_barrier_wait(&meets);
    }
    for (int r = 0; r < w->tasks; r++)
        g_assert_cmpuint(access_unit(t, (uint64_t)r, DOME_UNIT_READ, load, 0), ==, MOVES);
    return NULL;
}

static void test_moves(void)
{
    for (int k = 0; k < PLACES; k++) {
        world *w = begin(counts[k], places[k], k % 2, k % 2 ? 500 : 0);
        pthread_barrier_init(&meets, NULL, (unsigned)w->tasks);
        run_all(w, move_homes);
        pthread_barrier_destroy(&meets);
        end(w);
    }
}

/* A thread wants all units at once. */
static void test_want(void)
{
    world *w = begin(5, places[3], true, 0);
    dome__units_want(w->task[4].units, 0, UNITS, true);
    for (uint64_t u = 0; u < UNITS; u++)
        g_assert_cmpint(w->task[4].right[u], ==, DOME_UNIT_WRITE);
    end(w);
}

/* ---- times ---- */

static int compare(const void *a, const void *b)
{
    return (*(const gint64 *)a > *(const gint64 *)b) - (*(const gint64 *)a < *(const gint64 *)b);
}

/* Task `rank` loads each unit of a home once: the median, in us. */
static double time_loads(world *w, int rank, unsigned home)
{
    gint64 us[UNITS];
    int n = 0;
    for (uint64_t u = home; u < UNITS; u += w->members, n++) {
        const gint64 began = g_get_monotonic_time();
        access_unit(&w->task[rank], u, DOME_UNIT_READ, load, 0);
        us[n] = g_get_monotonic_time() - began;
    }
    qsort(us, (size_t)n, sizeof *us, compare);
    return (double)us[n / 2];
}

static void test_times(void)
{
    static const unsigned three[] = {0, 1, 2};
    for (int near = 0; near < 2; near++) {
        world *w = begin(3, three, near, 0);
        for (uint64_t u = 0; u < UNITS; u += w->members)
            access_unit(&w->task[2], u, DOME_UNIT_WRITE, store, u);
        const double two = time_loads(w, 0, 1), third = time_loads(w, 1, 0);
        g_test_message("4096 bytes by a %s: %.0f us from the home, %.0f us from another member", near ? "local socket" : "TCP",
                       two, third);
        g_assert_cmpuint(access_unit(&w->task[1], 3, DOME_UNIT_READ, load, 0), ==, 3);
        end(w);
    }
}

/* ---- bytes ---- */

static void test_packets(void)
{
    const dome_unit_packet p = {
        DOME_UNIT_YIELD, DOME_UNIT_WRITE, true, true, 1, 200, 3, 0x01020304, UINT64_C(0x1122334455667788)};
    dome_unit_packet back;
    uint8_t bytes[DOME_UNIT_PACKET];
    dome__unit_packet_put(&p, bytes);
    g_assert_true(dome__unit_packet_get(&back, bytes));
    g_assert_true(back.word == p.word && back.right == p.right && back.data && back.done && back.from == 1 && back.to == 200 &&
                  back.of == 3 && back.region == p.region && back.unit == p.unit);
    static const struct {
        int at;
        uint8_t value;
    } wrong[] = {{0, 0}, {0, DOME_UNIT_ADD + 1}, {1, 3}, {2, 2}, {3, 2}, {6, 1}, {8, 1}, {10, 1}};
    for (size_t k = 0; k < G_N_ELEMENTS(wrong); k++) {
        dome__unit_packet_put(&p, bytes);
        bytes[wrong[k].at] = wrong[k].value;
        g_assert_false(dome__unit_packet_get(&back, bytes));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit-service/packets", test_packets);
    g_test_add_func("/unit-service/counters", test_counters);
    g_test_add_func("/unit-service/one-order", test_one_order);
    g_test_add_func("/unit-service/moves", test_moves);
    g_test_add_func("/unit-service/want", test_want);
    g_test_add_func("/unit-service/times", test_times);
    return g_test_run();
}
