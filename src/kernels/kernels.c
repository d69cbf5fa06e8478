#include "kernels/kernels.h"

#include "kernels/kernels_variant.h"
#include "kernels/random.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#if defined(__i386__) && !defined(__SSE2_MATH__)
#error "x87 arithmetic rounds twice and gives other bits: compile with -msse2 -mfpmath=sse"
#endif

/* X(kind, suffix, type, unsigned type to compute in, prefix of the limits) */
#define SIGNED_LIST(X)                                                                                                           \
    X(I8, i8, int8_t, uint32_t, INT8)                                                                                            \
    X(I16, i16, int16_t, uint32_t, INT16)                                                                                        \
    X(I32, i32, int32_t, uint32_t, INT32)                                                                                        \
    X(I64, i64, int64_t, uint64_t, INT64)
#define UNSIGNED_LIST(X)                                                                                                         \
    X(U8, u8, uint8_t, uint32_t, UINT8)                                                                                          \
    X(U16, u16, uint16_t, uint32_t, UINT16)                                                                                      \
    X(U32, u32, uint32_t, uint32_t, UINT32)                                                                                      \
    X(U64, u64, uint64_t, uint64_t, UINT64)

/* X(kind, suffix, type, suffix of the C library's functions) */
#define FLOAT_LIST(X)                                                                                                            \
    X(F32, f32, float, f)                                                                                                        \
    X(F64, f64, double, )

/* X(kind, suffix, type of the parts, suffix of the C library's functions) */
#define COMPLEX_LIST(X)                                                                                                          \
    X(C64, c64, float, f)                                                                                                        \
    X(C128, c128, double, )

#define UINT8_MIN  0
#define UINT16_MIN 0
#define UINT32_MIN 0
#define UINT64_MIN 0

/* ---- one value ---- */

#define SIGNED_VALUE(K, s, T, U, L)                                                                                              \
    static inline T quotient_##s(T x, T y)                                                                                       \
    {                                                                                                                            \
        return y == -1 ? (T)(0 - (U)x) : (T)(x / y);                                                                             \
    }                                                                                                                            \
    static inline T absolute_##s(T x)                                                                                            \
    {                                                                                                                            \
        return x < 0 ? (T)(0 - (U)x) : x;                                                                                        \
    }                                                                                                                            \
    static inline bool power_##s(T x, T y, T *z)                                                                                 \
    {                                                                                                                            \
        if (y < 0) {                                                                                                             \
            *z = x == 1 || (x == -1 && y % 2 == 0) ? 1 : x == -1 ? -1 : 0;                                                       \
            return x != 0;                                                                                                       \
        }                                                                                                                        \
        U base = (U)x, result = 1;                                                                                               \
        for (; y; y /= 2, base *= base)                                                                                          \
            if (y % 2)                                                                                                           \
                result *= base;                                                                                                  \
        *z = (T)result;                                                                                                          \
        return true;                                                                                                             \
    }
SIGNED_LIST(SIGNED_VALUE)

#define UNSIGNED_VALUE(K, s, T, U, L)                                                                                            \
    static inline T quotient_##s(T x, T y)                                                                                       \
    {                                                                                                                            \
        return (T)(x / y);                                                                                                       \
    }                                                                                                                            \
    static inline T absolute_##s(T x)                                                                                            \
    {                                                                                                                            \
        return x;                                                                                                                \
    }                                                                                                                            \
    static inline bool power_##s(T x, T y, T *z)                                                                                 \
    {                                                                                                                            \
        U base = x, result = 1;                                                                                                  \
        for (; y; y >>= 1, base *= base)                                                                                         \
            if (y & 1)                                                                                                           \
                result *= base;                                                                                                  \
        *z = (T)result;                                                                                                          \
        return true;                                                                                                             \
    }
UNSIGNED_LIST(UNSIGNED_VALUE)

/* Complex numbers as pairs: what C's operators do with them depends on compiler and flags. */
#define COMPLEX_VALUE(K, s, P, f)                                                                                                \
    typedef struct {                                                                                                             \
        P re, im;                                                                                                                \
    } s;                                                                                                                         \
    static inline s add_one_##s(s x, s y)                                                                                        \
    {                                                                                                                            \
        return (s){x.re + y.re, x.im + y.im};                                                                                    \
    }                                                                                                                            \
    static inline s sub_one_##s(s x, s y)                                                                                        \
    {                                                                                                                            \
        return (s){x.re - y.re, x.im - y.im};                                                                                    \
    }                                                                                                                            \
    static inline s mul_one_##s(s x, s y)                                                                                        \
    {                                                                                                                            \
        return (s){DOME_ROUNDED(x.re * y.re) - DOME_ROUNDED(x.im * y.im),                                                        \
                   DOME_ROUNDED(x.re * y.im) + DOME_ROUNDED(x.im * y.re)};                                                       \
    }                                                                                                                            \
    static inline s div_one_##s(s x, s y)                                                                                        \
    {                                                                                                                            \
        if (fabs##f(y.re) >= fabs##f(y.im)) {                                                                                    \
            P r = y.im / y.re, d = y.re + DOME_ROUNDED(y.im * r);                                                                \
            return (s){(x.re + DOME_ROUNDED(x.im * r)) / d, (x.im - DOME_ROUNDED(x.re * r)) / d};                                \
        }                                                                                                                        \
        P r = y.re / y.im, d = DOME_ROUNDED(y.re * r) + y.im;                                                                    \
        return (s){(DOME_ROUNDED(x.re * r) + x.im) / d, (DOME_ROUNDED(x.im * r) - x.re) / d};                                    \
    }                                                                                                                            \
    static inline P _Complex to_c_##s(s x)                                                                                       \
    {                                                                                                                            \
        P _Complex c;                                                                                                            \
        memcpy(&c, &x, sizeof c);                                                                                                \
        return c;                                                                                                                \
    }                                                                                                                            \
    static inline s from_c_##s(P _Complex c)                                                                                     \
    {                                                                                                                            \
        s x;                                                                                                                     \
        memcpy(&x, &c, sizeof x);                                                                                                \
        return x;                                                                                                                \
    }
COMPLEX_LIST(COMPLEX_VALUE)

/* ---- loops ---- */

/* z = expression of x and y, or of x alone, or of x and the scalar a. */
#define BINARY(op, s, Z, T, expression)                                                                                          \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        Z *out = args->out;                                                                                                      \
        const T *left = args->in[0], *right = args->in[1];                                                                       \
        FOR_VALUES(count, T x = left[i], y = right[i]; out[i] = (expression));                                                   \
        return count;                                                                                                            \
    }
#define UNARY(op, s, T, expression)                                                                                              \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const T *in = args->in[0];                                                                                               \
        FOR_VALUES(count, T x = in[i]; out[i] = (expression));                                                                   \
        return count;                                                                                                            \
    }
#define SCALAR(op, s, Z, T, A, expression)                                                                                       \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        Z *out = args->out;                                                                                                      \
        const T *left = args->in[0];                                                                                             \
        const A y = (A)args->a;                                                                                                  \
        FOR_VALUES(count, T x = left[i]; out[i] = (expression));                                                                 \
        return count;                                                                                                            \
    }

/* The same operation with a vector and with a scalar of the same type on the right. */
#define BOTH(op, t, Z, T, expression)                                                                                            \
    BINARY(op, t, Z, T, expression)                                                                                              \
    SCALAR(op##s, t, Z, T, T, expression)

#define FILL(s, T, A, expression)                                                                                                \
    static uint64_t fill_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const A y = (A)args->a;                                                                                                  \
        const T value = (expression);                                                                                            \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            out[i] = value;                                                                                                      \
        return count;                                                                                                            \
    }

#define AXPY(s, T, A, expression)                                                                                                \
    static uint64_t axpy_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const T *in = args->in[0];                                                                                               \
        const A a = (A)args->a;                                                                                                  \
        FOR_VALUES(count, T x = in[i], y = out[i]; out[i] = (expression));                                                       \
        return count;                                                                                                            \
    }

/* Operations that some values do not allow. statement sets z from x and y, or says `bad`. */
#define CHECKED(op, s, T, load, statement)                                                                                       \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const T *left = args->in[0], *right = args->in[1];                                                                       \
        const T scalar = (T)args->a;                                                                                             \
        uint64_t first_bad = count;                                                                                              \
        (void)right, (void)scalar;                                                                                               \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            T x = left[i], y = load, z = 0;                                                                                      \
            bool good = true;                                                                                                    \
            statement;                                                                                                           \
            if (!good && first_bad == count)                                                                                     \
                first_bad = i;                                                                                                   \
            out[i] = z;                                                                                                          \
        }                                                                                                                        \
        return first_bad;                                                                                                        \
    }
#define CHECKED_BOTH(op, t, T, statement)                                                                                        \
    CHECKED(op, t, T, right[i], statement)                                                                                       \
    CHECKED(op##s, t, T, scalar, statement)

/* Element numbers. */
#define IOTA(s, T, convert)                                                                                                      \
    static uint64_t iota_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const uint64_t width = args->width, first = args->first;                                                                 \
        if (width == 1) {                                                                                                        \
            for (uint64_t i = 0; i < count; i++)                                                                                 \
                out[i] = convert(first + i);                                                                                     \
        } else {                                                                                                                 \
            for (uint64_t i = 0, element = first; i < count; i += width, element++)                                              \
                for (uint64_t k = 0; k < width; k++)                                                                             \
                    out[i + k] = convert(element);                                                                               \
        }                                                                                                                        \
        return count;                                                                                                            \
    }

#define RANDOM(s, fill, P)                                                                                                       \
    static uint64_t random_##s(const dome_kernel_args *args, uint64_t count)                                                     \
    {                                                                                                                            \
        dome__random_fill_##fill((P *)args->out, count, args->seed, args->first * args->width);                                  \
        return count;                                                                                                            \
    }
RANDOM(i8, u8, uint8_t)
RANDOM(i16, u16, uint16_t)
RANDOM(i32, u32, uint32_t)
RANDOM(i64, u64, uint64_t)
RANDOM(u8, u8, uint8_t)
RANDOM(u16, u16, uint16_t)
RANDOM(u32, u32, uint32_t)
RANDOM(u64, u64, uint64_t)
RANDOM(f32, f32, float)
RANDOM(f64, f64, double)
RANDOM(c64, c64, float)
RANDOM(c128, c128, double)

/* ---- conversion of one value: to_<output>_<class of input> ---- */

/* The power of two above the largest value, exact in either floating-point type. */
#define ABOVE(L, T) ((T)(L##_MAX / 2 + 1) * 2)

#define TO_INTEGER(K, s, T, U, L, signed_in, unsigned_in)                                                                        \
    static inline T to_##s##_i64(int64_t x)                                                                                      \
    {                                                                                                                            \
        return signed_in;                                                                                                        \
    }                                                                                                                            \
    static inline T to_##s##_u64(uint64_t x)                                                                                     \
    {                                                                                                                            \
        return unsigned_in;                                                                                                      \
    }                                                                                                                            \
    static inline T to_##s##_f32(float x)                                                                                        \
    {                                                                                                                            \
        return x != x ? 0 : x >= ABOVE(L, float) ? L##_MAX : x <= (float)L##_MIN ? L##_MIN : (T)x;                               \
    }                                                                                                                            \
    static inline T to_##s##_f64(double x)                                                                                       \
    {                                                                                                                            \
        return x != x ? 0 : x >= ABOVE(L, double) ? L##_MAX : x <= (double)L##_MIN ? L##_MIN : (T)x;                             \
    }
#define TO_SIGNED(K, s, T, U, L)                                                                                                 \
    TO_INTEGER(K, s, T, U, L, x >= L##_MAX ? L##_MAX : x <= L##_MIN ? L##_MIN : (T)x, x >= (uint64_t)L##_MAX ? L##_MAX : (T)x)
#define TO_UNSIGNED(K, s, T, U, L)                                                                                               \
    TO_INTEGER(K, s, T, U, L, x <= 0 ? 0 : (uint64_t)x >= L##_MAX ? L##_MAX : (T)x, x >= L##_MAX ? L##_MAX : (T)x)
SIGNED_LIST(TO_SIGNED)
UNSIGNED_LIST(TO_UNSIGNED)

#define TO_FLOAT(K, s, T, f)                                                                                                     \
    static inline T to_##s##_i64(int64_t x)                                                                                      \
    {                                                                                                                            \
        return (T)x;                                                                                                             \
    }                                                                                                                            \
    static inline T to_##s##_u64(uint64_t x)                                                                                     \
    {                                                                                                                            \
        return (T)x;                                                                                                             \
    }                                                                                                                            \
    static inline T to_##s##_f32(float x)                                                                                        \
    {                                                                                                                            \
        return (T)x;                                                                                                             \
    }                                                                                                                            \
    static inline T to_##s##_f64(double x)                                                                                       \
    {                                                                                                                            \
        return (T)x;                                                                                                             \
    }
FLOAT_LIST(TO_FLOAT)

#define TO_COMPLEX(K, s, P, f)                                                                                                   \
    static inline s to_##s##_i64(int64_t x)                                                                                      \
    {                                                                                                                            \
        return (s){(P)x, 0};                                                                                                     \
    }                                                                                                                            \
    static inline s to_##s##_u64(uint64_t x)                                                                                     \
    {                                                                                                                            \
        return (s){(P)x, 0};                                                                                                     \
    }                                                                                                                            \
    static inline s to_##s##_f32(float x)                                                                                        \
    {                                                                                                                            \
        return (s){(P)x, 0};                                                                                                     \
    }                                                                                                                            \
    static inline s to_##s##_f64(double x)                                                                                       \
    {                                                                                                                            \
        return (s){(P)x, 0};                                                                                                     \
    }                                                                                                                            \
    static inline s to_##s##_c64(c64 x)                                                                                          \
    {                                                                                                                            \
        return (s){(P)x.re, (P)x.im};                                                                                            \
    }                                                                                                                            \
    static inline s to_##s##_c128(c128 x)                                                                                        \
    {                                                                                                                            \
        return (s){(P)x.re, (P)x.im};                                                                                            \
    }
COMPLEX_LIST(TO_COMPLEX)

/* ---- conversion: loops ---- */

#define CONVERT(z, Z, x, X, class)                                                                                               \
    static uint64_t convert_##x##_##z(const dome_kernel_args *args, uint64_t count)                                              \
    {                                                                                                                            \
        Z *out = args->out;                                                                                                      \
        const X *in = args->in[0];                                                                                               \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            out[i] = to_##z##_##class(in[i]);                                                                                    \
        return count;                                                                                                            \
    }
#define CONVERT_FROM_REAL(z, Z)                                                                                                  \
    CONVERT(z, Z, i8, int8_t, i64)                                                                                               \
    CONVERT(z, Z, i16, int16_t, i64)                                                                                             \
    CONVERT(z, Z, i32, int32_t, i64)                                                                                             \
    CONVERT(z, Z, i64, int64_t, i64)                                                                                             \
    CONVERT(z, Z, u8, uint8_t, u64)                                                                                              \
    CONVERT(z, Z, u16, uint16_t, u64)                                                                                            \
    CONVERT(z, Z, u32, uint32_t, u64)                                                                                            \
    CONVERT(z, Z, u64, uint64_t, u64)                                                                                            \
    CONVERT(z, Z, f32, float, f32)                                                                                               \
    CONVERT(z, Z, f64, double, f64)
#define CONVERT_FROM_COMPLEX(z, Z)                                                                                               \
    CONVERT(z, Z, c64, c64, c64)                                                                                                 \
    CONVERT(z, Z, c128, c128, c128)

#define ROW_FROM_REAL(K, z)                                                                                                      \
    [DOME_KIND_##K][DOME_KIND_I8] = convert_i8_##z, [DOME_KIND_##K][DOME_KIND_I16] = convert_i16_##z,                            \
    [DOME_KIND_##K][DOME_KIND_I32] = convert_i32_##z, [DOME_KIND_##K][DOME_KIND_I64] = convert_i64_##z,                          \
    [DOME_KIND_##K][DOME_KIND_U8] = convert_u8_##z, [DOME_KIND_##K][DOME_KIND_U16] = convert_u16_##z,                            \
    [DOME_KIND_##K][DOME_KIND_U32] = convert_u32_##z, [DOME_KIND_##K][DOME_KIND_U64] = convert_u64_##z,                          \
    [DOME_KIND_##K][DOME_KIND_F32] = convert_f32_##z, [DOME_KIND_##K][DOME_KIND_F64] = convert_f64_##z,
#define ROW_FROM_COMPLEX(K, z)                                                                                                   \
    [DOME_KIND_##K][DOME_KIND_C64] = convert_c64_##z, [DOME_KIND_##K][DOME_KIND_C128] = convert_c128_##z,

/* ---- the kernels, class by class ---- */

#define COMPARISONS(s, T)                                                                                                        \
    BOTH(eq, s, uint8_t, T, x == y)                                                                                              \
    BOTH(ne, s, uint8_t, T, x != y)                                                                                              \
    BOTH(lt, s, uint8_t, T, x < y)                                                                                               \
    BOTH(le, s, uint8_t, T, x <= y)                                                                                              \
    BOTH(gt, s, uint8_t, T, x > y)                                                                                               \
    BOTH(ge, s, uint8_t, T, x >= y)

#define INTEGER(K, s, T, U, L)                                                                                                   \
    FILL(s, T, T, y)                                                                                                             \
    BOTH(add, s, T, T, (T)((U)x + (U)y))                                                                                         \
    BOTH(sub, s, T, T, (T)((U)x - (U)y))                                                                                         \
    BOTH(mul, s, T, T, (T)((U)x * (U)y))                                                                                         \
    BOTH(min, s, T, T, x < y ? x : y)                                                                                            \
    BOTH(max, s, T, T, x > y ? x : y)                                                                                            \
    CHECKED_BOTH(div, s, T, if (y != 0) z = quotient_##s(x, y); else good = false)                                               \
    CHECKED_BOTH(pow, s, T, good = power_##s(x, y, &z))                                                                          \
    AXPY(s, T, T, (T)((U)y + (U)a * (U)x))                                                                                       \
    UNARY(neg, s, T, (T)(0 - (U)x))                                                                                              \
    UNARY(abs, s, T, absolute_##s(x))                                                                                            \
    COMPARISONS(s, T)                                                                                                            \
    IOTA(s, T, to_##s##_u64)                                                                                                     \
    CONVERT_FROM_REAL(s, T)
SIGNED_LIST(INTEGER)
UNSIGNED_LIST(INTEGER)

#define FLOATING(K, s, T, f)                                                                                                     \
    FILL(s, T, T, y)                                                                                                             \
    BOTH(add, s, T, T, x + y)                                                                                                    \
    BOTH(sub, s, T, T, x - y)                                                                                                    \
    BOTH(mul, s, T, T, (x) * (y))                                                                                                \
    BOTH(div, s, T, T, x / y)                                                                                                    \
    BOTH(min, s, T, T, x < y || x != x ? x : y)                                                                                  \
    BOTH(max, s, T, T, x > y || x != x ? x : y)                                                                                  \
    BOTH(pow, s, T, T, pow##f(x, y))                                                                                             \
    AXPY(s, T, T, y + DOME_ROUNDED(a * x))                                                                                       \
    UNARY(neg, s, T, -x)                                                                                                         \
    UNARY(abs, s, T, fabs##f(x))                                                                                                 \
    UNARY(sqrt, s, T, sqrt##f(x))                                                                                                \
    UNARY(exp, s, T, exp##f(x))                                                                                                  \
    UNARY(log, s, T, log##f(x))                                                                                                  \
    UNARY(sin, s, T, sin##f(x))                                                                                                  \
    UNARY(cos, s, T, cos##f(x))                                                                                                  \
    COMPARISONS(s, T)                                                                                                            \
    IOTA(s, T, to_##s##_u64)                                                                                                     \
    CONVERT_FROM_REAL(s, T)
FLOAT_LIST(FLOATING)

#define COMPLEX(K, s, P, f)                                                                                                      \
    FILL(s, s, P, ((s){y, 0}))                                                                                                   \
    BINARY(add, s, s, s, add_one_##s(x, y))                                                                                      \
    BINARY(sub, s, s, s, sub_one_##s(x, y))                                                                                      \
    BINARY(mul, s, s, s, mul_one_##s(x, y))                                                                                      \
    BINARY(div, s, s, s, div_one_##s(x, y))                                                                                      \
    BINARY(pow, s, s, s, from_c_##s(cpow##f(to_c_##s(x), to_c_##s(y))))                                                          \
    SCALAR(adds, s, s, s, P, ((s){x.re + y, x.im}))                                                                              \
    SCALAR(subs, s, s, s, P, ((s){x.re - y, x.im}))                                                                              \
    SCALAR(muls, s, s, s, P, ((s){x.re * y, x.im * y}))                                                                          \
    SCALAR(divs, s, s, s, P, ((s){x.re / y, x.im / y}))                                                                          \
    SCALAR(pows, s, s, s, P, from_c_##s(cpow##f(to_c_##s(x), to_c_##s((s){y, 0}))))                                              \
    AXPY(s, s, P, ((s){y.re + DOME_ROUNDED(a * x.re), y.im + DOME_ROUNDED(a * x.im)}))                                           \
    UNARY(neg, s, s, ((s){-x.re, -x.im}))                                                                                        \
    UNARY(abs, s, s, ((s){hypot##f(x.re, x.im), 0}))                                                                             \
    UNARY(sqrt, s, s, from_c_##s(csqrt##f(to_c_##s(x))))                                                                         \
    UNARY(exp, s, s, from_c_##s(cexp##f(to_c_##s(x))))                                                                           \
    UNARY(log, s, s, from_c_##s(clog##f(to_c_##s(x))))                                                                           \
    UNARY(sin, s, s, from_c_##s(csin##f(to_c_##s(x))))                                                                           \
    UNARY(cos, s, s, from_c_##s(ccos##f(to_c_##s(x))))                                                                           \
    BINARY(eq, s, uint8_t, s, x.re == y.re && x.im == y.im)                                                                      \
    BINARY(ne, s, uint8_t, s, x.re != y.re || x.im != y.im)                                                                      \
    SCALAR(eqs, s, uint8_t, s, P, x.re == y && x.im == 0)                                                                        \
    SCALAR(nes, s, uint8_t, s, P, x.re != y || x.im != 0)                                                                        \
    IOTA(s, s, to_##s##_u64)                                                                                                     \
    CONVERT_FROM_REAL(s, s)                                                                                                      \
    CONVERT_FROM_COMPLEX(s, s)
COMPLEX_LIST(COMPLEX)

BINARY(and, u8, uint8_t, uint8_t, (x != 0) & (y != 0))
BINARY(or, u8, uint8_t, uint8_t, (x != 0) | (y != 0))
BINARY(xor, u8, uint8_t, uint8_t, (x != 0) ^ (y != 0))
UNARY(not, u8, uint8_t, x == 0)

/* ---- by bytes: any type ---- */

static uint64_t copy_bytes(const dome_kernel_args *args, uint64_t count)
{
    if (args->out != args->in[0] && count)
        memcpy(args->out, args->in[0], count * args->bytes);
    return count;
}

#define SELECT(bits)                                                                                                             \
    static uint64_t select_##bits(const dome_kernel_args *args, uint64_t count)                                                  \
    {                                                                                                                            \
        uint##bits##_t *out = args->out;                                                                                         \
        const uint8_t *mask = args->in[0];                                                                                       \
        const uint##bits##_t *x = args->in[1], *y = args->in[2];                                                                 \
        INDEPENDENT                                                                                                              \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            uint##bits##_t yes = x[i], no = y[i];                                                                                \
            out[i] = mask[i] ? yes : no;                                                                                         \
        }                                                                                                                        \
        return count;                                                                                                            \
    }
SELECT(8)
SELECT(16)
SELECT(32)
SELECT(64)

static uint64_t select_bytes(const dome_kernel_args *args, uint64_t count)
{
    char *out = args->out;
    const uint8_t *mask = args->in[0];
    const char *x = args->in[1], *y = args->in[2];
    for (uint64_t i = 0; i < count; i++) {
        const char *from = (mask[i] ? x : y) + i * args->bytes;
        if (out + i * args->bytes != from)
            memcpy(out + i * args->bytes, from, args->bytes);
    }
    return count;
}

/* ---- tables ---- */

#define ENTRY(CODE, K, function) [DOME_OP_DVEC_##CODE][DOME_KIND_##K] = function,
#define ENTRIES(CODE, K, op, t)  ENTRY(CODE, K, op##_##t) ENTRY(CODE##S, K, op##s_##t)
#define ARITHMETIC_ENTRIES(K, s)                                                                                                 \
    ENTRY(FILL, K, fill_##s)                                                                                                     \
    ENTRIES(ADD, K, add, s)                                                                                                      \
    ENTRIES(SUB, K, sub, s)                                                                                                      \
    ENTRIES(MUL, K, mul, s)                                                                                                      \
    ENTRIES(DIV, K, div, s)                                                                                                      \
    ENTRIES(POW, K, pow, s)                                                                                                      \
    ENTRY(AXPY, K, axpy_##s)                                                                                                     \
    ENTRY(NEG, K, neg_##s)                                                                                                       \
    ENTRY(ABS, K, abs_##s)                                                                                                       \
    ENTRIES(EQ, K, eq, s)                                                                                                        \
    ENTRIES(NE, K, ne, s)                                                                                                        \
    ENTRY(IOTA, K, iota_##s)                                                                                                     \
    ENTRY(RANDOM, K, random_##s)
#define ORDER_ENTRIES(K, s)                                                                                                      \
    ENTRIES(MIN, K, min, s)                                                                                                      \
    ENTRIES(MAX, K, max, s)                                                                                                      \
    ENTRIES(LT, K, lt, s)                                                                                                        \
    ENTRIES(LE, K, le, s)                                                                                                        \
    ENTRIES(GT, K, gt, s)                                                                                                        \
    ENTRIES(GE, K, ge, s)
#define FUNCTION_ENTRIES(K, s)                                                                                                   \
    ENTRY(SQRT, K, sqrt_##s)                                                                                                     \
    ENTRY(EXP, K, exp_##s)                                                                                                       \
    ENTRY(LOG, K, log_##s)                                                                                                       \
    ENTRY(SIN, K, sin_##s)                                                                                                       \
    ENTRY(COS, K, cos_##s)

#define INTEGER_ENTRIES(K, s, T, U, L) ARITHMETIC_ENTRIES(K, s) ORDER_ENTRIES(K, s)
#define FLOAT_ENTRIES(K, s, T, f)      ARITHMETIC_ENTRIES(K, s) ORDER_ENTRIES(K, s) FUNCTION_ENTRIES(K, s)
#define COMPLEX_ENTRIES(K, s, P, f)    ARITHMETIC_ENTRIES(K, s) FUNCTION_ENTRIES(K, s)

static const dome_kernel by_type[DOME_OPERATIONS][DOME_KIND_STRUCT] = {
    SIGNED_LIST(INTEGER_ENTRIES) UNSIGNED_LIST(INTEGER_ENTRIES) FLOAT_LIST(FLOAT_ENTRIES) COMPLEX_LIST(COMPLEX_ENTRIES)
        ENTRY(AND, U8, and_u8) ENTRY(OR, U8, or_u8) ENTRY(XOR, U8, xor_u8) ENTRY(NOT, U8, not_u8)};

#define CONVERT_INTEGER_ROW(K, s, T, U, L) ROW_FROM_REAL(K, s)
#define CONVERT_FLOAT_ROW(K, s, T, f)      ROW_FROM_REAL(K, s)
#define CONVERT_COMPLEX_ROW(K, s, P, f)    ROW_FROM_REAL(K, s) ROW_FROM_COMPLEX(K, s)

static const dome_kernel converts[DOME_KIND_STRUCT][DOME_KIND_STRUCT] = {SIGNED_LIST(CONVERT_INTEGER_ROW) UNSIGNED_LIST(
    CONVERT_INTEGER_ROW) FLOAT_LIST(CONVERT_FLOAT_ROW) COMPLEX_LIST(CONVERT_COMPLEX_ROW)};

dome_kernel DOME_VARIANT_OF(dome__kernel)(dome_operation_code code, dome_type type, dome_type from)
{
    dome_type_kind kind = dome_type_kind_of(type);
    switch (code) {
    case DOME_OP_DVEC_COPY:
        return copy_bytes;
    case DOME_OP_DVEC_SELECT:
        if (kind == DOME_KIND_STRUCT)
            return select_bytes;
        switch (dome_type_size(type)) {
        case 1:
            return select_8;
        case 2:
            return select_16;
        case 4:
            return select_32;
        case 8:
            return select_64;
        default:
            return select_bytes;
        }
    case DOME_OP_DVEC_CONVERT:
        if (kind == DOME_KIND_STRUCT || dome_type_kind_of(from) == DOME_KIND_STRUCT)
            return NULL;
        return converts[kind][dome_type_kind_of(from)];
    default:
        return kind == DOME_KIND_STRUCT ? NULL : by_type[code][kind];
    }
}
