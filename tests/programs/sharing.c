/* A Dome program whose tasks write each other's elements of regions right before a loop boundary and right after it, for
 * tests/fault/regions.py.
 *
 *     sharing STEPS SLEEP-MS [SIZES] [MARKS] [VARIANT] [release]
 *
 * At the boundary of step s all elements of "before" are s and all of "after" s - 1, also in a state from which the program goes
 * on: else it ends with a line. SIZES and MARKS as in elastic.c. VARIANT "holds": the last task holds a lock at the boundary of
 * step 3; "killed-holder": it kills itself with the lock in step 10 of the first view; "waits": task 0 waits for a message from
 * the last one, which waits for the lock that task 0 has; "barrier": task 0 calls dome_barrier with the lock. "release": the
 * regions have release consistency. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 60000 };

static dome_env *env;
static int rank, size;
static int64_t *before, *after, *step, *sum;
static dome_lock *lock;

static int wanted(const char *sizes, int64_t s)
{
    int numbers[64], count = 0;
    for (const char *at = sizes; *at && count < 64; at += strcspn(at, ",") + (at[strcspn(at, ",")] != 0))
        numbers[count++] = atoi(at);
    return numbers[s % count];
}

/* Tasks take different times. */
static void dawdle(int64_t s)
{
    const uint64_t turn = ((uint64_t)s * 2654435761u + (uint64_t)rank * 40503u) >> 7;
    if (turn % 4 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(turn % 3) * 1000000}, NULL);
}

/* The elements of the task that is `s` ranks above this one. */
static void write_all(int64_t *x, int64_t s, int64_t value)
{
    const int64_t part = (rank + s) % size;
    dawdle(s + value);
    for (int64_t i = part * N / size; i < (part + 1) * N / size; i++)
        x[i] = value;
}

static void expect(const int64_t *x, int64_t value, const char *name)
{
    for (int64_t i = 0; i < N; i++)
        if (x[i] != value)
            dome_abort(env, "in step %" PRId64 " '%s' has %" PRId64 " at %" PRId64 ", not %" PRId64, *step, name, x[i], i, value);
}

static void add(int64_t s)
{
    dome_lock_acquire(lock);
    *sum += s * (rank == size - 1 ? 1 : 0);
    dome_lock_release(lock);
}

static void disturb(const char *variant, int64_t s)
{
    const int last = size - 1;
    const bool waits = strcmp(variant, "waits") == 0, barrier = strcmp(variant, "barrier") == 0;
    int32_t word = 0;
    if (strcmp(variant, "holds") == 0 && s == 3) {
        dome_barrier(env);
        if (rank == last)
            dome_lock_acquire(lock);
    }
    if (strcmp(variant, "killed-holder") == 0 && s == 10 && rank == last && dome_epoch(env) == 0) {
        dome_lock_acquire(lock);
        kill(getpid(), SIGKILL);
    }
    if ((!waits && !barrier) || s != 3)
        return;
    dome_barrier(env); /* nobody else wants it yet */
    if (rank == 0)
        dome_lock_acquire(lock);
    dome_barrier(env);
    if (rank == 0 && waits)
        dome_recv(env, last, 5, DOME_I32, &word, 1, NULL);
    if (rank == 0 && barrier)
        dome_barrier(env);
    dome_lock_acquire(lock);
}

static void pass(const char *sizes, const char *marks, const char *variant, long sleep_ms)
{
    const int64_t s = *step + 1;
    dome_barrier(env); /* all have read the step, and written `after` of the one before */
    if (rank == (int)(s % size))
        *step = s;
    dome_barrier(env);
    expect(after, s - 1, "after");
    add(s);
    disturb(variant, s);
    if (sizes[0] != '-')
        dome_resize(env, wanted(sizes, s));
    if (rank == 0)
        mark(marks, "step", 0, s);
    nanosleep(&(struct timespec){.tv_sec = sleep_ms / 1000, .tv_nsec = sleep_ms % 1000 * 1000000}, NULL);
    dome_barrier(env); /* nobody looks any more */
    write_all(before, s, s);
    dome_checkpoint(env);
    write_all(after, s + 1, s);
}

/* With --on-loss tell: makes the elements again that were lost with the last tasks. */
static void make_again(const dome_region *r, int64_t value)
{
    const dome_span *spans;
    size_t count = dome_lost(dome_region_object(r), &spans);
    int64_t *x = dome_region_data(r);
    for (size_t k = 0; k < count && rank == 0; k++)
        for (uint64_t i = spans[k].first; i < spans[k].first + spans[k].count; i++)
            x[i] = value;
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    rank = dome_rank(env);
    size = dome_size(env);
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 20;
    const long sleep_ms = argc > 2 ? atol(argv[2]) : 0;
    const char *sizes = argc > 3 ? argv[3] : "-", *marks = argc > 4 ? argv[4] : "-", *variant = argc > 5 ? argv[5] : "";
    const bool weak = argc > 6 && strcmp(argv[6], "release") == 0;
    const dome_region_options *options = DOME_REGION_OPTIONS(.consistency = weak ? DOME_RELEASE : DOME_SEQUENTIAL);
    const dome_region *r = dome_region_new(env, "before", DOME_I64, N, options),
                      *q = dome_region_new(env, "after", DOME_I64, N, options);
    before = dome_region_data(r);
    after = dome_region_data(q);
    step = dome_region_data(dome_region_new(env, "step", DOME_I64, 1, options));
    sum = dome_region_data(dome_region_new(env, "sum", DOME_I64, 1, options));
    lock = dome_lock_new(env, "sum");
    mark(marks, "rank", rank, (long)getpid());
    if (dome_is_restarting(env)) { /* the other half of the step comes behind the boundary */
        make_again(r, *step);
        make_again(q, *step - 1);
        dome_barrier(env);
        expect(before, *step, "before");
        expect(after, *step - 1, "after");
        dome_barrier(env);
        write_all(after, 0, *step);
    }
    while (*step < steps)
        pass(sizes, marks, variant, sleep_ms);
    dome_barrier(env);
    expect(before, steps, "before");
    expect(after, steps, "after");
    dome_print(env, "step %" PRId64 " sum %" PRId64 "\n", *step, *sum);
    return dome_finalize(env);
}
