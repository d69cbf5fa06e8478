#include "core/operation.h"

#include "core/call_log.h"
#include "core/clock_private.h"
#include "core/environment.h"

#include <stdlib.h>
#include <string.h>

static dome_env *this_env;

dome_env *dome__this_env(void)
{
    return this_env;
}

/* The only thread that may call Dome functions. */
static struct {
    bool known, is_parents; /* is_parents: this process is a child of the task, by fork */
    pthread_t thread;
} caller;

static void leave_task(void)
{
    caller.is_parents = true;
}

void dome__set_this_env(dome_env *env)
{
    static bool registered;
    this_env = env;
    caller.known = env != NULL && !caller.is_parents;
    caller.thread = pthread_self();
    if (!registered && env)
        pthread_atfork(NULL, NULL, leave_task);
    registered |= env != NULL;
}

/* Whether this is the task's own thread. */
static inline bool is_caller(void)
{
    return !caller.known || (pthread_equal(caller.thread, pthread_self()) && !caller.is_parents);
}

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

uint64_t dome__hash(uint64_t hash, uint64_t value)
{
    return mix(hash, value);
}

uint64_t dome__double_word(double value)
{
    uint64_t bits = 0x7ff8000000000000u;
    if (value == value)
        memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t dome__hash_double(uint64_t hash, double value)
{
    return dome__hash(hash, dome__double_word(value));
}

uint64_t dome__hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = dome__hash(hash, at[i]);
    return dome__hash(hash, bytes);
}

uint64_t dome__text_word(dome_env *env, const char *text)
{
    if (!text || !*text)
        return 0;
    uint64_t word = dome__hash_bytes(0, text, strlen(text));
    if (env->call_log)
        dome__names_recall(env->call_log->names, word, text);
    return word;
}

static inline uint64_t id_of(const dome_object *object)
{
    return object ? dome_object_id(object) : 0;
}

/* Number and history change together: tasks that have the same number but different histories are reported as disagreeing. */
static inline void enter_history(dome_env *env, uint32_t code, uint64_t id, const uint64_t *words, size_t count)
{
    uint64_t history = mix(mix(env->position.history, code), id);
    for (size_t k = 0; k < count; k++)
        history = mix(history, words[k]);
    env->position.sequence++;
    env->position.history = history;
    if (env->stamp)
        *env->stamp = (dome_stamp){.sequence = env->position.sequence, .history = history, .object = id, .operation = code};
    if (env->call_log)
        dome__call_log_note(env->call_log, env->position.sequence, history, code, id, words, count);
}

/* Whether a child process of the task goes on: it has the values that the task had, and can look at them. */
static bool may_poll(const dome_env *env, dome_operation_code code)
{
    return caller.is_parents && (env->operation || dome__operation_has(code, DOME_OPERATION_LOOKS));
}

static void refuse_freed(dome_operation *op) __attribute__((cold, noreturn));
static void refuse_inside(const dome_operation *op) __attribute__((cold, noreturn));
static void refuse_caller(dome_env *env, dome_operation_code code, const dome_object *object) __attribute__((cold, noreturn));

/* Returning a status would come too late to prevent damage: these mistakes end the program, whatever dome_set_errors_return
 * says. */
static void refuse_freed(dome_operation *op)
{
    dome_env *env = op->env;
    if (dome__operation_has(op->code, DOME_OPERATION_COMES_BEFORE)) /* name the user's operation */
        op->code = env->position.coming;
    dome__errors_end(env);
    if (!env->position.stale)
        dome__fail(env, DOME_ERR_STATE, "it has been freed");
    dome__fail(env, DOME_ERR_STATE, "'%s' has been freed", dome_object_name(env->position.stale));
    abort();
}

static void refuse_inside(const dome_operation *op)
{
    const char *name = op->object ? dome_object_name(op->object) : NULL;
    dome__errors_end(op->env);
    dome__fail(op->env, DOME_ERR_STATE, "%s%s%s%s is called inside of its kernel or loop, where no Dome function may be",
               dome__operation_name(op->code), name ? " of '" : "", name ? name : "", name ? "'" : "");
    abort();
}

/* Why the caller is refused. A child process is told the last of the operations that it may call. */
static char *refusal(void)
{
    const char *may = "";
    if (!caller.is_parents)
        return g_strdup("by another thread than the one that called dome_init: no other may call Dome functions");
    for (uint32_t k = 0; k < dome__operation_count(); k++)
        if (dome__operation_has(dome__operation_at(k), DOME_OPERATION_LOOKS))
            may = dome__operation_name(dome__operation_at(k));
    return g_strdup_printf("by a child process of the task (fork), which may only look at values (%s)", may);
}

static void refuse_caller(dome_env *env, dome_operation_code code, const dome_object *object)
{
    const char *name = object ? dome_object_name(object) : NULL;
    char *why = refusal();
    char *text = g_strdup_printf("%s%s%s%s is called %s (task %d on host %s)", dome__operation_name(code), name ? " of '" : "",
                                 name ? name : "", name ? "'" : "", why, env->rank,
                                 env->hosts ? env->hosts[env->rank] : g_get_host_name());
    g_free(why);
    if (caller.is_parents)
        dome__fail_child(DOME_ERR_STATE, text);
    dome__fail_beside(env, DOME_ERR_STATE, text);
}

void dome__called_late(dome_env *env, const char *function)
{
    dome__errors_end(env);
    dome__fail(env, DOME_ERR_STATE, "%s: called after dome_finalize", function);
    abort();
}

void dome__begin_with(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object,
                      const uint64_t *words, size_t count)
{
    if (__builtin_expect(!is_caller(), 0)) {
        if (!may_poll(env, code))
            refuse_caller(env, code, object);
    } else if (!env->operation && env->hooks->due(env, code)) {
        env->position.coming = code;
        env->hooks->move(env, code, object);
    }
    *op = (dome_operation){.env = env, .code = code, .object = object, .outer = env->operation};
    env->operation = op;
    if (op->outer) {
        if (op->outer->program)
            refuse_inside(op);
        return;
    }
    uint64_t id = id_of(object);
    if ((id & DOME_FREED) || env->position.stale)
        refuse_freed(op);
    enter_history(env, code, id, words, count);
    if (env->wait_ns)
        op->start_wait_ns = *env->wait_ns;
    if (env->watch) {
        env->hooks->at(env, code, id);
        if (dome__operation_has(code, DOME_OPERATION_UPDATES))
            env->hooks->updates(env, object);
    }
    if (!dome__operation_has(code, DOME_OPERATION_DEFERRED)) {
        op->start_eval_ns = env->clock->eval_ns;
        op->start_ns = dome__now_ns();
        if (op->start_ns >= env->recording.poll_at)
            env->hooks->poll(env);
        if (env->futures)
            env->hooks->ahead(env, code);
    }
}

void dome__enter_alone(dome_operation *op, dome_env *env, dome_operation_code code)
{
    if (__builtin_expect(!is_caller(), 0))
        refuse_caller(env, code, NULL);
    *op = (dome_operation){.env = env, .code = code, .outer = env->operation};
    if (!env->stamp)
        dome__called_late(env, dome__operation_name(code));
    env->operation = op;
    if (op->outer && op->outer->program)
        refuse_inside(op);
}

void dome__clock_alone(dome_operation *op)
{
    dome_env *env = op->env;
    if (op->outer)
        return;
    op->start_wait_ns = *env->wait_ns;
    if (env->watch)
        env->hooks->at(env, op->code, 0);
    op->start_eval_ns = env->clock->eval_ns;
    op->start_ns = dome__now_ns();
    if (op->start_ns >= env->recording.poll_at)
        env->hooks->poll(env);
}

void dome__begin_alone(dome_operation *op, dome_env *env, dome_operation_code code)
{
    dome__enter_alone(op, env, code);
    dome__clock_alone(op);
}

void dome__begin_next(dome_env *env, uint64_t decision)
{
    const dome_operation *op = env->operation;
    const dome_stamp *stamp = env->stamp;
    enter_history(env, stamp->operation, stamp->object, (uint64_t[]){env->position.coming, decision}, 2);
    if (env->watch)
        env->hooks->at(env, op->code, id_of(op->object));
}

void dome__begin_together(dome_env *env, dome_operation_code code, uint64_t sequence, uint64_t history)
{
    env->position.sequence = sequence;
    env->position.history = history;
    enter_history(env, code, 0, NULL, 0);
    if (env->watch)
        env->hooks->at(env, code, 0);
}

void dome__begin_again(dome_operation *op)
{
    op->start_ns = dome__now_ns();
    op->start_eval_ns = op->env->clock->eval_ns;
    op->start_wait_ns = op->env->wait_ns ? *op->env->wait_ns : 0;
}

/* now: the time, 0: not known yet. */
static inline dome_status end(dome_operation *op, dome_status status, uint64_t now)
{
    dome_env *env = op->env;
    env->operation = op->outer;
    if (op->outer)
        return status;
    dome_clock_entry *entry = &env->clock->entry[op->code];
    entry->count++;
    if (!dome__operation_has(op->code, DOME_OPERATION_DEFERRED)) {
        now = now ? now : dome__now_ns();
        uint64_t total = now > op->start_ns ? now - op->start_ns : 0, wait = env->wait_ns ? *env->wait_ns - op->start_wait_ns : 0;
        uint64_t elsewhere = wait + env->clock->eval_ns - op->start_eval_ns, compute = total > elsewhere ? total - elsewhere : 0;
        entry->wait_ns += wait;
        entry->compute_ns += compute;
        env->hooks->ended(env, op, total, wait);
        if (op->object)
            dome__object_charge(op->object, compute);
    }
    if (env->watch)
        env->hooks->at(env, DOME_OP_NONE, 0);
    return status;
}

void dome__spent_outside(dome_env *env, dome_operation_code code, uint64_t start, uint64_t start_wait)
{
    if (!is_caller() || env->operation || !env->wait_ns)
        return;
    const dome_operation op = {.env = env, .code = code, .start_ns = start};
    const uint64_t total = dome__since_ns(start), wait = MIN(*env->wait_ns - start_wait, total);
    dome_clock_entry *entry = &env->clock->entry[code];
    entry->count++;
    entry->wait_ns += wait;
    entry->compute_ns += total - wait;
    env->hooks->ended(env, &op, total, wait);
}

dome_status dome__end(dome_operation *op, dome_status status)
{
    return end(op, status, 0);
}

dome_status dome__end_at(dome_operation *op, dome_status status, uint64_t now)
{
    return end(op, status, now);
}

void dome__count_bytes(const dome_operation *op, uint64_t bytes)
{
    while (op->outer)
        op = op->outer;
    op->env->clock->entry[op->code].bytes += bytes;
}
