#include "core/atomic_add.h"

#include <string.h>

/* Floating-point numbers have no such instruction: the bits are exchanged if nobody else was faster. */
#define ADD_FLOAT(name, real, bits)                                                                                              \
    static real add_##name(real *at, real value)                                                                                 \
    {                                                                                                                            \
        bits *word = (bits *)(void *)at, was = __atomic_load_n(word, __ATOMIC_RELAXED), next;                                    \
        real sum;                                                                                                                \
        do {                                                                                                                     \
            memcpy(&sum, &was, sizeof sum);                                                                                      \
            sum += value;                                                                                                        \
            memcpy(&next, &sum, sizeof next);                                                                                    \
        } while (!__atomic_compare_exchange_n(word, &was, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));                      \
        memcpy(&sum, &was, sizeof sum);                                                                                          \
        return sum;                                                                                                              \
    }
ADD_FLOAT(f32, float, uint32_t)
ADD_FLOAT(f64, double, uint64_t)

#define ADD_INTEGER(name, integer)                                                                                               \
    static integer add_##name(integer *at, integer value)                                                                        \
    {                                                                                                                            \
        return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                                  \
    }
ADD_INTEGER(i8, int8_t)
ADD_INTEGER(i16, int16_t)
ADD_INTEGER(i32, int32_t)
ADD_INTEGER(i64, int64_t)
ADD_INTEGER(u8, uint8_t)
ADD_INTEGER(u16, uint16_t)
ADD_INTEGER(u32, uint32_t)
ADD_INTEGER(u64, uint64_t)

bool dome__atomic_adds(dome_type type)
{
    return dome_type_kind_of(type) < DOME_KIND_C64;
}

#define ADD_ALL(name, number)                                                                                                    \
    for (uint64_t k = 0; k < count; k++) {                                                                                       \
        const number was = add_##name((number *)at + k, ((const number *)values)[k]);                                            \
        if (before)                                                                                                              \
            ((number *)before)[k] = was;                                                                                         \
    }                                                                                                                            \
    break;

void dome__atomic_add(dome_type type, void *at, const void *values, void *before, uint64_t count)
{
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_I8:
        ADD_ALL(i8, int8_t)
    case DOME_KIND_I16:
        ADD_ALL(i16, int16_t)
    case DOME_KIND_I32:
        ADD_ALL(i32, int32_t)
    case DOME_KIND_I64:
        ADD_ALL(i64, int64_t)
    case DOME_KIND_U8:
        ADD_ALL(u8, uint8_t)
    case DOME_KIND_U16:
        ADD_ALL(u16, uint16_t)
    case DOME_KIND_U32:
        ADD_ALL(u32, uint32_t)
    case DOME_KIND_U64:
        ADD_ALL(u64, uint64_t)
    case DOME_KIND_F32:
        ADD_ALL(f32, float)
    case DOME_KIND_F64:
        ADD_ALL(f64, double)
    default:
        break;
    }
}
