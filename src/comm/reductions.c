#include "comm/reductions.h"

#include "kernels/exact_sum.h"

#include <math.h>

const char *dome__reduction_name(dome_reduction reduction)
{
    static const char *const names[DOME_REDUCTIONS] = {
        [DOME_SUM] = "DOME_SUM",       [DOME_PROD] = "DOME_PROD",   [DOME_MIN] = "DOME_MIN",
        [DOME_MAX] = "DOME_MAX",       [DOME_AND] = "DOME_AND",     [DOME_OR] = "DOME_OR",
        [DOME_BITAND] = "DOME_BITAND", [DOME_BITOR] = "DOME_BITOR", [DOME_BITXOR] = "DOME_BITXOR",
    };
    return (unsigned)reduction < DOME_REDUCTIONS ? names[reduction] : NULL;
}

/* ---- loops ---- */

#define LOOP(name, suffix, ctype, formula)                                                                                       \
    static void name##_##suffix(void *inout, const void *in, uint64_t count, void *ctx)                                          \
    {                                                                                                                            \
        (void)ctx;                                                                                                               \
        ctype *to = inout;                                                                                                       \
        const ctype *from = in;                                                                                                  \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            const ctype a = to[i], b = from[i];                                                                                  \
            to[i] = (ctype)(formula);                                                                                            \
        }                                                                                                                        \
    }

/* Signed integers are computed in 64 bits without a sign, which wraps around. */
#define INTEGER_LOOPS(suffix, ctype)                                                                                             \
    LOOP(sum, suffix, ctype, (uint64_t)a + (uint64_t)b)                                                                          \
    LOOP(prod, suffix, ctype, (uint64_t)a *(uint64_t)b)                                                                          \
    LOOP(min, suffix, ctype, a < b ? a : b)                                                                                      \
    LOOP(max, suffix, ctype, a > b ? a : b)                                                                                      \
    LOOP(and, suffix, ctype, a &&b)                                                                                              \
    LOOP(or, suffix, ctype, a || b)                                                                                              \
    LOOP(bitand, suffix, ctype, a &b)                                                                                            \
    LOOP(bitor, suffix, ctype, a | b)                                                                                            \
    LOOP(bitxor, suffix, ctype, a ^ b)
INTEGER_LOOPS(i8, int8_t)
INTEGER_LOOPS(i16, int16_t)
INTEGER_LOOPS(i32, int32_t)
INTEGER_LOOPS(i64, int64_t)
INTEGER_LOOPS(u8, uint8_t)
INTEGER_LOOPS(u16, uint16_t)
INTEGER_LOOPS(u32, uint32_t)
INTEGER_LOOPS(u64, uint64_t)

static double least(double a, double b)
{
    if (a != a || b != b)
        return (double)NAN;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static double greatest(double a, double b)
{
    return -least(-a, -b);
}

#define REAL_LOOPS(suffix, ctype)                                                                                                \
    LOOP(prod, suffix, ctype, a *b)                                                                                              \
    LOOP(min, suffix, ctype, least((double)a, (double)b))                                                                        \
    LOOP(max, suffix, ctype, greatest((double)a, (double)b))
REAL_LOOPS(f32, float)
REAL_LOOPS(f64, double)

/* By parts: the compiler's product of complex values treats NaN as C's Annex G has it, with other roundings on other machines. */
#define COMPLEX_LOOP(suffix, ctype)                                                                                              \
    static void prod_##suffix(void *inout, const void *in, uint64_t count, void *ctx)                                            \
    {                                                                                                                            \
        (void)ctx;                                                                                                               \
        ctype *to = inout;                                                                                                       \
        const ctype *from = in;                                                                                                  \
        for (uint64_t i = 0; i < count; i++, to += 2, from += 2) {                                                               \
            const ctype real = to[0] * from[0] - to[1] * from[1], imaginary = to[0] * from[1] + to[1] * from[0];                 \
            to[0] = real;                                                                                                        \
            to[1] = imaginary;                                                                                                   \
        }                                                                                                                        \
    }
COMPLEX_LOOP(c64, float)
COMPLEX_LOOP(c128, double)

#define INTEGERS(name)                                                                                                           \
    [DOME_KIND_I8] = name##_i8, [DOME_KIND_I16] = name##_i16, [DOME_KIND_I32] = name##_i32, [DOME_KIND_I64] = name##_i64,        \
    [DOME_KIND_U8] = name##_u8, [DOME_KIND_U16] = name##_u16, [DOME_KIND_U32] = name##_u32, [DOME_KIND_U64] = name##_u64
#define REALS(name) [DOME_KIND_F32] = name##_f32, [DOME_KIND_F64] = name##_f64

static const dome_combine loops[DOME_REDUCTIONS][DOME_KIND_STRUCT + 1] = {
    [DOME_SUM] = {INTEGERS(sum)},
    [DOME_PROD] = {INTEGERS(prod), REALS(prod), [DOME_KIND_C64] = prod_c64, [DOME_KIND_C128] = prod_c128},
    [DOME_MIN] = {INTEGERS(min), REALS(min)},
    [DOME_MAX] = {INTEGERS(max), REALS(max)},
    [DOME_AND] = {INTEGERS(and)},
    [DOME_OR] = {INTEGERS(or)},
    [DOME_BITAND] = {INTEGERS(bitand)},
    [DOME_BITOR] = {INTEGERS(bitor)},
    [DOME_BITXOR] = {INTEGERS(bitxor)},
};

dome_combine dome__reduction_loop(dome_reduction reduction, dome_type type)
{
    return loops[reduction][dome_type_kind_of(type)];
}

static bool is_floating(dome_type type)
{
    dome_type_kind kind = dome_type_kind_of(type);
    return kind == DOME_KIND_F32 || kind == DOME_KIND_F64 || kind == DOME_KIND_C64 || kind == DOME_KIND_C128;
}

bool dome__reduction_is_exact(dome_reduction reduction, dome_type type)
{
    return reduction == DOME_SUM && is_floating(type);
}

bool dome__reduction_commutes(dome_reduction reduction, dome_type type)
{
    return dome__reduction_loop(reduction, type) && !(reduction == DOME_PROD && is_floating(type));
}

bool dome__reduction_settles(dome_reduction reduction)
{
    return reduction == DOME_MIN || reduction == DOME_MAX || reduction == DOME_AND || reduction == DOME_OR;
}

/* ---- exact sums ---- */

static double value_of(bool single, const void *rows, uint64_t at)
{
    return single ? (double)((const float *)rows)[at] : ((const double *)rows)[at];
}

static double exact_slowly(bool single, const void *rows, int count, uint64_t n, uint64_t i)
{
    dome_exact_sum sum;
    dome__exact_init(&sum);
    for (int r = 0; r < count; r++)
        dome__exact_add(&sum, value_of(single, rows, (uint64_t)r * n + i));
    dome__exact_normalize(&sum);
    return dome__exact_round(&sum);
}

/* Adds with the rounding error of each step (Knuth, The Art of Computer Programming, volume 2, section 4.2.2), and the errors
 * among themselves, with a bound on what that loses. If the bound leaves one rounded value, it is the exact sum's. */
static double exact_sum(bool single, const void *rows, int count, uint64_t n, uint64_t i)
{
    double sum = value_of(single, rows, i), errors = 0, size = 0;
    for (int r = 1; r < count; r++) {
        const double x = value_of(single, rows, (uint64_t)r * n + i), next = sum + x, part = next - sum,
                     error = (sum - (next - part)) + (x - part);
        sum = next;
        errors += error;
        size += fabs(error);
    }
    const double bound = (double)count * 0x1p-51 * size, low = sum + (errors - bound), high = sum + (errors + bound);
    if (low == high && low != 0 && isfinite(low))
        return low;
    return exact_slowly(single, rows, count, n, i);
}

void dome__exact_rows(dome_type type, const void *rows, int count, uint64_t n, void *out)
{
    const dome_type_kind kind = dome_type_kind_of(type);
    const bool single = kind == DOME_KIND_F32 || kind == DOME_KIND_C64;
    if (kind == DOME_KIND_C64 || kind == DOME_KIND_C128)
        n *= 2;
    for (uint64_t i = 0; i < n; i++) {
        const double sum = exact_sum(single, rows, count, n, i);
        if (single)
            ((float *)out)[i] = (float)sum;
        else
            ((double *)out)[i] = sum;
    }
}
