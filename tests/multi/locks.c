/* Locks: one task holds a lock at a time, tasks get it in the order in which they have asked, and wrong uses are named. */
#include "checked.h"

#include <stdatomic.h>
#include <stdio.h>

static int rank, size;
static dome_consistency consistency;

#define OPTIONS DOME_REGION_OPTIONS(.consistency = consistency)

static void check_counter(void)
{
    enum { TIMES = 3000 };
    dome_region *r = dome_region_new(env, "counter", DOME_I64, 2, OPTIONS);
    volatile int64_t *x = dome_region_data(r);
    dome_lock *lock = dome_lock_new(env, "count");
    CHECK(lock && strcmp(dome_lock_name(lock), "count") == 0);
    for (int k = 0; k < TIMES; k++) {
        CHECK(dome_lock_acquire(lock) == DOME_OK);
        CHECK(x[0] == x[1]);
        x[0] = x[0] + 1;
        x[1] = x[1] + 1;
        CHECK(dome_lock_release(lock) == DOME_OK);
    }
    dome_barrier(env);
    CHECK(x[0] == (int64_t)TIMES * size && x[1] == x[0]);
    dome_lock_free(lock);
    dome_region_free(r);
}

/* A task that releases the lock and asks for it again at once gets it after the tasks that wait: none of them waits for ever. */
static void check_turns(void)
{
    dome_region *r = dome_region_new(env, "turns", DOME_I32, 1, OPTIONS);
    _Atomic int32_t *left = dome_region_data(r);
    dome_lock *lock = dome_lock_new(env, NULL);
    if (rank == 0)
        *left = size - 1;
    dome_barrier(env);
    while (rank == 0 && *left > 0) {
        dome_lock_acquire(lock);
        dome_lock_release(lock);
    }
    if (rank > 0) {
        dome_lock_acquire(lock);
        --*left;
        dome_lock_release(lock);
    }
    dome_lock_free(lock);
    dome_region_free(r);
}

/* In each round a task writes a value, and then another one the value before it, so that nothing has changed for who compares. */
static void check_back(void)
{
    enum { ROUNDS = 12 };
    dome_region *r = dome_region_new(env, "back", DOME_I64, 2, OPTIONS);
    volatile int64_t *x = dome_region_data(r);
    dome_lock *lock = dome_lock_new(env, "back");
    for (int64_t round = 0; round < ROUNDS; round++) {
        const int64_t turn = 2 * round + size - 1 - rank; /* of the last two tasks; of no task twice */
        bool waits = rank >= size - 2;
        dome_barrier(env);
        CHECK(x[0] == 0 && x[1] == 2 * round);
        dome_barrier(env);
        while (waits) {
            dome_lock_acquire(lock);
            if (x[1] == turn) {
                x[0] = rank == size - 1 ? round + 1 : 0;
                x[1] = turn + 1;
                waits = false;
            }
            dome_lock_release(lock);
        }
    }
    dome_lock_free(lock);
    dome_region_free(r);
}

/* The holder sends more to a task that waits for the lock than memory between them can take. */
static void check_messages(void)
{
    enum { N = 1 << 20 };
    static double data[N];
    dome_lock *lock = dome_lock_new(env, "messages");
    if (rank == 0)
        dome_lock_acquire(lock);
    dome_barrier(env);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            data[i] = i;
        for (int r = 1; r < size; r++)
            CHECK(dome_send(env, r, 1, DOME_F64, data, N) == DOME_OK);
        dome_lock_release(lock);
    } else {
        dome_lock_acquire(lock);
        dome_lock_release(lock);
        CHECK(dome_recv(env, 0, 1, DOME_F64, data, N, NULL) == DOME_OK);
        for (int i = 0; i < N; i++)
            CHECK(data[i] == i);
    }
    dome_lock_free(lock);
}

/* Many locks at once; freed places are used again, and the new locks are free. */
static void check_many(void)
{
    enum { MANY = 150, ROUNDS = 4 };
    dome_lock *locks[MANY];
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < MANY; k++)
            locks[k] = dome_lock_new(env, "many");
        for (int k = rank; k < MANY; k += size)
            CHECK(dome_lock_acquire(locks[k]) == DOME_OK);
        for (int k = rank; k < MANY; k += size)
            CHECK(dome_lock_release(locks[k]) == DOME_OK);
        for (int k = MANY; k-- > 0;)
            dome_lock_free(locks[k]);
    }
    dome_lock_free(NULL);
}

static void check_mistakes(void)
{
    char name[DOME_NAME_MAX + 2];
    dome_lock *lock = dome_lock_new(env, "mine");
    dome_set_errors_return(env);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    CHECK(!dome_lock_new(env, name));
    FAILED(DOME_ERR_NAME, "the name of a lock");
    CHECK(dome_lock_release(lock) == DOME_ERR_STATE);
    FAILED(DOME_ERR_STATE, "does not hold 'mine'; nobody does");
    dome_barrier(env);
    if (rank == 0) {
        CHECK(dome_lock_acquire(lock) == DOME_OK);
        CHECK(dome_lock_acquire(lock) == DOME_ERR_STATE);
        FAILED(DOME_ERR_STATE, "holds 'mine' already");
    }
    dome_barrier(env);
    if (rank > 0) {
        CHECK(dome_lock_release(lock) == DOME_ERR_STATE);
        FAILED(DOME_ERR_STATE, "does not hold 'mine'; task 0 does");
    }
    CHECK(dome_checkpoint(env) == DOME_ERR_STATE);
    FAILED(DOME_ERR_STATE, "task 0 holds the lock 'mine'");
    if (rank == 0) {
        CHECK(dome_lock_release(lock) == DOME_OK);
        CHECK(dome_lock_release(lock) == DOME_ERR_STATE);
        FAILED(DOME_ERR_STATE, "does not hold 'mine'");
    }
    CHECK(dome_checkpoint(env) == DOME_OK);
    dome_lock_free(lock);
}

int main(int argc, char **argv)
{
    init_unbalanced(argc, argv);
    consistency = argc > 1 && strcmp(argv[1], "release") == 0 ? DOME_RELEASE : DOME_SEQUENTIAL;
    rank = dome_rank(env);
    size = dome_size(env);
    check_counter();
    check_turns();
    if (size > 1)
        check_back();
    check_messages();
    check_many();
    check_mistakes();
    dome_lock_new(env, "left");
    dome_print(env, "ok locks on %d tasks: %u checks\n", size, checks);
    return dome_finalize(env) ? 1 : 0;
}
