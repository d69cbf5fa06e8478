#include "kernels/kernels_reduce.h"

#include "kernels/kernels.h"
#include "kernels/kernels_variant.h"

#include <math.h>
#include <string.h>

#define PARTS DOME_PARTS

/* Integers of 32 bits and less are added up in 64 bits, longer ones in halves; so many at a time that nothing spills over. */
#define RUN ((uint64_t)1 << 28)

/* X(kind, suffix, type) */
#define SHORT_SIGNED_LIST(X)                                                                                                     \
    X(I8, i8, int8_t)                                                                                                            \
    X(I16, i16, int16_t)                                                                                                         \
    X(I32, i32, int32_t)
#define SHORT_UNSIGNED_LIST(X)                                                                                                   \
    X(U8, u8, uint8_t)                                                                                                           \
    X(U16, u16, uint16_t)                                                                                                        \
    X(U32, u32, uint32_t)
#define INTEGER_LIST(X)                                                                                                          \
    SHORT_SIGNED_LIST(X)                                                                                                         \
    X(I64, i64, int64_t)                                                                                                         \
    SHORT_UNSIGNED_LIST(X)                                                                                                       \
    X(U64, u64, uint64_t)
#define FLOAT_LIST(X)                                                                                                            \
    X(F32, f32, float)                                                                                                           \
    X(F64, f64, double)
#define COMPLEX_LIST(X)                                                                                                          \
    X(C64, c64, float)                                                                                                           \
    X(C128, c128, double)

/* ---- floating point ---- */

/* Reads what is needed in a moment, a cache line at a time: where a block ends the processor would wait for memory otherwise,
 * since what follows is not yet on its way. Addresses beyond the end do no harm. On a Zen 4 anything from 128 to 384 is as good
 * for one stream and for two, 512 is 10 % slower for two; on a Sapphire Rapids 512 was better than none, and others were not
 * tried. */
#define AHEAD 384
static inline void read_ahead(const void *x, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + AHEAD + line));
}

/* Runs `step` with i = number of a value and j = its partial sum for all values of a block. */
#define FOR_PARTS(count, ahead, step)                                                                                            \
    do {                                                                                                                         \
        uint64_t base = 0;                                                                                                       \
        for (; base + PARTS <= (count); base += PARTS) {                                                                         \
            ahead;                                                                                                               \
            for (int j = 0; j < PARTS; j++) {                                                                                    \
                const uint64_t i = base + (uint64_t)j;                                                                           \
                step;                                                                                                            \
            }                                                                                                                    \
        }                                                                                                                        \
        for (int j = 0; base + (uint64_t)j < (count); j++) {                                                                     \
            const uint64_t i = base + (uint64_t)j;                                                                               \
            step;                                                                                                                \
        }                                                                                                                        \
    } while (0)

/* n: how many values there were. What is beyond them is +0, and adding that to sums, which are never -0, changes nothing. */
static inline double add_parts(double s[PARTS], uint64_t n)
{
    if (n >= PARTS)
        return dome__fold_parts(s);
    for (unsigned half = PARTS / 2; half; half /= 2)
        for (unsigned j = 0; j < half && half < n; j++)
            s[j] += s[j + half];
    return s[0];
}

static inline double multiply_parts(double s[PARTS])
{
    for (int half = PARTS / 2; half; half /= 2)
        for (int j = 0; j < half; j++)
            s[j] *= s[j + half];
    return s[0];
}

#define SUM_KERNEL(name) static void name(const void *xv, const void *yv, uint64_t n, const double scale[2], dome_exact_sum *sums)

/* What the next values of a sum are made of; per: parts of a value. */
#define AHEAD_sum(T, per)     read_ahead(x + (per)*base, (per)*PARTS * sizeof(T))
#define AHEAD_squares(T, per) AHEAD_sum(T, per)
#define AHEAD_scaled(T, per)  AHEAD_sum(T, per)
#define AHEAD_dot(T, per)                                                                                                        \
    AHEAD_sum(T, per);                                                                                                           \
    read_ahead(y + (per)*base, (per)*PARTS * sizeof(T))

#define FLOAT_SUM(op, s, T, per, declare, term)                                                                                  \
    static inline __attribute__((always_inline)) void op##_terms_##s(const T *x, const T *y, uint64_t n, const double scale[2],  \
                                                                     double part[PARTS])                                         \
    {                                                                                                                            \
        (void)y, (void)scale;                                                                                                    \
        declare;                                                                                                                 \
        FOR_PARTS(n, AHEAD_##op(T, per), part[j] += (term));                                                                     \
    }                                                                                                                            \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        double part[PARTS] = {0};                                                                                                \
        op##_terms_##s(xv, yv, n, scale, part);                                                                                  \
        dome__exact_add(sums, add_parts(part, n));                                                                               \
    }

#define FLOAT_PARTS(op, s)                                                                                                       \
    static void op##_parts_##s(const void *x, const void *y, uint64_t n, double part[PARTS])                                     \
    {                                                                                                                            \
        double sum[PARTS];                                                                                                       \
        memcpy(sum, part, sizeof sum);                                                                                           \
        op##_terms_##s(x, y, n, NULL, sum);                                                                                      \
        memcpy(part, sum, sizeof sum);                                                                                           \
    }

#define SCALED(v) ((double)(v)*first * second)

#define FLOAT_KERNELS(K, s, T)                                                                                                   \
    FLOAT_SUM(sum, s, T, 1, , (double)x[i])                                                                                      \
    FLOAT_SUM(dot, s, T, 1, , DOME_ROUNDED((double)x[i] * (double)y[i]))                                                         \
    FLOAT_SUM(squares, s, T, 1, , DOME_ROUNDED((double)x[i] * (double)x[i]))                                                     \
    FLOAT_SUM(scaled, s, T, 1, const double first = scale[0];                                                                    \
              const double second = scale[1], DOME_ROUNDED(SCALED(x[i]) * SCALED(x[i])))                                         \
    FLOAT_PARTS(sum, s)                                                                                                          \
    FLOAT_PARTS(dot, s)                                                                                                          \
    FLOAT_PARTS(squares, s)                                                                                                      \
    static void product_##s(const void *xv, uint64_t n, double product[2])                                                       \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        double part[PARTS];                                                                                                      \
        for (int j = 0; j < PARTS; j++)                                                                                          \
            part[j] = 1;                                                                                                         \
        FOR_PARTS(n, read_ahead(x + base, PARTS * sizeof(T)), part[j] *= (double)x[i]);                                          \
        product[0] = multiply_parts(part);                                                                                       \
    }
FLOAT_LIST(FLOAT_KERNELS)

#define RE(v) ((double)(v)[2 * i])
#define IM(v) ((double)(v)[2 * i + 1])

#define COMPLEX_SUM(op, s, T, real, imaginary)                                                                                   \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        double re[PARTS] = {0}, im[PARTS] = {0};                                                                                 \
        (void)y, (void)scale;                                                                                                    \
        FOR_PARTS(n, AHEAD_##op(T, 2), re[j] += (real); im[j] += (imaginary));                                                   \
        dome__exact_add(&sums[0], add_parts(re, n));                                                                             \
        dome__exact_add(&sums[1], add_parts(im, n));                                                                             \
    }

#define COMPLEX_KERNELS(K, s, T)                                                                                                 \
    COMPLEX_SUM(sum, s, T, RE(x), IM(x))                                                                                         \
    COMPLEX_SUM(dot, s, T, DOME_ROUNDED(RE(x) * RE(y)) + DOME_ROUNDED(IM(x) * IM(y)),                                            \
                DOME_ROUNDED(RE(x) * IM(y)) - DOME_ROUNDED(IM(x) * RE(y)))                                                       \
    FLOAT_SUM(squares, s, T, 2, , DOME_ROUNDED(RE(x) * RE(x)) + DOME_ROUNDED(IM(x) * IM(x)))                                     \
    FLOAT_SUM(scaled, s, T, 2, const double first = scale[0];                                                                    \
              const double second = scale[1],                                                                                    \
              DOME_ROUNDED(SCALED(RE(x)) * SCALED(RE(x))) + DOME_ROUNDED(SCALED(IM(x)) * SCALED(IM(x))))                         \
    static void product_##s(const void *xv, uint64_t n, double product[2])                                                       \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        double part[PARTS][2];                                                                                                   \
        for (int j = 0; j < PARTS; j++)                                                                                          \
            part[j][0] = 1, part[j][1] = 0;                                                                                      \
        FOR_PARTS(n, , dome__multiply(true, part[j], ((const double[2]){RE(x), IM(x)})));                                        \
        for (int half = PARTS / 2; half; half /= 2)                                                                              \
            for (int j = 0; j < half; j++)                                                                                       \
                dome__multiply(true, part[j], part[j + half]);                                                                   \
        memcpy(product, part[0], sizeof part[0]);                                                                                \
    }

COMPLEX_LIST(COMPLEX_KERNELS)

/* ---- integers ---- */

/* Adds 64-bit terms by their halves, so that 2^31 of them fit into two 64-bit sums. */
#define SPLIT_SUM(op, s, T, W, term)                                                                                             \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        (void)y, (void)scale;                                                                                                    \
        for (uint64_t base = 0; base < n; base += RUN) {                                                                         \
            uint64_t end = n - base < RUN ? n : base + RUN;                                                                      \
            uint64_t low = 0;                                                                                                    \
            W high = 0;                                                                                                          \
            for (uint64_t i = base; i < end; i++) {                                                                              \
                const W value = (term);                                                                                          \
                low += (uint64_t)value & 0xffffffff;                                                                             \
                high += value >> 32;                                                                                             \
            }                                                                                                                    \
            dome__exact_add_u64(sums, low, 0);                                                                                   \
            dome__exact_add_i64(sums, (int64_t)high, 1);                                                                         \
        }                                                                                                                        \
    }

#define SHORT_SUM(op, s, T, W, term)                                                                                             \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        (void)y, (void)scale;                                                                                                    \
        for (uint64_t base = 0; base < n; base += RUN) {                                                                         \
            uint64_t end = n - base < RUN ? n : base + RUN;                                                                      \
            W sum = 0;                                                                                                           \
            for (uint64_t i = base; i < end; i++)                                                                                \
                sum += (term);                                                                                                   \
            if ((W)-1 > 0)                                                                                                       \
                dome__exact_add_u64(sums, (uint64_t)sum, 0);                                                                     \
            else                                                                                                                 \
                dome__exact_add_i64(sums, (int64_t)sum, 0);                                                                      \
        }                                                                                                                        \
    }

SHORT_SUM(sum, i8, int8_t, int64_t, x[i])
SHORT_SUM(sum, i16, int16_t, int64_t, x[i])
SHORT_SUM(sum, i32, int32_t, int64_t, x[i])
SHORT_SUM(sum, u8, uint8_t, uint64_t, x[i])
SHORT_SUM(sum, u16, uint16_t, uint64_t, x[i])
SHORT_SUM(sum, u32, uint32_t, uint64_t, x[i])
SPLIT_SUM(sum, i64, int64_t, int64_t, x[i])
SPLIT_SUM(sum, u64, uint64_t, uint64_t, x[i])

SHORT_SUM(dot, i8, int8_t, int64_t, (int32_t)x[i] * y[i])
SHORT_SUM(dot, i16, int16_t, int64_t, (int32_t)x[i] * y[i])
SPLIT_SUM(dot, i32, int32_t, int64_t, (int64_t)x[i] * y[i])
SHORT_SUM(dot, u8, uint8_t, uint64_t, (uint32_t)x[i] * y[i])
SHORT_SUM(dot, u16, uint16_t, uint64_t, (uint32_t)x[i] * y[i])
SPLIT_SUM(dot, u32, uint32_t, uint64_t, (uint64_t)x[i] * y[i])

/* Products of 128 bits by halves: (xh 2^32 + xl) (yh 2^32 + yl). */
#define LONG_DOT(s, T, add_high)                                                                                                 \
    SUM_KERNEL(dot_##s)                                                                                                          \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        (void)scale;                                                                                                             \
        for (uint64_t base = 0; base < n; base += RUN) {                                                                         \
            uint64_t end = n - base < RUN ? n : base + RUN;                                                                      \
            uint64_t sum0 = 0, sum1 = 0, sum2 = 0;                                                                               \
            T high1 = 0, high2 = 0;                                                                                              \
            for (uint64_t i = base; i < end; i++) {                                                                              \
                const uint64_t xl = (uint64_t)x[i] & 0xffffffff, yl = (uint64_t)y[i] & 0xffffffff, ll = xl * yl;                 \
                const T xh = x[i] >> 32, yh = y[i] >> 32;                                                                        \
                const T hl = xh * (T)yl, lh = (T)xl * yh, hh = xh * yh;                                                          \
                sum0 += ll & 0xffffffff;                                                                                         \
                sum1 += (ll >> 32) + ((uint64_t)hl & 0xffffffff) + ((uint64_t)lh & 0xffffffff);                                  \
                high1 += (hl >> 32) + (lh >> 32);                                                                                \
                sum2 += (uint64_t)hh & 0xffffffff;                                                                               \
                high2 += hh >> 32;                                                                                               \
            }                                                                                                                    \
            dome__exact_add_u64(sums, sum0, 0);                                                                                  \
            dome__exact_add_u64(sums, sum1, 1);                                                                                  \
            add_high(sums, high1, 2);                                                                                            \
            dome__exact_add_u64(sums, sum2, 2);                                                                                  \
            add_high(sums, high2, 3);                                                                                            \
        }                                                                                                                        \
    }
LONG_DOT(i64, int64_t, dome__exact_add_i64)
LONG_DOT(u64, uint64_t, dome__exact_add_u64)

#define INTEGER_KERNELS(K, s, T)                                                                                                 \
    SUM_KERNEL(squares_##s)                                                                                                      \
    {                                                                                                                            \
        (void)yv;                                                                                                                \
        dot_##s(xv, xv, n, scale, sums);                                                                                         \
    }                                                                                                                            \
    static void product_##s(const void *xv, uint64_t n, double product[2])                                                       \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        double part[PARTS];                                                                                                      \
        for (int j = 0; j < PARTS; j++)                                                                                          \
            part[j] = 1;                                                                                                         \
        FOR_PARTS(n, read_ahead(x + base, PARTS * sizeof(T)), part[j] *= (double)x[i]);                                          \
        product[0] = multiply_parts(part);                                                                                       \
    }
INTEGER_LIST(INTEGER_KERNELS)

/* ---- smallest and largest ---- */

#define TOP_BIT ((uint64_t)1 << 63)

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Ascends with the value; both zeros are one. Never 0: that is NaN's. */
static inline uint64_t key_of_double(double value)
{
    uint64_t bits = bits_of(value + 0.0);
    return bits & TOP_BIT ? ~bits : bits | TOP_BIT;
}

/* The first of count values that is `value` becomes the candidate, if it can be better than what there is. */
#define EXTREME_END(s, T, key_of, bits, is_value)                                                                                \
    const uint64_t key = key_of;                                                                                                 \
    if (key > best->key || (key == best->key && position >= best->position))                                                     \
        return;                                                                                                                  \
    for (uint64_t i = 0; i < n; i++)                                                                                             \
        if (is_value) {                                                                                                          \
            dome__extreme_merge(best, &(dome_extreme){key, position + i, bits});                                                 \
            return;                                                                                                              \
        }

#define INTEGER_EXTREME(K, s, T)                                                                                                 \
    static void extreme_##s(dome_extreme *best, const void *xv, uint64_t n, uint64_t position, bool largest)                     \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        if (n == 0)                                                                                                              \
            return;                                                                                                              \
        T value = x[0];                                                                                                          \
        if (largest) {                                                                                                           \
            for (uint64_t i = 0; i < n; i++)                                                                                     \
                value = x[i] > value ? x[i] : value;                                                                             \
        } else {                                                                                                                 \
            for (uint64_t i = 0; i < n; i++)                                                                                     \
                value = x[i] < value ? x[i] : value;                                                                             \
        }                                                                                                                        \
        const uint64_t ascending = (uint64_t)value ^ ((T)-1 > 0 ? 0 : TOP_BIT);                                                  \
        EXTREME_END(s, T, largest ? ~ascending : ascending, (uint64_t)x[i], x[i] == value)                                       \
    }
INTEGER_LIST(INTEGER_EXTREME)

/* In vectors of the compiler's own: it does not find them in a loop with comparisons. Several of them at a time, as many bytes
 * long as the processor's. The order does not matter. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTORS 4

#define EXTREME_LOOP(s, T, compare)                                                                                              \
    for (; base + VECTORS * lanes <= n; base += VECTORS * lanes) {                                                               \
        read_ahead(x + base, VECTORS * VECTOR_BYTES);                                                                            \
        for (int v = 0; v < VECTORS; v++) {                                                                                      \
            values_##s next;                                                                                                     \
            memcpy(&next, x + base + (uint64_t)v * lanes, sizeof next);                                                          \
            const masks_##s better = next compare part[v];                                                                       \
            part[v] = (values_##s)((better & (masks_##s)next) | (~better & (masks_##s)part[v]));                                 \
            nan[v] |= next != next;                                                                                              \
        }                                                                                                                        \
    }

#define FLOAT_EXTREME(s, T, I)                                                                                                   \
    typedef T values_##s __attribute__((vector_size(VECTOR_BYTES)));                                                             \
    typedef I masks_##s __attribute__((vector_size(VECTOR_BYTES)));                                                              \
    static void extreme_##s(dome_extreme *best, const void *xv, uint64_t n, uint64_t position, bool largest)                     \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        if (n == 0)                                                                                                              \
            return;                                                                                                              \
        enum { lanes = VECTOR_BYTES / sizeof(T) };                                                                               \
        const T worst = largest ? -INFINITY : INFINITY;                                                                          \
        values_##s part[VECTORS];                                                                                                \
        masks_##s nan[VECTORS];                                                                                                  \
        for (int v = 0; v < VECTORS; v++) {                                                                                      \
            part[v] = worst - (values_##s){0};                                                                                   \
            nan[v] = (masks_##s){0};                                                                                             \
        }                                                                                                                        \
        uint64_t base = 0;                                                                                                       \
        if (largest) {                                                                                                           \
            EXTREME_LOOP(s, T, >)                                                                                                \
        } else {                                                                                                                 \
            EXTREME_LOOP(s, T, <)                                                                                                \
        }                                                                                                                        \
        T value = worst;                                                                                                         \
        bool any_nan = false;                                                                                                    \
        for (int v = 0; v < VECTORS; v++)                                                                                        \
            for (int j = 0; j < lanes; j++) {                                                                                    \
                if (largest ? part[v][j] > value : part[v][j] < value)                                                           \
                    value = part[v][j];                                                                                          \
                any_nan |= nan[v][j] != 0;                                                                                       \
            }                                                                                                                    \
        for (; base < n; base++) {                                                                                               \
            if (largest ? x[base] > value : x[base] < value)                                                                     \
                value = x[base];                                                                                                 \
            any_nan |= x[base] != x[base];                                                                                       \
        }                                                                                                                        \
        const uint64_t ascending = key_of_double((double)value);                                                                 \
        EXTREME_END(s, T,                                                                                                        \
                    any_nan   ? 0                                                                                                \
                    : largest ? ~ascending                                                                                       \
                              : ascending,                                                                                       \
                    bits_of((double)x[i]), any_nan ? x[i] != x[i] : x[i] == value)                                               \
    }
FLOAT_EXTREME(f32, float, int32_t)
FLOAT_EXTREME(f64, double, int64_t)

double DOME_VARIANT_OF(dome__largest_part)(dome_type type, const void *xv, uint64_t n)
{
    double largest = 0;
    if (dome_type_kind_of(type) == DOME_KIND_C128 || dome_type_kind_of(type) == DOME_KIND_F64) {
        const double *x = xv;
        n = dome_type_kind_of(type) == DOME_KIND_C128 ? 2 * n : n;
        for (uint64_t i = 0; i < n; i++)
            largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    } else {
        const float *x = xv;
        n = dome_type_kind_of(type) == DOME_KIND_C64 ? 2 * n : n;
        for (uint64_t i = 0; i < n; i++)
            largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    }
    return largest;
}

/* ---- tables ---- */

#define SUM_ENTRIES(K, s, T)                                                                                                     \
    [DOME_TERMS_SUM][DOME_KIND_##K] = sum_##s, [DOME_TERMS_DOT][DOME_KIND_##K] = dot_##s,                                        \
    [DOME_TERMS_SQUARES][DOME_KIND_##K] = squares_##s,
#define PARTS_ENTRIES(K, s, T)                                                                                                   \
    [DOME_TERMS_SUM][DOME_KIND_##K] = sum_parts_##s, [DOME_TERMS_DOT][DOME_KIND_##K] = dot_parts_##s,                            \
    [DOME_TERMS_SQUARES][DOME_KIND_##K] = squares_parts_##s,
#define SCALED_ENTRY(K, s, T)  [DOME_TERMS_SCALED][DOME_KIND_##K] = scaled_##s,
#define PRODUCT_ENTRY(K, s, T) [DOME_KIND_##K] = product_##s,
#define EXTREME_ENTRY(K, s, T) [DOME_KIND_##K] = extreme_##s,

static const dome_sum_kernel sums_by_type[DOME_TERMS][DOME_KIND_STRUCT + 1] = {INTEGER_LIST(SUM_ENTRIES) FLOAT_LIST(
    SUM_ENTRIES) COMPLEX_LIST(SUM_ENTRIES) FLOAT_LIST(SCALED_ENTRY) COMPLEX_LIST(SCALED_ENTRY)};
static const dome_parts_kernel parts_by_type[DOME_TERMS][DOME_KIND_STRUCT + 1] = {FLOAT_LIST(PARTS_ENTRIES)};
static const dome_product_kernel products_by_type[DOME_KIND_STRUCT + 1] = {INTEGER_LIST(PRODUCT_ENTRY) FLOAT_LIST(PRODUCT_ENTRY)
                                                                               COMPLEX_LIST(PRODUCT_ENTRY)};
static const dome_extreme_kernel extremes_by_type[DOME_KIND_STRUCT + 1] = {INTEGER_LIST(EXTREME_ENTRY) FLOAT_LIST(EXTREME_ENTRY)};

dome_sum_kernel DOME_VARIANT_OF(dome__sum_kernel)(dome_terms terms, dome_type type)
{
    return sums_by_type[terms][dome_type_kind_of(type)];
}

dome_parts_kernel DOME_VARIANT_OF(dome__parts_kernel)(dome_terms terms, dome_type type)
{
    return parts_by_type[terms][dome_type_kind_of(type)];
}

dome_product_kernel DOME_VARIANT_OF(dome__product_kernel)(dome_type type)
{
    return products_by_type[dome_type_kind_of(type)];
}

dome_extreme_kernel DOME_VARIANT_OF(dome__extreme_kernel)(dome_type type)
{
    return extremes_by_type[dome_type_kind_of(type)];
}
