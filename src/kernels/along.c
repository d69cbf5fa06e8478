#include "kernels/along.h"

#include "kernels/kernels_reduce.h"

#include <float.h>
#include <math.h>

enum { LANES = 8 };
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int64_t masks __attribute__((vector_size(LANES * sizeof(int64_t))));

/* ---- exact sums ---- */

/* One step of dome__exact_pair_add in each lane. What is left of the smaller part is ORed into *inexact: NaN and infinities are
 * not 0 either. */
static inline __attribute__((always_inline)) void add_lanes(doubles *sum, doubles *rest, const doubles *value, masks *inexact)
{
    const doubles s = *sum + *value, part = s - *sum, lost = (*sum - (s - part)) + (*value - part);
    const doubles r = *rest + lost, more = r - *rest;
    *inexact |= (*rest - (r - more)) + (lost - more) != 0;
    *sum = s;
    *rest = r;
}

static inline bool any_lane(const masks *m)
{
    int64_t all = 0;
    for (int k = 0; k < LANES; k++)
        all |= (*m)[k];
    return all != 0 || FLT_EVAL_METHOD != 0;
}

static inline bool add_one(double *sum, double *rest, double value)
{
    dome_exact_pair pair = {*sum, *rest, FLT_EVAL_METHOD == 0};
    dome__exact_pair_add(&pair, value);
    *sum = pair.sum;
    *rest = pair.rest;
    return !pair.exact;
}

#define LOAD_f64(to, from) memcpy(&(to), from, sizeof(to))
#define LOAD_f32(to, from)                                                                                                       \
    do {                                                                                                                         \
        floats narrow_;                                                                                                          \
        memcpy(&narrow_, from, sizeof narrow_);                                                                                  \
        (to) = __builtin_convertvector(narrow_, doubles);                                                                        \
    } while (0)

#define SUMS(t, T)                                                                                                               \
    static bool sum_rows_##t(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)              \
    {                                                                                                                            \
        double *sums = (double *)s->first + at, *rests = (double *)s->second + at;                                               \
        const T *x = values;                                                                                                     \
        masks inexact = {0};                                                                                                     \
        bool lost = false;                                                                                                       \
        uint64_t i = 0;                                                                                                          \
        (void)j;                                                                                                                 \
        for (; i + LANES <= count; i += LANES) {                                                                                 \
            doubles sum, rest, value;                                                                                            \
            memcpy(&sum, sums + i, sizeof sum);                                                                                  \
            memcpy(&rest, rests + i, sizeof rest);                                                                               \
            LOAD_##t(value, x + i);                                                                                              \
            add_lanes(&sum, &rest, &value, &inexact);                                                                            \
            memcpy(sums + i, &sum, sizeof sum);                                                                                  \
            memcpy(rests + i, &rest, sizeof rest);                                                                               \
        }                                                                                                                        \
        for (; i < count; i++)                                                                                                   \
            lost |= add_one(&sums[i], &rests[i], (double)x[i]);                                                                  \
        return lost || any_lane(&inexact);                                                                                       \
    }                                                                                                                            \
    static bool sum_run_##t(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)               \
    {                                                                                                                            \
        double *total = (double *)s->first + at, *total_rest = (double *)s->second + at;                                         \
        const T *x = values;                                                                                                     \
        doubles sum = {0}, rest = {0};                                                                                           \
        masks inexact = {0};                                                                                                     \
        bool lost = false;                                                                                                       \
        uint64_t i = 0;                                                                                                          \
        (void)j;                                                                                                                 \
        for (; i + LANES <= count; i += LANES) {                                                                                 \
            doubles value;                                                                                                       \
            LOAD_##t(value, x + i);                                                                                              \
            add_lanes(&sum, &rest, &value, &inexact);                                                                            \
        }                                                                                                                        \
        for (int k = 0; k < LANES && count >= LANES; k++) {                                                                      \
            lost |= add_one(total, total_rest, sum[k]);                                                                          \
            lost |= add_one(total, total_rest, rest[k]);                                                                         \
        }                                                                                                                        \
        for (; i < count; i++)                                                                                                   \
            lost |= add_one(total, total_rest, (double)x[i]);                                                                    \
        return lost || any_lane(&inexact);                                                                                       \
    }
SUMS(f32, float)
SUMS(f64, double)

/* ---- integers modulo 2^64 ---- */

#define INTEGERS(X)                                                                                                              \
    X(i8, int8_t)                                                                                                                \
    X(i16, int16_t)                                                                                                              \
    X(i32, int32_t)                                                                                                              \
    X(i64, int64_t)                                                                                                              \
    X(u8, uint8_t)                                                                                                               \
    X(u16, uint16_t)                                                                                                             \
    X(u32, uint32_t)                                                                                                             \
    X(u64, uint64_t)
#define REALS(X)                                                                                                                 \
    INTEGERS(X)                                                                                                                  \
    X(f32, float)                                                                                                                \
    X(f64, double)
#define NUMBERS(X)                                                                                                               \
    REALS(X)                                                                                                                     \
    X(c64, float _Complex)                                                                                                       \
    X(c128, double _Complex)

#define ROWS(name, R, T, statement)                                                                                              \
    static bool name(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)                      \
    {                                                                                                                            \
        R *z = (R *)s->first + at;                                                                                               \
        const T *x = values;                                                                                                     \
        (void)j;                                                                                                                 \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            statement;                                                                                                           \
        return false;                                                                                                            \
    }
#define RUN(name, R, T, expression)                                                                                              \
    static bool name(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)                      \
    {                                                                                                                            \
        R z = ((R *)s->first)[at];                                                                                               \
        const T *x = values;                                                                                                     \
        (void)j;                                                                                                                 \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            z = expression;                                                                                                      \
        ((R *)s->first)[at] = z;                                                                                                 \
        return false;                                                                                                            \
    }
#define INTEGER_KERNELS(t, T)                                                                                                    \
    ROWS(count_rows_##t, uint64_t, T, z[i] += (uint64_t)x[i])                                                                    \
    RUN(count_run_##t, uint64_t, T, z + (uint64_t)x[i])                                                                          \
    ROWS(product_rows_##t, uint64_t, T, z[i] *= (uint64_t)x[i])                                                                  \
    RUN(product_run_##t, uint64_t, T, z *(uint64_t)x[i])
INTEGERS(INTEGER_KERNELS)

#define LOGIC_KERNELS(t, T)                                                                                                      \
    ROWS(any_rows_##t, uint8_t, T, z[i] |= x[i] != 0)                                                                            \
    RUN(any_run_##t, uint8_t, T, (uint8_t)(z | (x[i] != 0)))                                                                     \
    ROWS(all_rows_##t, uint8_t, T, z[i] &= x[i] != 0)                                                                            \
    RUN(all_run_##t, uint8_t, T, (uint8_t)(z & (x[i] != 0)))
NUMBERS(LOGIC_KERNELS)

/* ---- smallest and largest values ---- */

/* Whether v takes the place of m: it is better, or the first NaN. */
#define LESS(v, m) ((v) < (m) || ((v) != (v) && (m) == (m)))
#define MORE(v, m) ((v) > (m) || ((v) != (v) && (m) == (m)))

#define FIRST_ROWS(name, T, better)                                                                                              \
    static bool name(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)                      \
    {                                                                                                                            \
        T *z = (T *)s->first + at;                                                                                               \
        int64_t *place = (int64_t *)s->second + at;                                                                              \
        const T *x = values;                                                                                                     \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            const bool takes = place[i] < 0 || better(x[i], z[i]);                                                               \
            place[i] = takes ? j : place[i];                                                                                     \
            z[i] = takes ? x[i] : z[i];                                                                                          \
        }                                                                                                                        \
        return false;                                                                                                            \
    }
/* The run's own extreme, then as one value of a row. */
#define EXTREME_RUN(name, t, T, KIND, largest, rows)                                                                             \
    static bool name(const dome_along_state *s, uint64_t at, const void *values, uint64_t count, int64_t j)                      \
    {                                                                                                                            \
        dome_extreme best = DOME_EXTREME_NONE;                                                                                   \
        dome__extreme_kernel(dome_type_basic(KIND))(&best, values, count, 0, largest);                                           \
        return rows(s, at, (const T *)values + best.position, 1, j + (int64_t)best.position);                                    \
    }
#define EXTREMES(t, T, KIND)                                                                                                     \
    ROWS(least_rows_##t, T, T, z[i] = LESS(x[i], z[i]) ? x[i] : z[i])                                                            \
    ROWS(most_rows_##t, T, T, z[i] = MORE(x[i], z[i]) ? x[i] : z[i])                                                             \
    FIRST_ROWS(first_least_rows_##t, T, LESS)                                                                                    \
    FIRST_ROWS(first_most_rows_##t, T, MORE)                                                                                     \
    EXTREME_RUN(least_run_##t, t, T, KIND, false, least_rows_##t)                                                                \
    EXTREME_RUN(most_run_##t, t, T, KIND, true, most_rows_##t)                                                                   \
    EXTREME_RUN(first_least_run_##t, t, T, KIND, false, first_least_rows_##t)                                                    \
    EXTREME_RUN(first_most_run_##t, t, T, KIND, true, first_most_rows_##t)
EXTREMES(i8, int8_t, DOME_KIND_I8)
EXTREMES(i16, int16_t, DOME_KIND_I16)
EXTREMES(i32, int32_t, DOME_KIND_I32)
EXTREMES(i64, int64_t, DOME_KIND_I64)
EXTREMES(u8, uint8_t, DOME_KIND_U8)
EXTREMES(u16, uint16_t, DOME_KIND_U16)
EXTREMES(u32, uint32_t, DOME_KIND_U32)
EXTREMES(u64, uint64_t, DOME_KIND_U64)
EXTREMES(f32, float, DOME_KIND_F32)
EXTREMES(f64, double, DOME_KIND_F64)

/* ---- tables ---- */

/* By kind. */
#define OF_FLOATS(name)                                                                                                          \
    {                                                                                                                            \
        [DOME_KIND_F32] = name##_f32, [DOME_KIND_F64] = name##_f64                                                               \
    }
#define OF_INTEGERS(name)                                                                                                        \
    [DOME_KIND_I8] = name##_i8, [DOME_KIND_I16] = name##_i16, [DOME_KIND_I32] = name##_i32, [DOME_KIND_I64] = name##_i64,        \
    [DOME_KIND_U8] = name##_u8, [DOME_KIND_U16] = name##_u16, [DOME_KIND_U32] = name##_u32, [DOME_KIND_U64] = name##_u64
#define OF_REALS(name)   OF_INTEGERS(name), [DOME_KIND_F32] = name##_f32, [DOME_KIND_F64] = name##_f64
#define OF_NUMBERS(name) OF_REALS(name), [DOME_KIND_C64] = name##_c64, [DOME_KIND_C128] = name##_c128

#define TABLE(way)                                                                                                               \
    {                                                                                                                            \
        [DOME_ALONG_SUM] = OF_FLOATS(sum_##way), [DOME_ALONG_COUNT] = {OF_INTEGERS(count_##way)},                                \
        [DOME_ALONG_PRODUCT] = {OF_INTEGERS(product_##way)}, [DOME_ALONG_LEAST] = {OF_REALS(least_##way)},                       \
        [DOME_ALONG_MOST] = {OF_REALS(most_##way)}, [DOME_ALONG_FIRST_LEAST] = {OF_REALS(first_least_##way)},                    \
        [DOME_ALONG_FIRST_MOST] = {OF_REALS(first_most_##way)}, [DOME_ALONG_ANY] = {OF_NUMBERS(any_##way)},                      \
        [DOME_ALONG_ALL] = {OF_NUMBERS(all_##way)},                                                                              \
    }

dome_along_kernel dome__along_rows(dome_along what, dome_type type)
{
    static const dome_along_kernel rows[DOME_ALONGS][DOME_KIND_STRUCT + 1] = TABLE(rows);
    return rows[what][dome_type_kind_of(type)];
}

dome_along_kernel dome__along_run(dome_along what, dome_type type)
{
    static const dome_along_kernel runs[DOME_ALONGS][DOME_KIND_STRUCT + 1] = TABLE(run);
    return runs[what][dome_type_kind_of(type)];
}

dome_type dome__along_first(dome_along what, dome_type type)
{
    switch (what) {
    case DOME_ALONG_SUM:
        return DOME_F64;
    case DOME_ALONG_COUNT:
    case DOME_ALONG_PRODUCT:
        return DOME_U64;
    case DOME_ALONG_ANY:
    case DOME_ALONG_ALL:
        return DOME_U8;
    default:
        return type;
    }
}

dome_type dome__along_second(dome_along what)
{
    return what == DOME_ALONG_SUM ? DOME_F64 : what == DOME_ALONG_FIRST_LEAST || what == DOME_ALONG_FIRST_MOST ? DOME_I64 : NULL;
}

/* ---- beginning and merging ---- */

/* The value that every other one is as good as. */
static void worst_value(dome_type type, bool largest, void *to)
{
    switch (dome_type_kind_of(type)) {
#define WORST(KIND, T, least, most)                                                                                              \
    case KIND:                                                                                                                   \
        *(T *)to = largest ? least : most;                                                                                       \
        return;
        WORST(DOME_KIND_I8, int8_t, INT8_MIN, INT8_MAX)
        WORST(DOME_KIND_I16, int16_t, INT16_MIN, INT16_MAX)
        WORST(DOME_KIND_I32, int32_t, INT32_MIN, INT32_MAX)
        WORST(DOME_KIND_I64, int64_t, INT64_MIN, INT64_MAX)
        WORST(DOME_KIND_U8, uint8_t, 0, UINT8_MAX)
        WORST(DOME_KIND_U16, uint16_t, 0, UINT16_MAX)
        WORST(DOME_KIND_U32, uint32_t, 0, UINT32_MAX)
        WORST(DOME_KIND_U64, uint64_t, 0, UINT64_MAX)
        WORST(DOME_KIND_F32, float, -INFINITY, INFINITY)
        WORST(DOME_KIND_F64, double, -INFINITY, INFINITY)
#undef WORST
    default:
        return;
    }
}

static void fill(void *to, const void *value, size_t size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        memcpy((char *)to + i * size, value, size);
}

void dome__along_begin(dome_along what, dome_type type, const dome_along_state *s, uint64_t count)
{
    const dome_type first = dome__along_first(what, type);
    double value[2] = {0};
    if (what == DOME_ALONG_PRODUCT)
        memcpy(value, &(uint64_t){1}, sizeof(uint64_t));
    else if (what == DOME_ALONG_ALL)
        memcpy(value, &(uint8_t){1}, 1);
    else if (what == DOME_ALONG_LEAST || what == DOME_ALONG_MOST)
        worst_value(type, what == DOME_ALONG_MOST, value);
    fill(s->first, value, dome_type_size(first), count);
    if (what == DOME_ALONG_SUM)
        fill(s->second, &(double){0}, sizeof(double), count);
    else if (s->second)
        fill(s->second, &(int64_t){-1}, sizeof(int64_t), count);
}

bool dome__along_merge(dome_along what, dome_type type, const dome_along_state *s, uint64_t at, const dome_along_state *from,
                       uint64_t from_at, uint64_t count)
{
    const size_t size = dome_type_size(dome__along_first(what, type));
    const char *values = (const char *)from->first + from_at * size;
    if (what == DOME_ALONG_SUM) {
        const bool lost = sum_rows_f64(s, at, values, count, 0);
        return sum_rows_f64(s, at, (const double *)from->second + from_at, count, 0) || lost;
    }
    if (!s->second) {
        dome__along_rows(what, dome__along_first(what, type))(s, at, values, count, 0);
        return false;
    }
    const int64_t *places = (const int64_t *)from->second + from_at;
    for (uint64_t i = 0; i < count; i++)
        if (places[i] >= 0)
            dome__along_rows(what, type)(s, at + i, values + i * size, 1, places[i]);
    return false;
}

double dome__along_exact(dome_type type, const void *values, uint64_t count, uint64_t stride)
{
    dome_exact_sum sum;
    dome__exact_init(&sum);
    for (uint64_t i = 0; i < count; i++)
        dome__exact_add(&sum, dome_type_kind_of(type) == DOME_KIND_F64 ? ((const double *)values)[i * stride]
                                                                       : (double)((const float *)values)[i * stride]);
    dome__exact_normalize(&sum);
    return dome__exact_round(&sum);
}
