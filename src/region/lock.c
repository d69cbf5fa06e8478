/* Locks of the tasks of one host: tickets in shared memory. A task takes the next ticket and waits until it is served, so tasks
 * get the lock in the order in which they have asked. A wait does not end when another task dies: the watcher thread ends the
 * process then. */
#include "region/lock.h"

#include "core/call_log.h"
#include "region/member.h"
#include "region/region_operations.h"
#include "system/thread.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/message.h"

#include <dome/region.h>

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In shared memory; a lock has lines of the cache of its own. */
typedef struct shared_lock {
    _Alignas(128) atomic_uint next; /* the ticket of the next task that asks */
    atomic_uint serving;            /* the ticket of the holder, or of the next one; a futex */
    atomic_int holder;              /* its rank + 1; 0: nobody, or it is just changing */
} shared_lock;

/* Locks share memory, so many in one piece. */
enum { LOCKS_IN_PIECE = 64 };

/* In the places of objects' ids (call_log.h). */
#define LOCK_IDS ((uint64_t)1 << 62)

struct dome_lock {
    dome_env *env;
    char *name;
    uint64_t id;
    guint place; /* among all pieces */
    bool held;   /* by this task */
};

struct dome_locks {
    GPtrArray *live;   /* dome_lock */
    GPtrArray *pieces; /* dome_memory */
    GArray *unused;    /* guint: places of locks that were freed; the same on all tasks, which free in one order */
    guint places;      /* that were ever used */
    guint held;        /* locks that this task holds */
    uint64_t made;     /* locks so far */
};

/* A task whose turn is next looks so often before it sleeps. While it sleeps it looks after so many ns whether others wait for it
 * to take in messages, at first and at most. */
enum { SPINS = 200, FIRST_SLEEP = 5 * 1000 * 1000, LONGEST_SLEEP = 100 * 1000 * 1000 };

static shared_lock *shared(const dome_lock *lock)
{
    const dome_memory *piece = lock->env->lazy.locks->pieces->pdata[lock->place / LOCKS_IN_PIECE];
    return (shared_lock *)dome__memory_alias(piece) + lock->place % LOCKS_IN_PIECE;
}

/* ---- waiting ---- */

/* A task that waits sleeps by its own bit, so that a release wakes the next one alone, or one that is 32 behind it. */
static uint32_t bit_of(unsigned ticket)
{
    return 1u << ticket % 32;
}

static uint64_t deadline(uint64_t ns, struct timespec *at)
{
    clock_gettime(CLOCK_MONOTONIC, at);
    at->tv_nsec += (long)ns;
    at->tv_sec += at->tv_nsec / 1000000000;
    at->tv_nsec %= 1000000000;
    return MIN(2 * ns, LONGEST_SLEEP);
}

/* Messages that others send meanwhile are taken in, and all-reduces get on: the holder may wait for either. */
static int serve_others(dome_transport *t)
{
    if (t->provider.can & DOME_TRANSPORT_PROBE)
        dome__transport_arrived(t, -1, DOME_CHANNEL_PROGRAM);
    return t->ahead ? dome__ahead_drive(t) : DOME_OK;
}

/* The account says which task has the lock: the hub finds tasks that wait for each other by that. Returns its rank; -1: the lock
 * is just changing hands. */
static int note_holder(dome_transport *t, shared_lock *s)
{
    const int holder = atomic_load_explicit(&s->holder, memory_order_relaxed) - 1;
    dome__account_await(&t->account, DOME_AWAITS(holder, DOME_AWAITED_LOCK));
    return holder;
}

/* Returns the status of messages that were served meanwhile; the lock is this task's then, too. */
static int sleep_until_served(dome_transport *t, shared_lock *s, unsigned ticket)
{
    uint64_t ns = FIRST_SLEEP;
    unsigned before = ticket, now;
    int status = DOME_OK;
    while ((now = atomic_load_explicit(&s->serving, memory_order_acquire)) != ticket) {
        struct timespec until;
        note_holder(t, s);
        if (now != before)
            dome__account_progress(&t->account);
        before = now;
        ns = deadline(ns, &until);
        syscall(SYS_futex, &s->serving, FUTEX_WAIT_BITSET, now, &until, NULL, bit_of(ticket));
        if (status == DOME_OK)
            status = serve_others(t);
    }
    dome__account_await(&t->account, 0);
    return status;
}

static bool spin(shared_lock *s, unsigned ticket)
{
    for (int k = 0; k < SPINS; k++) {
        const unsigned now = atomic_load_explicit(&s->serving, memory_order_acquire);
        if (now == ticket)
            return true;
        if (now + 1 != ticket)
            return false;
        dome__thread_relax();
    }
    return false;
}

static int wait_for(dome_transport *t, shared_lock *s, unsigned ticket)
{
    if (spin(s, ticket))
        return DOME_OK;
    const int holder = MAX(atomic_load(&s->holder) - 1, 0);
    const uint64_t start = dome__account_begin_wait(&t->account, DOME_WAITS(holder, DOME_WAITS_NEAR), 0);
    int status = sleep_until_served(t, s, ticket);
    const uint64_t took = dome__account_end_wait(&t->account, holder, start);
    if (t->waited)
        t->waited(t, holder, start, took);
    return status;
}

/* ---- acquiring and releasing ---- */

/* An operation of this task alone, whose beats have the lock's name. */
static void begin(dome_operation *op, const dome_lock *lock, dome_operation_code code)
{
    dome_env *env = lock->env;
    dome__begin_alone(op, env, code);
    if (env->watch && !op->outer)
        env->hooks->at(env, code, lock->id);
}

dome_status dome_lock_acquire(dome_lock *lock)
{
    DOME_NEEDS(lock, "the lock", DOME_ERR_ARGUMENT);
    dome_env *env = lock->env;
    dome_operation op;
    begin(&op, lock, DOME_OP_LOCK_ACQUIRE);
    if (lock->held)
        return dome__end(
            &op, dome__fail(env, DOME_ERR_STATE, "this task holds '%s' already, and would wait for itself for ever", lock->name));
    shared_lock *s = shared(lock);
    const unsigned ticket = atomic_fetch_add(&s->next, 1);
    int status = DOME_OK;
    if (atomic_load_explicit(&s->serving, memory_order_acquire) != ticket)
        status = wait_for(env->transport, s, ticket);
    atomic_store_explicit(&s->holder, env->rank + 1, memory_order_relaxed);
    lock->held = true;
    env->lazy.locks->held++;
    return dome__end(&op, status ? (dome_status)dome__fail_transport(env, status) : DOME_OK);
}

/* A task that takes a ticket after the look finds itself served, or has the value in its system call that has just changed. */
static void pass_on(shared_lock *s)
{
    atomic_store_explicit(&s->holder, 0, memory_order_relaxed);
    const unsigned served = atomic_fetch_add(&s->serving, 1) + 1;
    if (atomic_load(&s->next) != served)
        syscall(SYS_futex, &s->serving, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bit_of(served));
}

dome_status dome_lock_release(dome_lock *lock)
{
    DOME_NEEDS(lock, "the lock", DOME_ERR_ARGUMENT);
    dome_env *env = lock->env;
    dome_operation op;
    begin(&op, lock, DOME_OP_LOCK_RELEASE);
    if (!lock->held) {
        const int holder = atomic_load(&shared(lock)->holder) - 1;
        char *who = holder < 0 ? g_strdup("nobody does") : g_strdup_printf("task %d does", holder);
        dome_status status = dome__fail(env, DOME_ERR_STATE, "this task does not hold '%s'; %s", lock->name, who);
        g_free(who);
        return dome__end(&op, status);
    }
    lock->held = false;
    env->lazy.locks->held--;
    pass_on(shared(lock));
    return dome__end(&op, DOME_OK);
}

dome_status dome__locks_check(dome_env *env)
{
    const dome_locks *locks = env->lazy.locks;
    const char *name = NULL;
    for (guint k = 0; locks->held > 0 && !name && k < locks->live->len; k++) {
        const dome_lock *lock = locks->live->pdata[k];
        name = lock->held ? lock->name : NULL;
    }
    char *text =
        name ? g_strdup_printf("task %d holds the lock '%s' where the state may be saved: release it before", env->rank, name)
             : NULL;
    int status = name ? DOME_ERR_STATE : DOME_OK;
    if (dome__errors_returned(env))
        status = dome__agree(env, status, text);
    else if (name)
        status = dome__fail(env, DOME_ERR_STATE, "%s", text);
    g_free(text);
    return (dome_status)status;
}

/* ---- life ---- */

static dome_locks *locks_of(dome_env *env)
{
    if (!env->lazy.locks) {
        env->lazy.locks = g_new0(dome_locks, 1);
        env->lazy.locks->live = g_ptr_array_new();
        env->lazy.locks->pieces = g_ptr_array_new_with_free_func((GDestroyNotify)dome__memory_free);
        env->lazy.locks->unused = g_array_new(FALSE, FALSE, sizeof(guint));
    }
    return env->lazy.locks;
}

/* A place in memory, of another piece if all are full. All tasks have freed the lock that was there before, when all have come
 * here. */
static dome_status find_place(dome_lock *lock)
{
    dome_env *env = lock->env;
    dome_locks *locks = env->lazy.locks;
    dome_status status = DOME_OK;
    if (locks->unused->len > 0) {
        lock->place = g_array_index(locks->unused, guint, locks->unused->len - 1);
        status = (dome_status)dome__agree(env, DOME_OK, NULL);
        if (status != DOME_OK)
            return status;
        g_array_set_size(locks->unused, locks->unused->len - 1);
        if (env->rank == 0)
            memset(shared(lock), 0, sizeof(shared_lock));
        return (dome_status)dome__agree(env, DOME_OK, NULL);
    }
    lock->place = locks->places;
    if (lock->place % LOCKS_IN_PIECE == 0) {
        dome_memory *piece = dome__member_memory(env, lock->name, LOCKS_IN_PIECE * sizeof(shared_lock), &status);
        if (status != DOME_OK)
            return status;
        g_ptr_array_add(locks->pieces, piece);
    }
    locks->places++;
    return DOME_OK;
}

static dome_status check_new(dome_env *env, const char *name)
{
    if (name && strlen(name) > DOME_NAME_MAX)
        return dome__fail(env, DOME_ERR_NAME, "the name of a lock has %zu bytes, more than %d", strlen(name), DOME_NAME_MAX);
    return dome__member_check(env, "a lock");
}

static void lock_free(dome_lock *lock)
{
    g_free(lock->name);
    g_free(lock);
}

dome_lock *dome_lock_new(dome_env *env, const char *name)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    const uint64_t words[] = {dome__text_word(env, name)};
    dome__begin_with(&op, env, DOME_OP_LOCK_NEW, NULL, words, G_N_ELEMENTS(words));
    dome_status status = check_new(env, name);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;
    dome_locks *locks = locks_of(env);
    dome_lock *lock = g_new0(dome_lock, 1);
    const uint64_t number = ++locks->made;
    *lock = (dome_lock){.env = env, .id = LOCK_IDS | number};
    lock->name = name && *name ? g_strdup(name) : g_strdup_printf("lock-%" G_GUINT64_FORMAT, number);
    status = find_place(lock);
    if (status != DOME_OK) {
        lock_free(lock);
        return dome__end(&op, status), NULL;
    }
    g_ptr_array_add(locks->live, lock);
    if (env->call_log)
        dome__names_keep(env->call_log->names, lock->id, lock->name);
    dome__end(&op, DOME_OK);
    return lock;
}

void dome_lock_free(dome_lock *lock)
{
    if (!lock)
        return;
    dome_env *env = lock->env;
    dome_operation op;
    const uint64_t words[] = {dome__text_word(env, lock->name)};
    dome__begin_with(&op, env, DOME_OP_LOCK_FREE, NULL, words, G_N_ELEMENTS(words));
    if (lock->held) { /* nobody could release it any more */
        dome__errors_end(env);
        dome__fail(env, DOME_ERR_STATE, "this task holds '%s': release it before", lock->name);
    }
    g_array_append_val(env->lazy.locks->unused, lock->place);
    g_ptr_array_remove(env->lazy.locks->live, lock);
    if (env->call_log)
        dome__names_drop(env->call_log->names, lock->id);
    lock_free(lock);
    dome__end(&op, DOME_OK);
}

void dome__locks_free(dome_locks *locks)
{
    if (!locks)
        return;
    for (guint k = 0; k < locks->live->len; k++)
        lock_free(locks->live->pdata[k]);
    g_ptr_array_unref(locks->live);
    g_ptr_array_unref(locks->pieces);
    g_array_unref(locks->unused);
    g_free(locks);
}

const char *dome_lock_name(const dome_lock *lock)
{
    DOME_NEEDS(lock, "the lock", NULL);
    return lock->name;
}
