#include "core/operation.h"
#include "kernels/elementwise.h"
#include "kernels/kernels.h"
#include "kernels/kernels_reduce.h"
#include "reference_sum.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

static bool is_complex(dome_type type)
{
    return type == DOME_C64 || type == DOME_C128;
}

/* ---- the types of each operation ---- */

static void test_table(void)
{
    for (size_t k = 0; k < DOME_KIND_STRUCT; k++) {
        dome_type t = dome_type_basic(k);
        for (int code = DOME_OP_DVEC_FILL; code <= DOME_OP_DVEC_RANDOM_NORMAL; code++) {
            bool has;
            switch (code) {
            case DOME_OP_DVEC_MIN:
            case DOME_OP_DVEC_MAX:
            case DOME_OP_DVEC_MINS:
            case DOME_OP_DVEC_MAXS:
            case DOME_OP_DVEC_LT:
            case DOME_OP_DVEC_LE:
            case DOME_OP_DVEC_GT:
            case DOME_OP_DVEC_GE:
            case DOME_OP_DVEC_LTS:
            case DOME_OP_DVEC_LES:
            case DOME_OP_DVEC_GTS:
            case DOME_OP_DVEC_GES:
            case DOME_OP_DVEC_FMOD:
            case DOME_OP_DVEC_FMODS:
            case DOME_OP_DVEC_FLOOR_DIVIDE:
            case DOME_OP_DVEC_FLOOR_DIVIDES:
            case DOME_OP_DVEC_REMAINDER:
            case DOME_OP_DVEC_REMAINDERS:
            case DOME_OP_DVEC_SIGNBIT:
                has = !is_complex(t);
                break;
            case DOME_OP_DVEC_TAN:
            case DOME_OP_DVEC_ASIN:
            case DOME_OP_DVEC_ACOS:
            case DOME_OP_DVEC_ATAN:
            case DOME_OP_DVEC_SINH:
            case DOME_OP_DVEC_COSH:
            case DOME_OP_DVEC_TANH:
            case DOME_OP_DVEC_ASINH:
            case DOME_OP_DVEC_ACOSH:
            case DOME_OP_DVEC_ATANH:
            case DOME_OP_DVEC_SQRT:
            case DOME_OP_DVEC_EXP:
            case DOME_OP_DVEC_LOG:
            case DOME_OP_DVEC_SIN:
            case DOME_OP_DVEC_COS:
            case DOME_OP_DVEC_RANDOM_NORMAL:
                has = !is_integer(t);
                break;
            case DOME_OP_DVEC_ATAN2:
            case DOME_OP_DVEC_HYPOT:
            case DOME_OP_DVEC_COPYSIGN:
            case DOME_OP_DVEC_NEXTAFTER:
            case DOME_OP_DVEC_LOGADDEXP:
            case DOME_OP_DVEC_EXP2:
            case DOME_OP_DVEC_EXPM1:
            case DOME_OP_DVEC_LOG2:
            case DOME_OP_DVEC_LOG10:
            case DOME_OP_DVEC_LOG1P:
            case DOME_OP_DVEC_CBRT:
            case DOME_OP_DVEC_ERF:
            case DOME_OP_DVEC_ERFC:
            case DOME_OP_DVEC_FLOOR:
            case DOME_OP_DVEC_CEIL:
            case DOME_OP_DVEC_ROUND:
            case DOME_OP_DVEC_TRUNC:
                has = !is_integer(t) && !is_complex(t);
                break;
            case DOME_OP_DVEC_CONJ:
            case DOME_OP_DVEC_REAL:
            case DOME_OP_DVEC_IMAG:
            case DOME_OP_DVEC_ARG:
                has = is_complex(t);
                break;
            case DOME_OP_DVEC_BITAND:
            case DOME_OP_DVEC_BITOR:
            case DOME_OP_DVEC_BITXOR:
            case DOME_OP_DVEC_BITANDS:
            case DOME_OP_DVEC_BITORS:
            case DOME_OP_DVEC_BITXORS:
            case DOME_OP_DVEC_BITNOT:
            case DOME_OP_DVEC_LSHIFT:
            case DOME_OP_DVEC_RSHIFT:
            case DOME_OP_DVEC_LSHIFTS:
            case DOME_OP_DVEC_RSHIFTS:
                has = is_integer(t);
                break;
            case DOME_OP_DVEC_AND:
            case DOME_OP_DVEC_OR:
            case DOME_OP_DVEC_XOR:
            case DOME_OP_DVEC_NOT:
                has = t == DOME_U8;
                break;
            case DOME_OP_DVEC_REPEAT: /* src/kernels/repeat.h */
                has = false;
                break;
            default:
                has = true;
            }
            g_assert_cmpint(dome__kernel((dome_operation_code)code, t, t) != NULL, ==, has);
        }
        for (size_t j = 0; j < DOME_KIND_STRUCT; j++)
            g_assert_cmpint(dome__kernel(DOME_OP_DVEC_CONVERT, t, dome_type_basic(j)) != NULL, ==,
                            is_complex(t) || !is_complex(dome_type_basic(j)));
        g_assert_nonnull(dome__sum_kernel(DOME_TERMS_SUM, t));
        g_assert_nonnull(dome__sum_kernel(DOME_TERMS_DOT, t));
        g_assert_nonnull(dome__sum_kernel(DOME_TERMS_SQUARES, t));
        g_assert_cmpint(dome__sum_kernel(DOME_TERMS_SCALED, t) != NULL, ==, !is_integer(t));
        g_assert_nonnull(dome__product_kernel(t));
        g_assert_cmpint(dome__extreme_kernel(t) != NULL, ==, !is_complex(t));
    }
}

/* ---- single values ---- */

static uint64_t run2(dome_operation_code code, dome_type type, void *z, const void *x, const void *y, uint64_t count)
{
    dome_kernel_args args = {.out = z, .in = {x, y}, .width = 1, .bytes = dome_type_size(type)};
    return dome__kernel(code, type, type)(&args, count);
}

static uint64_t run1(dome_operation_code code, dome_type type, void *z, const void *x, double a, uint64_t count)
{
    dome_kernel_args args = {.out = z, .in = {x}, .a = a, .width = 1, .bytes = dome_type_size(type)};
    return dome__kernel(code, type, type)(&args, count);
}

#define BINARY(T, KIND, CODE, x, y, expected)                                                                                    \
    do {                                                                                                                         \
        T xs = (x), ys = (y), zs = 99;                                                                                           \
        g_assert_cmpuint(run2(DOME_OP_DVEC_##CODE, DOME_##KIND, &zs, &xs, &ys, 1), ==, 1);                                       \
        g_assert_true(zs == (T)(expected));                                                                                      \
    } while (0)
#define FAILS(T, KIND, CODE, x, y)                                                                                               \
    do {                                                                                                                         \
        T xs = (x), ys = (y), zs = 99;                                                                                           \
        g_assert_cmpuint(run2(DOME_OP_DVEC_##CODE, DOME_##KIND, &zs, &xs, &ys, 1), ==, 0);                                       \
        g_assert_true(zs == 0);                                                                                                  \
    } while (0)
#define UNARY(T, KIND, CODE, x, expected)                                                                                        \
    do {                                                                                                                         \
        T xs = (x), zs = 99;                                                                                                     \
        g_assert_cmpuint(run1(DOME_OP_DVEC_##CODE, DOME_##KIND, &zs, &xs, 0, 1), ==, 1);                                         \
        g_assert_true(zs == (T)(expected));                                                                                      \
    } while (0)

static void test_integers(void)
{
    BINARY(int8_t, I8, ADD, 127, 1, -128);
    BINARY(int8_t, I8, SUB, -128, 1, 127);
    BINARY(int8_t, I8, MUL, -128, -1, -128);
    BINARY(int16_t, I16, MUL, 32767, 32767, 1);
    BINARY(uint16_t, U16, MUL, 65535, 65535, 1);
    BINARY(uint16_t, U16, SUB, 0, 1, 65535);
    BINARY(int32_t, I32, ADD, INT32_MAX, 1, INT32_MIN);
    BINARY(int64_t, I64, ADD, INT64_MAX, 1, INT64_MIN);
    BINARY(int64_t, I64, MUL, INT64_MAX, 2, -2);
    BINARY(uint64_t, U64, MUL, UINT64_MAX, UINT64_MAX, 1);
    BINARY(int8_t, I8, DIV, -128, -1, -128);
    BINARY(int16_t, I16, DIV, INT16_MIN, -1, INT16_MIN);
    BINARY(int32_t, I32, DIV, INT32_MIN, -1, INT32_MIN);
    BINARY(int64_t, I64, DIV, INT64_MIN, -1, INT64_MIN);
    BINARY(int64_t, I64, DIV, -7, 2, -3);
    BINARY(int64_t, I64, DIV, 7, -2, -3);
    BINARY(uint64_t, U64, DIV, UINT64_MAX, 2, INT64_MAX);
    BINARY(int8_t, I8, FMOD, -128, -1, 0);
    BINARY(int64_t, I64, FMOD, INT64_MIN, -1, 0);
    BINARY(int32_t, I32, FMOD, -7, 2, -1);
    BINARY(int32_t, I32, FMOD, 7, -2, 1);
    BINARY(uint64_t, U64, FMOD, UINT64_MAX, 10, 5);
    FAILS(int16_t, I16, FMOD, 5, 0);
    FAILS(uint64_t, U64, FMOD, 0, 0);
    BINARY(int8_t, I8, FLOOR_DIVIDE, -128, -1, -128);
    BINARY(int32_t, I32, FLOOR_DIVIDE, -7, 2, -4);
    BINARY(int32_t, I32, FLOOR_DIVIDE, -8, 2, -4);
    BINARY(int64_t, I64, FLOOR_DIVIDE, 7, -2, -4);
    BINARY(uint64_t, U64, FLOOR_DIVIDE, UINT64_MAX, 10, UINT64_MAX / 10);
    FAILS(int16_t, I16, FLOOR_DIVIDE, 5, 0);
    BINARY(int8_t, I8, REMAINDER, -128, -1, 0);
    BINARY(int32_t, I32, REMAINDER, -7, 2, 1);
    BINARY(int32_t, I32, REMAINDER, 7, -2, -1);
    BINARY(int64_t, I64, REMAINDER, INT64_MIN, INT64_MAX, INT64_MAX - 1);
    BINARY(uint64_t, U64, REMAINDER, UINT64_MAX, 10, 5);
    FAILS(uint64_t, U64, REMAINDER, 0, 0);
    BINARY(uint8_t, U8, BITAND, 0xf3, 0x3e, 0x32);
    BINARY(int16_t, I16, BITOR, -2, 1, -1);
    BINARY(int64_t, I64, BITXOR, INT64_MIN, -1, INT64_MAX);
    UNARY(uint32_t, U32, BITNOT, 5, 0xfffffffa);
    UNARY(int8_t, I8, BITNOT, 127, -128);
    BINARY(int8_t, I8, LSHIFT, 3, 6, -64);
    BINARY(int8_t, I8, LSHIFT, 3, 8, 0);
    BINARY(int8_t, I8, LSHIFT, 3, -1, 0);
    BINARY(uint16_t, U16, LSHIFT, 0xffff, 15, 0x8000);
    BINARY(uint32_t, U32, LSHIFT, 1, 32, 0);
    BINARY(int64_t, I64, LSHIFT, 1, 63, INT64_MIN);
    BINARY(uint64_t, U64, LSHIFT, 1, UINT64_MAX, 0);
    BINARY(int8_t, I8, RSHIFT, -3, 1, -2);
    BINARY(int8_t, I8, RSHIFT, -3, 8, -1);
    BINARY(int8_t, I8, RSHIFT, 100, -128, 0);
    BINARY(int64_t, I64, RSHIFT, INT64_MIN, 64, -1);
    BINARY(int64_t, I64, RSHIFT, INT64_MIN, 63, -1);
    BINARY(int32_t, I32, RSHIFT, INT32_MAX, 30, 1);
    BINARY(uint8_t, U8, RSHIFT, 0x80, 7, 1);
    BINARY(uint64_t, U64, RSHIFT, UINT64_MAX, 64, 0);
    FAILS(int8_t, I8, DIV, 5, 0);
    FAILS(uint32_t, U32, DIV, 0, 0);
    FAILS(int64_t, I64, DIV, INT64_MIN, 0);
    UNARY(int8_t, I8, NEG, -128, -128);
    UNARY(int64_t, I64, NEG, INT64_MIN, INT64_MIN);
    UNARY(uint8_t, U8, NEG, 1, 255);
    UNARY(int16_t, I16, ABS, -32768, -32768);
    UNARY(int32_t, I32, ABS, -5, 5);
    UNARY(uint64_t, U64, ABS, UINT64_MAX, UINT64_MAX);
    BINARY(int32_t, I32, MIN, -1, 1, -1);
    BINARY(uint32_t, U32, MIN, UINT32_MAX, 1, 1);
    BINARY(int64_t, I64, MAX, INT64_MIN, INT64_MAX, INT64_MAX);

    BINARY(int32_t, I32, POW, 3, 4, 81);
    BINARY(int32_t, I32, POW, -2, 31, INT32_MIN);
    BINARY(int32_t, I32, POW, 2, 32, 0);
    BINARY(int8_t, I8, POW, 3, 5, -13); /* 243 */
    BINARY(int64_t, I64, POW, 0, 0, 1);
    BINARY(int64_t, I64, POW, 2, -1, 0);
    BINARY(int64_t, I64, POW, 1, -3, 1);
    BINARY(int64_t, I64, POW, -1, -3, -1);
    BINARY(int64_t, I64, POW, -1, INT64_MIN, 1);
    BINARY(int64_t, I64, POW, -1, INT64_MAX, -1);
    BINARY(uint8_t, U8, POW, 3, 255, 171);                                    /* 3^255 mod 256 = 3^-1 */
    BINARY(uint64_t, U64, POW, 7, UINT64_MAX, UINT64_C(7905747460161236407)); /* 7^-1 mod 2^64 */
    FAILS(int64_t, I64, POW, 0, -1);
    FAILS(int8_t, I8, POW, 0, -128);
}

/* The first value without a result is reported; the others are right. */
static void test_failures(void)
{
    int32_t x[50], y[50], z[50];
    for (int i = 0; i < 50; i++)
        x[i] = 1000 + i, y[i] = i < 20 || i % 7 ? i + 1 : 0;
    g_assert_cmpuint(run2(DOME_OP_DVEC_DIV, DOME_I32, z, x, y, 50), ==, 21);
    for (int i = 0; i < 50; i++)
        g_assert_cmpint(z[i], ==, y[i] ? x[i] / y[i] : 0);
    g_assert_cmpuint(run2(DOME_OP_DVEC_DIV, DOME_I32, z, x, y, 21), ==, 21);
    memcpy(z, y, sizeof z);
    g_assert_cmpuint(run1(DOME_OP_DVEC_POWS, DOME_I32, z, z, -1, 50), ==, 21);
    int32_t of[4] = {3, -3, 0, 5}, made[4];
    g_assert_cmpuint(run1(DOME_OP_DVEC_RSUBS, DOME_I32, made, of, INT32_MIN, 4), ==, 4);
    g_assert_true(made[0] == INT32_MAX - 2 && made[1] == INT32_MIN + 3 && made[2] == INT32_MIN && made[3] == INT32_MAX - 4);
    g_assert_cmpuint(run1(DOME_OP_DVEC_RDIVS, DOME_I32, made, of, -7, 4), ==, 2);
    g_assert_true(made[0] == -2 && made[1] == 2 && made[2] == 0 && made[3] == -1);
    g_assert_cmpuint(run1(DOME_OP_DVEC_RPOWS, DOME_I32, made, of, -2, 4), ==, 4);
    g_assert_true(made[0] == -8 && made[1] == 0 && made[2] == 1 && made[3] == -32);
    g_assert_cmpuint(run1(DOME_OP_DVEC_RPOWS, DOME_I32, made, of, 0, 4), ==, 1);
    g_assert_true(made[0] == 0 && made[1] == 0 && made[2] == 1 && made[3] == 0);
}

/* Equality, except for the sign and payload of NaN; zeros differ. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void check_f64(dome_operation_code code, double x, double y, double expected)
{
    double z = 99, w = 99;
    float xf = (float)x, yf = (float)y, zf = 99;
    run2(code, DOME_F64, &z, &x, &y, 1);
    g_assert_true(same(z, expected));
    run2(code, DOME_F32, &zf, &xf, &yf, 1);
    g_assert_true(same(zf, expected));
    run1(code + (DOME_OP_DVEC_ADDS - DOME_OP_DVEC_ADD), DOME_F64, &w, &x, y, 1);
    g_assert_true(same(w, expected));
}

/* For values for which the functions of both types agree. a: the scalar of operations that have one. */
static void check_one(dome_operation_code code, double x, double a, double expected)
{
    double z = 99;
    float xf = (float)x, zf = 99;
    run1(code, DOME_F64, &z, &x, a, 1);
    if (!same(z, expected))
        g_error("%s of %g is %.17g, not %.17g", dome__operation_name_in(&dome__elementwise_operations, code), x, z, expected);
    run1(code, DOME_F32, &zf, &xf, a, 1);
    g_assert_true(same(zf, (float)expected));
}

static void test_functions(void)
{
    check_one(DOME_OP_DVEC_RSUBS, 3, 1, -2);
    check_one(DOME_OP_DVEC_RSUBS, 3, 3, 0.0);
    check_one(DOME_OP_DVEC_RDIVS, -0.0, 1, -INFINITY);
    check_one(DOME_OP_DVEC_RDIVS, 8, 1, 0.125);
    check_one(DOME_OP_DVEC_RPOWS, 10, 2, 1024);
    check_one(DOME_OP_DVEC_FMODS, -7.5, 2, -1.5);
    check_one(DOME_OP_DVEC_FMODS, 7.5, 0, NAN);
    check_one(DOME_OP_DVEC_REMAINDERS, -7.5, 2, 0.5);
    check_one(DOME_OP_DVEC_REMAINDERS, 7.5, -2, -0.5);
    check_one(DOME_OP_DVEC_REMAINDERS, 6, -2, -0.0);
    check_one(DOME_OP_DVEC_REMAINDERS, 7.5, 0, NAN);
    check_one(DOME_OP_DVEC_REMAINDERS, -1, INFINITY, INFINITY);
    check_one(DOME_OP_DVEC_FLOOR_DIVIDES, -7.5, 2, -4);
    check_one(DOME_OP_DVEC_FLOOR_DIVIDES, 7.5, 0, INFINITY);
    check_one(DOME_OP_DVEC_FLOOR_DIVIDES, -0.0, 3, -0.0);
    check_one(DOME_OP_DVEC_FLOOR_DIVIDES, 1, 0.1, 9);
    check_one(DOME_OP_DVEC_SIGN, -7.5, 0, -1);
    check_one(DOME_OP_DVEC_SIGN, -0.0, 0, 0);
    check_one(DOME_OP_DVEC_SIGN, NAN, 0, NAN);
    check_one(DOME_OP_DVEC_ATANH, -1, 0, -INFINITY);
    check_one(DOME_OP_DVEC_ACOSH, 0.5, 0, NAN);
    check_one(DOME_OP_DVEC_ASINH, -0.0, 0, -0.0);
    check_one(DOME_OP_DVEC_FLOOR, -1.5, 0, -2);
    check_one(DOME_OP_DVEC_CEIL, -0.5, 0, -0.0);
    check_one(DOME_OP_DVEC_TRUNC, -1.5, 0, -1);
    check_one(DOME_OP_DVEC_ROUND, 0.5, 0, 0);
    check_one(DOME_OP_DVEC_ROUND, 1.5, 0, 2);
    check_one(DOME_OP_DVEC_ROUND, -2.5, 0, -2);
    check_one(DOME_OP_DVEC_ROUND, -0.25, 0, -0.0);
    check_one(DOME_OP_DVEC_ROUND, INFINITY, 0, INFINITY);
    check_one(DOME_OP_DVEC_EXP2, 5, 0, 32);
    check_one(DOME_OP_DVEC_EXPM1, -0.0, 0, -0.0);
    check_one(DOME_OP_DVEC_LOG2, 8, 0, 3);
    check_one(DOME_OP_DVEC_LOG10, 1000, 0, 3);
    check_one(DOME_OP_DVEC_LOG1P, -1, 0, -INFINITY);
    check_one(DOME_OP_DVEC_CBRT, -0.0, 0, -0.0);
    check_one(DOME_OP_DVEC_ERF, INFINITY, 0, 1);
    check_one(DOME_OP_DVEC_ERFC, INFINITY, 0, 0);
    check_one(DOME_OP_DVEC_TAN, -0.0, 0, -0.0);
    check_one(DOME_OP_DVEC_ASIN, 2, 0, NAN);
    check_one(DOME_OP_DVEC_ACOS, 1, 0, 0);
    check_one(DOME_OP_DVEC_ATAN, 0, 0, 0);
    check_one(DOME_OP_DVEC_SINH, -INFINITY, 0, -INFINITY);
    check_one(DOME_OP_DVEC_COSH, 0, 0, 1);
    check_one(DOME_OP_DVEC_TANH, -INFINITY, 0, -1);
    static const struct {
        dome_operation_code code;
        double x, y, z;
    } two[] = {{DOME_OP_DVEC_FMOD, 7.5, -2, 1.5},
               {DOME_OP_DVEC_FMOD, -0.0, 3, -0.0},
               {DOME_OP_DVEC_ATAN2, -0.0, 1, -0.0},
               {DOME_OP_DVEC_ATAN2, 0, 0, 0},
               {DOME_OP_DVEC_HYPOT, 3, -4, 5},
               {DOME_OP_DVEC_HYPOT, NAN, INFINITY, INFINITY},
               {DOME_OP_DVEC_COPYSIGN, 3, -0.0, -3},
               {DOME_OP_DVEC_COPYSIGN, NAN, 1, NAN},
               {DOME_OP_DVEC_NEXTAFTER, 3, 3, 3},
               {DOME_OP_DVEC_LOGADDEXP, -INFINITY, 2, 2},
               {DOME_OP_DVEC_LOGADDEXP, INFINITY, INFINITY, INFINITY},
               {DOME_OP_DVEC_LOGADDEXP, 1000, NAN, NAN}};
    for (size_t k = 0; k < G_N_ELEMENTS(two); k++) {
        double z = 99;
        float xf = (float)two[k].x, yf = (float)two[k].y, zf = 99;
        run2(two[k].code, DOME_F64, &z, &two[k].x, &two[k].y, 1);
        run2(two[k].code, DOME_F32, &zf, &xf, &yf, 1);
        g_assert_true(same(z, two[k].z) && same(zf, two[k].z));
    }
    double large[2] = {3e300, -4e300}, z = 0;
    run2(DOME_OP_DVEC_HYPOT, DOME_F64, &z, &large[0], &large[1], 1);
    g_assert_true(fabs(z - 5e300) < 1e285);
}

static void test_floats(void)
{
    check_f64(DOME_OP_DVEC_MIN, 1, 2, 1);
    check_f64(DOME_OP_DVEC_MIN, NAN, 2, NAN);
    check_f64(DOME_OP_DVEC_MIN, 2, NAN, NAN);
    check_f64(DOME_OP_DVEC_MIN, NAN, -INFINITY, NAN);
    check_f64(DOME_OP_DVEC_MIN, 0.0, -0.0, -0.0);
    check_f64(DOME_OP_DVEC_MIN, -0.0, 0.0, 0.0);
    check_f64(DOME_OP_DVEC_MAX, INFINITY, NAN, NAN);
    check_f64(DOME_OP_DVEC_MAX, -INFINITY, -3, -3);
    check_f64(DOME_OP_DVEC_MAX, 0.0, -0.0, -0.0);
    check_f64(DOME_OP_DVEC_DIV, 1, 0, INFINITY);
    check_f64(DOME_OP_DVEC_DIV, 1, -0.0, -INFINITY);
    check_f64(DOME_OP_DVEC_DIV, 0, 0, NAN);
    check_f64(DOME_OP_DVEC_POW, 2, -2, 0.25);
    check_f64(DOME_OP_DVEC_POW, 0, 0, 1);
    check_f64(DOME_OP_DVEC_SUB, INFINITY, INFINITY, NAN);

    /* not contracted: with a fused multiply-add the result would not be 0 */
    double x[40], y[40];
    for (int i = 0; i < 40; i++)
        x[i] = 1 + 0x1p-30, y[i] = -(x[i] * x[i]);
    run1(DOME_OP_DVEC_AXPY, DOME_F64, y, x, x[0], 40);
    for (int i = 0; i < 40; i++)
        g_assert_true(y[i] == 0);

    float f = 1, g = 0; /* the scalar is rounded to float first */
    run1(DOME_OP_DVEC_ADDS, DOME_F32, &g, &f, 0x1p-24 + 0x1p-60, 1);
    g_assert_true(g == 1);
    double zero = 0, minus = 1;
    run1(DOME_OP_DVEC_NEG, DOME_F64, &minus, &zero, 0, 1);
    g_assert_true(same(minus, -0.0));
}

static void check_c128(dome_operation_code code, double xr, double xi, double yr, double yi, double zr, double zi)
{
    double x[2] = {xr, xi}, y[2] = {yr, yi}, z[2];
    run2(code, DOME_C128, z, x, y, 1);
    g_assert_true(same(z[0], zr) && same(z[1], zi));
    float xf[2] = {(float)xr, (float)xi}, yf[2] = {(float)yr, (float)yi}, zf[2];
    if (fabs(xr) < 1e18 && fabs(yr) < 1e18) {
        run2(code, DOME_C64, zf, xf, yf, 1);
        g_assert_true(same(zf[0], (float)zr) && same(zf[1], (float)zi));
    }
}

static void test_complex(void)
{
    check_c128(DOME_OP_DVEC_ADD, 1, 2, 3, -4, 4, -2);
    check_c128(DOME_OP_DVEC_MUL, 1, 2, 3, 4, -5, 10);
    check_c128(DOME_OP_DVEC_MUL, INFINITY, 0, 1, 0, INFINITY, NAN); /* inf * 0 by parts, unlike C's own operator */
    check_c128(DOME_OP_DVEC_DIV, -5, 10, 3, 4, 1, 2);
    check_c128(DOME_OP_DVEC_DIV, -5, 10, 4, 3, 0.4, 2.2);
    check_c128(DOME_OP_DVEC_DIV, 1e300, 1e300, 1e300, 1e300, 1, 0);
    check_c128(DOME_OP_DVEC_DIV, 1, 0, 0, 0, NAN, NAN);

    /* each product is rounded on its own, even if a compiler would fuse it with the sum */
    enum { COUNT = 33 };
    double a[2 * COUNT], b[2 * COUNT], c[2 * COUNT], all[2] = {1, 0};
    GRand *rand = g_rand_new_with_seed(7);
    for (int i = 0; i < 2 * COUNT; i++)
        a[i] = g_rand_double_range(rand, -2, 2), b[i] = g_rand_double_range(rand, -2, 2);
    g_rand_free(rand);
    run2(DOME_OP_DVEC_MUL, DOME_C128, c, a, b, COUNT);
    for (int i = 0; i < COUNT; i++) {
        volatile double p[4] = {a[2 * i] * b[2 * i], a[2 * i + 1] * b[2 * i + 1], a[2 * i] * b[2 * i + 1],
                                a[2 * i + 1] * b[2 * i]};
        g_assert_true(c[2 * i] == p[0] - p[1] && c[2 * i + 1] == p[2] + p[3]);
    }
    dome__product_kernel(DOME_C128)(a, 16, all); /* then in pairs */
    double s[32];
    memcpy(s, a, sizeof s);
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++) {
            double *x = s + 2 * j, *y = s + 2 * (j + half);
            volatile double p[4] = {x[0] * y[0], x[1] * y[1], x[0] * y[1], x[1] * y[0]};
            x[0] = p[0] - p[1];
            x[1] = p[2] + p[3];
        }
    g_assert_true(all[0] == s[0] && all[1] == s[1]);

    double x[2] = {3e300, -4e300}, z[2];
    run1(DOME_OP_DVEC_ABS, DOME_C128, z, x, 0, 1);
    g_assert_true(fabs(z[0] - 5e300) < 1e285 && z[1] == 0);
    double y[2] = {3, INFINITY};
    run1(DOME_OP_DVEC_MULS, DOME_C128, z, y, 2, 1); /* by parts: no NaN */
    g_assert_true(z[0] == 6 && isinf(z[1]));
    run1(DOME_OP_DVEC_ADDS, DOME_C128, z, y, 2, 1);
    g_assert_true(z[0] == 5 && isinf(z[1]));
    double minus[2] = {-4, 0};
    run1(DOME_OP_DVEC_SQRT, DOME_C128, z, minus, 0, 1);
    g_assert_true(z[0] == 0 && z[1] == 2);
    double point[2] = {-3, -0.0}, part = 99;
    run1(DOME_OP_DVEC_CONJ, DOME_C128, z, point, 0, 1);
    g_assert_true(z[0] == -3 && same(z[1], 0.0));
    run1(DOME_OP_DVEC_REAL, DOME_C128, &part, point, 0, 1);
    g_assert_true(part == -3);
    run1(DOME_OP_DVEC_IMAG, DOME_C128, &part, point, 0, 1);
    g_assert_true(same(part, -0.0));
    run1(DOME_OP_DVEC_ARG, DOME_C128, &part, point, 0, 1);
    g_assert_true(part == -acos(-1));
    run1(DOME_OP_DVEC_RSUBS, DOME_C128, z, point, 1, 1);
    g_assert_true(z[0] == 4 && same(z[1], 0.0));
    run1(DOME_OP_DVEC_RDIVS, DOME_C128, z, (double[]){0, 2}, 1, 1);
    g_assert_true(z[0] == 0 && z[1] == -0.5);
    run1(DOME_OP_DVEC_RPOWS, DOME_C128, z, (double[]){2, 0}, 3, 1);
    g_assert_true(fabs(z[0] - 9) < 1e-14 && fabs(z[1]) < 1e-14);
    uint8_t mask[2] = {9, 9};
    run1(DOME_OP_DVEC_EQS, DOME_C128, mask, minus, -4, 1);
    run2(DOME_OP_DVEC_NE, DOME_C128, mask + 1, minus, minus, 1);
    g_assert_true(mask[0] == 1 && mask[1] == 0);
}

static void test_comparisons(void)
{
    const double x[6] = {1, 2, 2, NAN, 1, 0.0}, y[6] = {2, 1, 2, 1, NAN, -0.0};
    static const struct {
        dome_operation_code code;
        uint8_t expected[6];
    } cases[] = {{DOME_OP_DVEC_EQ, {0, 0, 1, 0, 0, 1}}, {DOME_OP_DVEC_NE, {1, 1, 0, 1, 1, 0}},
                 {DOME_OP_DVEC_LT, {1, 0, 0, 0, 0, 0}}, {DOME_OP_DVEC_LE, {1, 0, 1, 0, 0, 1}},
                 {DOME_OP_DVEC_GT, {0, 1, 0, 0, 0, 0}}, {DOME_OP_DVEC_GE, {0, 1, 1, 0, 0, 1}}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        uint8_t mask[6], one;
        run2(cases[k].code, DOME_F64, mask, x, y, 6);
        g_assert_cmpmem(mask, 6, cases[k].expected, 6);
        for (int i = 0; i < 6; i++) {
            run1(cases[k].code + (DOME_OP_DVEC_EQS - DOME_OP_DVEC_EQ), DOME_F64, &one, x + i, y[i], 1);
            g_assert_cmpuint(one, ==, mask[i]);
        }
    }
    const uint8_t a[4] = {0, 0, 7, 255}, b[4] = {0, 2, 0, 1};
    uint8_t z[4];
    run2(DOME_OP_DVEC_AND, DOME_U8, z, a, b, 4);
    g_assert_cmpmem(z, 4, "\0\0\0\1", 4);
    run2(DOME_OP_DVEC_OR, DOME_U8, z, a, b, 4);
    g_assert_cmpmem(z, 4, "\0\1\1\1", 4);
    run2(DOME_OP_DVEC_XOR, DOME_U8, z, a, b, 4);
    g_assert_cmpmem(z, 4, "\0\1\1\0", 4);
    run1(DOME_OP_DVEC_NOT, DOME_U8, z, a, 0, 4);
    g_assert_cmpmem(z, 4, "\1\1\0\0", 4);
}

/* ---- conversions ---- */

#define CONVERT(X, XK, x, Z, ZK, expected)                                                                                       \
    do {                                                                                                                         \
        X from = (x);                                                                                                            \
        Z to = 99;                                                                                                               \
        dome_kernel_args args = {.out = &to, .in = {&from}, .width = 1};                                                         \
        g_assert_cmpuint(dome__kernel(DOME_OP_DVEC_CONVERT, DOME_##ZK, DOME_##XK)(&args, 1), ==, 1);                             \
        g_assert_true(to == (expected));                                                                                         \
    } while (0)

static void test_conversions(void)
{
    CONVERT(double, F64, 1e30, int8_t, I8, 127);
    CONVERT(double, F64, 127.99, int8_t, I8, 127);
    CONVERT(double, F64, -128.99, int8_t, I8, -128);
    CONVERT(double, F64, -1.99, int8_t, I8, -1);
    CONVERT(double, F64, NAN, int8_t, I8, 0);
    CONVERT(double, F64, -INFINITY, int64_t, I64, INT64_MIN);
    CONVERT(double, F64, INFINITY, int64_t, I64, INT64_MAX);
    CONVERT(double, F64, 0x1p63, int64_t, I64, INT64_MAX);
    CONVERT(double, F64, 0x1.fffffffffffffp62, int64_t, I64, INT64_C(0x7ffffffffffffc00));
    CONVERT(double, F64, 0x1p64, uint64_t, U64, UINT64_MAX);
    CONVERT(double, F64, 0x1.fffffffffffffp63, uint64_t, U64, UINT64_C(0xfffffffffffff800));
    CONVERT(double, F64, -0.5, uint64_t, U64, 0);
    CONVERT(double, F64, -5, uint16_t, U16, 0);
    CONVERT(double, F64, 4294967295.5, uint32_t, U32, UINT32_MAX);
    CONVERT(float, F32, 0x1p31f, int32_t, I32, INT32_MAX);
    CONVERT(float, F32, -0x1p31f, int32_t, I32, INT32_MIN);
    CONVERT(float, F32, 3e9f, uint32_t, U32, UINT32_C(3000000000));
    CONVERT(float, F32, NAN, uint64_t, U64, 0);
    CONVERT(int64_t, I64, -1, uint8_t, U8, 0);
    CONVERT(int64_t, I64, 256, uint8_t, U8, 255);
    CONVERT(int64_t, I64, INT64_MIN, int32_t, I32, INT32_MIN);
    CONVERT(int64_t, I64, INT64_MAX, uint64_t, U64, (uint64_t)INT64_MAX);
    CONVERT(uint64_t, U64, UINT64_MAX, int64_t, I64, INT64_MAX);
    CONVERT(uint64_t, U64, UINT64_MAX, int8_t, I8, 127);
    CONVERT(uint64_t, U64, UINT64_MAX, double, F64, 0x1p64);
    volatile int64_t between = INT64_C(0x4000004000000001);
    if ((float)between == 0x1.000002p62f) { /* rounded once; valgrind's processor rounds to double first */
        CONVERT(uint64_t, U64, UINT64_C(0x8000008000000001), float, F32, 0x1.000002p63f);
        CONVERT(int64_t, I64, between, float, F32, 0x1.000002p62f);
    }
    CONVERT(int8_t, I8, -128, double, F64, -128);
    CONVERT(double, F64, 1e300, float, F32, INFINITY);
    CONVERT(double, F64, 0x1.000001p0, float, F32, 1.0f);

    double z[2];
    int16_t i = -7;
    dome_kernel_args args = {.out = z, .in = {&i}, .width = 1};
    dome__kernel(DOME_OP_DVEC_CONVERT, DOME_C128, DOME_I16)(&args, 1);
    g_assert_true(z[0] == -7 && same(z[1], 0));
    float f[2] = {1.5f, -2.5f};
    args.in[0] = f;
    dome__kernel(DOME_OP_DVEC_CONVERT, DOME_C128, DOME_C64)(&args, 1);
    g_assert_true(z[0] == 1.5 && z[1] == -2.5);

    g_assert_true(dome__exact_in(DOME_I8, -128) && dome__exact_in(DOME_I8, 127));
    g_assert_false(dome__exact_in(DOME_I8, 128) || dome__exact_in(DOME_I8, -129) || dome__exact_in(DOME_I8, 0.5));
    g_assert_false(dome__exact_in(DOME_I8, NAN) || dome__exact_in(DOME_U8, -1) || dome__exact_in(DOME_U64, 0x1p64));
    g_assert_true(dome__exact_in(DOME_I64, -0x1p63) && dome__exact_in(DOME_U64, 0x1p63) && dome__exact_in(DOME_U8, -0.0));
    g_assert_false(dome__exact_in(DOME_I64, 0x1p63) || dome__exact_in(DOME_I64, INFINITY));
    g_assert_true(dome__exact_in(DOME_F32, 1e300) && dome__exact_in(DOME_C64, NAN));
}

/* ---- loops: all lengths, in place and not ---- */

static void random_values(GRand *rand, dome_type type, void *to, size_t count)
{
    char *byte = to;
    for (size_t i = 0; i < count * dome_type_size(type); i++)
        byte[i] = (char)g_rand_int(rand);
    if (is_integer(type))
        return;
    for (size_t i = 0; i < count * dome_type_size(type) / (type == DOME_F32 || type == DOME_C64 ? 4 : 8); i++)
        if (type == DOME_F32 || type == DOME_C64)
            ((float *)to)[i] = (float)g_rand_double_range(rand, -4, 4);
        else
            ((double *)to)[i] = g_rand_double_range(rand, -4, 4);
}

/* A run of any length gives the same results as its values one by one, even if the output is an input. */
static void test_runs(void)
{
    enum { MAX_COUNT = 67 };
    static const dome_operation_code codes[] = {DOME_OP_DVEC_ADD,  DOME_OP_DVEC_SUB,    DOME_OP_DVEC_MUL,  DOME_OP_DVEC_DIV,
                                                DOME_OP_DVEC_MIN,  DOME_OP_DVEC_MAX,    DOME_OP_DVEC_POW,  DOME_OP_DVEC_ADDS,
                                                DOME_OP_DVEC_MULS, DOME_OP_DVEC_NEG,    DOME_OP_DVEC_ABS,  DOME_OP_DVEC_SQRT,
                                                DOME_OP_DVEC_AND,  DOME_OP_DVEC_NOT,    DOME_OP_DVEC_COPY, DOME_OP_DVEC_EXP,
                                                DOME_OP_DVEC_DIVS, DOME_OP_DVEC_SELECT, DOME_OP_DVEC_AXPY};
    GRand *rand = g_rand_new_with_seed(4);
    _Alignas(16) char x[16 * MAX_COUNT] = {0}, y[16 * MAX_COUNT] = {0}, z[16 * MAX_COUNT], w[16 * MAX_COUNT], one[16 * MAX_COUNT];
    uint8_t mask[MAX_COUNT];
    for (size_t k = 0; k < DOME_KIND_STRUCT; k++)
        for (size_t c = 0; c < G_N_ELEMENTS(codes); c++)
            for (uint64_t count = 0; count <= MAX_COUNT; count += 1 + count / 5) {
                dome_kernel kernel = dome__kernel(codes[c], dome_type_basic(k), dome_type_basic(k));
                size_t bytes = dome_type_size(dome_type_basic(k));
                if (!kernel)
                    continue;
                random_values(rand, dome_type_basic(k), x, MAX_COUNT);
                random_values(rand, dome_type_basic(k), y, MAX_COUNT);
                random_values(rand, DOME_U8, mask, MAX_COUNT);
                for (int i = 0; i < MAX_COUNT; i++)
                    mask[i] &= 1;
                bool select = codes[c] == DOME_OP_DVEC_SELECT, axpy = codes[c] == DOME_OP_DVEC_AXPY;
                dome_kernel_args args = {.a = 3, .width = 1, .bytes = bytes, .in = {x, y}};
                memcpy(z, y, sizeof z);
                memcpy(one, y, sizeof one);
                if (select)
                    args.in[0] = mask, args.in[1] = x, args.in[2] = y;
                args.out = z;
                kernel(&args, count);
                for (uint64_t i = 0; i < count; i++) {
                    dome_kernel_args a = args;
                    a.out = one + i * bytes;
                    for (int j = 0; j < 3; j++)
                        if (args.in[j])
                            a.in[j] = (const char *)args.in[j] + i * (args.in[j] == mask ? 1 : bytes);
                    kernel(&a, 1);
                }
                g_assert_cmpmem(z, count * bytes, one, count * bytes);
                g_assert_cmpmem(z + count * bytes, sizeof z - count * bytes, y + count * bytes, sizeof z - count * bytes);
                if (axpy)
                    continue;
                memcpy(w, x, sizeof w);
                args.out = w;
                args.in[select ? 1 : 0] = w;
                kernel(&args, count);
                g_assert_cmpmem(w, count * bytes, one, count * bytes);
                memcpy(w, y, sizeof w);
                args.out = w;
                args.in[select ? 1 : 0] = x;
                args.in[select ? 2 : 1] = w;
                kernel(&args, count);
                g_assert_cmpmem(w, count * bytes, one, count * bytes);
            }
    g_rand_free(rand);
}

static void test_bytes(void)
{
    enum { BYTES = 11, COUNT = 100 };
    char value[BYTES] = "0123456789", z[BYTES * COUNT + 1], x[BYTES * COUNT], y[BYTES * COUNT];
    uint8_t mask[COUNT];
    z[BYTES * COUNT] = '!';
    dome_kernel_args args = {.out = z, .value = value, .bytes = BYTES, .width = 1};
    g_assert_cmpuint(dome__kernel_fill_value(&args, COUNT), ==, COUNT);
    for (int i = 0; i < COUNT; i++)
        g_assert_cmpmem(z + BYTES * i, BYTES, value, BYTES);
    g_assert_cmpint(z[BYTES * COUNT], ==, '!');
    g_assert_cmpuint(dome__kernel_fill_value(&args, 0), ==, 0);

    for (int i = 0; i < COUNT; i++) {
        mask[i] = i % 3 == 0;
        memset(x + BYTES * i, 'x', BYTES);
        memset(y + BYTES * i, 'y', BYTES);
    }
    args = (dome_kernel_args){.out = z, .in = {mask, x, y}, .bytes = 16, .width = 1};
    /* 16 bytes of c128 stand for any type that is chosen by bytes */
    g_assert_cmpuint(dome__kernel(DOME_OP_DVEC_SELECT, DOME_C128, DOME_C128)(&args, 60), ==, 60);
    for (int i = 0; i < 60; i++)
        for (int b = 0; b < 16; b++)
            g_assert_cmpint(z[16 * i + b], ==, i % 3 == 0 ? 'x' : 'y');
}

static void test_index(void)
{
    uint64_t z[12];
    dome_kernel_args args = {.out = z, .first = UINT64_C(5000000000), .width = 3};
    dome__kernel(DOME_OP_DVEC_IOTA, DOME_U64, NULL)(&args, 12);
    for (uint64_t i = 0; i < 12; i++)
        g_assert_cmpuint(z[i], ==, UINT64_C(5000000000) + i / 3);
    int8_t c[5];
    args = (dome_kernel_args){.out = c, .first = 125, .width = 1};
    dome__kernel(DOME_OP_DVEC_IOTA, DOME_I8, NULL)(&args, 5);
    g_assert_cmpmem(c, 5, ((const int8_t[]){125, 126, 127, 127, 127}), 5);
}

/* ---- reductions ---- */

/* A block's sum as kernels_reduce.h describes it. */
static double block_sum(const double *term, uint64_t count)
{
    double s[16] = {0};
    for (uint64_t i = 0; i < count; i++)
        s[i % 16] += term[i];
    for (int j = 0; j < 8; j++)
        s[j] += s[j + 8];
    for (int j = 0; j < 4; j++)
        s[j] += s[j + 4];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

static void test_block_sums(void)
{
    enum { COUNT = 200 };
    GRand *rand = g_rand_new_with_seed(5);
    double x[2 * COUNT], y[2 * COUNT], re[COUNT], im[COUNT], squares[COUNT], dot[COUNT];
    float f[COUNT];
    for (uint64_t count = 0; count <= COUNT; count += 1 + count / 9) {
        random_values(rand, DOME_C128, x, COUNT);
        random_values(rand, DOME_C128, y, COUNT);
        dome_exact_sum sums[2];
        dome__exact_init(&sums[0]);
        dome__sum_kernel(DOME_TERMS_SUM, DOME_F64)(x, NULL, count, count, NULL, sums);
        g_assert_true(dome__exact_round(sums) == block_sum(x, count));

        for (uint64_t i = 0; i < count; i++)
            dot[i] = x[i] * y[i];
        dome__exact_init(&sums[0]);
        dome__sum_kernel(DOME_TERMS_DOT, DOME_F64)(x, y, count, count, NULL, sums);
        g_assert_true(dome__exact_round(sums) == block_sum(dot, count));

        random_values(rand, DOME_F32, f, COUNT);
        for (uint64_t i = 0; i < count; i++)
            squares[i] = (double)f[i] * (double)f[i];
        dome__exact_init(&sums[0]);
        dome__sum_kernel(DOME_TERMS_SQUARES, DOME_F32)(f, NULL, count, count, NULL, sums);
        g_assert_true(dome__exact_round(sums) == block_sum(squares, count));

        for (uint64_t i = 0; i < count; i++) {
            const double *a = x + 2 * i, *b = y + 2 * i;
            re[i] = a[0] * b[0] + a[1] * b[1];
            im[i] = a[0] * b[1] - a[1] * b[0];
        }
        dome__exact_init(&sums[0]);
        dome__exact_init(&sums[1]);
        dome__sum_kernel(DOME_TERMS_DOT, DOME_C128)(x, y, count, count, NULL, sums);
        g_assert_true(dome__exact_round(&sums[0]) == block_sum(re, count));
        g_assert_true(dome__exact_round(&sums[1]) == block_sum(im, count));
    }
    g_rand_free(rand);
}

/* Values whose exponents lie within `spread` of each other; sometimes all are tiny, huge or 0, or one is infinite. */
static void spread_values(GRand *rand, double *x, uint64_t count, int spread)
{
    const int middle = g_rand_int_range(rand, 0, 4) == 0 ? g_rand_int_range(rand, -1060, 1000) : 0;
    for (uint64_t i = 0; i < count; i++)
        x[i] = ldexp(g_rand_double_range(rand, -1, 1), middle + g_rand_int_range(rand, -spread, 1));
    if (g_rand_int_range(rand, 0, 8) == 0)
        memset(x, 0, count * sizeof *x);
    if (g_rand_int_range(rand, 0, 8) == 0)
        x[g_rand_int_range(rand, 0, (gint32)count)] = INFINITY;
}

/* A kernel that gets many blocks adds up each of them. */
static void test_many_blocks(void)
{
    enum { COUNT = 700 };
    static const char *const kinds[] = {"baseline", "avx2", "avx512", "auto"};
    static const uint64_t blocks[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 100, 1024};
    static const int spreads[] = {1, 20, 60, 300};
    GRand *rand = g_rand_new_with_seed(7);
    double x[COUNT];
    for (int round = 0; round < 2000; round++) {
        const uint64_t block = blocks[round % (int)G_N_ELEMENTS(blocks)], count = 1 + (uint64_t)g_rand_int_range(rand, 0, COUNT);
        spread_values(rand, x, count, spreads[g_rand_int_range(rand, 0, G_N_ELEMENTS(spreads))]);
        dome_exact_sum expected, found;
        dome__exact_init(&expected);
        for (uint64_t first = 0; first < count; first += block)
            dome__exact_add(&expected, block_sum(x + first, MIN(block, count - first)));
        g_assert_true(dome__kernels_limit(kinds[round % (int)G_N_ELEMENTS(kinds)]));
        dome__exact_init(&found);
        dome__sum_kernel(DOME_TERMS_SUM, DOME_F64)(x, NULL, count, block, NULL, &found);
        dome__exact_normalize(&expected);
        dome__exact_normalize(&found);
        g_assert_cmpmem(&expected, sizeof expected, &found, sizeof found);
    }
    dome__kernels_limit("auto");
    g_rand_free(rand);
}

static void test_integer_sums(void)
{
    enum { COUNT = 100 };
    GRand *rand = g_rand_new_with_seed(6);
    for (int k = DOME_KIND_I8; k <= DOME_KIND_U64; k++)
        for (int round = 0; round < 50; round++) {
            dome_type type = dome_type_basic(k);
            bool has_sign = k <= DOME_KIND_I64;
            size_t bytes = dome_type_size(type);
            _Alignas(8) char x[8 * COUNT], y[8 * COUNT];
            random_values(rand, type, x, COUNT);
            random_values(rand, type, y, COUNT);
            if (round == 0) /* all the smallest values of signed types, or all the largest of unsigned ones */
                for (size_t i = 0; i < COUNT * bytes; i++)
                    x[i] = y[i] = has_sign ? (i % bytes == (G_BYTE_ORDER == G_BIG_ENDIAN ? 0 : bytes - 1) ? -128 : 0) : -1;
            reference_sum sum = {0}, dot = {0};
            for (size_t i = 0; i < COUNT; i++) {
                uint64_t v[2] = {0, 0};
                bool s[2];
                for (int j = 0; j < 2; j++) {
                    dome_kernel_args args = {.out = &v[j], .in = {(j ? y : x) + i * bytes}, .width = 1};
                    dome__kernel(DOME_OP_DVEC_CONVERT, has_sign ? DOME_I64 : DOME_U64, type)(&args, 1);
                    s[j] = has_sign && v[j] >> 63;
                    v[j] = s[j] ? 0 - v[j] : v[j];
                }
                reference_add_scaled(&sum, s[0], v[0], 0);
                reference_add_product(&dot, s[0], v[0], s[1], v[1]);
            }
            dome_exact_sum a, b;
            dome__exact_init(&a);
            dome__exact_init(&b);
            dome__sum_kernel(DOME_TERMS_SUM, type)(x, NULL, COUNT, COUNT, NULL, &a);
            dome__sum_kernel(DOME_TERMS_DOT, type)(x, y, COUNT, COUNT, NULL, &b);
            g_assert_true(dome__exact_round(&a) == reference_round(&sum));
            g_assert_true(dome__exact_round(&b) == reference_round(&dot));
            int64_t got, want;
            g_assert_cmpint(dome__exact_i64(&b, &got), ==, reference_i64(&dot, &want));
            if (reference_i64(&dot, &want))
                g_assert_cmpint(got, ==, want);
        }
    g_rand_free(rand);
}

static void check_extreme(dome_type type, const void *x, uint64_t count, bool largest, uint64_t position, double value)
{
    dome_extreme best = DOME_EXTREME_NONE;
    size_t bytes = dome_type_size(type);
    dome__extreme_kernel(type)(&best, x, count, 0, largest);
    g_assert_cmpuint(best.position, ==, position);
    double found;
    memcpy(&found, &best.bits, sizeof found);
    if (is_integer(type))
        found = dome_type_kind_of(type) <= DOME_KIND_I64 ? (double)(int64_t)best.bits : (double)best.bits;
    g_assert_true(same(found, value));

    /* in two parts, the second first */
    dome_extreme parts = DOME_EXTREME_NONE;
    uint64_t half = count / 2;
    dome__extreme_kernel(type)(&parts, (const char *)x + half * bytes, count - half, half, largest);
    dome__extreme_kernel(type)(&parts, x, half, 0, largest);
    g_assert_true(parts.position == best.position && parts.key == best.key);
}

static void test_extremes(void)
{
    double d[40];
    for (int i = 0; i < 40; i++)
        d[i] = (i * 17) % 40 - 20;
    check_extreme(DOME_F64, d, 40, false, 0, -20);
    check_extreme(DOME_F64, d, 40, true, 7, 19);
    d[30] = -20;
    check_extreme(DOME_F64, d, 40, false, 0, -20);
    d[25] = -INFINITY;
    check_extreme(DOME_F64, d, 40, false, 25, -INFINITY);
    d[33] = INFINITY;
    check_extreme(DOME_F64, d, 40, true, 33, INFINITY);
    d[35] = d[38] = NAN;
    check_extreme(DOME_F64, d, 40, false, 35, NAN);
    check_extreme(DOME_F64, d, 40, true, 35, NAN);
    const double zeros[4] = {1, 0.0, -0.0, 0.0}, infinite[3] = {INFINITY, INFINITY, INFINITY};
    check_extreme(DOME_F64, zeros, 4, false, 1, 0.0);
    check_extreme(DOME_F64, zeros + 2, 2, false, 0, -0.0);
    check_extreme(DOME_F64, infinite, 3, false, 0, INFINITY);
    const float f[3] = {-1e-45f, 0, -1e-45f};
    check_extreme(DOME_F32, f, 3, false, 0, (double)-1e-45f);
    check_extreme(DOME_F32, f, 3, true, 1, 0);
    const int64_t i[4] = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    check_extreme(DOME_I64, i, 4, false, 1, -0x1p63);
    check_extreme(DOME_I64, i, 4, true, 0, 0x1p63);
    const uint64_t u[3] = {5, UINT64_MAX, 0};
    check_extreme(DOME_U64, u, 3, false, 2, 0);
    check_extreme(DOME_U64, u, 3, true, 1, 0x1p64);
    const int8_t c[3] = {-1, -128, 127};
    check_extreme(DOME_I8, c, 3, false, 1, -128);
    check_extreme(DOME_I8, c, 3, true, 2, 127);
    const int64_t most[1] = {INT64_MAX}; /* its key is that of "none" */
    check_extreme(DOME_I64, most, 1, false, 0, 0x1p63);
}

/* ---- variants ---- */

static const char *const variants[] = {"avx512", "avx2", "baseline"};

/* Difficult values, and others. */
static void edge_values(GRand *rand, dome_type type, void *to, size_t count)
{
    static const double edges[] = {0.0,  -0.0,   NAN,     INFINITY, -INFINITY, 0x1p-1074, -0x1p-1030, 1e308, -1e308, 1.0,
                                   -1.0, 0x1p31, -0x1p31, 0x1p63,   0x1p64,    255.5,     -128.5,     1e-40, 3e38,   0.5};
    random_values(rand, type, to, count);
    if (is_integer(type)) {
        for (size_t i = 0; i < count; i += 7) /* the largest, the smallest, and 0 */
            memset((char *)to + i * dome_type_size(type), i % 3 == 0 ? 0 : i % 3 == 1 ? -1 : -128, dome_type_size(type));
        return;
    }
    bool single = type == DOME_F32 || type == DOME_C64;
    for (size_t i = 0; i < count * dome_type_size(type) / (single ? 4 : 8); i++)
        if (g_rand_int(rand) % 4 == 0) {
            double value = edges[(size_t)g_rand_int_range(rand, 0, G_N_ELEMENTS(edges))];
            if (single)
                ((float *)to)[i] = (float)value;
            else
                ((double *)to)[i] = value;
        }
}

/* Gives every NaN the same representation. */
static void settle_nan(dome_type type, void *values, size_t count)
{
    if (type == DOME_F32 || type == DOME_C64) {
        for (size_t i = 0; i < count * (type == DOME_C64 ? 2 : 1); i++)
            if (isnan(((float *)values)[i]))
                ((float *)values)[i] = NAN;
    } else if (type == DOME_F64 || type == DOME_C128) {
        for (size_t i = 0; i < count * (type == DOME_C128 ? 2 : 1); i++)
            if (isnan(((double *)values)[i]))
                ((double *)values)[i] = NAN;
    }
}

enum { VARIANT_COUNT = 331, VARIANT_BYTES = 16 * VARIANT_COUNT };

/* A sum computed piece by piece equals that of the whole block. */
static void check_parts(dome_terms terms, dome_type type, const void *x, const void *y, uint64_t count, double expected)
{
    const size_t bytes = dome_type_size(type);
    for (uint64_t piece = DOME_PARTS; piece <= 4 * DOME_PARTS; piece *= 2) {
        double part[DOME_PARTS] = {0};
        dome_exact_sum sum;
        for (uint64_t done = 0; done < count; done += piece)
            dome__parts_kernel(terms, type)((const char *)x + done * bytes, (const char *)y + done * bytes,
                                            MIN(piece, count - done), part);
        dome__exact_init(&sum);
        dome__exact_add(&sum, dome__fold_parts(part));
        double found = dome__exact_round(&sum);
        g_assert_true((isnan(found) && isnan(expected)) || memcmp(&found, &expected, sizeof found) == 0);
    }
}

/* Two operations in one kernel give the same results as one after the other, even if the output is an input. Returns the number
 * of pairs. */
static int check_pairs(dome_type type, const void *x, const void *y, const void *other, uint64_t count)
{
    static _Alignas(64) char apart[VARIANT_BYTES], together[VARIANT_BYTES];
    const size_t bytes = count * dome_type_size(type);
    int pairs = 0;
    for (int one = DOME_OP_DVEC_FILL; one <= DOME_OP_DVEC_RANDOM_NORMAL; one++)
        for (int two = DOME_OP_DVEC_FILL; two <= DOME_OP_DVEC_RANDOM_NORMAL; two++)
            for (int left = 0; left < 2; left++) {
                dome_kernel pair = dome__pair_kernel((dome_operation_code)one, (dome_operation_code)two, left, type);
                if (!pair)
                    continue;
                dome_kernel_args first = {.out = apart, .a = 3.7, .width = 1, .in = {x, y}}, second = first, both = first;
                dome__kernel((dome_operation_code)one, type, type)(&first, count);
                second.in[left ? 0 : 1] = apart;
                second.in[left ? 1 : 0] = other;
                dome__kernel((dome_operation_code)two, type, type)(&second, count);
                settle_nan(type, apart, count);
                both.in[2] = other;
                both.out = together;
                g_assert_cmpuint(pair(&both, count), ==, count);
                settle_nan(type, together, count);
                g_assert_cmpmem(together, bytes, apart, bytes);
                for (int i = 0; i < 3; i++) {
                    dome_kernel_args onto = both;
                    memcpy(together, both.in[i], bytes);
                    onto.in[i] = together;
                    pair(&onto, count);
                    settle_nan(type, together, count);
                    g_assert_cmpmem(together, bytes, apart, bytes);
                }
                pairs++;
            }
    return pairs;
}

/* The output type of an operation for inputs of this type. */
static dome_type output_of(int code, dome_type type)
{
    dome_elementwise_form form = dome__elementwise_of((dome_operation_code)code)->form;
    bool compares = form == DOME_FORM_COMPARE || form == DOME_FORM_COMPARE_SCALAR || form == DOME_FORM_TEST;
    return compares ? DOME_U8 : form != DOME_FORM_PART ? type : type == DOME_C64 ? DOME_F32 : DOME_F64;
}

/* Hashes the results of a variant for the same operands, for every operation and reduction and all pairs of types. */
static guint64 everything(const char *variant, GRand *rand)
{
    static _Alignas(64) char x[VARIANT_BYTES], y[VARIANT_BYTES], z[VARIANT_BYTES], tile[16 * DOME_KERNEL_TILE];
    static uint8_t mask[VARIANT_COUNT];
    guint64 hash = 0;
    dome__kernels_limit(variant);
    for (size_t k = 0; k < DOME_KIND_STRUCT; k++) {
        dome_type type = dome_type_basic(k);
        size_t bytes = dome_type_size(type);
        edge_values(rand, type, x, VARIANT_COUNT);
        edge_values(rand, type, y, VARIANT_COUNT);
        random_values(rand, DOME_U8, mask, VARIANT_COUNT);
        for (int code = DOME_OP_DVEC_FILL; code <= DOME_OP_DVEC_RANDOM_NORMAL; code++) {
            if (code == DOME_OP_DVEC_CONVERT || !dome__kernel((dome_operation_code)code, type, type))
                continue;
            bool select = code == DOME_OP_DVEC_SELECT;
            dome_type output = output_of(code, type);
            dome_kernel_args args = {.out = z, .a = 3, .width = 1, .bytes = bytes, .first = 77, .seed = 5, .in = {x, y}};
            if (select)
                args.in[0] = mask, args.in[1] = x, args.in[2] = y;
            memcpy(z, y, sizeof z);
            hash = dome__hash(hash, dome__kernel((dome_operation_code)code, type, type)(&args, VARIANT_COUNT));
            settle_nan(output, z, VARIANT_COUNT);
            hash = dome__hash_bytes(hash, z, VARIANT_COUNT * dome_type_size(output));

            /* the loop of fixed length gives the same results */
            args.out = tile;
            memcpy(tile, y, sizeof tile);
            dome__kernel((dome_operation_code)code, type, type)(&args, DOME_KERNEL_TILE);
            settle_nan(output, tile, DOME_KERNEL_TILE);
            g_assert_cmpmem(tile, DOME_KERNEL_TILE * dome_type_size(output), z, DOME_KERNEL_TILE * dome_type_size(output));
        }
        if (type == DOME_F32 || type == DOME_F64) {
            edge_values(rand, type, z, VARIANT_COUNT);
            g_assert_cmpint(check_pairs(type, x, y, z, DOME_KERNEL_TILE), >=, 8 * 3);
            check_pairs(type, x, y, z, VARIANT_COUNT);
        } else {
            g_assert_cmpint(check_pairs(type, x, y, x, 1), ==, 0);
        }
        for (size_t j = 0; j < DOME_KIND_STRUCT; j++) {
            dome_kernel convert = dome__kernel(DOME_OP_DVEC_CONVERT, dome_type_basic(j), type);
            dome_kernel_args args = {.out = z, .width = 1, .in = {x}};
            if (!convert)
                continue;
            convert(&args, VARIANT_COUNT);
            settle_nan(dome_type_basic(j), z, VARIANT_COUNT);
            hash = dome__hash_bytes(hash, z, VARIANT_COUNT * dome_type_size(dome_type_basic(j)));
        }
        for (int special = 0; special < 2; special++) { /* sums and products once without infinities */
            const double scale[2] = {0x1p-20, 0x1p3};
            if (special == 0) {
                random_values(rand, type, x, VARIANT_COUNT);
                random_values(rand, type, y, VARIANT_COUNT);
            } else {
                edge_values(rand, type, x, VARIANT_COUNT);
            }
            for (uint64_t count = 0; count <= VARIANT_COUNT; count += 1 + count / 3) {
                for (int terms = 0; terms < DOME_TERMS; terms++) {
                    dome_sum_kernel sum = dome__sum_kernel((dome_terms)terms, type);
                    dome_exact_sum sums[2];
                    dome__exact_init(&sums[0]);
                    dome__exact_init(&sums[1]);
                    if (sum)
                        sum(x, y, count, count, scale, sums);
                    if (dome__parts_kernel((dome_terms)terms, type))
                        check_parts((dome_terms)terms, type, x, y, count, dome__exact_round(&sums[0]));
                    hash = dome__hash_double(dome__hash_double(hash, dome__exact_round(&sums[0])), dome__exact_round(&sums[1]));
                }
                double product[2] = {1, 0};
                dome__product_kernel(type)(x, count, product);
                hash = dome__hash_double(dome__hash_double(hash, product[0]), product[1]);
                for (int largest = 0; largest < 2 && dome__extreme_kernel(type); largest++) {
                    dome_extreme best = DOME_EXTREME_NONE;
                    dome__extreme_kernel(type)(&best, x, count, 9, largest);
                    hash = dome__hash(dome__hash(hash, best.position), best.key);
                }
                if (special == 0 && !is_integer(type))
                    hash = dome__hash_double(hash, dome__largest_part(type, x, count));
            }
        }
    }
    return hash;
}

/* On processors without wide vectors the next available variant is used instead. */
static void test_variants_agree(void)
{
    for (guint32 seed = 1; seed <= (g_test_thorough() ? 100 : 5); seed++) {
        guint64 found[G_N_ELEMENTS(variants)];
        for (size_t v = 0; v < G_N_ELEMENTS(variants); v++) {
            GRand *rand = g_rand_new_with_seed(seed);
            found[v] = everything(variants[v], rand);
            g_rand_free(rand);
            g_assert_cmpuint(found[v], ==, found[0]);
        }
    }
    g_assert_false(dome__kernels_limit("mmx"));
    g_assert_cmpstr(dome__kernels_name(), ==, "baseline");
    g_assert_true(dome__kernels_limit("auto"));
}

static void with_variant(gconstpointer data)
{
    static void (*const tests[])(void) = {test_table,       test_integers,     test_failures, test_floats, test_complex,
                                          test_comparisons, test_conversions,  test_runs,     test_bytes,  test_index,
                                          test_block_sums,  test_integer_sums, test_extremes};
    g_assert_true(dome__kernels_limit(data));
    g_test_message("%s: %s", (const char *)data, dome__kernels_name());
    for (size_t k = 0; k < G_N_ELEMENTS(tests); k++)
        tests[k]();
    dome__kernels_limit("auto");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kernels/table", test_table);
    g_test_add_func("/kernels/integers", test_integers);
    g_test_add_func("/kernels/failures", test_failures);
    g_test_add_func("/kernels/floats", test_floats);
    g_test_add_func("/kernels/functions", test_functions);
    g_test_add_func("/kernels/complex", test_complex);
    g_test_add_func("/kernels/comparisons", test_comparisons);
    g_test_add_func("/kernels/conversions", test_conversions);
    g_test_add_func("/kernels/runs", test_runs);
    g_test_add_func("/kernels/bytes", test_bytes);
    g_test_add_func("/kernels/index", test_index);
    g_test_add_func("/kernels/block-sums", test_block_sums);
    g_test_add_func("/kernels/many-blocks", test_many_blocks);
    g_test_add_func("/kernels/integer-sums", test_integer_sums);
    g_test_add_func("/kernels/extremes", test_extremes);
    g_test_add_func("/kernels/variants-agree", test_variants_agree);
    for (size_t v = 0; v < G_N_ELEMENTS(variants); v++) {
        char *path = g_strconcat("/kernels/with/", variants[v], NULL);
        g_test_add_data_func(path, variants[v], with_variant);
        g_free(path);
    }
    return g_test_run();
}
