/* Reductions by column and by field, compared with those of each column as a separate vector, and the norms of absolute values.
 * All of them on layouts that are turned around the ring. */
#include <dome/dome.h>
#include <dome/structure.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dome_env *env;

#define CHECK(condition, ...)                                                                                                    \
    do {                                                                                                                         \
        if (!(condition)) {                                                                                                      \
            char text_[256];                                                                                                     \
            snprintf(text_, sizeof text_, __VA_ARGS__);                                                                          \
            dome_abort(env, "columns: %s (%s)", text_, dome_error_message(env));                                                 \
        }                                                                                                                        \
    } while (0)

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static void expect_failure(dome_status status, const char *word)
{
    dome_status is = dome_error_status(env);
    CHECK(is == status && strstr(dome_error_message(env), word), "no failure with '%s'", word);
    dome_error_clear(env);
}

/* The part of an element that becomes a separate vector. */
typedef struct part {
    size_t element, offset, size;
} part;

static void take_part(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const part *p = ctx;
    (void)first;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)out + i * p->size, (const char *)in[0] + i * p->element + p->offset, p->size);
}

/* Compares the columns of a field (all of an element: NULL) that begin at an offset in each value. */
static void compare(dvec *x, const char *field, dome_type type, size_t items, size_t offset)
{
    size_t width = dvec_width(x), size = dome_type_size(dvec_type(x));
    double *sums = calloc(3 * width * items, sizeof *sums), *low = sums + width * items, *high = low + width * items;
    CHECK(dvec_column_sums(x, field, sums) == DOME_OK, "sums fail");
    CHECK(dvec_column_min_values(x, field, low) == DOME_OK, "smallest values fail");
    CHECK(dvec_column_max_values(x, field, high) == DOME_OK, "largest values fail");
    dvec *column = dvec_new_with(env, NULL, type, dvec_length(x), DVEC_OPTIONS(.distribution = dvec_distribution(x)));
    for (size_t k = 0; k < width * items; k++) {
        part p = {width * size, k / items * size + offset + k % items * dome_type_size(type), dome_type_size(type)};
        CHECK(dvec_map(column, take_part, &p, 1, (dvec *[]){x}) == DOME_OK, "map fails");
        CHECK(same(sums[k], dvec_sum(column)), "%s: sum %zu is %a instead of %a", dome_type_name(type), k, sums[k],
              dvec_sum(column));
        CHECK(same(low[k], dvec_min_value(column)), "%s: smallest value %zu is %a", dome_type_name(type), k, low[k]);
        CHECK(same(high[k], dvec_max_value(column)), "%s: largest value %zu is %a", dome_type_name(type), k, high[k]);
    }
    dvec_free(column);
    free(sums);
}

static void test_columns(size_t n, size_t width, dome_distribution distribution)
{
    static const dome_type_kind wide[] = {DOME_KIND_F32, DOME_KIND_F64};
    const dome_type types[] = {DOME_I8, DOME_I16, DOME_I32, DOME_I64, DOME_U8, DOME_U16, DOME_U32, DOME_U64, DOME_F32, DOME_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        dvec *x = dvec_new_with(env, NULL, types[t], n, DVEC_OPTIONS(.distribution = distribution, .width = width));
        dvec_random(x, 7 + t);
        compare(x, NULL, types[t], 1, 0);
        if (dome_type_kind_of(types[t]) >= wide[0]) { /* deferred: the columns are reduced while their values are in the cache */
            dvec_subs(x, x, 0.5);
            dvec_muls(x, x, 1e20);
            double *sums = calloc(width, sizeof *sums);
            CHECK(dvec_column_sums(x, NULL, sums) == DOME_OK, "sums fail");
            free(sums);
            compare(x, NULL, types[t], 1, 0);
        }
        dvec_free(x);
    }
}

typedef struct inner {
    uint8_t flag;
    double place[3];
} inner;

typedef struct atom {
    int16_t kind;
    inner in;
    float mass;
    double _Complex phase;
} atom;

static void make_atoms(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    atom *a = out;
    (void)ctx, (void)in;
    memset(out, 0, count * sizeof *a);
    for (size_t i = 0; i < count; i++) {
        double k = (double)(first + i);
        a[i].kind = (int16_t)(97 * (first + i));
        a[i].in.flag = (uint8_t)(first + i);
        a[i].mass = (float)(k / 7);
        for (int d = 0; d < 3; d++)
            a[i].in.place[d] = sin(k + d) * 1e5 / 3;
    }
}

static void test_fields(size_t n)
{
    const dome_field inside[] = {{"flag", DOME_U8, offsetof(inner, flag), 1}, {"place", DOME_F64, offsetof(inner, place), 3}};
    dome_type inner_type = dome_type_struct(env, "inner", sizeof(inner), inside, 2, sizeof(dome_field));
    const dome_field fields[] = {{"kind", DOME_I16, offsetof(atom, kind), 1},
                                 {"in", inner_type, offsetof(atom, in), 1},
                                 {"mass", DOME_F32, offsetof(atom, mass), 1},
                                 {"phase", DOME_C128, offsetof(atom, phase), 1}};
    dvec *x = dvec_new(env, NULL, dome_type_struct(env, "atom", sizeof(atom), fields, 4, sizeof(dome_field)), n),
         *y = dvec_new_like(x, NULL);
    double result[3];
    CHECK(dvec_map(y, make_atoms, NULL, 0, NULL) == DOME_OK, "map fails");
    CHECK(dvec_copy(x, y) == DOME_OK, "copy fails");
    compare(x, "kind", DOME_I16, 1, offsetof(atom, kind));
    compare(x, "mass", DOME_F32, 1, offsetof(atom, mass));
    compare(x, "in.flag", DOME_U8, 1, offsetof(atom, in.flag));
    compare(x, "in.place", DOME_F64, 3, offsetof(atom, in.place));
    static const struct {
        const char *field, *word;
        dome_status status;
    } bad[] = {{NULL, "type atom", DOME_ERR_TYPE},
               {"in", "type inner", DOME_ERR_TYPE},
               {"phase", "type c128", DOME_ERR_TYPE},
               {"charge", "no field 'charge'", DOME_ERR_ARGUMENT},
               {"mass.x", "no field 'x'", DOME_ERR_ARGUMENT},
               {"", "the name of the field is empty", DOME_ERR_ARGUMENT}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(dvec_column_sums(x, bad[k].field, result) == bad[k].status, "field %s is taken",
              bad[k].field ? bad[k].field : "NULL");
        expect_failure(bad[k].status, bad[k].word);
    }
    dvec_free(x);
    dvec_free(y);
}

/* |x| of real types by dvec_abs; of complex ones from the vectors that the parts were made of. */
static void test_norms(size_t n, size_t width, dome_distribution distribution)
{
    const dvec_options options = {.size = sizeof(dvec_options), .distribution = distribution, .width = width};
    const dome_type types[] = {DOME_I16, DOME_U32, DOME_F32, DOME_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        dvec *x = dvec_new_with(env, NULL, types[t], n, &options), *a = dvec_new_like(x, NULL);
        dvec_random(x, t);
        if (types[t] == DOME_F32 || types[t] == DOME_F64)
            dvec_subs(x, x, 0.75);
        dvec_abs(a, x);
        CHECK(same(dvec_norm1(x), n ? dvec_sum(a) : 0), "norm1 of %s", dome_type_name(types[t]));
        CHECK(same(dvec_norm_inf(x), n ? dvec_max_value(a) : 0), "norm_inf of %s", dome_type_name(types[t]));
        dvec_free(x);
        dvec_free(a);
    }
    const dome_type complex_types[] = {DOME_C64, DOME_C128};
    for (int t = 0; t < 2; t++) {
        dvec *c = dvec_new_with(env, NULL, complex_types[t], n, &options);
        dvec_fill_c128(c, (const double[2]){-3, 4});
        CHECK(dvec_norm1(c) == 5.0 * (double)(n * width), "norm1 of %s", dome_type_name(complex_types[t]));
        CHECK(dvec_norm_inf(c) == (n ? 5 : 0), "norm_inf of %s", dome_type_name(complex_types[t]));
        dvec_free(c);
    }
}

/* The smallest integers have no positive counterpart; NaN, infinities and large values. */
static void test_special(void)
{
    dvec *x = dvec_new(env, NULL, DOME_F64, 1000),
         *low[2] = {dvec_new(env, NULL, DOME_I8, 300), dvec_new(env, NULL, DOME_I64, 4)};
    dvec_fill(low[0], -128);
    dvec_fill(low[1], (double)INT64_MIN);
    CHECK(dvec_norm1(low[0]) == 300 * 128.0 && dvec_norm_inf(low[0]) == 128, "norms of -128");
    CHECK(dvec_norm1(low[1]) == 0x1p65 && dvec_norm_inf(low[1]) == 0x1p63, "norms of the smallest integer");
    const double special[] = {-1e308, -INFINITY, NAN};
    dvec_fill(x, special[0]);
    CHECK(same(dvec_norm1(x), INFINITY) && dvec_norm_inf(x) == 1e308, "norms of large values");
    dvec_set(x, 500, &special[1]);
    CHECK(same(dvec_norm1(x), INFINITY) && same(dvec_norm_inf(x), INFINITY), "norms with an infinity");
    dvec_set(x, 20, &special[2]);
    CHECK(isnan(dvec_norm1(x)) && isnan(dvec_norm_inf(x)), "norms with NaN");
    double result[1];
    CHECK(dvec_column_sums(x, NULL, result) == DOME_OK && isnan(*result), "sums with NaN");
    CHECK(dvec_column_max_values(x, NULL, result) == DOME_OK && isnan(*result), "largest with NaN");
    dvec_free(x);
    dvec_free(low[0]);
    dvec_free(low[1]);
}

static void test_failures(void)
{
    double result[2] = {0, 0};
    dvec *none = dvec_new(env, NULL, DOME_F64, 0), *c = dvec_new(env, NULL, DOME_C64, 5), *i = dvec_new(env, NULL, DOME_I32, 600);
    CHECK(dvec_column_min_values(none, NULL, result) == DOME_ERR_ARGUMENT, "an empty vector has a smallest value");
    expect_failure(DOME_ERR_ARGUMENT, "the vector is empty");
    CHECK(isnan(result[0]), "a result of a call that failed is not NaN");
    CHECK(dvec_column_sums(none, NULL, result) == DOME_OK && result[0] == 0, "a sum of nothing");
    CHECK(dvec_column_sums(none, "x", result) == DOME_ERR_ARGUMENT, "a number has a field");
    expect_failure(DOME_ERR_ARGUMENT, "type f64 has no field 'x'");
    CHECK(dvec_column_sums(c, NULL, result) == DOME_ERR_TYPE, "complex columns are summed");
    expect_failure(DOME_ERR_TYPE, "c64");
    /* a failure of deferred work that one task finds */
    dvec_iota(i);
    dvec_subs(i, i, 599);
    dvec_div(i, i, i);
    CHECK(isnan(dvec_norm1(i)), "a norm of what could not be computed");
    expect_failure(DOME_ERR_RANGE, "element 599 is an integer divided by zero");
    CHECK(dvec_column_sums(i, NULL, result) == DOME_ERR_RANGE, "sums of what could not be computed");
    expect_failure(DOME_ERR_RANGE, "element 599 is an integer divided by zero");
    dvec_free(none);
    dvec_free(c);
    dvec_free(i);
}

/* A layout whose runs begin in the middle, with a task that has the end and the beginning. */
static void turn(size_t n)
{
    const dome_layout *now = dome_env_layout(env, n, 0);
    uint64_t blocks = dome_layout_blocks(now), *counts = calloc((size_t)dome_size(env), sizeof *counts), left = blocks;
    for (int r = 0; r < dome_size(env); r++) {
        counts[r] = r == dome_size(env) - 1 ? left : blocks / (uint64_t)dome_size(env);
        left -= counts[r];
    }
    dome_layout *layout = dome_layout_new(n, dome_layout_block_size(now), dome_size(env), blocks / 3, counts);
    CHECK(layout && dome_env_relayout(env, layout) == DOME_OK, "relayout fails");
    dome_layout_unref(layout);
    free(counts);
}

int main(int argc, char **argv)
{
    env = dome_init(&argc, &argv);
    dome_set_errors_return(env);
    for (int turned = 0; turned < 2; turned++) {
        const size_t lengths[] = {1, 5, 3000, 5000};
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            if (turned)
                turn(lengths[k]);
            test_columns(lengths[k], 1 + k % 3, DOME_DYNAMIC);
            test_norms(lengths[k], 1 + k % 3, DOME_DYNAMIC);
            test_fields(lengths[k]);
        }
        test_special();
    }
    test_columns(3000, 4, DOME_BLOCK);
    test_columns(300, 100, DOME_WHOLE);
    test_norms(3000, 2, DOME_WHOLE);
    test_norms(0, 1, DOME_DYNAMIC);
    test_failures();
    dome_print(env, "ok columns: %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
