/* A Dome program with regions in which something goes wrong, for tests/fault/regions.py.
 *
 *     touching VARIANT [MARKS] [COUNT]
 *
 * "count": each task is the home of one counter, and adds COUNT times to the counters of all; "additions", "release": the same by
 * dome_region_fetch_add, without and with release consistency. "hand-overs": COUNT by a lock, with
 * which four tasks kill themselves one after the other. In the others the last task makes the mistake: "null", "overflow";
 * "handled": it had a handler of its own before the regions; "chained": it installs one later, which calls the one before for
 * what it does not know; "blocked": a thread that blocks the signals accesses a region. */
#include "../support/mark.h"

#include <dome/dome.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 512, KILLS = 4 };

static dome_env *env;
static int rank, size;
static _Atomic int64_t *counts;
static int *volatile nowhere;
static struct sigaction before[2];
static const int signals[2] = {SIGSEGV, SIGBUS};

static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void own_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction *next = &before[number == signals[0] ? 0 : 1];
    if (!info->si_addr)
        _exit(20 + number);
    next->sa_sigaction(number, info, context);
}

static void install(void)
{
    const struct sigaction action = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (int k = 0; k < 2; k++)
        if (sigaction(signals[k], &action, &before[k]))
            _exit(9);
}

static void *access_blocked(void *unused)
{
    (void)unused;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGSEGV);
    sigaddset(&blocked, SIGBUS);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    atomic_fetch_add(&counts[0], 1);
    return NULL;
}

/* NULL: by an atomic operation of C11. */
static dome_region *adds;

static void add_one(int r)
{
    const int64_t one = 1;
    if (!adds)
        atomic_fetch_add(&counts[r * UNIT], 1);
    else if (dome_region_fetch_add(adds, (uint64_t)r * UNIT, 1, &one, NULL) != DOME_OK)
        dome_abort(env, "an addition has failed");
}

static void count(const char *marks, int64_t times)
{
    for (int64_t k = 0; k < times; k++) {
        for (int r = 0; r < size; r++)
            add_one(r);
        if (rank == 0 && k % 16 == 0)
            mark(marks, "step", 0, (long)k);
    }
    dome_barrier(env);
    for (int r = 0; r < size; r++)
        if (counts[r * UNIT] != times * size)
            dome_abort(env, "counter %d is %" PRId64, r, (int64_t)counts[r * UNIT]);
}

/* Once for each of so many parts of all hand-overs but the first, the task whose turn it is dies with the lock. */
static void die_in_turn(const char *marks, int64_t number, int64_t times)
{
    const int part = (int)(number * (KILLS + 1) / times);
    char path[4096];
    snprintf(path, sizeof path, "%s/killed.%d", marks, part);
    if (part < 1 || part > KILLS || rank != part % size || access(path, F_OK) == 0)
        return;
    mark(marks, "killed", part, rank);
    kill(getpid(), SIGKILL);
}

/* Whatever dies, each hand-over counts once. */
static void hand_over(const char *marks, const int64_t times)
{
    enum { EACH = 25 };
    dome_region *r = dome_region_new(env, "number", DOME_I64, 1, NULL);
    int64_t *number = dome_region_data(r);
    dome_lock *lock = dome_lock_new(env, "number");
    int64_t done = *number;
    dome_barrier(env);
    while (done < times) {
        for (int k = 0; k < EACH; k++) {
            dome_lock_acquire(lock);
            die_in_turn(marks, ++*number, times);
            dome_lock_release(lock);
        }
        done += (int64_t)EACH * size;
        dome_barrier(env);
        if (*number != done)
            dome_abort(env, "%" PRId64 " hand-overs instead of %" PRId64, *number, done);
        dome_barrier(env); /* all have looked */
        dome_checkpoint(env);
    }
    dome_print(env, "%" PRId64 " hand-overs\n", done);
}

static void disturb(const char *variant)
{
    pthread_t thread;
    if (strcmp(variant, "chained") == 0)
        install();
    dome_barrier(env);
    if (strcmp(variant, "blocked") != 0)
        count("-", 50); /* their own faults are none */
    dome_barrier(env);
    if (rank == size - 1 && strcmp(variant, "overflow") == 0)
        exit(overflow(0));
    if (rank == size - 1 && strcmp(variant, "blocked") == 0) {
        if (pthread_create(&thread, NULL, access_blocked, NULL) || pthread_join(thread, NULL))
            _exit(9);
    } else if (rank == size - 1) {
        exit(*nowhere);
    }
    dome_barrier(env);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    rank = dome_rank(env);
    size = dome_size(env);
    const char *variant = argc > 1 ? argv[1] : "", *marks = argc > 2 ? argv[2] : "-";
    const int64_t times = argc > 3 ? atoll(argv[3]) : 100;
    mark(marks, "rank", rank, (long)getpid());
    if (strcmp(variant, "handled") == 0)
        install();
    const bool release = strcmp(variant, "release") == 0, additions = release || strcmp(variant, "additions") == 0;
    dome_region *r = dome_region_new(env, NULL, DOME_I64, (uint64_t)size * UNIT,
                                     DOME_REGION_OPTIONS(.block = UNIT, .consistency = release ? DOME_RELEASE : DOME_SEQUENTIAL));
    counts = dome_region_data(r);
    adds = additions ? r : NULL;
    if (additions || strcmp(variant, "count") == 0)
        count(marks, times);
    else if (strcmp(variant, "hand-overs") == 0)
        hand_over(marks, times);
    else
        disturb(variant);
    dome_print(env, "ok\n");
    return dome_finalize(env);
}
