/* Locks: tickets in shared memory if the program is one member, otherwise over the service channel. */
#include "region/lock.h"

#include "core/trail.h"
#include "region/member.h"
#include "region/region_operations.h"
#include "region/release.h"
#include "region/ticket_lock.h"
#include "transport/agree.h"

#include <dome/region.h>

#include <string.h>

/* Locks share memory, so many in one piece. */
enum { LOCKS_IN_PIECE = 64 };

/* In the places of objects' ids (trail.h). */
#define LOCK_IDS ((uint64_t)1 << 62)

struct dome_lock {
    dome_env *env;
    char *name;
    uint64_t id;
    guint place; /* in one member: among all pieces */
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

/* NULL: the program is one member, and its locks are in memory. */
static dome_lock_service *service(const dome_env *env)
{
    return env->lazy.members->locks;
}

static dome_ticket_lock *tickets(const dome_lock *lock)
{
    const dome_memory *piece = lock->env->lazy.locks->pieces->pdata[lock->place / LOCKS_IN_PIECE];
    return (dome_ticket_lock *)dome__memory_alias(piece) + lock->place % LOCKS_IN_PIECE;
}

static int take(const dome_lock *lock)
{
    const dome_member_table *t = lock->env->lazy.members;
    const GByteArray *carried;
    if (!t->locks)
        return dome__ticket_lock_take(tickets(lock), lock->env->transport);
    const int status = dome__lock_service_take(t->locks, lock->id, &carried);
    if (t->release)
        dome__release_take(t->release, carried->data, carried->len);
    return status;
}

static void give(const dome_lock *lock)
{
    const dome_member_table *t = lock->env->lazy.members;
    if (!t->locks) {
        dome__ticket_lock_give(tickets(lock));
        return;
    }
    GByteArray *carried = t->release ? dome__release_give(t->release) : NULL;
    dome__lock_service_give(t->locks, lock->id, carried);
    if (carried)
        g_byte_array_unref(carried);
}

static int holder_of(const dome_lock *lock)
{
    dome_lock_service *s = service(lock->env);
    return s ? dome__lock_service_holder(s, lock->id) : dome__ticket_lock_holder(tickets(lock));
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
    const int status = take(lock);
    lock->held = true;
    env->lazy.locks->held++;
    return dome__end(&op, status ? (dome_status)dome__fail_transport(env, status) : DOME_OK);
}

dome_status dome_lock_release(dome_lock *lock)
{
    DOME_NEEDS(lock, "the lock", DOME_ERR_ARGUMENT);
    dome_env *env = lock->env;
    dome_operation op;
    begin(&op, lock, DOME_OP_LOCK_RELEASE);
    if (!lock->held) {
        const int holder = holder_of(lock);
        char *who = holder < 0 ? g_strdup("nobody does") : g_strdup_printf("task %d does", holder);
        dome_status status = dome__fail(env, DOME_ERR_STATE, "this task does not hold '%s'; %s", lock->name, who);
        g_free(who);
        return dome__end(&op, status);
    }
    lock->held = false;
    env->lazy.locks->held--;
    give(lock);
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
    if (service(env))
        return DOME_OK;
    if (locks->unused->len > 0) {
        lock->place = g_array_index(locks->unused, guint, locks->unused->len - 1);
        status = (dome_status)dome__agree(env, DOME_OK, NULL);
        if (status != DOME_OK)
            return status;
        g_array_set_size(locks->unused, locks->unused->len - 1);
        if (env->rank == 0)
            memset(tickets(lock), 0, sizeof(dome_ticket_lock));
        return (dome_status)dome__agree(env, DOME_OK, NULL);
    }
    lock->place = locks->places;
    if (lock->place % LOCKS_IN_PIECE == 0) {
        dome_memory *piece = dome__member_memory(env, lock->name, LOCKS_IN_PIECE * sizeof(dome_ticket_lock), &status);
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
    return (dome_status)dome__member_start(env, "a lock");
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
    if (env->trail)
        dome__names_keep(env->trail->names, lock->id, lock->name);
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
    if (!service(env))
        g_array_append_val(env->lazy.locks->unused, lock->place);
    g_ptr_array_remove(env->lazy.locks->live, lock);
    if (env->trail)
        dome__names_drop(env->trail->names, lock->id);
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
