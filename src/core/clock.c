#include "core/clock_private.h"

#include "core/environment.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Reading the thread's clock should take at most 1 % of the time that it measures. */
static const double READ_NS = 500, READ_SHARE = 0.01;

/* A call longer than LEAST_CALL_NS is timed in LEAST_GROUPS or more groups of blocks; fewer than TOLD_APART groups say nothing
 * about single blocks. */
static const double LEAST_CALL_NS = 100e3;
enum { LEAST_GROUPS = 8, TOLD_APART = 4 };

/* The first calls are timed, then one in ONE_IN; but all calls while some of the recent ones were expensive, or else expensive
 * and cheap calls could not be told apart. DECAY: factor per call on the cost of the dearest recent call. */
enum { FIRST_CALLS = 8, ONE_IN = 4 };
static const double DECAY = 0.9;

uint64_t dome__processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The numbers of the file: how long the thread ran, and how long it was ready to run, which contains the time for which a limit
 * stopped it. */
static dome_processor_time read_processor_time(const char *path)
{
    char text[64] = "";
    unsigned long long had = 0, wanted = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return (dome_processor_time){0};
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    bool good = bytes > 0 && sscanf(text, "%llu %llu", &had, &wanted) == 2;
    return good ? (dome_processor_time){had, wanted} : (dome_processor_time){0};
}

dome_processor_time dome__processor_time(void)
{
    return read_processor_time("/proc/thread-self/schedstat");
}

/* A fixed amount of work for measuring speed. */
static void compute(int steps)
{
    static volatile double seed = 1.0000001, result;
    double x = seed, y = seed;
    for (int k = 0; k < steps; k++) {
        x = x * y + 1e-9;
        y = y * 0.9999999 + 1e-9;
    }
    result = x;
    (void)result;
}

double dome__processor_speed(void)
{
    enum { STEPS = 200000 };
    uint64_t begin = dome__processor_ns();
    compute(STEPS);
    return STEPS / (double)MAX(dome__processor_ns() - begin, 1);
}

double dome__speed_now(double seconds)
{
    enum { STEPS = 10000, MOST = 10000 };
    uint64_t begin = dome__now_ns(), most = (uint64_t)(seconds * 1e9), took = 0;
    int times = 0;
    for (; took < most && times < MOST; times++) { /* bounded: a clock may stand still */
        compute(STEPS);
        took = dome__since_ns(begin);
    }
    return (double)times * STEPS / ((double)MAX(took, 1) * 1e-9);
}

/* ---- by operation ---- */

static void block_times_free(void *data)
{
    dome_block_times *times = data;
    g_free(times->ns);
    g_free(times);
}

dome_clock *dome__clock_new(void)
{
    dome_clock *clock = g_new0(dome_clock, 1);
    dome__clock_fit(clock);
    clock->block_times = g_ptr_array_new_with_free_func(block_times_free);
    return clock;
}

void dome__clock_free(dome_clock *clock)
{
    g_ptr_array_unref(clock->block_times);
    g_free(clock->entry);
    g_free(clock);
}

/* For which the thread of the clock had nothing to do: it writes this, others read it. */
static uint64_t yielded_ns;

uint64_t dome__yield(void)
{
    uint64_t begin = dome__now_ns();
    sched_yield();
    return dome__since_ns(begin);
}

void dome__yielded(uint64_t ns, bool there)
{
    if (ns)
        __atomic_store_n(&yielded_ns, yielded_ns + (there ? ns / 2 : ns), __ATOMIC_RELAXED);
}

void dome__clock_start(dome_env *env)
{
    env->clock->began = dome__processor_time();
    __atomic_store_n(&yielded_ns, 0, __ATOMIC_RELAXED);
    env->clock->began_ns = dome__now_ns();
    __atomic_store_n(&env->clock->thread, gettid(), __ATOMIC_RELEASE);
}

dome_processor_time dome__clock_processor(const dome_env *env)
{
    const dome_clock *clock = env->clock;
    const int thread = __atomic_load_n(&clock->thread, __ATOMIC_ACQUIRE);
    char path[64];
    g_snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
    dome_processor_time now = thread ? read_processor_time(path) : (dome_processor_time){0};
    if (now.had_ns < clock->began.had_ns || now.wanted_ns < clock->began.wanted_ns)
        return (dome_processor_time){0};
    const uint64_t wanted = now.wanted_ns - clock->began.wanted_ns, yielded = __atomic_load_n(&yielded_ns, __ATOMIC_RELAXED);
    return (dome_processor_time){now.had_ns - clock->began.had_ns, wanted - MIN(yielded, wanted)};
}

double dome__really_waited(double all, double had, double wanted, double waited)
{
    double asleep = MAX(all - had - wanted, 0), awake = MAX(waited - asleep, 0);
    return waited - MIN(awake, wanted);
}

uint64_t dome__clock_ran_ns(const dome_env *env)
{
    return dome__since_ns(env->clock->began_ns);
}

const dome_clock_entry *dome__clock_entry_of(const dome_env *env, uint32_t code)
{
    return &env->clock->entry[code];
}

void dome__clock_charge(dome_env *env, uint32_t code, uint64_t ns, uint64_t bytes)
{
    env->clock->entry[code].compute_ns += ns;
    env->clock->entry[code].bytes += bytes;
}

void dome__clock_charged(dome_env *env, uint64_t ns)
{
    env->clock->eval_ns += ns;
}

void dome__clock_waited(dome_env *env, uint32_t code, uint64_t ns)
{
    env->clock->entry[code].wait_ns += ns;
}

void dome__clock_helped(dome_env *env, uint64_t ns, uint64_t blocks)
{
    env->clock->helped_ns += ns;
    env->clock->helped += blocks;
}

uint64_t dome__clock_helped_blocks(const dome_env *env)
{
    return env->clock->helped;
}

void dome__clock_apart(dome_env *env, uint64_t ns)
{
    env->clock->apart_ns += ns;
}

uint64_t dome__clock_apart_ns(const dome_env *env)
{
    return env->clock->apart_ns;
}

bool dome__clock_runs_here(const dome_env *env)
{
    return gettid() == __atomic_load_n(&env->clock->thread, __ATOMIC_ACQUIRE);
}

void dome__clock_faulted(dome_env *env, uint64_t start, uint64_t start_wait)
{
    if (!env->wait_ns || !dome__clock_runs_here(env))
        return;
    const uint64_t all = dome__since_ns(start), waited = *env->wait_ns - start_wait;
    env->clock->apart_ns += all > waited ? all - waited : 0;
}

uint64_t dome__clock_away_ns(const dome_env *env)
{
    return *env->wait_ns + env->clock->helped_ns;
}

/* ---- by block ---- */

dome_block_times *dome__block_times(dome_env *env, const dome_layout *layout)
{
    uint64_t length = dome_layout_length(layout), block_size = dome_layout_block_size(layout);
    for (guint k = 0; k < env->clock->block_times->len; k++) {
        dome_block_times *times = g_ptr_array_index(env->clock->block_times, k);
        if (times->length == length && times->block_size == block_size)
            return times;
    }
    dome_block_times *times = g_new(dome_block_times, 1);
    *times = (dome_block_times){.length = length, .block_size = block_size, .blocks = dome_layout_blocks(layout)};
    times->ns = g_new0(double, times->blocks);
    g_ptr_array_add(env->clock->block_times, times);
    return times;
}

void dome__block_times_forget(dome_env *env, uint64_t length, uint64_t block_size)
{
    for (guint k = 0; k < env->clock->block_times->len; k++) {
        const dome_block_times *times = g_ptr_array_index(env->clock->block_times, k);
        if (times->length == length && times->block_size == block_size) {
            g_ptr_array_remove_index(env->clock->block_times, k);
            return;
        }
    }
}

static bool wanted(const dome_env *env, const dome_layout *layout)
{
    dome_balancing balance = env->options.balance.policy;
    return layout && env->size > 1 && (balance == DOME_BALANCE_GLOBAL || balance == DOME_BALANCE_RING);
}

/* Processor time of this thread without faults: their time may contain some in which it had no processor. */
static int64_t computed_ns(const dome_env *env)
{
    return (int64_t)dome__processor_ns() - (int64_t)env->clock->apart_ns;
}

/* Samples calls at random, since a program may repeat calls in a pattern of any period. */
static bool chosen(unsigned call)
{
    return call < FIRST_CALLS || (dome__hash(0, call) >> 32) % ONE_IN == 0;
}

void dome__block_clock_start(dome_block_clock *clock, dome_env *env, const dome_layout *layout)
{
    *clock = (dome_block_clock){0};
    dome_block_times *times = wanted(env, layout) ? dome__block_times(env, layout) : NULL;
    if (!times)
        return;
    int rank = dome_layout_tasks(layout) > 1 ? env->rank : 0;
    clock->local = dome_layout_run(layout, rank, NULL);
    double blocks = (double)clock->local;
    times->dearest *= DECAY;
    if (!chosen(times->calls++) && times->dearest * blocks < LEAST_CALL_NS)
        return;
    clock->times = times;
    if (times->per_block * blocks > LEAST_CALL_NS)
        blocks = CLAMP(READ_NS / READ_SHARE / times->per_block, 1, MAX(blocks / LEAST_GROUPS, 1));
    clock->stride = times->block_size * MAX((uint64_t)blocks, 1);
    clock->env = env;
    clock->begin = clock->last = computed_ns(env);
}

void dome__block_clock_read(dome_block_clock *clock)
{
    const int64_t now = computed_ns(clock->env);
    uint64_t size = clock->times->block_size;
    uint64_t first = clock->first / size, count = (clock->count + size - 1) / size;
    double each = MAX((double)(now - clock->last), 0) / (double)count;
    if (count * TOLD_APART <= clock->local) /* otherwise the time says nothing about single blocks */
        for (uint64_t k = 0; k < count; k++)
            clock->times->ns[first + k] += each;
    clock->blocks += count;
    clock->last = now;
    clock->count = 0;
}

void dome__block_clock_stop(dome_block_clock *clock)
{
    if (!clock->times)
        return;
    if (clock->count > 0)
        dome__block_clock_read(clock);
    if (clock->blocks > 0)
        clock->times->per_block = MAX((double)(clock->last - clock->begin), 0) / (double)clock->blocks;
    clock->times->dearest = MAX(clock->times->dearest, clock->times->per_block);
}
