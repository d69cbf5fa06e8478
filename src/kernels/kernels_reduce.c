#include "kernels/kernels_reduce.h"

#include "kernels/kernels.h"
#include "kernels/kernels_variant.h"

#include <math.h>
#include <string.h>

#define PARTS DOME_PARTS

/* Integers of 32 bits and less are summed in 64 bits, longer ones in halves; at most this many at a time, so that nothing
 * overflows. */
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

/* Prefetches values a cache line at a time: at the end of a block the processor would otherwise wait for memory, since the loads
 * of the next block have not been issued yet. Addresses beyond the end do no harm. `ahead`: bytes (kernels_pick.c). */
#define AHEAD __atomic_load_n(&dome__read_ahead, __ATOMIC_RELAXED)
static inline void read_ahead(const void *x, size_t bytes, size_t ahead)
{
    for (size_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)x + ahead + line));
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

/* Sums use the compiler's vector types, as long as the processor's registers: left to itself, gcc 12 makes sixteen scalar
 * additions of the sixteen partial sums. Loads are macros, since functions that return vectors have a calling convention for each
 * variant. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define EVEN_LANES   0, 2, 4, 6, 8, 10, 12, 14
#define ODD_LANES    1, 3, 5, 7, 9, 11, 13, 15
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define EVEN_LANES   0, 2, 4, 6
#define ODD_LANES    1, 3, 5, 7
#else
#define VECTOR_BYTES 16
#define EVEN_LANES   0, 2
#define ODD_LANES    1, 3
#endif
enum { LANES = VECTOR_BYTES / sizeof(double), PART_VECTORS = PARTS / LANES };

typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t integers __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef PICK
#define PICK(a, b, ...) __builtin_shuffle(a, b, (integers){__VA_ARGS__})
#endif

/* Loads LANES values. Types other than double are converted lane by lane: gcc 12 makes better code of that than of
 * __builtin_convertvector. */
#define LOAD_f64(to, from) memcpy(&(to), from, sizeof(doubles))
#define LOAD_f32(to, from) LOAD_EACH(to, from)
#define LOAD_EACH(to, from)                                                                                                      \
    do {                                                                                                                         \
        doubles lanes_ = {0};                                                                                                    \
        for (int lane_ = 0; lane_ < LANES; lane_++)                                                                              \
            lanes_[lane_] = (double)(from)[lane_];                                                                               \
        (to) = lanes_;                                                                                                           \
    } while (0)

/* n: the number of values. Partial sums beyond it are +0, and adding that to sums, which are never -0, changes nothing. */
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

/* Block sums collected to be added exactly, all at once. */
enum { WAITING_MAX = 4 * PARTS, WAITING_VECTORS = WAITING_MAX / LANES };
enum { FEW = 8 }; /* so many are added one by one as fast */
typedef struct waiting {
    unsigned count;
    double sum[WAITING_MAX];
} waiting;

/* 1.5 * 2^(exponent - 1023) */
static inline double power_and_half(uint64_t exponent)
{
    const uint64_t bits = exponent << 52 | (uint64_t)1 << 51;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds the values, or returns false if they have to be added one by one.
 *
 * Adding 1.5 * 2^m and subtracting it again splits a value into a multiple of 2^(m - 52) and a remainder of at most half of that.
 * Multiples whose magnitudes add up to less than 2^(m + 1) are added without rounding, in any order. (Rump, Ogita, Oishi 2008,
 * "Accurate floating-point summation I", section 3.) So values are split twice and make two additions, if no remainder is left
 * then. */
static bool add_together(dome_exact_sum *sum, const double value[WAITING_MAX])
{
    doubles v, magnitudes = {0}, high = {0}, low = {0};
    const integers no_sign = (integers){0} + INT64_MAX;
    integers left = {0};
    double all = 0, upper_sum = 0, lower_sum = 0;
    for (int k = 0; k < WAITING_VECTORS; k++) {
        memcpy(&v, value + k * LANES, sizeof v);
        magnitudes += (doubles)((integers)v & no_sign);
    }
    for (int j = 0; j < LANES; j++)
        all += magnitudes[j];
    if (all == 0)
        return true;
    uint64_t bits;
    memcpy(&bits, &all, sizeof bits);
    const uint64_t exponent = bits >> 52; /* the sum of the magnitudes is below 2^(exponent - 1022), except for rounding */
    if (exponent < 128 || exponent > 2000)
        return false;
    /* first m: exponent - 1020. Remainders add up to at most WAITING_MAX = 2^6 times 2^(m - 53): the second is m - 45 */
    const double first = power_and_half(exponent + 3), second = power_and_half(exponent + 3 - 45);
    for (int k = 0; k < WAITING_VECTORS; k++) {
        memcpy(&v, value + k * LANES, sizeof v);
        const doubles upper = (v + first) - first, rest = v - upper, lower = (rest + second) - second;
        high += upper;
        low += lower;
        left |= (integers)(rest - lower);
    }
    int64_t any = 0;
    for (int j = 0; j < LANES; j++) {
        any |= left[j];
        upper_sum += high[j];
        lower_sum += low[j];
    }
    if (any)
        return false;
    dome__exact_add(sum, upper_sum);
    dome__exact_add(sum, lower_sum);
    return true;
}

static void add_waiting(dome_exact_sum *sum, waiting *w)
{
    const bool few = w->count <= FEW;
    if (!few)
        memset(w->sum + w->count, 0, (WAITING_MAX - w->count) * sizeof *w->sum);
    if (few || !add_together(sum, w->sum))
        for (unsigned k = 0; k < w->count; k++)
            dome__exact_add(sum, w->sum[k]);
    w->count = 0;
}

/* Adds the sums of short blocks, whose n terms are consecutive; terms after the last are 0. */
static void add_short_blocks(dome_exact_sum *sum, waiting *w, const double term[PARTS], uint64_t block, uint64_t n)
{
    double *restrict to = w->sum + w->count;
    const unsigned blocks = PARTS / (unsigned)block;
    const double *t = term;
    for (unsigned k = 0; k < blocks; k++, t += block)
        to[k] = block == 1   ? t[0]
                : block == 2 ? t[0] + t[1]
                : block == 4 ? (t[0] + t[2]) + (t[1] + t[3])
                             : ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
    w->count += n == PARTS ? blocks : (unsigned)((n + block - 1) / block);
    if (w->count == WAITING_MAX)
        add_waiting(sum, w);
}

static inline bool is_short(uint64_t block)
{
    return block && block < PARTS && PARTS % block == 0;
}

#define SUM_KERNEL(name)                                                                                                         \
    static void name(const void *xv, const void *yv, uint64_t count, uint64_t block, const double scale[2], dome_exact_sum *sums)

/* Runs `terms`, which computes the partial sums of n values from number `first` on, in part and, for complex types, in part_i;
 * block by block, or for many short blocks at a time: then the partial sums are single terms. */
#define FOR_BLOCKS(T, terms, has_imaginary)                                                                                      \
    const T *x = xv, *y = yv;                                                                                                    \
    const bool many = is_short(block);                                                                                           \
    const uint64_t step = many ? PARTS : block;                                                                                  \
    waiting real, imaginary;                                                                                                     \
    real.count = imaginary.count = 0;                                                                                            \
    (void)y, (void)scale;                                                                                                        \
    for (uint64_t first = 0, n; first < count; first += n) {                                                                     \
        double part[PARTS] = {0}, part_i[PARTS] = {0};                                                                           \
        n = count - first < step ? count - first : step;                                                                         \
        terms;                                                                                                                   \
        if (many)                                                                                                                \
            add_short_blocks(&sums[0], &real, part, block, n);                                                                   \
        else                                                                                                                     \
            dome__exact_add(&sums[0], add_parts(part, n));                                                                       \
        if (has_imaginary && many)                                                                                               \
            add_short_blocks(&sums[1], &imaginary, part_i, block, n);                                                            \
        else if (has_imaginary)                                                                                                  \
            dome__exact_add(&sums[1], add_parts(part_i, n));                                                                     \
    }                                                                                                                            \
    if (many)                                                                                                                    \
        add_waiting(&sums[0], &real);                                                                                            \
    if (has_imaginary && many)                                                                                                   \
    add_waiting(&sums[1], &imaginary)

#define SCALED(v) ((v)*scale0 * scale1)

/* The terms of real values a, b and of complex ones ar + ai i, br + bi i: doubles, or vectors of them. */
#define TERM_sum           a
#define TERM_dot           DOME_ROUNDED(a *b)
#define TERM_squares       DOME_ROUNDED(a *a)
#define TERM_scaled        DOME_ROUNDED(SCALED(a) * SCALED(a))
#define REAL_TERM_sum      ar
#define REAL_TERM_dot      DOME_ROUNDED(ar *br) + DOME_ROUNDED(ai *bi)
#define REAL_TERM_squares  DOME_ROUNDED(ar *ar) + DOME_ROUNDED(ai *ai)
#define REAL_TERM_scaled   DOME_ROUNDED(SCALED(ar) * SCALED(ar)) + DOME_ROUNDED(SCALED(ai) * SCALED(ai))
#define IMAGINARY_TERM_sum ai
#define IMAGINARY_TERM_dot DOME_ROUNDED(ar *bi) - DOME_ROUNDED(ai *br)

/* two: the terms are of x and y; otherwise b is a, and is not used. */
#define REAL_TERMS(op, s, T, two)                                                                                                \
    static inline __attribute__((always_inline)) void op##_terms_##s(const T *x, const T *y, uint64_t n, const double *scale,    \
                                                                     double part[PARTS])                                         \
    {                                                                                                                            \
        const double scale0 = scale ? scale[0] : 1, scale1 = scale ? scale[1] : 1;                                               \
        const size_t ahead = AHEAD;                                                                                              \
        uint64_t base = 0;                                                                                                       \
        doubles sum[PART_VECTORS];                                                                                               \
        memcpy(sum, part, sizeof sum);                                                                                           \
        (void)scale0, (void)scale1;                                                                                              \
        for (; base + PARTS <= n; base += PARTS) {                                                                               \
            read_ahead(x + base, PARTS * sizeof(T), ahead);                                                                      \
            if (two)                                                                                                             \
                read_ahead(y + base, PARTS * sizeof(T), ahead);                                                                  \
            for (int v = 0; v < PART_VECTORS; v++) {                                                                             \
                const uint64_t i = base + (uint64_t)v * LANES;                                                                   \
                doubles a, b;                                                                                                    \
                LOAD_##s(a, x + i);                                                                                              \
                LOAD_##s(b, (two ? y : x) + i);                                                                                  \
                (void)b;                                                                                                         \
                sum[v] += TERM_##op;                                                                                             \
            }                                                                                                                    \
        }                                                                                                                        \
        memcpy(part, sum, sizeof sum);                                                                                           \
        for (int j = 0; base + (uint64_t)j < n; j++) {                                                                           \
            const uint64_t i = base + (uint64_t)j;                                                                               \
            const double a = (double)x[i], b = (double)(two ? y : x)[i];                                                         \
            (void)b;                                                                                                             \
            part[j] += TERM_##op;                                                                                                \
        }                                                                                                                        \
    }                                                                                                                            \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        FOR_BLOCKS(T, op##_terms_##s(x + first, two ? y + first : NULL, n, scale, part), false);                                 \
    }

#define REAL_PARTS(op, s)                                                                                                        \
    static void op##_parts_##s(const void *x, const void *y, uint64_t n, double part[PARTS])                                     \
    {                                                                                                                            \
        op##_terms_##s(x, y, n, NULL, part);                                                                                     \
    }

#define REAL_KERNELS(K, s, T)                                                                                                    \
    REAL_TERMS(sum, s, T, false)                                                                                                 \
    REAL_TERMS(dot, s, T, true)                                                                                                  \
    REAL_TERMS(squares, s, T, false)                                                                                             \
    REAL_TERMS(scaled, s, T, false)                                                                                              \
    REAL_PARTS(sum, s)                                                                                                           \
    REAL_PARTS(dot, s)                                                                                                           \
    REAL_PARTS(squares, s)
FLOAT_LIST(REAL_KERNELS)

#define REAL_PRODUCT(s, T, load)                                                                                                 \
    static void product_##s(const void *xv, uint64_t n, double product[2])                                                       \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        double part[PARTS];                                                                                                      \
        doubles all[PART_VECTORS];                                                                                               \
        const size_t ahead = AHEAD;                                                                                              \
        uint64_t base = 0;                                                                                                       \
        for (int v = 0; v < PART_VECTORS; v++)                                                                                   \
            all[v] = 1 - (doubles){0};                                                                                           \
        for (; base + PARTS <= n; base += PARTS) {                                                                               \
            read_ahead(x + base, PARTS * sizeof(T), ahead);                                                                      \
            for (int v = 0; v < PART_VECTORS; v++) {                                                                             \
                doubles a;                                                                                                       \
                load(a, x + base + (uint64_t)v * LANES);                                                                         \
                all[v] *= a;                                                                                                     \
            }                                                                                                                    \
        }                                                                                                                        \
        memcpy(part, all, sizeof part);                                                                                          \
        for (int j = 0; base + (uint64_t)j < n; j++)                                                                             \
            part[j] *= (double)x[base + (uint64_t)j];                                                                            \
        product[0] = multiply_parts(part);                                                                                       \
    }
REAL_PRODUCT(f32, float, LOAD_f32)
REAL_PRODUCT(f64, double, LOAD_f64)

/* Declares name##r and name##i: the real and the imaginary parts of LANES numbers. */
#define LOAD_COMPLEX(name, load, from)                                                                                           \
    doubles name##0, name##1;                                                                                                    \
    load(name##0, from);                                                                                                         \
    load(name##1, (from) + LANES);                                                                                               \
    const doubles name##r = PICK(name##0, name##1, EVEN_LANES), name##i = PICK(name##0, name##1, ODD_LANES);                     \
    (void)name##r, (void)name##i

/* load: of the parts' type. imaginary: for dot and sum, what is added to the argument; otherwise empty. */
#define COMPLEX_TERMS(op, s, T, load, two, has_imaginary, imaginary)                                                             \
    static inline __attribute__((always_inline)) void op##_terms_##s(const T *x, const T *y, uint64_t n, const double *scale,    \
                                                                     double part[PARTS], double part_i[PARTS])                   \
    {                                                                                                                            \
        const double scale0 = scale ? scale[0] : 1, scale1 = scale ? scale[1] : 1;                                               \
        const size_t ahead = AHEAD;                                                                                              \
        uint64_t base = 0;                                                                                                       \
        doubles sum[PART_VECTORS], sum_i[PART_VECTORS];                                                                          \
        memcpy(sum, part, sizeof sum);                                                                                           \
        memcpy(sum_i, part_i, sizeof sum_i);                                                                                     \
        (void)scale0, (void)scale1;                                                                                              \
        for (; base + PARTS <= n; base += PARTS) {                                                                               \
            read_ahead(x + 2 * base, 2 * PARTS * sizeof(T), ahead);                                                              \
            if (two)                                                                                                             \
                read_ahead(y + 2 * base, 2 * PARTS * sizeof(T), ahead);                                                          \
            UNROLLED                                                                                                             \
            for (int v = 0; v < PART_VECTORS; v++) {                                                                             \
                const uint64_t i = 2 * (base + (uint64_t)v * LANES);                                                             \
                LOAD_COMPLEX(a, load, x + i);                                                                                    \
                LOAD_COMPLEX(b, load, (two ? y : x) + i);                                                                        \
                sum[v] += REAL_TERM_##op;                                                                                        \
                imaginary(sum_i[v]);                                                                                             \
            }                                                                                                                    \
        }                                                                                                                        \
        memcpy(part, sum, sizeof sum);                                                                                           \
        memcpy(part_i, sum_i, sizeof sum_i);                                                                                     \
        for (int j = 0; base + (uint64_t)j < n; j++) {                                                                           \
            const uint64_t i = 2 * (base + (uint64_t)j);                                                                         \
            const double ar = (double)x[i], ai = (double)x[i + 1];                                                               \
            const double br = (double)(two ? y : x)[i], bi = (double)(two ? y : x)[i + 1];                                       \
            (void)br, (void)bi;                                                                                                  \
            part[j] += REAL_TERM_##op;                                                                                           \
            imaginary(part_i[j]);                                                                                                \
        }                                                                                                                        \
    }                                                                                                                            \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        FOR_BLOCKS(T, op##_terms_##s(x + 2 * first, two ? y + 2 * first : NULL, n, scale, part, part_i), has_imaginary);         \
    }

#define ADD_IMAGINARY_sum(to)  to += IMAGINARY_TERM_sum
#define ADD_IMAGINARY_dot(to)  to += IMAGINARY_TERM_dot
#define ADD_IMAGINARY_none(to) (void)0

#define COMPLEX_KERNELS(s, T, load)                                                                                              \
    COMPLEX_TERMS(sum, s, T, load, false, true, ADD_IMAGINARY_sum)                                                               \
    COMPLEX_TERMS(dot, s, T, load, true, true, ADD_IMAGINARY_dot)                                                                \
    COMPLEX_TERMS(squares, s, T, load, false, false, ADD_IMAGINARY_none)                                                         \
    COMPLEX_TERMS(scaled, s, T, load, false, false, ADD_IMAGINARY_none)                                                          \
    static void product_##s(const void *xv, uint64_t n, double product[2])                                                       \
    {                                                                                                                            \
        const T *x = xv;                                                                                                         \
        double part[PARTS][2];                                                                                                   \
        for (int j = 0; j < PARTS; j++)                                                                                          \
            part[j][0] = 1, part[j][1] = 0;                                                                                      \
        FOR_PARTS(n, , dome__multiply(true, part[j], ((const double[2]){(double)x[2 * i], (double)x[2 * i + 1]})));              \
        for (int half = PARTS / 2; half; half /= 2)                                                                              \
            for (int j = 0; j < half; j++)                                                                                       \
                dome__multiply(true, part[j], part[j + half]);                                                                   \
        memcpy(product, part[0], sizeof part[0]);                                                                                \
    }
COMPLEX_KERNELS(c64, float, LOAD_f32)
COMPLEX_KERNELS(c128, double, LOAD_f64)

/* ---- integers ---- */

/* Adds 64-bit terms by their halves, so that the sums of 2^31 of them fit into 64 bits each. */
#define SPLIT_SUM(op, s, T, W, term)                                                                                             \
    SUM_KERNEL(op##_##s)                                                                                                         \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        (void)y, (void)scale, (void)block;                                                                                       \
        for (uint64_t base = 0; base < count; base += RUN) {                                                                     \
            uint64_t end = count - base < RUN ? count : base + RUN;                                                              \
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
        (void)y, (void)scale, (void)block;                                                                                       \
        for (uint64_t base = 0; base < count; base += RUN) {                                                                     \
            uint64_t end = count - base < RUN ? count : base + RUN;                                                              \
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

/* 128-bit products by halves: (xh 2^32 + xl) (yh 2^32 + yl). */
#define LONG_DOT(s, T, add_high)                                                                                                 \
    SUM_KERNEL(dot_##s)                                                                                                          \
    {                                                                                                                            \
        const T *x = xv, *y = yv;                                                                                                \
        (void)scale, (void)block;                                                                                                \
        for (uint64_t base = 0; base < count; base += RUN) {                                                                     \
            uint64_t end = count - base < RUN ? count : base + RUN;                                                              \
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
        dot_##s(xv, xv, count, block, scale, sums);                                                                              \
    }                                                                                                                            \
    REAL_PRODUCT(s, T, LOAD_EACH)
INTEGER_LIST(INTEGER_KERNELS)

/* ---- smallest and largest ---- */

#define TOP_BIT ((uint64_t)1 << 63)

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Increases with the value; both zeros have the same key. Never 0, which is the key of NaN. */
static inline uint64_t key_of_double(double value)
{
    uint64_t bits = bits_of(value + 0.0);
    return bits & TOP_BIT ? ~bits : bits | TOP_BIT;
}

/* The first of count values that equals `value` becomes the candidate, if it can be better than the present one. */
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

/* The compiler's vector types, since the compiler does not vectorize a loop with comparisons. Several vectors at a time. The
 * order does not matter. */
#define VECTORS 4

#define EXTREME_LOOP(s, T, compare)                                                                                              \
    for (; base + VECTORS * lanes <= n; base += VECTORS * lanes) {                                                               \
        read_ahead(x + base, VECTORS * VECTOR_BYTES, ahead);                                                                     \
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
        const size_t ahead = AHEAD;                                                                                              \
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

/* NaN counts as smaller than all other values. */
#define LARGEST_PART(s, T, I, absolute)                                                                                          \
    static double largest_part_##s(const T *x, uint64_t n)                                                                       \
    {                                                                                                                            \
        enum { lanes = VECTOR_BYTES / sizeof(T) };                                                                               \
        const masks_##s magnitude = ~((masks_##s){0} + (I)((uint64_t)1 << (8 * sizeof(I) - 1)));                                 \
        values_##s part[VECTORS] = {{0}};                                                                                        \
        uint64_t base = 0;                                                                                                       \
        for (; base + VECTORS * lanes <= n; base += VECTORS * lanes)                                                             \
            for (int v = 0; v < VECTORS; v++) {                                                                                  \
                masks_##s next;                                                                                                  \
                memcpy(&next, x + base + (uint64_t)v * lanes, sizeof next);                                                      \
                next &= magnitude;                                                                                               \
                const masks_##s larger = (values_##s)next > part[v];                                                             \
                part[v] = (values_##s)((larger & next) | (~larger & (masks_##s)part[v]));                                        \
            }                                                                                                                    \
        T largest = 0;                                                                                                           \
        for (int v = 0; v < VECTORS; v++)                                                                                        \
            for (int j = 0; j < lanes; j++)                                                                                      \
                largest = part[v][j] > largest ? part[v][j] : largest;                                                           \
        for (; base < n; base++)                                                                                                 \
            largest = absolute(x[base]) > largest ? absolute(x[base]) : largest;                                                 \
        return (double)largest;                                                                                                  \
    }
LARGEST_PART(f32, float, int32_t, fabsf)
LARGEST_PART(f64, double, int64_t, fabs)

double DOME_VARIANT_OF(dome__largest_part)(dome_type type, const void *x, uint64_t n)
{
    const dome_type_kind kind = dome_type_kind_of(type);
    const bool is_complex = kind == DOME_KIND_C64 || kind == DOME_KIND_C128;
    n = is_complex ? 2 * n : n;
    return kind == DOME_KIND_C128 || kind == DOME_KIND_F64 ? largest_part_f64(x, n) : largest_part_f32(x, n);
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
