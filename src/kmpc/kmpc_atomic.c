/* Atomic operations. clang has no -fno-inline-atomics, but its pass for ThreadSanitizer makes each one a call, and nothing else
 * when it is told so (tools/dome-omp/clang.c). The calls do what gcc's do (openmp/atomic.c). */
#include <stdbool.h>
#include <stdint.h>

#include "openmp/turn.h"

typedef unsigned __int128 uint128_t;

/* gcc has its own idea of the names __atomic_load_4 and so on, so they are given in assembly. */
#define CALLED(name) __asm__(name)

#define UPDATE(bits, bytes, type, name)                                                                                          \
    type dome__kmpc_##name##_##bytes(volatile type *at, type value, int order) CALLED("__atomic_fetch_" #name "_" #bytes);       \
    type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order)                                            \
    {                                                                                                                            \
        return dome__kmpc_##name##_##bytes(at, value, order);                                                                    \
    }

#define OPERATIONS(bits, bytes, type)                                                                                            \
    type dome__kmpc_load_##bytes(const volatile type *at, int order) CALLED("__atomic_load_" #bytes);                            \
    void dome__kmpc_store_##bytes(volatile type *at, type value, int order) CALLED("__atomic_store_" #bytes);                    \
    type dome__kmpc_exchange_##bytes(volatile type *at, type value, int order) CALLED("__atomic_exchange_" #bytes);              \
    bool dome__kmpc_compare_##bytes(volatile type *at, type *expected, type value, bool weak, int order, int failure)            \
        CALLED("__atomic_compare_exchange_" #bytes);                                                                             \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                                          \
    {                                                                                                                            \
        return dome__kmpc_load_##bytes(at, order);                                                                               \
    }                                                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                                   \
    {                                                                                                                            \
        dome__kmpc_store_##bytes(at, value, order);                                                                              \
    }                                                                                                                            \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)                                                \
    {                                                                                                                            \
        return dome__kmpc_exchange_##bytes(at, value, order);                                                                    \
    }                                                                                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, int failure)        \
    {                                                                                                                            \
        dome__kmpc_compare_##bytes(at, &expected, value, false, order, failure);                                                 \
        return expected; /* what was there */                                                                                    \
    }                                                                                                                            \
    UPDATE(bits, bytes, type, add)                                                                                               \
    UPDATE(bits, bytes, type, sub)                                                                                               \
    UPDATE(bits, bytes, type, and)                                                                                               \
    UPDATE(bits, bytes, type, or)                                                                                                \
    UPDATE(bits, bytes, type, xor)                                                                                               \
    UPDATE(bits, bytes, type, nand)

OPERATIONS(8, 1, uint8_t)
OPERATIONS(16, 2, uint16_t)
OPERATIONS(32, 4, uint32_t)
OPERATIONS(64, 8, uint64_t)
OPERATIONS(128, 16, uint128_t)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    dome__omp_flush_all();
}

/* Between a thread and its own signal handlers: a call is enough. */
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* Each object file calls it at the start. */
void __tsan_init(void)
{
}
