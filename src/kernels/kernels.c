#include "kernels/kernels.h"

#include "kernels/elementwise.h"
#include "kernels/kernels_variant.h"
#include "kernels/normal.h"
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
    static inline T truncated_rest_##s(T x, T y)                                                                                 \
    {                                                                                                                            \
        return y == -1 ? 0 : (T)(x % y);                                                                                         \
    }                                                                                                                            \
    static inline T floor_quotient_##s(T x, T y)                                                                                 \
    {                                                                                                                            \
        return y == -1 ? (T)(0 - (U)x) : (T)(x / y - (x % y != 0 && (x < 0) != (y < 0)));                                        \
    }                                                                                                                            \
    static inline T floor_remainder_##s(T x, T y)                                                                                \
    {                                                                                                                            \
        const T r = truncated_rest_##s(x, y);                                                                                    \
        return r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;                                                                    \
    }                                                                                                                            \
    static inline T sign_##s##_of(T x)                                                                                           \
    {                                                                                                                            \
        return (T)((x > 0) - (x < 0));                                                                                           \
    }                                                                                                                            \
    static inline uint8_t is_negative_##s(T x)                                                                                   \
    {                                                                                                                            \
        return x < 0;                                                                                                            \
    }                                                                                                                            \
    static inline T shifted_right_##s(T x, T y)                                                                                  \
    {                                                                                                                            \
        return (T)(x >> ((U)y < 8 * sizeof(T) ? (U)y : 8 * sizeof(T) - 1));                                                      \
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
    static inline T truncated_rest_##s(T x, T y)                                                                                 \
    {                                                                                                                            \
        return (T)(x % y);                                                                                                       \
    }                                                                                                                            \
    static inline T floor_quotient_##s(T x, T y)                                                                                 \
    {                                                                                                                            \
        return (T)(x / y);                                                                                                       \
    }                                                                                                                            \
    static inline T floor_remainder_##s(T x, T y)                                                                                \
    {                                                                                                                            \
        return (T)(x % y);                                                                                                       \
    }                                                                                                                            \
    static inline T sign_##s##_of(T x)                                                                                           \
    {                                                                                                                            \
        return x != 0;                                                                                                           \
    }                                                                                                                            \
    static inline uint8_t is_negative_##s(T x)                                                                                   \
    {                                                                                                                            \
        (void)x;                                                                                                                 \
        return 0;                                                                                                                \
    }                                                                                                                            \
    static inline T shifted_right_##s(T x, T y)                                                                                  \
    {                                                                                                                            \
        return (U)y < 8 * sizeof(T) ? (T)(x >> y) : 0;                                                                           \
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

/* Quotients rounded down and their remainders are those of Python and NumPy: the quotient is made from the exact remainder, and
 * is a whole number again after it was rounded. */
#define FLOAT_VALUE(K, s, T, f)                                                                                                  \
    static inline T floor_remainder_##s(T x, T y)                                                                                \
    {                                                                                                                            \
        const T r = fmod##f(x, y);                                                                                               \
        if (r == 0)                                                                                                              \
            return copysign##f(0, y);                                                                                            \
        return (r < 0) != (y < 0) && r == r ? r + y : r;                                                                         \
    }                                                                                                                            \
    static inline T floor_quotient_##s(T x, T y)                                                                                 \
    {                                                                                                                            \
        if (y == 0)                                                                                                              \
            return x / y;                                                                                                        \
        const T r = fmod##f(x, y);                                                                                               \
        const T q = (x - r) / y - (r != 0 && (r < 0) != (y < 0) ? 1 : 0);                                                        \
        if (q == 0)                                                                                                              \
            return copysign##f(0, x / y);                                                                                        \
        const T whole = floor##f(q);                                                                                             \
        return q - whole > (T)0.5 ? whole + 1 : whole;                                                                           \
    }                                                                                                                            \
    static inline T logaddexp_one_##s(T x, T y)                                                                                  \
    {                                                                                                                            \
        const T d = x - y;                                                                                                       \
        if (x == y)                                                                                                              \
            return x + (T)M_LN2;                                                                                                 \
        return d > 0 ? x + log1p##f(exp##f(-d)) : d <= 0 ? y + log1p##f(exp##f(d)) : d;                                          \
    }                                                                                                                            \
    static inline T sign_##s##_of(T x)                                                                                           \
    {                                                                                                                            \
        return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;                                                                          \
    }
FLOAT_LIST(FLOAT_VALUE)

/* Complex numbers as pairs: the results of C's own complex operators depend on compiler and flags. */
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
    static inline s sign_##s##_of(s x)                                                                                           \
    {                                                                                                                            \
        const P size = hypot##f(x.re, x.im);                                                                                     \
        return size == 0 ? (s){0, 0} : (s){x.re / size, x.im / size};                                                            \
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
#define UNARY(op, s, Z, T, expression)                                                                                           \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        Z *out = args->out;                                                                                                      \
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

#define FILL(op, s, T, A, expression)                                                                                            \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const A y = (A)args->a;                                                                                                  \
        const T value = (expression);                                                                                            \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            out[i] = value;                                                                                                      \
        return count;                                                                                                            \
    }

#define AXPY(op, s, T, A, expression)                                                                                            \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
    {                                                                                                                            \
        T *out = args->out;                                                                                                      \
        const T *in = args->in[0];                                                                                               \
        const A a = (A)args->a;                                                                                                  \
        FOR_VALUES(count, T x = in[i], y = out[i]; out[i] = (expression));                                                       \
        return count;                                                                                                            \
    }

/* Operations that are undefined for some values. statement sets z from x and y, or `bad`. */
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
#define CHECKED_SCALAR(op, t, T, statement) CHECKED(op, t, T, scalar, statement)
#define CHECKED_BOTH(op, t, T, statement)                                                                                        \
    CHECKED(op, t, T, right[i], statement)                                                                                       \
    CHECKED(op##s, t, T, scalar, statement)

/* Element numbers. */
#define IOTA(op, s, T, convert)                                                                                                  \
    static uint64_t op##_##s(const dome_kernel_args *args, uint64_t count)                                                       \
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

#define RANDOM_NORMAL(s, P)                                                                                                      \
    static uint64_t random_normal_##s(const dome_kernel_args *args, uint64_t count)                                              \
    {                                                                                                                            \
        dome__normal_fill_##s((P *)args->out, count, args->seed, args->first * args->width);                                     \
        return count;                                                                                                            \
    }
RANDOM_NORMAL(f32, float)
RANDOM_NORMAL(f64, double)
RANDOM_NORMAL(c64, float)
RANDOM_NORMAL(c128, double)

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

/* X(form, code, name, kind, suffix, ...): further arguments depend on the form. Each line makes a function and its entry in the
 * table. */
#define ORDER_KERNELS(X, K, s, T)                                                                                                \
    X(BOTH, EQ, eq, K, s, uint8_t, T, x == y)                                                                                    \
    X(BOTH, NE, ne, K, s, uint8_t, T, x != y)                                                                                    \
    X(BOTH, LT, lt, K, s, uint8_t, T, x < y)                                                                                     \
    X(BOTH, LE, le, K, s, uint8_t, T, x <= y)                                                                                    \
    X(BOTH, GT, gt, K, s, uint8_t, T, x > y)                                                                                     \
    X(BOTH, GE, ge, K, s, uint8_t, T, x >= y)

#define INTEGER_KERNELS(X, K, s, T, U)                                                                                           \
    ORDER_KERNELS(X, K, s, T)                                                                                                    \
    X(FILL, FILL, fill, K, s, T, T, y)                                                                                           \
    X(BOTH, ADD, add, K, s, T, T, (T)((U)x + (U)y))                                                                              \
    X(BOTH, SUB, sub, K, s, T, T, (T)((U)x - (U)y))                                                                              \
    X(BOTH, MUL, mul, K, s, T, T, (T)((U)x * (U)y))                                                                              \
    X(BOTH, MIN, min, K, s, T, T, x < y ? x : y)                                                                                 \
    X(BOTH, MAX, max, K, s, T, T, x > y ? x : y)                                                                                 \
    X(CHECKED_BOTH, DIV, div, K, s, T, if (y != 0) z = quotient_##s(x, y); else good = false)                                    \
    X(CHECKED_BOTH, FMOD, fmod, K, s, T, if (y != 0) z = truncated_rest_##s(x, y); else good = false)                            \
    X(CHECKED_BOTH, FLOOR_DIVIDE, floor_divide, K, s, T, if (y != 0) z = floor_quotient_##s(x, y); else good = false)            \
    X(CHECKED_BOTH, REMAINDER, remainder, K, s, T, if (y != 0) z = floor_remainder_##s(x, y); else good = false)                 \
    X(CHECKED_BOTH, POW, pow, K, s, T, good = power_##s(x, y, &z))                                                               \
    X(SCALAR, RSUBS, rsubs, K, s, T, T, T, (T)((U)y - (U)x))                                                                     \
    X(CHECKED_SCALAR, RDIVS, rdivs, K, s, T, if (x != 0) z = quotient_##s(y, x); else good = false)                              \
    X(CHECKED_SCALAR, RPOWS, rpows, K, s, T, good = power_##s(y, x, &z))                                                         \
    X(AXPY, AXPY, axpy, K, s, T, T, (T)((U)y + (U)a * (U)x))                                                                     \
    X(UNARY, NEG, neg, K, s, T, T, (T)(0 - (U)x))                                                                                \
    X(UNARY, ABS, abs, K, s, T, T, absolute_##s(x))                                                                              \
    X(UNARY, SIGN, sign, K, s, T, T, sign_##s##_of(x))                                                                           \
    X(UNARY, ISNAN, isnan, K, s, uint8_t, T, ((void)x, 0))                                                                       \
    X(UNARY, ISINF, isinf, K, s, uint8_t, T, ((void)x, 0))                                                                       \
    X(UNARY, ISFINITE, isfinite, K, s, uint8_t, T, ((void)x, 1))                                                                 \
    X(UNARY, SIGNBIT, signbit, K, s, uint8_t, T, is_negative_##s(x))                                                             \
    X(BOTH, BITAND, bitand, K, s, T, T, (T)(x & y))                                                                              \
    X(BOTH, BITOR, bitor, K, s, T, T, (T)(x | y))                                                                                \
    X(BOTH, BITXOR, bitxor, K, s, T, T, (T)(x ^ y))                                                                              \
    X(UNARY, BITNOT, bitnot, K, s, T, T, (T)~x)                                                                                  \
    X(BOTH, LSHIFT, lshift, K, s, T, T, (U)y < 8 * sizeof(T) ? (T)((U)x << ((U)y & 63)) : 0)                                     \
    X(BOTH, RSHIFT, rshift, K, s, T, T, shifted_right_##s(x, y))                                                                 \
    X(IOTA, IOTA, iota, K, s, T, to_##s##_u64)                                                                                   \
    X(MADE, RANDOM, random, K, s, )

#define FLOAT_KERNELS(X, K, s, T, f)                                                                                             \
    ORDER_KERNELS(X, K, s, T)                                                                                                    \
    X(FILL, FILL, fill, K, s, T, T, y)                                                                                           \
    X(BOTH, ADD, add, K, s, T, T, x + y)                                                                                         \
    X(BOTH, SUB, sub, K, s, T, T, x - y)                                                                                         \
    X(BOTH, MUL, mul, K, s, T, T, (x) * (y))                                                                                     \
    X(BOTH, DIV, div, K, s, T, T, x / y)                                                                                         \
    X(BOTH, MIN, min, K, s, T, T, x < y || x != x ? x : y)                                                                       \
    X(BOTH, MAX, max, K, s, T, T, x > y || x != x ? x : y)                                                                       \
    X(BOTH, POW, pow, K, s, T, T, pow##f(x, y))                                                                                  \
    X(BOTH, FMOD, fmod, K, s, T, T, fmod##f(x, y))                                                                               \
    X(BOTH, FLOOR_DIVIDE, floor_divide, K, s, T, T, floor_quotient_##s(x, y))                                                    \
    X(BOTH, REMAINDER, remainder, K, s, T, T, floor_remainder_##s(x, y))                                                         \
    X(SCALAR, RSUBS, rsubs, K, s, T, T, T, y - x)                                                                                \
    X(SCALAR, RDIVS, rdivs, K, s, T, T, T, y / x)                                                                                \
    X(SCALAR, RPOWS, rpows, K, s, T, T, T, pow##f(y, x))                                                                         \
    X(BINARY, ATAN2, atan2, K, s, T, T, atan2##f(x, y))                                                                          \
    X(BINARY, HYPOT, hypot, K, s, T, T, hypot##f(x, y))                                                                          \
    X(BINARY, COPYSIGN, copysign, K, s, T, T, copysign##f(x, y))                                                                 \
    X(BINARY, NEXTAFTER, nextafter, K, s, T, T, nextafter##f(x, y))                                                              \
    X(BINARY, LOGADDEXP, logaddexp, K, s, T, T, logaddexp_one_##s(x, y))                                                         \
    X(AXPY, AXPY, axpy, K, s, T, T, y + DOME_ROUNDED(a * x))                                                                     \
    X(UNARY, NEG, neg, K, s, T, T, -x)                                                                                           \
    X(UNARY, ABS, abs, K, s, T, T, fabs##f(x))                                                                                   \
    X(UNARY, SIGN, sign, K, s, T, T, sign_##s##_of(x))                                                                           \
    X(UNARY, ISNAN, isnan, K, s, uint8_t, T, x != x)                                                                             \
    X(UNARY, ISINF, isinf, K, s, uint8_t, T, fabs##f(x) == (T)INFINITY)                                                          \
    X(UNARY, ISFINITE, isfinite, K, s, uint8_t, T, fabs##f(x) < (T)INFINITY)                                                     \
    X(UNARY, SIGNBIT, signbit, K, s, uint8_t, T, signbit(x) != 0)                                                                \
    X(UNARY, SQRT, sqrt, K, s, T, T, sqrt##f(x))                                                                                 \
    X(UNARY, EXP, exp, K, s, T, T, exp##f(x))                                                                                    \
    X(UNARY, LOG, log, K, s, T, T, log##f(x))                                                                                    \
    X(UNARY, SIN, sin, K, s, T, T, sin##f(x))                                                                                    \
    X(UNARY, COS, cos, K, s, T, T, cos##f(x))                                                                                    \
    X(UNARY, TAN, tan, K, s, T, T, tan##f(x))                                                                                    \
    X(UNARY, ASIN, asin, K, s, T, T, asin##f(x))                                                                                 \
    X(UNARY, ACOS, acos, K, s, T, T, acos##f(x))                                                                                 \
    X(UNARY, ATAN, atan, K, s, T, T, atan##f(x))                                                                                 \
    X(UNARY, SINH, sinh, K, s, T, T, sinh##f(x))                                                                                 \
    X(UNARY, COSH, cosh, K, s, T, T, cosh##f(x))                                                                                 \
    X(UNARY, TANH, tanh, K, s, T, T, tanh##f(x))                                                                                 \
    X(UNARY, ASINH, asinh, K, s, T, T, asinh##f(x))                                                                              \
    X(UNARY, ACOSH, acosh, K, s, T, T, acosh##f(x))                                                                              \
    X(UNARY, ATANH, atanh, K, s, T, T, atanh##f(x))                                                                              \
    X(UNARY, EXP2, exp2, K, s, T, T, exp2##f(x))                                                                                 \
    X(UNARY, EXPM1, expm1, K, s, T, T, expm1##f(x))                                                                              \
    X(UNARY, LOG2, log2, K, s, T, T, log2##f(x))                                                                                 \
    X(UNARY, LOG10, log10, K, s, T, T, log10##f(x))                                                                              \
    X(UNARY, LOG1P, log1p, K, s, T, T, log1p##f(x))                                                                              \
    X(UNARY, CBRT, cbrt, K, s, T, T, cbrt##f(x))                                                                                 \
    X(UNARY, ERF, erf, K, s, T, T, erf##f(x))                                                                                    \
    X(UNARY, ERFC, erfc, K, s, T, T, erfc##f(x))                                                                                 \
    X(UNARY, FLOOR, floor, K, s, T, T, floor##f(x))                                                                              \
    X(UNARY, CEIL, ceil, K, s, T, T, ceil##f(x))                                                                                 \
    X(UNARY, ROUND, round, K, s, T, T, rint##f(x))                                                                               \
    X(UNARY, TRUNC, trunc, K, s, T, T, trunc##f(x))                                                                              \
    X(IOTA, IOTA, iota, K, s, T, to_##s##_u64)                                                                                   \
    X(MADE, RANDOM, random, K, s, )                                                                                              \
    X(MADE, RANDOM_NORMAL, random_normal, K, s, )

/* A function of the C library. */
#define LIBRARY(s, function, x) from_c_##s(function(to_c_##s(x)))

#define COMPLEX_KERNELS(X, K, s, P, f)                                                                                           \
    X(FILL, FILL, fill, K, s, s, P, ((s){y, 0}))                                                                                 \
    X(BINARY, ADD, add, K, s, s, s, add_one_##s(x, y))                                                                           \
    X(BINARY, SUB, sub, K, s, s, s, sub_one_##s(x, y))                                                                           \
    X(BINARY, MUL, mul, K, s, s, s, mul_one_##s(x, y))                                                                           \
    X(BINARY, DIV, div, K, s, s, s, div_one_##s(x, y))                                                                           \
    X(BINARY, POW, pow, K, s, s, s, from_c_##s(cpow##f(to_c_##s(x), to_c_##s(y))))                                               \
    X(SCALAR, ADDS, adds, K, s, s, s, P, ((s){x.re + y, x.im}))                                                                  \
    X(SCALAR, SUBS, subs, K, s, s, s, P, ((s){x.re - y, x.im}))                                                                  \
    X(SCALAR, MULS, muls, K, s, s, s, P, ((s){x.re * y, x.im * y}))                                                              \
    X(SCALAR, DIVS, divs, K, s, s, s, P, ((s){x.re / y, x.im / y}))                                                              \
    X(SCALAR, POWS, pows, K, s, s, s, P, from_c_##s(cpow##f(to_c_##s(x), to_c_##s((s){y, 0}))))                                  \
    X(SCALAR, RSUBS, rsubs, K, s, s, s, P, ((s){y - x.re, -x.im}))                                                               \
    X(SCALAR, RDIVS, rdivs, K, s, s, s, P, div_one_##s((s){y, 0}, x))                                                            \
    X(SCALAR, RPOWS, rpows, K, s, s, s, P, from_c_##s(cpow##f(to_c_##s((s){y, 0}), to_c_##s(x))))                                \
    X(AXPY, AXPY, axpy, K, s, s, P, ((s){y.re + DOME_ROUNDED(a * x.re), y.im + DOME_ROUNDED(a * x.im)}))                         \
    X(UNARY, NEG, neg, K, s, s, s, ((s){-x.re, -x.im}))                                                                          \
    X(UNARY, ABS, abs, K, s, s, s, ((s){hypot##f(x.re, x.im), 0}))                                                               \
    X(UNARY, SIGN, sign, K, s, s, s, sign_##s##_of(x))                                                                           \
    X(UNARY, ISNAN, isnan, K, s, uint8_t, s, x.re != x.re || x.im != x.im)                                                       \
    X(UNARY, ISINF, isinf, K, s, uint8_t, s, fabs##f(x.re) == (P)INFINITY || fabs##f(x.im) == (P)INFINITY)                       \
    X(UNARY, ISFINITE, isfinite, K, s, uint8_t, s, fabs##f(x.re) < (P)INFINITY && fabs##f(x.im) < (P)INFINITY)                   \
    X(UNARY, CONJ, conj, K, s, s, s, ((s){x.re, -x.im}))                                                                         \
    X(UNARY, REAL, real, K, s, P, s, x.re)                                                                                       \
    X(UNARY, IMAG, imag, K, s, P, s, x.im)                                                                                       \
    X(UNARY, ARG, arg, K, s, P, s, atan2##f(x.im, x.re))                                                                         \
    X(UNARY, SQRT, sqrt, K, s, s, s, LIBRARY(s, csqrt##f, x))                                                                    \
    X(UNARY, EXP, exp, K, s, s, s, LIBRARY(s, cexp##f, x))                                                                       \
    X(UNARY, LOG, log, K, s, s, s, LIBRARY(s, clog##f, x))                                                                       \
    X(UNARY, SIN, sin, K, s, s, s, LIBRARY(s, csin##f, x))                                                                       \
    X(UNARY, COS, cos, K, s, s, s, LIBRARY(s, ccos##f, x))                                                                       \
    X(UNARY, TAN, tan, K, s, s, s, LIBRARY(s, ctan##f, x))                                                                       \
    X(UNARY, ASIN, asin, K, s, s, s, LIBRARY(s, casin##f, x))                                                                    \
    X(UNARY, ACOS, acos, K, s, s, s, LIBRARY(s, cacos##f, x))                                                                    \
    X(UNARY, ATAN, atan, K, s, s, s, LIBRARY(s, catan##f, x))                                                                    \
    X(UNARY, SINH, sinh, K, s, s, s, LIBRARY(s, csinh##f, x))                                                                    \
    X(UNARY, COSH, cosh, K, s, s, s, LIBRARY(s, ccosh##f, x))                                                                    \
    X(UNARY, TANH, tanh, K, s, s, s, LIBRARY(s, ctanh##f, x))                                                                    \
    X(UNARY, ASINH, asinh, K, s, s, s, LIBRARY(s, casinh##f, x))                                                                 \
    X(UNARY, ACOSH, acosh, K, s, s, s, LIBRARY(s, cacosh##f, x))                                                                 \
    X(UNARY, ATANH, atanh, K, s, s, s, LIBRARY(s, catanh##f, x))                                                                 \
    X(BINARY, EQ, eq, K, s, uint8_t, s, x.re == y.re && x.im == y.im)                                                            \
    X(BINARY, NE, ne, K, s, uint8_t, s, x.re != y.re || x.im != y.im)                                                            \
    X(SCALAR, EQS, eqs, K, s, uint8_t, s, P, x.re == y && x.im == 0)                                                             \
    X(SCALAR, NES, nes, K, s, uint8_t, s, P, x.re != y || x.im != 0)                                                             \
    X(IOTA, IOTA, iota, K, s, s, to_##s##_u64)                                                                                   \
    X(MADE, RANDOM, random, K, s, )                                                                                              \
    X(MADE, RANDOM_NORMAL, random_normal, K, s, )

#define MASK_KERNELS(X)                                                                                                          \
    X(BINARY, AND, and, U8, u8, uint8_t, uint8_t, (x != 0) & (y != 0))                                                           \
    X(BINARY, OR, or, U8, u8, uint8_t, uint8_t, (x != 0) | (y != 0))                                                             \
    X(BINARY, XOR, xor, U8, u8, uint8_t, uint8_t, (x != 0) ^ (y != 0))                                                           \
    X(UNARY, NOT, not, U8, u8, uint8_t, uint8_t, x == 0)

#define MADE(op, s, ...)                  /* defined: the function exists */
#define DEFINE(form, CODE, op, K, s, ...) form(op, s, __VA_ARGS__)
#define DEFINE_INTEGER(K, s, T, U, L)                                                                                            \
    INTEGER_KERNELS(DEFINE, K, s, T, U)                                                                                          \
    CONVERT_FROM_REAL(s, T)
#define DEFINE_FLOAT(K, s, T, f)                                                                                                 \
    FLOAT_KERNELS(DEFINE, K, s, T, f)                                                                                            \
    CONVERT_FROM_REAL(s, T)
#define DEFINE_COMPLEX(K, s, P, f)                                                                                               \
    COMPLEX_KERNELS(DEFINE, K, s, P, f)                                                                                          \
    CONVERT_FROM_REAL(s, s)                                                                                                      \
    CONVERT_FROM_COMPLEX(s, s)
SIGNED_LIST(DEFINE_INTEGER)
UNSIGNED_LIST(DEFINE_INTEGER)
FLOAT_LIST(DEFINE_FLOAT)
COMPLEX_LIST(DEFINE_COMPLEX)
MASK_KERNELS(DEFINE)

/* ---- by bytes, for any type ---- */

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

#define ENTRY(CODE, op, K, s)                [DOME_ELEMENTWISE_##CODE][DOME_KIND_##K] = op##_##s,
#define ENTRIES(CODE, op, K, t)              ENTRY(CODE, op, K, t) ENTRY(CODE##S, op##s, K, t)
#define ENTER_FILL                           ENTRY
#define ENTER_MADE                           ENTRY
#define ENTER_UNARY                          ENTRY
#define ENTER_BINARY                         ENTRY
#define ENTER_SCALAR                         ENTRY
#define ENTER_CHECKED_SCALAR                 ENTRY
#define ENTER_AXPY                           ENTRY
#define ENTER_IOTA                           ENTRY
#define ENTER_BOTH                           ENTRIES
#define ENTER_CHECKED_BOTH                   ENTRIES
#define ENTER(form, CODE, op, K, s, ...)     ENTER_##form(CODE, op, K, s)
#define ENTER_INTEGER_KERNELS(K, s, T, U, L) INTEGER_KERNELS(ENTER, K, s, T, U)
#define ENTER_FLOAT_KERNELS(K, s, T, f)      FLOAT_KERNELS(ENTER, K, s, T, f)
#define ENTER_COMPLEX_KERNELS(K, s, P, f)    COMPLEX_KERNELS(ENTER, K, s, P, f)

static const dome_kernel by_type[DOME_ELEMENTWISE_NUMBERS][DOME_KIND_STRUCT] = {SIGNED_LIST(ENTER_INTEGER_KERNELS) UNSIGNED_LIST(
    ENTER_INTEGER_KERNELS) FLOAT_LIST(ENTER_FLOAT_KERNELS) COMPLEX_LIST(ENTER_COMPLEX_KERNELS) MASK_KERNELS(ENTER)};

#define CONVERT_INTEGER_ROW(K, s, T, U, L) ROW_FROM_REAL(K, s)
#define CONVERT_FLOAT_ROW(K, s, T, f)      ROW_FROM_REAL(K, s)
#define CONVERT_COMPLEX_ROW(K, s, P, f)    ROW_FROM_REAL(K, s) ROW_FROM_COMPLEX(K, s)

static const dome_kernel converts[DOME_KIND_STRUCT][DOME_KIND_STRUCT] = {SIGNED_LIST(CONVERT_INTEGER_ROW) UNSIGNED_LIST(
    CONVERT_INTEGER_ROW) FLOAT_LIST(CONVERT_FLOAT_ROW) COMPLEX_LIST(CONVERT_COMPLEX_ROW)};

dome_kernel DOME_VARIANT_OF(dome__kernel)(uint32_t number, dome_type type, dome_type from)
{
    dome_type_kind kind = dome_type_kind_of(type);
    switch (number) {
    case DOME_ELEMENTWISE_COPY:
        return copy_bytes;
    case DOME_ELEMENTWISE_SELECT:
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
    case DOME_ELEMENTWISE_CONVERT:
        if (kind == DOME_KIND_STRUCT || dome_type_kind_of(from) == DOME_KIND_STRUCT)
            return NULL;
        return converts[kind][dome_type_kind_of(from)];
    default:
        return kind == DOME_KIND_STRUCT ? NULL : by_type[number][kind];
    }
}
