/* Memory that gets its values from a checkpoint as they are touched: every byte is right whatever the sizes of blocks and units,
 * with several threads and processes; what is touched is read first; a process that is killed holds nobody up. */
#include "memory/tracker.h"
#include "region/loading.h"
#include "system/checksum.h"
#include "system/thread.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a source that knows its values ---- */

typedef struct counting {
    dome_block_source source;
    uint64_t length, width, block;
    dome_type type;
    atomic_uint_fast64_t blocks; /* that were read */
    atomic_bool held;            /* reading waits */
    pthread_t fast;              /* but not in this thread */
    atomic_bool freed;
} counting;

static int32_t value(uint64_t k)
{
    return (int32_t)(k * 2654435761u + 1);
}

static void read_values(dome_block_source *source, dome_span blocks, dome_block_take *take, void *ctx)
{
    counting *c = (counting *)source;
    g_assert_false(atomic_load(&c->freed));
    while (atomic_load(&c->held) && !pthread_equal(pthread_self(), c->fast))
        g_usleep(200);
    for (uint64_t b = blocks.first; b < blocks.first + blocks.count; b++) {
        const uint64_t first = b * c->block, count = MIN(c->block, c->length - first), values = count * c->width;
        int32_t *native = g_new(int32_t, values);
        char *portable = g_malloc(values * dome_type_bytes(c->type, DOME_PORTABLE));
        for (uint64_t k = 0; k < values; k++)
            native[k] = value(first * c->width + k);
        dome_type_pack(c->type, DOME_PORTABLE, portable, native, values);
        take(ctx, b, portable);
        atomic_fetch_add(&c->blocks, 1);
        g_free(native);
        g_free(portable);
    }
}

static void free_values(dome_block_source *source)
{
    atomic_store(&((counting *)source)->freed, true);
}

/* ---- a region ---- */

typedef struct shape {
    uint64_t length, width, block, pages; /* of a unit */
} shape;

typedef struct fixture {
    counting values;
    dome_memory *memory;
    dome_loading_setup setup;
    dome_loading *loading;
} fixture;

static dome_memory *new_memory(uint64_t bytes)
{
    const char *why = NULL;
    dome_memory *memory = dome__memory_new("test", bytes, &why);
    g_assert_cmpstr(why, ==, NULL);
    return memory;
}

/* tasks: in how many equal parts the blocks are; this one has the first. */
static void prepare(fixture *f, const shape *s, uint64_t tasks, bool held)
{
    const uint64_t unit = s->pages * (uint64_t)sysconf(_SC_PAGESIZE), bytes = s->length * s->width * sizeof(int32_t);
    const uint64_t blocks = (s->length + s->block - 1) / s->block;
    memset(f, 0, sizeof *f);
    f->values = (counting){.source = {read_values, free_values},
                           .length = s->length,
                           .width = s->width,
                           .block = s->block,
                           .type = DOME_I32,
                           .held = held,
                           .fast = pthread_self()};
    f->memory = new_memory((bytes + unit - 1) / unit * unit);
    f->setup = (dome_loading_setup){.source = &f->values.source,
                                    .memory = f->memory,
                                    .type = DOME_I32,
                                    .length = s->length,
                                    .width = s->width,
                                    .block = s->block,
                                    .unit = unit,
                                    .units = (bytes + unit - 1) / unit,
                                    .shares = {{0, blocks / tasks}},
                                    .nshares = 1,
                                    .first = true};
    f->setup.shared = new_memory(dome__loading_bytes(&f->setup));
    f->loading = dome__loading_new(&f->setup);
}

static bool begin(fixture *f, const char *tracker)
{
    if (!dome__tracker_force(tracker)) {
        g_test_skip("this machine has no such tracker");
        f->values.held = false;
        return false;
    }
    g_assert_cmpstr(dome__loading_rule(f->loading), ==, NULL);
    dome__loading_start(f->loading);
    return true;
}

static void end(fixture *f)
{
    dome__loading_free(f->loading);
    g_assert_true(f->values.freed);
    dome__memory_free(f->memory);
    dome__tracker_force("auto");
}

static const volatile int32_t *data(const fixture *f)
{
    return dome__memory_data(f->memory);
}

static void expect_all(const fixture *f, const volatile int32_t *at)
{
    for (uint64_t k = 0; k < f->values.length * f->values.width; k++)
        g_assert_cmpint(at[k], ==, value(k));
}

static void wait_until_over(const fixture *f)
{
    while (!atomic_load(&f->values.freed))
        g_usleep(500);
}

/* ---- tests ---- */

/* Blocks of a part of a unit, of several, across their borders; one element; the last unit and block are shorter. */
static void test_shapes(const void *tracker)
{
    static const shape shapes[] = {{100000, 1, 1024, 1}, {100000, 1, 4096, 1}, {5000, 7, 64, 1},  {30001, 3, 1024, 2},
                                   {9000, 1, 1, 1},      {1, 1, 1, 1},         {70000, 5, 16, 4}, {40000, 1, 65536, 1}};
    for (size_t k = 0; k < G_N_ELEMENTS(shapes); k++) {
        fixture f;
        prepare(&f, &shapes[k], 1, false);
        if (!begin(&f, tracker))
            return end(&f);
        expect_all(&f, data(&f));
        dome__loading_finish(f.loading);
        expect_all(&f, dome__memory_alias(f.memory));
        for (uint64_t b = 0; b < (f.values.length + f.values.block - 1) / f.values.block; b++) {
            const uint64_t first = b * f.values.block * f.values.width, all = f.values.length * f.values.width;
            const uint64_t sum = dome__checksum64((const int32_t *)dome__memory_alias(f.memory) + first,
                                                  MIN(f.values.block * f.values.width, all - first) * sizeof(int32_t));
            g_assert_cmpuint(dome__loading_sum(f.loading, b), ==, sum);
        }
        wait_until_over(&f);
        end(&f);
    }
}

/* While the thread gets nothing, a touched page takes one block; what is written to it stays when the others come. */
static void test_touched_first(const void *tracker)
{
    const shape s = {1 << 20, 1, 1024, 1};
    fixture f;
    prepare(&f, &s, 1, true);
    if (!begin(&f, tracker))
        return end(&f);
    const int zero = open("/dev/zero", O_RDONLY);
    volatile int32_t *at = dome__memory_data(f.memory);
    g_assert_cmpint(at[700000], ==, value(700000));
    g_assert_cmpuint(f.values.blocks, ==, 1);
    at[3] = 5;
    at[700000] = -1;
    g_assert_cmpuint(f.values.blocks, ==, 2);
    dome__loading_want(f.loading, 500000 * sizeof *at, 4096 * sizeof *at);
    g_assert_cmpuint(f.values.blocks, ==, 2 + 5);
    g_assert_cmpint(read(zero, (void *)&at[500000], 4096 * sizeof *at), ==, 4096 * sizeof *at);
    for (uint64_t k = 500000; k < 500000 + 4096; k++) {
        g_assert_cmpint(at[k], ==, 0);
        at[k] = value(k);
    }
    atomic_store(&f.values.held, false);
    dome__loading_finish(f.loading);
    g_assert_cmpint(at[3], ==, 5);
    g_assert_cmpint(at[700000], ==, -1);
    at[3] = value(3);
    at[700000] = value(700000);
    expect_all(&f, at);
    wait_until_over(&f);
    close(zero);
    end(&f);
}

/* A region that is freed while the thread reads. */
static void test_freed(const void *tracker)
{
    const shape s = {1 << 22, 1, 1024, 1};
    fixture f;
    prepare(&f, &s, 1, true);
    if (!begin(&f, tracker))
        return end(&f);
    g_assert_cmpint(data(&f)[12345], ==, value(12345));
    atomic_store(&f.values.held, false);
    end(&f);
}

/* Units that others have are left alone: zeros stay. */
static bool is_odd(const void *ctx, uint64_t unit)
{
    (void)ctx;
    return unit % 2;
}

static void test_others(void)
{
    const shape s = {100000, 1, 1024, 1};
    fixture f;
    prepare(&f, &s, 1, false);
    dome__loading_free(f.loading);
    f.values.freed = false;
    f.setup.skips = is_odd;
    f.setup.shared = new_memory(dome__loading_bytes(&f.setup));
    f.loading = dome__loading_new(&f.setup);
    dome__loading_start(f.loading);
    dome__loading_want(f.loading, 0, 10);
    const int32_t *at = dome__memory_alias(f.memory);
    const uint64_t values = f.setup.unit / sizeof *at;
    g_assert_cmpint(at[5], ==, value(5));
    dome__loading_finish(f.loading);
    for (uint64_t k = 0; k < s.length; k++)
        g_assert_cmpint(at[k], ==, k / values % 2 ? 0 : value(k));
    wait_until_over(&f);
    end(&f);
}

typedef struct toucher {
    const fixture *f;
    uint64_t from;
} toucher;

static void *touch_all(void *ctx)
{
    const toucher *t = ctx;
    const uint64_t all = t->f->values.length * t->f->values.width;
    for (uint64_t k = 0; k < all; k += 500)
        g_assert_cmpint(data(t->f)[(k + t->from) % all], ==, value((k + t->from) % all));
    return NULL;
}

static void test_threads(const void *tracker)
{
    enum { THREADS = 4 };
    const shape s = {400000, 3, 1024, 1};
    pthread_t threads[THREADS];
    toucher touchers[THREADS];
    fixture f;
    prepare(&f, &s, 1, false);
    if (!begin(&f, tracker))
        return end(&f);
    for (unsigned k = 0; k < THREADS; k++) {
        touchers[k] = (toucher){&f, k * 300000};
        g_assert_cmpint(pthread_create(&threads[k], NULL, touch_all, &touchers[k]), ==, 0);
    }
    for (unsigned k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    expect_all(&f, data(&f));
    end(&f);
}

/* Another task of the host, with its own rights and its half of the blocks; it may be killed at any time. */
static void run_task(const fixture *f, const dome_memory_offer offers[2], const char *tracker)
{
    const char *why = NULL;
    counting values = f->values;
    dome_loading_setup setup = f->setup;
    setup.source = &values.source;
    setup.memory = dome__memory_attach(&offers[0], &why);
    setup.shared = dome__memory_attach(&offers[1], &why);
    const uint64_t blocks = setup.length / setup.block;
    setup.first = false;
    setup.shares[0] = (dome_span){blocks / 2, blocks - blocks / 2};
    values.fast = pthread_self();
    values.held = false;
    if (!setup.memory || !setup.shared || !dome__tracker_force(tracker))
        _exit(1);
    dome_loading *loading = dome__loading_new(&setup);
    if (dome__loading_rule(loading))
        _exit(2);
    dome__loading_start(loading);
    const volatile int32_t *at = dome__memory_data(setup.memory);
    for (uint64_t k = 0; k < setup.length * setup.width; k++)
        if (at[k] != value(k))
            _exit(3);
    _exit(0);
}

static void with_another_task(const char *tracker, unsigned microseconds)
{
    const shape s = {1 << 20, 1, 1024, 1};
    int status;
    fixture f;
    prepare(&f, &s, 2, false);
    const dome_memory_offer offers[2] = {dome__memory_offer(f.memory), dome__memory_offer(f.setup.shared)};
    if (!dome__tracker_force(tracker)) {
        g_test_skip("this machine has no such tracker");
        return end(&f);
    }
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0)
        run_task(&f, offers, tracker);
    g_assert_true(begin(&f, tracker));
    if (microseconds) {
        g_usleep(microseconds);
        kill(child, SIGKILL);
    }
    expect_all(&f, data(&f));
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(microseconds ? WIFSIGNALED(status) || WIFEXITED(status) : WIFEXITED(status));
    if (WIFEXITED(status))
        g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    end(&f);
}

static void test_tasks(const void *tracker)
{
    with_another_task(tracker, 0);
}

static void test_killed(const void *tracker)
{
    for (unsigned k = 1; k < 20; k++)
        with_another_task(tracker, k * 400);
}

static void add(const char *tracker, const char *name, void (*run)(const void *))
{
    char *path = g_strdup_printf("/loading/%s/%s", tracker, name);
    g_test_add_data_func(path, tracker, run);
    g_free(path);
}

int main(int argc, char **argv)
{
    static const char *const trackers[] = {"fault", "protect"};
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loading/others", test_others);
    for (size_t t = 0; t < G_N_ELEMENTS(trackers); t++) {
        add(trackers[t], "shapes", test_shapes);
        add(trackers[t], "touched-first", test_touched_first);
        add(trackers[t], "freed", test_freed);
        add(trackers[t], "threads", test_threads);
        add(trackers[t], "tasks", test_tasks);
        add(trackers[t], "killed", test_killed);
    }
    return g_test_run();
}
