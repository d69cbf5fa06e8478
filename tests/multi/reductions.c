/* Reductions: known values, hard cases, errors; on layouts of all kinds. */
#include "checked.h"
#include "reference_sum.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static uint64_t place_of_smallest(const dvec *x)
{
    uint64_t position;
    return dvec_argmin(x, &position), position;
}

static uint64_t place_of_largest(const dvec *x)
{
    uint64_t position;
    return dvec_argmax(x, &position), position;
}

/* x[i] = f(i) */
static void set(dvec *x, double (*f)(uint64_t i))
{
    dvec_span span[2];
    dvec_local_spans(x, span);
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < span[s].count; j++) {
            double value = f(span[s].first + j);
            if (dvec_type(x) == DOME_F64)
                ((double *)span[s].data)[j] = value;
            else if (dvec_type(x) == DOME_I64)
                ((int64_t *)span[s].data)[j] = (int64_t)value;
            else
                ((uint64_t *)span[s].data)[j] = (uint64_t)value;
        }
}

/* ---- sums that must come out exactly ---- */

static double cancelling(uint64_t i)
{
    /* huge numbers that cancel between far-away blocks, and one small one */
    return i == 5 ? 1 : i == 100 ? 0x1p1000 : i == 9900 ? -0x1p1000 : 0;
}

static double ramp(uint64_t i)
{
    return (double)i;
}

static double tenth(uint64_t i)
{
    (void)i;
    return 0.1;
}

static double tiny(uint64_t i)
{
    return i % 2 ? 0x1p-1074 : -0x1p-1074 * 3;
}

static double largest(uint64_t i)
{
    return i < 4 ? 0x1.fffffffffffffp1023 : 0;
}

static void test_sums(void)
{
    enum { N = 10000 };
    dvec *x = dvec_new(env, "x", DOME_F64, N), *y = dvec_new(env, "y", DOME_F64, N);
    double tenths = 0;
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        set(x, cancelling);
        CHECK(dvec_sum(x) == 1);
        set(x, ramp);
        CHECK(dvec_sum(x) == N * (N - 1) / 2.0);
        dvec_random(y, 7);
        dvec_divs(x, x, 3);
        double several[4], single[4] = {dvec_dot(x, y), dvec_sum(y), dvec_dot(y, y), dvec_sum(x)};
        CHECK(dvec_dots(4, (const dvec *const[]){x, y, y, x}, (const dvec *const[]){y, NULL, y, NULL}, several) == DOME_OK);
        CHECK(memcmp(several, single, sizeof single) == 0);
        CHECK(dvec_dots(1, (const dvec *const[]){x}, NULL, several) == DOME_OK && several[0] == single[3]);
        set(x, ramp);
        CHECK(dvec_norm2(x) == sqrt((double)(N - 1) * N * (2 * N - 1) / 6));
        dvec_fill(y, 2);
        CHECK(dvec_dot(x, y) == N * (N - 1.0));
        set(x, tenth);
        if (k == 0)
            tenths = dvec_sum(x);
        CHECK(same(dvec_sum(x), tenths) && fabs(tenths - N / 10.0) < 1e-10);
        set(x, tiny);
        CHECK(dvec_sum(x) == -0x1p-1074 * N);
        dvec_fill(x, -0.0);
        CHECK(same(dvec_sum(x), 0.0));
    }
    dvec_free(x);
    dvec_free(y);

    /* the interleaving of one block, by hand */
    enum { M = 40 };
    dvec *z = dvec_new_with(env, "z", DOME_F64, M, DVEC_OPTIONS(.block = 64));
    double value[M], s[16] = {0};
    for (int i = 0; i < M; i++)
        value[i] = 1 / (i + 1.0);
    dvec_span span[2];
    dvec_local_spans(z, span);
    for (int k = 0; k < 2; k++)
        memcpy(span[k].data, value + span[k].first, span[k].count * sizeof *value);
    for (int i = 0; i < M; i++)
        s[i % 16] += value[i];
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            s[j] += s[j + half];
    CHECK(same(dvec_sum(z), s[0]));
    dvec_free(z);
}

/* ---- sums of few elements, of which each block's sum travels ---- */

/* The sum of a block as docs/numerics.md has it. */
static double block_sum(const double *value, size_t n)
{
    double s[16] = {0};
    for (size_t i = 0; i < n; i++)
        s[i % 16] += value[i];
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; j++)
            s[j] += s[j + half];
    return s[0];
}

static double some_value(uint64_t seed, uint64_t i)
{
    static const double special[] = {-0.0,     0.0, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023,
                                     INFINITY, NAN};
    const uint64_t z = (seed * 37 + i) * 0x9e3779b97f4a7c15u, kind = z >> 60;
    if (kind == 0 && seed % 3 == 0)
        return special[(z >> 40) % (seed % 9 == 0 ? 8 : 6)];
    return ldexp((double)(int64_t)z, (int)((z >> 20) % (kind < 8 ? 10 : 200)) - 60);
}

static void check_few(uint64_t seed, uint64_t n, dome_type type, size_t width, uint64_t block)
{
    double value[64], term[64];
    reference_sum sum = {0}, dot = {0};
    const bool single = type == DOME_F32;
    dvec *x = dvec_new_with(env, NULL, type, n, DVEC_OPTIONS(.width = width, .block = block)), *y = dvec_new_like(x, NULL);
    dvec_span span[2];
    for (uint64_t i = 0; i < n * width; i++) {
        value[i] = single ? (double)(float)some_value(seed, i) : some_value(seed, i);
        term[i] = value[i] * value[i];
    }
    dvec_local_spans(x, span);
    for (int s = 0; s < 2; s++)
        for (uint64_t k = 0; k < span[s].count * width; k++)
            if (single)
                ((float *)span[s].data)[k] = (float)value[span[s].first * width + k];
            else
                ((double *)span[s].data)[k] = value[span[s].first * width + k];
    for (uint64_t i = 0; i < n * width; i += block * width) {
        const size_t count = n * width - i < block * width ? n * width - i : block * width;
        reference_add(&sum, block_sum(value + i, count));
        reference_add(&dot, block_sum(term + i, count));
    }
    CHECK(same(dvec_sum(x), reference_round(&sum)));
    CHECK(same(dvec_dot(x, x), reference_round(&dot)));
    CHECK(dvec_copy(y, x) == DOME_OK && dvec_muls(y, y, 1) == DOME_OK); /* not computed yet */
    CHECK(same(dvec_sum(y), reference_round(&sum)));
    CHECK(same(dvec_dot(y, x), reference_round(&dot)));
    dvec_free(y);
    dvec_free(x);
}

static void test_few(void)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        const size_t width = seed % 4 == 3 ? 3 : 1;
        const uint64_t n = seed % 21, block = seed % 5 == 4 ? 4 : 1;
        check_few(seed, n, seed % 7 == 6 ? DOME_F32 : DOME_F64, width, block);
        if (n > 1 && block == 1)
            relayout(n, 1, (int)(seed % LAYOUTS));
    }
}

static double extremes(uint64_t i)
{
    return i % 3 == 0 ? -0x1p63 : i % 3 == 1 ? 0x1.fffffffffffffp62 : -1;
}

static void test_integers(void)
{
    enum { N = 3000 };
    dvec *x = dvec_new(env, "x", DOME_I64, N), *u = dvec_new(env, "u", DOME_U64, N);
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        set(x, extremes);
        /* 1000 times (-2^63 + 2^63 - 1024 + ... - 1) */
        CHECK(dvec_sum_i64(x) == -1000 * INT64_C(1025) + 1000 * (INT64_C(0x7ffffffffffffc00) - INT64_MAX + 1023));
        CHECK(dvec_min_value_i64(x) == INT64_MIN && place_of_smallest(x) == 0);
        CHECK(dvec_max_value_i64(x) == INT64_C(0x7ffffffffffffc00) && place_of_largest(x) == 1);
        CHECK(dvec_min_value(x) == -0x1p63);
        CHECK(dvec_dot_i64(x, x) == 0);
        FAILED(DOME_ERR_RANGE, "dvec_dot");
        CHECK(fabs(dvec_norm2(x) / sqrt(2000 * 0x1p126) - 1) < 1e-15);
        dvec_fill(x, -0x1p63);
        CHECK(dvec_sum_i64(x) == 0);
        FAILED(DOME_ERR_RANGE, "'x'");
        CHECK(dvec_sum(x) == -0x1p63 * N);
        uint64_t most = UINT64_MAX;
        dvec_fill_value(u, &most);
        CHECK(dvec_sum(u) == 0x1p64 * N && dvec_max_value(u) == 0x1p64);
        CHECK(dvec_max_value_i64(u) == 0);
        FAILED(DOME_ERR_RANGE, "18446744073709551615");
        dvec_fill(u, 7);
        CHECK(dvec_sum_i64(u) == 7 * N && dvec_dot_i64(u, u) == 49 * N && dvec_min_value_i64(u) == 7);
    }
    dvec_free(x);
    dvec_free(u);
}

/* ---- the norm at the ends of the range ---- */

static double three_four(uint64_t i)
{
    return i == 17 ? 3 : i == 1234 ? -4 : 0;
}

static void test_norm(void)
{
    enum { N = 2000 };
    dvec *x = dvec_new(env, "x", DOME_F64, N), *c = dvec_new(env, "c", DOME_C128, N);
    static const int exponents[] = {1020, 600, 480, 0, -480, -600, -1000, -1074};
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            set(x, three_four);
            dvec_muls(x, x, ldexp(1, exponents[e]));
            CHECK(dvec_norm2(x) == ldexp(5, exponents[e]));
            dvec_convert(c, x);
            CHECK(dvec_norm2(c) == ldexp(5, exponents[e]));
        }
        set(x, largest);
        CHECK(same(dvec_norm2(x), INFINITY)); /* twice the largest number: really too large */
        dvec_divs(x, x, 2);
        CHECK(dvec_norm2(x) == 0x1.fffffffffffffp1023);
        dvec_fill(x, 0);
        CHECK(same(dvec_norm2(x), 0.0));
        dvec_fill(x, -INFINITY);
        CHECK(same(dvec_norm2(x), INFINITY) && same(dvec_sum(x), -INFINITY));
        dvec_fill(x, NAN);
        CHECK(isnan(dvec_norm2(x)) && isnan(dvec_sum(x)) && isnan(dvec_prod(x)) && isnan(dvec_max_value(x)));
        CHECK(place_of_smallest(x) == 0 && place_of_largest(x) == 0);
    }
    dvec_free(x);
    dvec_free(c);
}

/* ---- products, complex numbers ---- */

static double near_one(uint64_t i)
{
    return 1 + (double)(i % 97) * 0x1p-20;
}

static void test_products(void)
{
    enum { N = 5000 };
    dvec *x = dvec_new(env, "x", DOME_F64, N), *c = dvec_new(env, "c", DOME_C64, N);
    double first = 0, part[2], unit[2] = {0};
    const float i[2] = {0, 1}; /* its powers go round */
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        set(x, near_one);
        double product = dvec_prod(x);
        if (k == 0)
            first = product;
        CHECK(same(product, first) && product > 1 && product < 2);
        dvec_fill(x, 2);
        CHECK(same(dvec_prod(x), INFINITY));
        dvec_fill(x, -1);
        CHECK(dvec_prod(x) == 1);
        dvec_fill_value(c, i);
        CHECK(dvec_prod_c128(c, unit) == DOME_OK && unit[0] == 1 && unit[1] == 0); /* i^5000 */
        CHECK(dvec_sum_c128(c, part) == DOME_OK && part[0] == 0 && part[1] == N);
        CHECK(dvec_dot_c128(c, c, part) == DOME_OK && part[0] == N && part[1] == 0);
        CHECK(dvec_norm2(c) == sqrt(N));
    }
    dvec_free(x);
    dvec_free(c);
}

/* ---- shapes and distributions ---- */

static void test_shapes(void)
{
    static const uint64_t lengths[] = {0, 1, 2, 3, 7, 511, 512, 513};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int d = 0; d < 3; d++) {
            uint64_t n = lengths[k];
            dvec_options options = {.size = sizeof options, .distribution = (dome_distribution)d, .width = 3};
            dvec *x = dvec_new_with(env, "x", DOME_I32, n, &options), *w = dvec_new_with(env, "w", DOME_I32, n, &options);
            double c[2];
            dvec_iota(x);
            dvec_fill(w, 2);
            CHECK(dvec_sum_i64(x) == (int64_t)(3 * n * (n ? n - 1 : 0) / 2));
            CHECK(dvec_dot_i64(x, w) == (int64_t)(3 * n * (n ? n - 1 : 0)));
            CHECK(dvec_sum(x) == 3.0 * (double)(n * (n ? n - 1 : 0) / 2));
            CHECK(dvec_sum_c128(x, c) == DOME_OK && c[0] == dvec_sum(x) && c[1] == 0);
            if (n < 100) /* later factors would overflow, and 0 times infinity is NaN */
                CHECK(dvec_prod(x) == (n == 0 ? 1 : 0));
            if (n) {
                CHECK(dvec_max_value_i64(x) == (int64_t)n - 1 && place_of_largest(x) == 3 * (n - 1));
                CHECK(dvec_min_value(x) == 0 && place_of_smallest(x) == 0);
            } else {
                CHECK(isnan(dvec_min_value(x)));
                FAILED(DOME_ERR_ARGUMENT, "empty");
                CHECK(place_of_largest(x) == UINT64_MAX);
                FAILED(DOME_ERR_ARGUMENT, "empty");
                CHECK(dvec_norm2(x) == 0 && dome_error_status(env) == DOME_OK);
            }
            dvec_free(x);
            dvec_free(w);
        }

    /* one operand on every task, the other distributed, in either order */
    enum { N = 4000 };
    dvec *x = dvec_new(env, "x", DOME_F64, N);
    dvec *w = dvec_new_with(env, "w", DOME_F64, N, DVEC_OPTIONS(.distribution = DOME_WHOLE));
    set(x, ramp);
    dvec_iota(w);
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        CHECK(dvec_dot(x, w) == dvec_dot(x, x) && dvec_dot(w, x) == dvec_dot(x, x) && dvec_dot(w, w) == dvec_dot(x, x));
    }
    dvec_free(x);
    dvec_free(w);
}

/* ---- misuse, and failures that a single task finds ---- */

static void test_errors(void)
{
    enum { N = 1000 };
    dvec *x = dvec_new(env, "x", DOME_F64, N), *i = dvec_new(env, "i", DOME_I32, N), *c = dvec_new(env, "c", DOME_C128, N);
    dvec *shorter = dvec_new(env, "shorter", DOME_F64, N - 1), *j = dvec_new(env, "j", DOME_I32, N);
    dvec *mask = dvec_new(env, "mask", DOME_U8, N);
    CHECK(isnan(dvec_sum(c)));
    FAILED(DOME_ERR_TYPE, "c128");
    CHECK(isnan(dvec_dot(x, i)));
    FAILED(DOME_ERR_TYPE, "'i'");
    CHECK(isnan(dvec_dot(x, shorter)));
    FAILED(DOME_ERR_SHAPE, "'shorter'");
    CHECK(dvec_sum_i64(x) == 0);
    FAILED(DOME_ERR_TYPE, "f64");
    CHECK(isnan(dvec_dot(x, NULL)));
    FAILED(DOME_ERR_ARGUMENT, "NULL");
    CHECK(dvec_sum_c128(x, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "result");
    CHECK(dvec_add(x, x, c) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "dvec_add of 'x'");
    CHECK(dvec_add(x, x, shorter) == DOME_ERR_SHAPE);
    FAILED(DOME_ERR_SHAPE, "'shorter'");
    CHECK(dvec_sqrt(i, i) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "i32");
    CHECK(dvec_min(c, c, c) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "c128");
    CHECK(dvec_and(i, i, i) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "i32");
    CHECK(dvec_lt(i, x, x) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "mask");
    CHECK(dvec_lt(mask, x, i) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "'i' of type i32");
    CHECK(dvec_lt(mask, c, c) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "c128");
    CHECK(dvec_adds(i, i, 0.5) == DOME_ERR_RANGE);
    FAILED(DOME_ERR_RANGE, "0.5");
    CHECK(dvec_fill(i, 1e10) == DOME_ERR_RANGE);
    FAILED(DOME_ERR_RANGE, "i32");
    CHECK(dvec_divs(i, i, 0) == DOME_ERR_RANGE);
    FAILED(DOME_ERR_RANGE, "zero");
    CHECK(dvec_fmods(i, i, 0) == DOME_ERR_RANGE);
    FAILED(DOME_ERR_RANGE, "dvec_fmods of 'i': integers divided by zero");
    CHECK(dvec_real(c, c) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "must be of type f64, not c128");
    CHECK(dvec_arg(x, x) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "not defined for elements of type f64");
    CHECK(dvec_lshifts(i, i, 0.5) == DOME_ERR_RANGE);
    FAILED(DOME_ERR_RANGE, "0.5");
    CHECK(dvec_convert(x, c) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "c128");
    CHECK(dvec_select(x, i, x, x) == DOME_ERR_TYPE);
    FAILED(DOME_ERR_TYPE, "mask");
    CHECK(dvec_fill_value(x, NULL) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "NULL");
    CHECK(dvec_add(NULL, x, x) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "NULL");
    CHECK(dvec_fill(NULL, 1) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "dvec_fill: a vector is NULL");
    CHECK(dvec_random(NULL, 1) == DOME_ERR_ARGUMENT);
    FAILED(DOME_ERR_ARGUMENT, "NULL");

    /* Element 777 is divided by zero; only its owner sees that, but every task gets the failure, in every kind of reduction. */
    for (int k = 0; k < LAYOUTS; k++) {
        relayout(N, dome_block_size(N), k);
        for (int how = 0; how < 5; how++) {
            double pair[2];
            dvec_iota(i);
            dvec_subs(j, i, 777);
            dvec_fill(i, 100);
            dvec_div(i, i, j);
            switch (how) {
            case 0:
                CHECK(isnan(dvec_sum(i)));
                break;
            case 1:
                CHECK(isnan(dvec_prod(i)));
                break;
            case 2:
                CHECK(place_of_smallest(i) == UINT64_MAX);
                break;
            case 3:
                CHECK(dvec_dots(2, (const dvec *const[]){j, i}, NULL, pair) == DOME_ERR_RANGE && isnan(pair[1]));
                break;
            default:
                CHECK(dvec_dot_c128(i, j, pair) == DOME_ERR_RANGE);
            }
            CHECK(strstr(dome_error_message(env), "dvec_div into 'i'"));
            FAILED(DOME_ERR_RANGE, "element 777 ");
            CHECK(isnan(dvec_max_value(i))); /* for as long as the vector holds values that could not be computed */
            FAILED(DOME_ERR_RANGE, "dvec_max_value of 'i': dvec_div into 'i': element 777 ");
        }
        dvec_iota(i);
        dvec_pows(i, i, -1);
        CHECK(isnan(dvec_norm2(i)));
        FAILED(DOME_ERR_RANGE, "element 0 is 0 raised to a negative power");
        dvec_iota(i);
        CHECK(dvec_sum(i) == N * (N - 1) / 2);

        /* more operations than a list holds: the failure waits for a call that needs a value */
        dvec_iota(j);
        CHECK(dvec_div(i, i, j) == DOME_OK);
        for (int m = 0; m < 200; m++)
            CHECK(dvec_adds(i, i, 1) == DOME_OK);
        CHECK(isnan(dvec_sum(i)));
        FAILED(DOME_ERR_RANGE, "element 0 is an integer divided by zero");
        CHECK(dvec_sum(j) == N * (N - 1) / 2);
    }
    dvec_free(x);
    dvec_free(i);
    dvec_free(c);
    dvec_free(shorter);
    dvec_free(j);
    dvec_free(mask);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    test_sums();
    test_few();
    test_integers();
    test_norm();
    test_products();
    test_shapes();
    test_errors();
    dome_print(env, "ok: %u checks on %d task%s\n", checks, dome_size(env), dome_size(env) == 1 ? "" : "s");
    return dome_finalize(env);
}
