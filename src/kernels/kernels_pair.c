/* Two operations in one loop, for a first one whose result only the second reads: its values stay in registers. */
#include "kernels/kernels.h"

#include "kernels/elementwise.h"
#include "kernels/kernels_variant.h"

#include <math.h>

/* X(code, name, value of the first operation on x and y, or on x and the scalar a, rounded) */
#define FIRST_LIST(X, s, T, f)                                                                                                   \
    X(ADD, add, s, T, x + y)                                                                                                     \
    X(SUB, sub, s, T, x - y)                                                                                                     \
    X(MUL, mul, s, T, DOME_ROUNDED(x *y))                                                                                        \
    X(DIV, div, s, T, x / y)                                                                                                     \
    X(RSUBS, rsubs, s, T, a - x)                                                                                                 \
    X(RDIVS, rdivs, s, T, a / x)                                                                                                 \
    X(MULS, muls, s, T, DOME_ROUNDED(x *a))                                                                                      \
    X(SQRT, sqrt, s, T, sqrt##f(x))

#define PAIR(first, second, s, T, value, expression)                                                                             \
    static uint64_t first##_##second##_##s(const dome_kernel_args *args, uint64_t count)                                         \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const T *left = args->in[0], *right = args->in[1], *other = args->in[2], a = (T)args->a;                                 \
        (void)a;                                                                                                                 \
        FOR_VALUES(count, const T x = left[i], y = right[i], u = (value), v = other[i]; (void)y; out[i] = (expression));         \
        return count;                                                                                                            \
    }

/* u: the first's value, v: the other operand of the second */
#define PAIRS(CODE, first, s, T, value)                                                                                          \
    PAIR(first, add, s, T, value, v + u)                                                                                         \
    PAIR(first, sub_left, s, T, value, u - v)                                                                                    \
    PAIR(first, sub_right, s, T, value, v - u)                                                                                   \
    PAIR(first, mul, s, T, value, DOME_ROUNDED(u *v))
FIRST_LIST(PAIRS, f32, float, f)
FIRST_LIST(PAIRS, f64, double, )

enum { ADD, SUB_LEFT, SUB_RIGHT, MUL, SECONDS };

#define ROW(CODE, first, s, T, value)                                                                                            \
    case DOME_ELEMENTWISE_##CODE: {                                                                                              \
        static const dome_kernel row[SECONDS] = {first##_add_##s, first##_sub_left_##s, first##_sub_right_##s, first##_mul_##s}; \
        return row[place];                                                                                                       \
    }

static dome_kernel kernel_f32(uint32_t first, int place)
{
    switch (first) {
        FIRST_LIST(ROW, f32, float, f)
    default:
        return NULL;
    }
}

static dome_kernel kernel_f64(uint32_t first, int place)
{
    switch (first) {
        FIRST_LIST(ROW, f64, double, )
    default:
        return NULL;
    }
}

dome_kernel DOME_VARIANT_OF(dome__pair_kernel)(uint32_t first, uint32_t second, bool left, dome_type type)
{
    int place;
    switch (second) {
    case DOME_ELEMENTWISE_ADD:
        place = ADD;
        break;
    case DOME_ELEMENTWISE_SUB:
        place = left ? SUB_LEFT : SUB_RIGHT;
        break;
    case DOME_ELEMENTWISE_MUL:
        place = MUL;
        break;
    default:
        return NULL;
    }
    switch (dome_type_kind_of(type)) {
    case DOME_KIND_F32:
        return kernel_f32(first, place);
    case DOME_KIND_F64:
        return kernel_f64(first, place);
    default:
        return NULL;
    }
}
