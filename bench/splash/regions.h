/* What the macros of regions.m4 call. One file of a program has MAIN_ENV, which defines `splash`. */
#ifndef DOME_BENCH_SPLASH_REGIONS_H
#define DOME_BENCH_SPLASH_REGIONS_H

#include <dome/dome.h>
#include <dome/region.h>

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE_SIZE 4096

_Static_assert(sizeof(void *) == 8, "addresses of 64 bits: G_MALLOC's memory lies far from everything else");

enum { SPLASH_LOCKS = 4096 };

/* Where the memory of G_MALLOC is, on every task, and how much of it there may be. It begins with the number of bytes in use. */
#define SPLASH_AT    ((char *)(uintptr_t)UINT64_C(0x210000000000))
#define SPLASH_BYTES ((size_t)1 << 30)
#define SPLASH_USED  ((atomic_size_t *)(void *)SPLASH_AT)

typedef struct splash_state {
    dome_env *env;
    dome_lock *locks[SPLASH_LOCKS];
    int nlocks;
    double begun, seconds; /* between SPLASH3_ROI_BEGIN and _END */
} splash_state;

extern splash_state splash;

static inline void splash_init(int argc, char **argv)
{
    splash.env = dome_init(&argc, &argv);
    void *at = mmap(SPLASH_AT, SPLASH_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (void *)SPLASH_AT)
        dome_abort(splash.env, "the memory of G_MALLOC is not free at %p", (void *)SPLASH_AT);
    atomic_init(SPLASH_USED, 64);
}

/* Before CREATE every task asks for the same, and gets it at the same place; behind it each task gets memory that all can use. */
static inline void *splash_malloc(size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64, at = atomic_fetch_add(SPLASH_USED, whole);
    if (bytes > SPLASH_BYTES || at > SPLASH_BYTES - whole)
        dome_abort(splash.env, "G_MALLOC of %zu bytes: there is not so much", bytes);
    return SPLASH_AT + at;
}

/* A number, since a pointer to a lock means nothing to another task. */
static inline int splash_lock_new(void)
{
    if (splash.nlocks == SPLASH_LOCKS)
        dome_abort(splash.env, "more than %d locks", (int)SPLASH_LOCKS);
    splash.locks[splash.nlocks] = dome_lock_new(splash.env, NULL);
    return splash.nlocks++;
}

static inline void splash_lock(int lock)
{
    dome_lock_acquire(splash.locks[lock]);
}

static inline void splash_unlock(int lock)
{
    dome_lock_release(splash.locks[lock]);
}

static inline void splash_barrier(long tasks)
{
    if (tasks != dome_size(splash.env))
        dome_abort(splash.env, "the program is told to use %ld processors (-p) and has %d tasks", tasks, dome_size(splash.env));
    dome_barrier(splash.env);
}

/* A loss of the task that it waits for ends this one, too. */
static inline void splash_wait(atomic_int *flag)
{
    int now = atomic_load(flag);
    while (now == 0 || !atomic_compare_exchange_weak(flag, &now, now - 1)) {
        sched_yield();
        now = atomic_load(flag);
    }
}

/* Turns the memory of G_MALLOC into a region, at the same address on all tasks. It starts with task 0's contents. */
static inline void splash_create(long tasks)
{
    const size_t used = atomic_load(SPLASH_USED);
    char *made = dome_rank(splash.env) == 0 ? malloc(used + 1) : NULL;
    splash_barrier(tasks);
    if (made)
        memcpy(made, SPLASH_AT, used);
    else if (dome_rank(splash.env) == 0)
        dome_abort(splash.env, "no memory for a copy of %zu bytes", used);
    munmap(SPLASH_AT, SPLASH_BYTES);
    dome_region_new(splash.env, NULL, DOME_U8, SPLASH_BYTES, DOME_REGION_OPTIONS(.at = SPLASH_AT));
    if (made)
        memcpy(SPLASH_AT, made, used);
    free(made);
    dome_barrier(splash.env);
}

static inline unsigned long splash_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long)now.tv_sec * 1000000 + (unsigned long)now.tv_nsec / 1000;
}

static inline void splash_begin(void)
{
    splash.begun = (double)splash_clock();
}

static inline void splash_end(void)
{
    splash.seconds = ((double)splash_clock() - splash.begun) / 1e6;
}

static inline int splash_finish(void)
{
    dome_print(splash.env, "region of interest: %.4f s\n", splash.seconds);
    return dome_finalize(splash.env);
}

#endif
