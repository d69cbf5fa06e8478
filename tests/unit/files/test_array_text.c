/* Decimal numbers, and arrays as text: the texts are those that NumPy 1.24 prints. tests/campaign/numpy_cases.py compares many
 * more. */
#include "core/type_private.h"
#include "files/array_text.h"
#include "files/decimal.h"

#include <glib.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- decimal numbers ---- */

static void expect_number(const char *text, double value)
{
    double wide = 7;
    float narrow = 7;
    g_assert_true(dome__decimal_f64(text, strlen(text), &wide) && dome__decimal_f32(text, strlen(text), &narrow));
    g_assert_true(memcmp(&wide, &value, sizeof wide) == 0 || (isnan(wide) && isnan(value)));
    g_assert_true(isnan(value) ? isnan(narrow) : narrow == strtof(text, NULL) && !signbit(narrow) == !signbit(value));
}

static void expect_none(const char *text)
{
    double value;
    float narrow;
    g_assert_false(dome__decimal_f64(text, strlen(text), &value));
    g_assert_false(dome__decimal_f32(text, strlen(text), &narrow));
}

static void test_numbers(void)
{
    expect_number("0", 0);
    expect_number("-0.0", -0.0);
    expect_number("+1.5", 1.5);
    expect_number(".5", .5);
    expect_number("5.", 5);
    expect_number("1e22", 1e22);
    expect_number("1e23", 1e23);
    expect_number("123456789012345678901234567890", 123456789012345678901234567890.0);
    expect_number("9007199254740993", 9007199254740992.0);
    expect_number("9007199254740992.99999999999999999999999999", 9007199254740993.0);
    expect_number("9007199254740993.00000000000000000000000001", 9007199254740994.0);
    expect_number("1.00000000000000000000", 1);
    expect_number("0.0000000000000000000000000000000001", 1e-34);
    expect_number("1e400", INFINITY);
    expect_number("-1e-400", -0.0);
    expect_number("1e99999999999999999999", INFINITY);
    expect_number("4.9406564584124654e-324", 5e-324);
    expect_number("inf", INFINITY);
    expect_number("-Infinity", -INFINITY);
    expect_number("+NaN", NAN);
    static const char *const none[] = {"",   "-",  ".",     "e5",     "1e",  "1e+",   "1,5",  "0x10",
                                       " 1", "1 ", "1.2.3", "nan(1)", "--1", "1e5.5", "infin"};
    for (size_t k = 0; k < G_N_ELEMENTS(none); k++)
        expect_none(none[k]);

    /* A number may have any length, and need not end with a 0. */
    char *longest = g_strnfill(2000, '1');
    double value;
    g_assert_true(dome__decimal_f64(longest, 2000, &value) && isinf(value));
    g_assert_true(dome__decimal_f64(longest, 12, &value) && value == 111111111111.0);
    longest[1] = '.';
    g_assert_true(dome__decimal_f64(longest, 2000, &value) && value == 1.1111111111111112);
    g_free(longest);
}

/* Random texts beside the C library, and random numbers by their shortest digits. */
static void test_random_numbers(void)
{
    GRand *rand = g_rand_new_with_seed(3);
    for (int k = 0; k < 100000; k++) {
        char text[64];
        double value, back;
        float narrow, narrow_back;
        guint32 bits[2] = {g_rand_int(rand), g_rand_int(rand)};
        g_snprintf(text, sizeof text, "%s%u%s%u%se%d", k % 2 ? "-" : "", bits[0] >> g_rand_int_range(rand, 0, 32),
                   k % 3 ? "." : "", bits[1] >> g_rand_int_range(rand, 0, 32), k % 5 ? "" : "0000000000",
                   g_rand_int_range(rand, -40, 40));
        g_assert_true(dome__decimal_f64(text, strlen(text), &value) && value == strtod(text, NULL));
        g_assert_true(dome__decimal_f32(text, strlen(text), &narrow) && narrow == strtof(text, NULL));
        memcpy(&value, bits, sizeof value);
        memcpy(&narrow, bits, sizeof narrow);
        if (isfinite(value)) {
            dome__decimal_shortest(value, false, text);
            g_assert_true(dome__decimal_f64(text, strlen(text), &back) && back == value);
        }
        if (isfinite(narrow)) {
            dome__decimal_shortest((double)narrow, true, text);
            g_assert_true(dome__decimal_f32(text, strlen(text), &narrow_back) && narrow_back == narrow && strlen(text) < 16);
        }
    }
    g_rand_free(rand);
}

static void test_integers(void)
{
    int64_t i;
    uint64_t u;
    bool wide;
    g_assert_true(dome__decimal_i64("-9223372036854775808", 20, INT64_MIN, INT64_MAX, &i, &wide) && i == INT64_MIN);
    g_assert_true(dome__decimal_i64("+127", 4, -128, 127, &i, &wide) && i == 127);
    g_assert_false(dome__decimal_i64("128", 3, -128, 127, &i, &wide));
    g_assert_true(wide);
    g_assert_true(dome__decimal_i64("-128", 4, -128, 127, &i, &wide) && i == -128);
    g_assert_false(dome__decimal_i64("-129", 4, -128, 127, &i, &wide));
    g_assert_true(wide);
    g_assert_false(dome__decimal_i64("9223372036854775808", 19, INT64_MIN, INT64_MAX, &i, &wide));
    g_assert_true(wide);
    g_assert_false(dome__decimal_i64("99999999999999999999999", 23, INT64_MIN, INT64_MAX, &i, &wide));
    g_assert_true(wide);
    static const char *const none[] = {"", "-", "1.0", "1e3", "a", "99999999999999999999999x"};
    for (size_t k = 0; k < G_N_ELEMENTS(none); k++) {
        g_assert_false(dome__decimal_i64(none[k], strlen(none[k]), INT64_MIN, INT64_MAX, &i, &wide) || wide);
        g_assert_false(dome__decimal_u64(none[k], strlen(none[k]), UINT64_MAX, &u, &wide) || wide);
    }
    g_assert_true(dome__decimal_u64("18446744073709551615", 20, UINT64_MAX, &u, &wide) && u == UINT64_MAX);
    g_assert_false(dome__decimal_u64("18446744073709551616", 20, UINT64_MAX, &u, &wide));
    g_assert_true(wide);
    g_assert_false(dome__decimal_u64("-1", 2, UINT64_MAX, &u, &wide));
    g_assert_true(wide);
    g_assert_true(dome__decimal_u64("-0", 2, UINT64_MAX, &u, &wide) && u == 0);
    g_assert_false(dome__decimal_u64("256", 3, 255, &u, &wide));
    g_assert_true(wide);
}

/* ---- arrays ---- */

static void expect_text(dome_type type, const void *values, int ndim, const uint64_t shape[], const char *expected)
{
    dome_array_view view = dome__array_view(ndim, shape);
    char *shown = g_malloc(MAX(view.count, 1) * type->size);
    for (uint64_t k = 0; k < view.count; k++)
        memcpy(shown + k * type->size, (const char *)values + dome__array_position(&view, k) * type->size, type->size);
    char *text = dome__array_text(&view, type, shown);
    g_assert_cmpstr(text, ==, expected);
    g_free(text);
    g_free(shown);
}

#define EXPECT(type, ctype, text, ...)                                                                                           \
    do {                                                                                                                         \
        const ctype values_[] = {__VA_ARGS__};                                                                                   \
        expect_text(type, values_, 1, (const uint64_t[]){G_N_ELEMENTS(values_)}, text);                                          \
    } while (0)

static void test_rows(void)
{
    EXPECT(DOME_F64, double, "[0.   0.25 0.5  0.75 1.  ]", 0, .25, .5, .75, 1);
    EXPECT(DOME_F64, double, "[1.e+10 1.e+00]", 1e10, 1);
    EXPECT(DOME_F64, double, "[nan]", NAN);
    EXPECT(DOME_F64, double, "[-inf  1.5]", -INFINITY, 1.5);
    EXPECT(DOME_F64, double, "[1.e-300 1.e+300]", 1e-300, 1e300);
    EXPECT(DOME_F32, float, "[0.1        0.33333334 2.        ]", 0.1f, 1.0f / 3, 2);
    EXPECT(DOME_I8, int8_t, "[-128  127]", -128, 127);
    EXPECT(DOME_U64, uint64_t, "[18446744073709551615]", UINT64_MAX);
    expect_text(DOME_C128, (const double[]){1, 2}, 1, (const uint64_t[]){1}, "[1.+2.j]");
    expect_text(DOME_F32, "", 1, (const uint64_t[]){0}, "[]");
    expect_text(DOME_U16, (const uint16_t[]){1, 2, 3, 4}, 2, (const uint64_t[]){2, 2}, "[[1 2]\n [3 4]]");
    double many[1001];
    for (int k = 0; k < 1001; k++)
        many[k] = k * 0.1;
    expect_text(DOME_F64, many, 1, (const uint64_t[]){1001}, "[  0.    0.1   0.2 ...  99.8  99.9 100. ]");
    int32_t cube[7 * 7 * 30];
    for (int k = 0; k < 7 * 7 * 30; k++)
        cube[k] = k;
    dome_array_view view = dome__array_view(3, (const uint64_t[]){7, 7, 30});
    g_assert_cmpuint(view.count, ==, 6 * 6 * 6);
    char *shown = g_malloc(view.count * sizeof *cube);
    for (uint64_t k = 0; k < view.count; k++)
        memcpy(shown + k * sizeof *cube, cube + dome__array_position(&view, k), sizeof *cube);
    char *text = dome__array_text(&view, DOME_I32, shown);
    g_assert_true(g_str_has_prefix(text, "[[[   0    1    2 ...   27   28   29]\n  [  30   31   32 ...   57   58   59]\n"));
    g_assert_nonnull(strstr(text, "\n  ...\n  [ 120  121  122 ...  147  148  149]\n"));
    g_assert_nonnull(strstr(text, "]]\n\n ...\n\n [[ 840  841  842 ...  867  868  869]\n"));
    g_assert_true(g_str_has_suffix(text, "\n  [1440 1441 1442 ... 1467 1468 1469]]]"));
    g_free(text);
    g_free(shown);
}

static void test_structs(void)
{
    struct inner {
        uint8_t a;
        float z[2];
    };
    struct record {
        int32_t id;
        double x[3];
        struct inner in;
    };
    dome_field inner_fields[] = {{"a", DOME_U8, 0, 1}, {"z", DOME_C64, offsetof(struct inner, z), 1}};
    const struct dome_type_desc inner = {
        .name = "inner", .kind = DOME_KIND_STRUCT, .size = sizeof(struct inner), .nfields = 2, .fields = inner_fields};
    dome_field fields[] = {
        {"id", DOME_I32, 0, 1}, {"x", DOME_F64, offsetof(struct record, x), 3}, {"in", &inner, offsetof(struct record, in), 1}};
    const struct dome_type_desc record = {
        .name = "record", .kind = DOME_KIND_STRUCT, .size = sizeof(struct record), .nfields = 3, .fields = fields};
    const struct record three[] = {
        {1, {0, .5, 1}, {1, {1, 2}}}, {-22, {2, 3, 4.25}, {20, {-.5f, 0}}}, {333, {NAN, -1, 1e-3}, {3, {0, 1}}}};
    expect_text(&record, three, 1, (const uint64_t[]){3},
                "[(  1, [ 0.00e+00,  5.00e-01,  1.00e+00], ( 1,  1. +2.j))\n"
                " (-22, [ 2.00e+00,  3.00e+00,  4.25e+00], (20, -0.5+0.j))\n"
                " (333, [      nan, -1.00e+00,  1.00e-03], ( 3,  0. +1.j))]");
    dome_field one_field[] = {{"v", DOME_F32, 0, 1}};
    const struct dome_type_desc one = {
        .name = "one", .kind = DOME_KIND_STRUCT, .size = sizeof(float), .nfields = 1, .fields = one_field};
    expect_text(&one, (const float[]){1.5f, -2}, 1, (const uint64_t[]){2}, "[( 1.5,) (-2. ,)]");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed, the decimal point is a comma */
    g_test_add_func("/decimal/numbers", test_numbers);
    g_test_add_func("/decimal/random-numbers", test_random_numbers);
    g_test_add_func("/decimal/integers", test_integers);
    g_test_add_func("/array/rows", test_rows);
    g_test_add_func("/array/structs", test_structs);
    return g_test_run();
}
