#include "objects/dvec_private.h"

#include <dome/dome.h>
#include <dome/structure.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static dome_env *env;

static void expect(int status, const char *word)
{
    g_assert_cmpint(dome_error_status(env), ==, status);
    if (word && !strstr(dome_error_message(env), word))
        g_error("'%s' is not in: %s", word, dome_error_message(env));
    dome_error_clear(env);
}

/* ---- a structure with only the required slots: one replicated word ---- */

static int destroyed;

static dome_status word_describe(const dome_object *object, dome_object_info *info)
{
    (void)object;
    info->type = DOME_U64;
    info->length = 1;
    info->distribution = DOME_WHOLE;
    return DOME_OK;
}

static dome_status word_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format, uint64_t *bytes)
{
    (void)object, (void)first;
    *bytes = count * dome_type_bytes(DOME_U64, format);
    return DOME_OK;
}

static dome_status word_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                             uint64_t bytes)
{
    (void)first, (void)bytes;
    dome_type_pack(DOME_U64, format, buffer, dome_object_content(object), (size_t)count);
    return DOME_OK;
}

static dome_status word_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                               uint64_t bytes)
{
    (void)first;
    if (bytes != 8)
        return DOME_ERR_FORMAT;
    dome_type_unpack(DOME_U64, format, dome_object_content(object), buffer, (size_t)count);
    return DOME_OK;
}

static void word_destroy(dome_object *object)
{
    (void)object;
    destroyed++;
}

static const dome_object_ops word_ops = {.size = sizeof(dome_object_ops),
                                         .kind = "word",
                                         .describe = word_describe,
                                         .packed_bytes = word_bytes,
                                         .pack = word_pack,
                                         .unpack = word_unpack,
                                         .destroy = word_destroy};

static void test_registry(void)
{
    uint64_t word = 1;
    size_t before = dome_object_count(env);
    destroyed = 0;
    dome_object *a = dome_object_new(env, "a", &word_ops, &word), *b = dome_object_new(env, NULL, &word_ops, &word),
                *c = dome_object_new(env, "", &word_ops, &word);
    g_assert_cmpuint(dome_object_count(env), ==, before + 3);
    g_assert_cmpuint(dome_object_id(b), ==, dome_object_id(a) + 1);
    g_assert_true(g_str_has_prefix(dome_object_name(b), "word-"));
    g_assert_cmpstr(dome_object_name(b), !=, dome_object_name(c));
    g_assert_true(dome_object_find(env, "a") == a);
    g_assert_true(dome_object_find(env, dome_object_name(b)) == b);
    g_assert_null(dome_object_find(env, "nobody"));
    g_assert_true(dome_object_content(a) == &word && dome_object_env(a) == env && dome_object_operations(a) == &word_ops);

    dome_object *o = NULL;
    while ((o = dome_object_next(env, o)) && o != a)
        ;
    g_assert_true(o == a && dome_object_next(env, a) == b && dome_object_next(env, b) == c && !dome_object_next(env, c));

    g_assert_null(dome_object_new(env, "a", &word_ops, &word));
    expect(DOME_ERR_NAME, "'a'");
    uint64_t last = dome_object_id(c);
    dome_object_free(b);
    g_assert_cmpint(destroyed, ==, 1);
    g_assert_true(dome_object_next(env, a) == c);
    b = dome_object_new(env, "b", &word_ops, &word);
    g_assert_cmpuint(dome_object_id(b), ==, last + 1); /* ids are never reused */
    dome_object_free(a);
    a = dome_object_new(env, "a", &word_ops, &word);
    g_assert_nonnull(a);
    dome_object_free(NULL);
    dome_object_free(a);
    dome_object_free(b);
    dome_object_free(c);
    g_assert_cmpint(destroyed, ==, 5);
    g_assert_cmpuint(dome_object_count(env), ==, before);
}

/* Generated names never collide with the program's, in either order. */
static void test_names(void)
{
    uint64_t word = 1;
    dome_object *a = dome_object_new(env, NULL, &word_ops, &word);
    char *next = g_strdup_printf("word-%" G_GUINT64_FORMAT, dome_object_id(a) + 2);
    char *made_up = g_strdup(dome_object_name(a));
    dome_object *b = dome_object_new(env, next, &word_ops, &word), *c = dome_object_new(env, NULL, &word_ops, &word);
    g_assert_nonnull(b);
    g_assert_nonnull(c);
    g_assert_true(dome_object_find(env, next) == b);
    dome_object *d = dome_object_new(env, made_up, &word_ops, &word);
    g_assert_nonnull(d);
    g_assert_cmpstr(dome_object_name(d), ==, made_up);
    g_assert_true(dome_object_find(env, made_up) == d);
    dome_object_free(a);
    g_assert_true(dome_object_find(env, made_up) == d);
    dome_object_free(d);
    g_assert_null(dome_object_find(env, made_up));
    dome_object_free(b);
    dome_object_free(c);
    g_free(next);
    g_free(made_up);

    char *longest = g_strnfill(DOME_NAME_MAX, 'x'), *longer = g_strnfill(DOME_NAME_MAX + 1, 'x');
    a = dome_object_new(env, longest, &word_ops, &word);
    g_assert_nonnull(a);
    dome_object_free(a);
    g_assert_null(dome_object_new(env, longer, &word_ops, &word));
    expect(DOME_ERR_NAME, "65536 bytes");
    g_assert_null(dvec_new(env, longer, DOME_F64, 3));
    expect(DOME_ERR_NAME, "65536 bytes");
    dome_object_ops long_ops = word_ops;
    long_ops.kind = longer;
    g_assert_null(dome_object_new(env, "a", &long_ops, &word));
    expect(DOME_ERR_NAME, "kind");
    dome_field field = {longer, DOME_F64, 0, 1};
    g_assert_null(dome_type_struct(env, "t", 8, &field, 1, sizeof(dome_field)));
    expect(DOME_ERR_NAME, "field 0");
    field.name = "a";
    g_assert_null(dome_type_struct(env, longer, 8, &field, 1, sizeof(dome_field)));
    expect(DOME_ERR_NAME, "65536 bytes");
    g_free(longest);
    g_free(longer);
}

static dome_status word_read(dome_object *object, uint64_t first, uint64_t count, const void *buffer, uint64_t bytes)
{
    return word_unpack(object, first, count, DOME_PORTABLE, buffer, bytes);
}

static void test_tables(void)
{
    uint64_t word;
#define WITHOUT(slot)                                                                                                            \
    do {                                                                                                                         \
        dome_object_ops ops = word_ops;                                                                                          \
        ops.slot = 0;                                                                                                            \
        g_assert_null(dome_object_new(env, "t", &ops, &word));                                                                   \
        expect(DOME_ERR_ARGUMENT, NULL);                                                                                         \
    } while (0)
    WITHOUT(size);
    WITHOUT(kind);
    WITHOUT(describe);
    WITHOUT(packed_bytes);
    WITHOUT(pack);
    WITHOUT(unpack);
    WITHOUT(destroy);
    dome_object_ops half = word_ops;
    half.read = word_read;
    g_assert_null(dome_object_new(env, "t", &half, &word));
    expect(DOME_ERR_ARGUMENT, "write");
    g_assert_null(dome_object_new(env, "t", NULL, &word));
    expect(DOME_ERR_ARGUMENT, "table");
}

/* ---- tables from before there were several marks ---- */

typedef struct row {
    bool written[4];
} row;

static dome_status row_describe(const dome_object *object, dome_object_info *info)
{
    static dome_layout *layout;
    (void)object;
    if (!layout)
        layout = dome_layout_even(4, 1, 1);
    *info = (dome_object_info){.type = DOME_U64, .length = 4, .width = 1, .distribution = DOME_WHOLE, .layout = layout};
    return DOME_OK;
}

static dome_status row_changed(const dome_object *object, uint64_t first, uint64_t count, bool *changed)
{
    const row *r = dome_object_content(object);
    memcpy(changed, r->written + first, (size_t)count * sizeof *changed);
    return DOME_OK;
}

static dome_status row_mark_saved(dome_object *object)
{
    row *r = dome_object_content(object);
    memset(r->written, 0, sizeof r->written);
    return DOME_OK;
}

/* As many bytes as a program has that was compiled with a header without `delta`: what lies behind is not the table's. */
static const dome_object_ops row_ops = {
    .size = offsetof(dome_object_ops, delta),
    .kind = "row",
    .describe = row_describe,
    .packed_bytes = word_bytes,
    .pack = word_pack,
    .unpack = word_unpack,
    .changed = row_changed,
    .mark_saved = row_mark_saved,
    .destroy = word_destroy,
    .delta = (dome_status(*)(dome_object *, unsigned, dome_delta_visit, void *))(uintptr_t)1,
};

/* Writes the runs as text: "0+2 3+1 ". */
static dome_status append_run(void *text, uint64_t first, uint64_t count)
{
    g_string_append_printf(text, "%" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT " ", first, count);
    return DOME_OK;
}

static void expect_runs(dome_object *o, unsigned mark, const char *runs)
{
    GString *text = g_string_new(NULL);
    g_assert_cmpint(dome_object_delta(o, mark, append_run, text), ==, DOME_OK);
    g_assert_cmpstr(text->str, ==, runs);
    g_string_free(text, TRUE);
}

static dome_status refuse_run(void *visits, uint64_t first, uint64_t count)
{
    (void)first, (void)count;
    (*(int *)visits)++;
    return DOME_ERR_IO;
}

static void test_older_tables(void)
{
    row content = {.written = {true, true, false, true}};
    int visits = 0;
    bool changed[4];
    dome_object *o = dome_object_new(env, "row", &row_ops, &content);
    expect_runs(o, 0, "0+2 3+1 ");
    expect_runs(o, 1, "0+4 ");
    g_assert_cmpint(dome_object_delta(o, 0, refuse_run, &visits), ==, DOME_ERR_IO);
    g_assert_cmpint(visits, ==, 1);
    g_assert_cmpint(dome_object_changed(o, 1, 2, changed), ==, DOME_OK);
    g_assert_true(changed[0] && !changed[1]);
    g_assert_cmpint(dome_object_delta(o, 1, NULL, NULL), ==, DOME_OK); /* such a table has one mark */
    expect_runs(o, 0, "0+2 3+1 ");
    expect_runs(o, 1, "0+4 ");
    g_assert_cmpint(dome_object_delta(o, 0, NULL, NULL), ==, DOME_OK);
    expect_runs(o, 0, "");
    content.written[2] = true;
    expect_runs(o, 0, "2+1 ");
    g_assert_cmpint(dome_object_mark_saved(o), ==, DOME_OK);
    expect_runs(o, 0, "");
    g_assert_cmpint(dome_object_delta(o, DOME_MARKS, append_run, NULL), ==, DOME_ERR_ARGUMENT);
    dome_object_free(o);
}

/* What programs of that time call, of a table that has `delta`. */
static void test_older_calls(void)
{
    const int64_t value = 3;
    bool changed = false;
    dvec *x = dvec_new(env, "older", DOME_I64, 5);
    dome_object *o = dvec_object(x);
    g_assert_cmpint(dome_object_changed(o, 0, 1, &changed), ==, DOME_OK);
    g_assert_true(changed);
    g_assert_cmpint(dome_object_mark_saved(o), ==, DOME_OK);
    g_assert_cmpint(dome_object_changed(o, 4, 1, &changed), ==, DOME_OK);
    g_assert_false(changed);
    dvec_set(x, 4, &value);
    expect_runs(o, 0, "4+1 ");
    g_assert_cmpint(dome_object_changed(o, 4, 1, &changed), ==, DOME_OK);
    g_assert_true(changed);
    g_assert_cmpint(dome_object_changed(o, 5, 1, &changed), ==, DOME_ERR_ARGUMENT);
    dvec_free(x);
}

static void test_defaults(void)
{
    uint64_t word = 0x0102030405060708, bytes;
    dome_object *o = dome_object_new(env, "word", &word_ops, &word);
    dome_object_info info = {.size = sizeof info};
    g_assert_cmpint(dome_object_describe(o, &info), ==, DOME_OK);
    g_assert_cmpuint(info.width, ==, 1);
    g_assert_cmpint(dome_object_sync(o), ==, DOME_OK);
    double cost = 0;
    g_assert_cmpint(dome_object_cost(o, 0, 1, &cost), ==, DOME_OK);
    g_assert_cmpfloat(cost, >, 0);
    bool changed = false;
    g_assert_cmpint(dome_object_mark_saved(o), ==, DOME_OK);
    g_assert_cmpint(dome_object_changed(o, 0, 1, &changed), ==, DOME_OK);
    g_assert_true(changed);
    g_assert_cmpint(dome_object_adopt(o, NULL), ==, DOME_ERR_STATE);

    unsigned char buffer[8];
    g_assert_cmpint(dome_object_write_bytes(o, 0, 1, &bytes), ==, DOME_OK);
    g_assert_cmpuint(bytes, ==, 8);
    g_assert_cmpint(dome_object_write(o, 0, 1, buffer, 8), ==, DOME_OK);
    g_assert_cmpmem(buffer, 8, "\1\2\3\4\5\6\7\10", 8);
    buffer[7] = 9;
    g_assert_cmpint(dome_object_read(o, 0, 1, buffer, 8), ==, DOME_OK);
    g_assert_cmpuint(word, ==, 0x0102030405060709);
    dome_object_free(o);

    dvec *x = dvec_new(env, "x", DOME_F64, 10 * 1024 * 256 + 5);
    double costs[3];
    uint64_t blocks = dome_layout_blocks(dome_env_layout(env, dvec_length(x), 0));
    g_assert_cmpint(dome_object_cost(dvec_object(x), blocks - 2, 2, costs), ==, DOME_OK);
    g_assert_cmpfloat(costs[0], ==, 1024);
    g_assert_cmpfloat(costs[1], ==, 5);
    dvec_free(x);
}

static void test_layouts(void)
{
    const dome_layout *a = dome_env_layout(env, 1000, 0), *b = dome_env_layout(env, 1000, 8);
    g_assert_true(dome_env_layout(env, 1000, dome_block_size(1000)) == a);
    g_assert_true(a != b);
    for (uint64_t n = 0; n < 2000; n += 7)
        g_assert_cmpuint(dome_layout_length(dome_env_layout(env, n, 0)), ==, n);
    g_assert_true(dome_env_layout(env, 1000, 0) == a);
    g_assert_true(dome_env_layout(env, 1000, 8) == b);
    g_assert_null(dome_env_layout(env, 1000, 3));
    g_assert_cmpint(dome_env_relayout(env, NULL), ==, DOME_ERR_ARGUMENT);
    expect(DOME_ERR_ARGUMENT, "layout");
    dome_layout *two = dome_layout_even(1000, 0, 2);
    g_assert_cmpint(dome_env_relayout(env, two), ==, DOME_ERR_LAYOUT);
    expect(DOME_ERR_LAYOUT, "2 tasks");
    dome_layout_unref(two);
}

static void test_scalar_numbers(void)
{
    dscalar *i8 = dscalar_new(env, "i8", DOME_I8), *u64 = dscalar_new(env, "u64", DOME_U64),
            *i64 = dscalar_new(env, "i64", DOME_I64), *f32 = dscalar_new(env, "f32", DOME_F32),
            *f64 = dscalar_new(env, "f64", DOME_F64), *c = dscalar_new(env, "c", DOME_C128);
    g_assert_cmpint(dscalar_get_i64(i8), ==, 0);
    g_assert_cmpint(dscalar_set_i64(i8, -128), ==, DOME_OK);
    g_assert_cmpint(dscalar_get_i64(i8), ==, -128);
    g_assert_cmpint(dscalar_set_i64(i8, 128), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "128");
    g_assert_cmpint(dscalar_set_f64(i8, 1.5), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "1.5");
    g_assert_cmpint(dscalar_set_f64(i8, NAN), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "i8");
    g_assert_cmpint(dscalar_get_i64(i8), ==, -128);

    g_assert_cmpint(dscalar_set_i64(u64, -1), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "-1");
    g_assert_cmpint(dscalar_set_f64(u64, 18446744073709549568.0), ==, DOME_OK);
    g_assert_cmpfloat(dscalar_get_f64(u64), ==, 18446744073709549568.0);
    g_assert_cmpint(dscalar_get_i64(u64), ==, 0);
    expect(DOME_ERR_RANGE, "int64_t");
    g_assert_cmpint(dscalar_set_f64(u64, 18446744073709551616.0), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, NULL);
    uint64_t most = UINT64_MAX;
    g_assert_cmpint(dscalar_set(u64, &most), ==, DOME_OK);
    g_assert_true(isnan(dscalar_get_f64(u64))); /* would round */
    expect(DOME_ERR_RANGE, "double");

    g_assert_cmpint(dscalar_set_i64(i64, INT64_MIN), ==, DOME_OK);
    g_assert_cmpint(dscalar_get_i64(i64), ==, INT64_MIN);
    g_assert_cmpfloat(dscalar_get_f64(i64), ==, -9223372036854775808.0);
    g_assert_cmpint(dscalar_set_i64(i64, INT64_MAX), ==, DOME_OK);
    g_assert_true(isnan(dscalar_get_f64(i64)));
    expect(DOME_ERR_RANGE, NULL);

    g_assert_cmpint(dscalar_set_f64(f32, 0.5), ==, DOME_OK);
    g_assert_cmpfloat(dscalar_get_f64(f32), ==, 0.5);
    g_assert_cmpint(dscalar_set_f64(f32, 0.1), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, NULL);
    g_assert_cmpint(dscalar_set_i64(f32, 16777217), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, NULL);

    g_assert_cmpint(dscalar_set_f64(f64, -0.0), ==, DOME_OK);
    g_assert_true(signbit(dscalar_get_f64(f64)));
    g_assert_cmpint(dscalar_set_f64(f64, NAN), ==, DOME_OK);
    g_assert_true(isnan(dscalar_get_f64(f64)));
    g_assert_cmpint(dscalar_get_i64(f64), ==, 0);
    expect(DOME_ERR_RANGE, NULL);

    const double with_imaginary[2] = {1, 2};
    g_assert_cmpint(dscalar_set_f64(c, 3), ==, DOME_OK);
    g_assert_cmpint(dscalar_get_i64(c), ==, 3);
    g_assert_cmpint(dscalar_set(c, with_imaginary), ==, DOME_OK);
    g_assert_true(isnan(dscalar_get_f64(c)));
    expect(DOME_ERR_RANGE, NULL);
    double back[2];
    g_assert_cmpint(dscalar_get(c, back), ==, DOME_OK);
    g_assert_cmpmem(back, sizeof back, with_imaginary, sizeof with_imaginary);

    memset(back, 0, sizeof back);
    g_assert_cmpint(dscalar_get_c128(c, back), ==, DOME_OK);
    g_assert_cmpmem(back, sizeof back, with_imaginary, sizeof with_imaginary);
    g_assert_cmpint(dscalar_set_c128(c, (const double[2]){-3, 0.1}), ==, DOME_OK);
    g_assert_cmpint(dscalar_get(c, back), ==, DOME_OK);
    g_assert_true(back[0] == -3 && back[1] == 0.1);
    g_assert_cmpint(dscalar_set_c128(f64, with_imaginary), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "1 + 2 i");
    g_assert_cmpint(dscalar_set_c128(f64, (const double[2]){0.5, 0}), ==, DOME_OK);
    g_assert_cmpint(dscalar_get_c128(f64, back), ==, DOME_OK);
    g_assert_true(back[0] == 0.5 && back[1] == 0);
    g_assert_cmpint(dscalar_set_i64(i64, INT64_MAX), ==, DOME_OK);
    g_assert_cmpint(dscalar_get_c128(i64, back), ==, DOME_ERR_RANGE);
    expect(DOME_ERR_RANGE, "double");

    g_assert_null(dscalar_new(env, "i8", DOME_I8));
    expect(DOME_ERR_NAME, "i8");
    g_assert_cmpstr(dscalar_name(c), ==, "c");
    g_assert_true(dscalar_type(c) == DOME_C128);
    dscalar_free(NULL);
    dscalar_free(i8);
    dscalar_free(u64);
    dscalar_free(i64);
    dscalar_free(f32);
    dscalar_free(f64);
    dscalar_free(c);
}

static void test_vector_arguments(void)
{
    g_assert_null(dvec_new(env, "v", NULL, 3));
    expect(DOME_ERR_ARGUMENT, "no type");
    struct {
        dvec_options options;
        size_t more;
    } newer = {{.size = sizeof newer, .width = 2}, 0};
    dvec *new_options = dvec_new_with(env, "newer", DOME_F64, 3, &newer.options);
    g_assert_cmpuint(dvec_width(new_options), ==, 2);
    dome_object_info info = {.size = 0};
    g_assert_cmpint(dome_object_describe(dvec_object(new_options), &info), ==, DOME_ERR_ARGUMENT);
    expect(DOME_ERR_ARGUMENT, "dome_object_info");
    dvec_free(new_options);
    newer.more = 1;
    g_assert_null(dvec_new_with(env, "newer", DOME_F64, 3, &newer.options));
    expect(DOME_ERR_ARGUMENT, "DVEC_OPTIONS");
    g_assert_null(dvec_new_with(env, "sizeless", DOME_F64, 3, &(dvec_options){.width = 2}));
    expect(DOME_ERR_ARGUMENT, "DVEC_OPTIONS");
    g_assert_null(dvec_new_with(env, "v", DOME_F64, 3, DVEC_OPTIONS(.block = 3)));
    expect(DOME_ERR_ARGUMENT, "power of two");
    g_assert_null(dvec_new_with(env, "v", DOME_F64, 3, DVEC_OPTIONS(.distribution = 9)));
    expect(DOME_ERR_ARGUMENT, "distribution");
    g_assert_null(dvec_new_with(env, "v", DOME_F64, SIZE_MAX / 2, DVEC_OPTIONS(.width = 3)));
    expect(DOME_ERR_ARGUMENT, "counted");
    g_assert_null(dvec_new_with(env, "v", DOME_F64, 3, DVEC_OPTIONS(.width = SIZE_MAX)));
    expect(DOME_ERR_ARGUMENT, "(-1 as a signed number)");
    g_assert_null(dvec_new(env, "v", DOME_F64, UINT64_MAX));
    expect(DOME_ERR_ARGUMENT, "a length of 18446744073709551615 (-1 as a signed number)");
    g_assert_null(dvec_new(env, "v", DOME_F64, SIZE_MAX / 64));
    expect(DOME_ERR_MEMORY, "'v'");
    dvec *v = dvec_new(env, "v", DOME_F64, 3);
    g_assert_null(dvec_new(env, "v", DOME_F64, 3));
    expect(DOME_ERR_NAME, "'v'");
    const dvec *const list[] = {v};
    double numbers[1] = {0};
    const size_t lengths[] = {(1 << 24) + 1, SIZE_MAX / 16 + 1, SIZE_MAX / 8 + 2, SIZE_MAX};
    for (size_t k = 0; k < G_N_ELEMENTS(lengths); k++) {
        const size_t n = lengths[k];
        g_assert_cmpint(dvec_dots(n, list, list, numbers), ==, DOME_ERR_ARGUMENT);
        expect(DOME_ERR_ARGUMENT, "vectors are more than");
        g_assert_cmpint(dvec_linear_combination(v, n, numbers, list), ==, DOME_ERR_ARGUMENT);
        expect(DOME_ERR_ARGUMENT, "vectors are more than");
        g_assert_null(dvec_concatenate(n, list, "all"));
        expect(DOME_ERR_ARGUMENT, "vectors are more than");
    }
    for (size_t k = 1; k < G_N_ELEMENTS(lengths); k++) {
        const uint64_t index[1] = {0};
        g_assert_cmpint(dvec_get_many(v, lengths[k], index, numbers), ==, DOME_ERR_ARGUMENT);
        expect(DOME_ERR_ARGUMENT, "more than memory");
        dsparse *matrix = dsparse_new(env, "matrix", 3, 3);
        g_assert_cmpint(dsparse_assemble(matrix, lengths[k], &(dsparse_triplet){0, 0, 1}), ==, DOME_ERR_ARGUMENT);
        expect(DOME_ERR_ARGUMENT, "more than memory");
        dsparse_free(matrix);
    }
    g_assert_cmpuint(dome_object_count(env), ==, 1);

    dvec *longer = dvec_new(env, "longer", DOME_F64, 4), *other = dvec_new(env, "other", DOME_I8, 3),
         *fixed = dvec_new_with(env, "fixed", DOME_F64, 3, DVEC_OPTIONS(.distribution = DOME_BLOCK)),
         *whole = dvec_new_with(env, "whole", DOME_F64, 3, DVEC_OPTIONS(.distribution = DOME_WHOLE)),
         *blocked = dvec_new_with(env, "blocked", DOME_F64, 3, DVEC_OPTIONS(.block = 2)),
         *wide = dvec_new_with(env, "wide", DOME_F64, 3, DVEC_OPTIONS(.width = 2));
    g_assert_cmpint(dvec_roll(v, longer, 1), ==, DOME_ERR_SHAPE);
    expect(DOME_ERR_SHAPE, "'longer'");
    g_assert_cmpint(dvec_roll(v, other, 1), ==, DOME_ERR_TYPE);
    expect(DOME_ERR_TYPE, "i8");
    g_assert_cmpint(dvec_roll(v, fixed, 1), ==, DOME_ERR_LAYOUT);
    expect(DOME_ERR_LAYOUT, "DOME_BLOCK");
    g_assert_cmpint(dvec_roll(v, blocked, 1), ==, DOME_ERR_SHAPE);
    expect(DOME_ERR_SHAPE, "blocks");
    g_assert_cmpint(dvec_roll(v, wide, 1), ==, DOME_ERR_SHAPE);
    expect(DOME_ERR_SHAPE, "width");
    g_assert_cmpint(dvec_roll(v, NULL, 1), ==, DOME_ERR_ARGUMENT);
    expect(DOME_ERR_ARGUMENT, "NULL");
    g_assert_cmpint(dvec_roll(v, whole, 1), ==, DOME_OK);
    g_assert_cmpint(dvec_gather(v, longer, v), ==, DOME_ERR_TYPE);
    expect(DOME_ERR_TYPE, "integer");
    g_assert_cmpint(dvec_map(v, NULL, NULL, 0, NULL), ==, DOME_ERR_ARGUMENT);
    expect(DOME_ERR_ARGUMENT, "kernel");
    dvec_halo_span spans[2];
    g_assert_cmpint(dvec_halo_elements(v, 4, 0, true, spans), ==, DOME_ERR_ARGUMENT);
    expect(DOME_ERR_ARGUMENT, "longer than");
    dvec_free(NULL);
    dvec *all[] = {v, longer, other, fixed, whole, blocked, wide};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        dvec_free(all[i]);
    g_assert_cmpuint(dome_object_count(env), ==, 0);
}

static void test_storage(void)
{
    g_assert_null(dome__storage(0));
    g_assert_null(dome__storage(UINT64_MAX));
    for (uint64_t bytes = 1; bytes < 5000000; bytes = bytes * 3 + 1) {
        char *data = dome__storage(bytes);
        g_assert_nonnull(data);
        g_assert_cmpuint((uintptr_t)data % 64, ==, 0);
        for (uint64_t i = 0; i < bytes; i++)
            g_assert_cmpint(data[i], ==, 0);
        memset(data, 1, (size_t)bytes);
        dome__storage_free(data);
    }
    dome__storage_free(NULL);
    for (uint64_t bytes = 1000; bytes <= UINT64_C(8) << 20; bytes *= 20) {
        char *data = dome__storage(bytes), *moved;
        uint64_t capacity = dome__storage_capacity(data);
        g_assert_cmpuint(dome__storage_before(data), ==, 0);
        data[640] = 7;
        moved = dome__storage_slide(data, 640);
        g_assert_true(moved == data + 640 && *moved == 7);
        g_assert_cmpuint(dome__storage_before(moved), ==, 640);
        g_assert_cmpuint(dome__storage_capacity(moved), ==, capacity - 640);
        moved = dome__storage_slide(moved, -128);
        g_assert_cmpuint(dome__storage_before(moved), ==, 512);
        memset(moved, 1, bytes - 512);
        dome__storage_free(moved);
        data = dome__storage(bytes); /* perhaps the same again: all of it */
        g_assert_cmpuint(dome__storage_before(data), ==, 0);
        g_assert_cmpuint(dome__storage_capacity(data), >=, bytes);
        for (uint64_t i = 0; i < bytes; i += 8)
            g_assert_cmpint(data[i], ==, 0);
        dome__storage_free(data);
    }
}

/* A request for too much memory must return NULL here, not end the test. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], "--dome-transport", "self", NULL}, **init_argv = arguments;
    int init_argc = 3;
    g_test_init(&argc, &argv, NULL);
    env = dome_init(&init_argc, &init_argv);
    dome_set_errors_return(env);
    g_test_add_func("/object/registry", test_registry);
    g_test_add_func("/object/names", test_names);
    g_test_add_func("/object/tables", test_tables);
    g_test_add_func("/object/defaults", test_defaults);
    g_test_add_func("/object/older_tables", test_older_tables);
    g_test_add_func("/object/older_calls", test_older_calls);
    g_test_add_func("/object/layouts", test_layouts);
    g_test_add_func("/object/scalar_numbers", test_scalar_numbers);
    g_test_add_func("/object/vector_arguments", test_vector_arguments);
    g_test_add_func("/object/storage", test_storage);
    int failed = g_test_run();
    return dome_finalize(env) | failed;
}
