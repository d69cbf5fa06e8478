#include "kernels/running.h"

#include <stddef.h>

/* X(name, operation, value without effect, suffix, type) */
#define EACH(X)                                                                                                                  \
    X(sum, +, 0.0, f32, float)                                                                                                   \
    X(sum, +, 0.0, f64, double)                                                                                                  \
    X(product, *, 1.0, f32, float)                                                                                               \
    X(product, *, 1.0, f64, double)

_Static_assert(DOME_BESIDE == 4, "the loops have four blocks");

#define LOOPS(name, op, none, suffix, type)                                                                                      \
    static void name##_last_##suffix(const type *x, uint64_t count, double last[DOME_BESIDE])                                    \
    {                                                                                                                            \
        const type *x1 = x + count, *x2 = x1 + count, *x3 = x2 + count;                                                          \
        double a = none, b = none, c = none, d = none;                                                                           \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            a = a op(double) x[i];                                                                                               \
            b = b op(double) x1[i];                                                                                              \
            c = c op(double) x2[i];                                                                                              \
            d = d op(double) x3[i];                                                                                              \
        }                                                                                                                        \
        last[0] = a;                                                                                                             \
        last[1] = b;                                                                                                             \
        last[2] = c;                                                                                                             \
        last[3] = d;                                                                                                             \
    }                                                                                                                            \
    static void name##_run_##suffix(const void *xv, double *s, uint64_t count, double last[DOME_BESIDE])                         \
    {                                                                                                                            \
        const type *x = xv, *x1 = x + count, *x2 = x1 + count, *x3 = x2 + count;                                                 \
        double *s1, *s2, *s3, a = none, b = none, c = none, d = none;                                                            \
        if (!s) {                                                                                                                \
            name##_last_##suffix(x, count, last);                                                                                \
            return;                                                                                                              \
        }                                                                                                                        \
        s1 = s + count;                                                                                                          \
        s2 = s1 + count;                                                                                                         \
        s3 = s2 + count;                                                                                                         \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            a = a op(double) x[i];                                                                                               \
            b = b op(double) x1[i];                                                                                              \
            c = c op(double) x2[i];                                                                                              \
            d = d op(double) x3[i];                                                                                              \
            s[i] = a;                                                                                                            \
            s1[i] = b;                                                                                                           \
            s2[i] = c;                                                                                                           \
            s3[i] = d;                                                                                                           \
        }                                                                                                                        \
        last[0] = a;                                                                                                             \
        last[1] = b;                                                                                                             \
        last[2] = c;                                                                                                             \
        last[3] = d;                                                                                                             \
    }                                                                                                                            \
    static void name##_combine_##suffix(void *zv, const double *s, uint64_t count, double before)                                \
    {                                                                                                                            \
        type *z = zv;                                                                                                            \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            z[i] = (type)(before op s[i]);                                                                                       \
    }
EACH(LOOPS)

const dome_running *dome__running(dome_type type, bool product)
{
#define ENTRY(name, op, none, suffix, type)                                                                                      \
    static const dome_running name##_##suffix = {name##_run_##suffix, name##_combine_##suffix};
    EACH(ENTRY)
    if (dome_type_kind_of(type) == DOME_KIND_F64)
        return product ? &product_f64 : &sum_f64;
    if (dome_type_kind_of(type) == DOME_KIND_F32)
        return product ? &product_f32 : &sum_f32;
    return NULL;
}
