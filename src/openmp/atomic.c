/* The calls of -fno-inline-atomics. An update goes in turn and publishes what the thread wrote before; loads and stores are never
 * held back. */
#include <fenv.h>
#include <pthread.h>
#include <string.h>

#include "openmp/spin.h"
#include "openmp/tasks.h"
#include "openmp/team.h"
#include "openmp/turn.h"

#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

typedef unsigned __int128 uint128_t;

typedef enum operation { LOAD, STORE, EXCHANGE, COMPARE, ADD, SUB, AND, OR, XOR, NAND } operation;

typedef struct action {
    volatile void *at;
    void *operand; /* value; of COMPARE: what is wanted there */
    void *result;  /* what was there; of COMPARE: what is expected, then what was there */
    size_t bytes;
    operation operation;
    bool equal;
} action;

static uint128_t value_of(const void *at, size_t bytes)
{
    uint128_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

static uint128_t combined(operation o, uint128_t a, uint128_t b)
{
    switch (o) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case XOR:
        return a ^ b;
    case NAND:
        return ~(a & b);
    default:
        return b;
    }
}

/* Threads that the program has created run beside this one, so the operation is the processor's where it has one... */
#define PERFORM(bytes, type)                                                                                                     \
    static void perform_##bytes(action *a)                                                                                       \
    {                                                                                                                            \
        type *at = (type *)(uintptr_t)a->at, operand = 0, before = 0;                                                            \
        if (a->operation != LOAD)                                                                                                \
            memcpy(&operand, a->operand, bytes);                                                                                 \
        if (a->operation == STORE) {                                                                                             \
            __atomic_store_n(at, operand, __ATOMIC_SEQ_CST);                                                                     \
            return;                                                                                                              \
        }                                                                                                                        \
        if (a->operation == COMPARE) {                                                                                           \
            memcpy(&before, a->result, bytes);                                                                                   \
            a->equal = __atomic_compare_exchange_n(at, &before, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);             \
        } else {                                                                                                                 \
            before = __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                      \
            while (a->operation != LOAD &&                                                                                       \
                   !__atomic_compare_exchange_n(at, &before, (type)combined(a->operation, before, operand), false,               \
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))                                             \
                continue;                                                                                                        \
        }                                                                                                                        \
        memcpy(a->result, &before, bytes);                                                                                       \
    }

PERFORM(1, uint8_t)
PERFORM(2, uint16_t)
PERFORM(4, uint32_t)
PERFORM(8, uint64_t)

/* ... and one at a time of the others: any operation on 16 bytes, or a load, store, exchange or comparison of any number. */
static void perform_locked(action *a)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *at = (void *)(uintptr_t)a->at;
    pthread_mutex_lock(&lock);
    if (a->operation == COMPARE) {
        a->equal = !memcmp(at, a->result, a->bytes);
        memcpy(a->equal ? at : a->result, a->equal ? a->operand : at, a->bytes);
    } else {
        uint128_t result = 0;
        if (a->operation >= ADD)
            result = combined(a->operation, value_of(at, a->bytes), value_of(a->operand, a->bytes));
        if (a->result)
            memcpy(a->result, at, a->bytes);
        if (a->operation >= ADD)
            memcpy(at, &result, a->bytes);
        else if (a->operation != LOAD)
            memcpy(at, a->operand, a->bytes);
    }
    pthread_mutex_unlock(&lock);
}

static bool perform(void *argument)
{
    action *a = argument;
    switch (a->bytes && (uintptr_t)a->at % a->bytes == 0 ? a->bytes : 0) {
    case 1:
        perform_1(a);
        break;
    case 2:
        perform_2(a);
        break;
    case 4:
        perform_4(a);
        break;
    case 8:
        perform_8(a);
        break;
    default:
        perform_locked(a);
    }
    return true;
}

/* Whether other tasks may see it. */
static inline bool is_common(const dome_omp_thread *t, const volatile void *at)
{
    return (dome__omp_tasks.size > 1 || dome__omp_watcher) && t->team->active_level &&
           dome__omp_tasks.is_shared((const void *)(uintptr_t)at);
}

static void perform_in_common(action *a)
{
    if (a->operation == LOAD || a->operation == STORE)
        dome__omp_try(a->operation == LOAD ? DOME_OMP_LOOK : DOME_OMP_AT_ONCE, perform, a);
    else
        dome__omp_until(DOME_OMP_IN_TURN, perform, a, "the turn for an atomic update of", (const void *)(uintptr_t)a->at);
}

static void looked(dome_omp_thread *t, const action *a, const void *found)
{
    dome__omp_looked(t, a->at, (uint64_t)value_of(found, a->bytes < 8 ? a->bytes : 8));
}

/* What all calls do. */
static void act(action *a)
{
    dome_omp_thread *t = dome__omp_self();
    static bool was_look; /* the last action of this task was such a look */
    const bool common = is_common(t, a->at);
    const bool first_look = common && !dome__omp_watcher && a->operation == LOAD && t->seen_at != a->at && !was_look;
    if (common)
        was_look = first_look; /* a first look finds what came with the last synchronization */
    if (common && !first_look)
        perform_in_common(a);
    else
        perform(a);
    if (a->operation == LOAD || (a->operation == COMPARE && !a->equal))
        looked(t, a, a->result);
    else if (a->operation == EXCHANGE && !memcmp(a->result, a->operand, a->bytes))
        looked(t, a, a->result); /* as of a lock that is held */
    else
        dome__omp_acted(t);
}

#define UPDATE(bytes, type, name, operation)                                                                                     \
    type __atomic_fetch_##name##_##bytes(volatile void *at, type value, int order)                                               \
    {                                                                                                                            \
        type before;                                                                                                             \
        (void)order;                                                                                                             \
        act(&(action){at, &value, &before, bytes, operation, false});                                                            \
        return before;                                                                                                           \
    }                                                                                                                            \
    type __atomic_##name##_fetch_##bytes(volatile void *at, type value, int order)                                               \
    {                                                                                                                            \
        type before = __atomic_fetch_##name##_##bytes(at, value, order);                                                         \
        return (type)combined(operation, before, value);                                                                         \
    }

#define OPERATIONS(bytes, type)                                                                                                  \
    type __atomic_load_##bytes(const volatile void *at, int order)                                                               \
    {                                                                                                                            \
        type value;                                                                                                              \
        (void)order;                                                                                                             \
        act(&(action){(volatile void *)(uintptr_t)at, NULL, &value, bytes, LOAD, false});                                        \
        return value;                                                                                                            \
    }                                                                                                                            \
    void __atomic_store_##bytes(volatile void *at, type value, int order)                                                        \
    {                                                                                                                            \
        (void)order;                                                                                                             \
        act(&(action){at, &value, NULL, bytes, STORE, false});                                                                   \
    }                                                                                                                            \
    type __atomic_exchange_##bytes(volatile void *at, type value, int order)                                                     \
    {                                                                                                                            \
        type before;                                                                                                             \
        (void)order;                                                                                                             \
        act(&(action){at, &value, &before, bytes, EXCHANGE, false});                                                             \
        return before;                                                                                                           \
    }                                                                                                                            \
    bool __atomic_compare_exchange_##bytes(volatile void *at, void *expected, type desired, bool weak, int success, int failure) \
    {                                                                                                                            \
        action a = {at, &desired, expected, bytes, COMPARE, false};                                                              \
        (void)weak;                                                                                                              \
        (void)success;                                                                                                           \
        (void)failure;                                                                                                           \
        act(&a);                                                                                                                 \
        return a.equal;                                                                                                          \
    }                                                                                                                            \
    bool __atomic_test_and_set_##bytes(volatile void *at, int order)                                                             \
    {                                                                                                                            \
        return __atomic_exchange_##bytes(at, 1, order) != 0;                                                                     \
    }                                                                                                                            \
    UPDATE(bytes, type, add, ADD)                                                                                                \
    UPDATE(bytes, type, sub, SUB)                                                                                                \
    UPDATE(bytes, type, and, AND)                                                                                                \
    UPDATE(bytes, type, or, OR)                                                                                                  \
    UPDATE(bytes, type, xor, XOR)                                                                                                \
    UPDATE(bytes, type, nand, NAND)

OPERATIONS(1, uint8_t)
OPERATIONS(2, uint16_t)
OPERATIONS(4, uint32_t)
OPERATIONS(8, uint64_t)
OPERATIONS(16, uint128_t)

/* ---- objects of any size: the compiler has its own idea of these names, so they are given in assembly ---- */

#define NAMED(name) __asm__(name)

void dome__omp_load(size_t bytes, void *at, void *to, int order) NAMED("__atomic_load");
void dome__omp_store(size_t bytes, void *at, void *from, int order) NAMED("__atomic_store");
void dome__omp_exchange(size_t bytes, void *at, void *from, void *to, int order) NAMED("__atomic_exchange");
bool dome__omp_compare(size_t bytes, void *at, void *expected, void *desired, int success, int failure)
    NAMED("__atomic_compare_exchange");
bool dome__omp_is_lock_free(size_t bytes, void *at) NAMED("__atomic_is_lock_free");

void dome__omp_load(size_t bytes, void *at, void *to, int order)
{
    (void)order;
    act(&(action){at, NULL, to, bytes, LOAD, false});
}

void dome__omp_store(size_t bytes, void *at, void *from, int order)
{
    (void)order;
    act(&(action){at, from, NULL, bytes, STORE, false});
}

void dome__omp_exchange(size_t bytes, void *at, void *from, void *to, int order)
{
    (void)order;
    act(&(action){at, from, to, bytes, EXCHANGE, false});
}

bool dome__omp_compare(size_t bytes, void *at, void *expected, void *desired, int success, int failure)
{
    action a = {at, desired, expected, bytes, COMPARE, false};
    (void)success;
    (void)failure;
    act(&a);
    return a.equal;
}

bool dome__omp_is_lock_free(size_t bytes, void *at)
{
    (void)at;
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* An update of a floating-point number raises what it would have raised without `_Atomic`. */
void dome__omp_raise(int exceptions) NAMED("__atomic_feraiseexcept");

void dome__omp_raise(int exceptions)
{
    (void)feraiseexcept(exceptions);
}
