#include "openmp/tasks.h"

static void fork_alone(const dome_omp_fork *fork)
{
    (void)fork;
}

static bool await_fork_alone(dome_omp_fork *fork)
{
    (void)fork;
    return false;
}

static void nothing(void)
{
}

static void meet_alone(uint64_t place)
{
    (void)place;
}

static void leave_alone(const dome_omp_telling *telling)
{
    (void)telling;
}

static uint64_t told_alone(void)
{
    return 0;
}

static void await_alone(uint64_t seen)
{
    (void)seen;
}

static bool is_shared_alone(const void *address)
{
    (void)address;
    return false;
}

unsigned dome__omp_first_even(unsigned threads, int rank)
{
    const uint64_t tasks = (uint64_t)dome__omp_tasks.size;
    return (unsigned)((threads * (uint64_t)rank + tasks - 1) / tasks); /* rounded up: thread 0 is task 0's */
}

static _Alignas(64) char block[1 << 16];

const dome_omp_watcher *dome__omp_watcher;

dome_omp_tasks dome__omp_tasks = {
    .size = 1,
    .fork = fork_alone,
    .await_fork = await_fork_alone,
    .end = nothing,
    .meet = meet_alone,
    .first = dome__omp_first_even,
    .enter = nothing,
    .leave = leave_alone,
    .told = told_alone,
    .await = await_alone,
    .shared = block,
    .shared_bytes = sizeof block,
    .give_locals = nothing,
    .take_locals = nothing,
    .is_shared = is_shared_alone,
};
