#include <dome/dome.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static dome_env *env;

static void test_basic(void)
{
    const struct {
        dome_type type;
        const char *name;
        size_t size;
    } all[] = {{DOME_I8, "i8", 1},   {DOME_I16, "i16", 2}, {DOME_I32, "i32", 4}, {DOME_I64, "i64", 8},
               {DOME_U8, "u8", 1},   {DOME_U16, "u16", 2}, {DOME_U32, "u32", 4}, {DOME_U64, "u64", 8},
               {DOME_F32, "f32", 4}, {DOME_F64, "f64", 8}, {DOME_C64, "c64", 8}, {DOME_C128, "c128", 16}};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        g_assert_cmpstr(dome_type_name(all[i].type), ==, all[i].name);
        g_assert_cmpint(dome_type_kind_of(all[i].type), ==, i);
        g_assert_cmpuint(dome_type_size(all[i].type), ==, all[i].size);
        g_assert_cmpuint(dome_type_portable_size(all[i].type), ==, all[i].size);
        g_assert_cmpuint(dome_type_bytes(all[i].type, DOME_NATIVE), ==, all[i].size);
        g_assert_cmpuint(dome_type_fields(all[i].type), ==, 0);
        for (size_t j = 0; j < G_N_ELEMENTS(all); j++)
            g_assert_cmpint(dome_type_equal(all[i].type, all[j].type), ==, i == j);
    }
}

static void check_portable(dome_type type, const void *value, const char *bytes, size_t size)
{
    char packed[64], back[64];
    g_assert_cmpuint(dome_type_portable_size(type), ==, size);
    dome_type_pack(type, DOME_PORTABLE, packed, value, 1);
    g_assert_cmpmem(packed, size, bytes, size);
    dome_type_unpack(type, DOME_PORTABLE, back, packed, 1);
    g_assert_cmpmem(back, dome_type_size(type), value, dome_type_size(type));
}

#define CHECK_PORTABLE(type, ctype, value, bytes)                                                                                \
    do {                                                                                                                         \
        ctype v = value;                                                                                                         \
        check_portable(type, &v, bytes, sizeof(bytes) - 1);                                                                      \
    } while (0)

/* Bytes written by hand: every machine must produce them. */
static void test_portable(void)
{
    CHECK_PORTABLE(DOME_I8, int8_t, -2, "\xfe");
    CHECK_PORTABLE(DOME_U8, uint8_t, 200, "\xc8");
    CHECK_PORTABLE(DOME_I16, int16_t, -2, "\xff\xfe");
    CHECK_PORTABLE(DOME_U16, uint16_t, 0x1234, "\x12\x34");
    CHECK_PORTABLE(DOME_I32, int32_t, INT32_MIN, "\x80\0\0\0");
    CHECK_PORTABLE(DOME_U32, uint32_t, 0x12345678, "\x12\x34\x56\x78");
    CHECK_PORTABLE(DOME_I64, int64_t, INT64_MIN, "\x80\0\0\0\0\0\0\0");
    CHECK_PORTABLE(DOME_I64, int64_t, INT64_MAX, "\x7f\xff\xff\xff\xff\xff\xff\xff");
    CHECK_PORTABLE(DOME_U64, uint64_t, UINT64_C(0x0123456789abcdef), "\x01\x23\x45\x67\x89\xab\xcd\xef");
    CHECK_PORTABLE(DOME_F32, float, -1.5f, "\xbf\xc0\0\0");
    CHECK_PORTABLE(DOME_F64, double, 1.0, "\x3f\xf0\0\0\0\0\0\0");
    float c64[2] = {1, -2};
    check_portable(DOME_C64, c64, "\x3f\x80\0\0\xc0\0\0\0", 8);
    double c128[2] = {1, -2};
    check_portable(DOME_C128, c128, "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 16);
}

/* Long runs at odd addresses, and NaN payloads, are restored exactly. */
static void test_runs(void)
{
    const dome_type types[] = {DOME_I8, DOME_I16, DOME_I32, DOME_I64, DOME_F32, DOME_F64, DOME_C64, DOME_C128};
    enum { COUNT = 1001 };
    for (size_t t = 0; t < G_N_ELEMENTS(types); t++) {
        size_t bytes = COUNT * dome_type_size(types[t]);
        unsigned char *from = g_malloc(bytes), *packed = g_malloc(bytes + 1), *back = g_malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            from[i] = (unsigned char)g_test_rand_int();
        for (int format = DOME_NATIVE; format <= DOME_PORTABLE; format++) {
            dome_type_pack(types[t], format, packed + 1, from, COUNT);
            memset(back, 0, bytes);
            dome_type_unpack(types[t], format, back, packed + 1, COUNT);
            g_assert_cmpmem(back, bytes, from, bytes);
        }
        g_free(from);
        g_free(packed);
        g_free(back);
    }
}

typedef struct point {
    int16_t x, y;
} point;

typedef struct particle {
    uint8_t tag;
    double mass;
    point at[2];
    int8_t charge;
} particle;

static dome_type point_type(void)
{
    const dome_field fields[] = {{"x", DOME_I16, offsetof(point, x), 1}, {"y", DOME_I16, offsetof(point, y), 1}};
    return dome_type_struct(env, "point", sizeof(point), fields, 2, sizeof(dome_field));
}

static dome_type particle_type(void)
{
    const dome_field fields[] = {{"tag", DOME_U8, offsetof(particle, tag), 1},
                                 {"mass", DOME_F64, offsetof(particle, mass), 1},
                                 {"at", point_type(), offsetof(particle, at), 2},
                                 {"charge", DOME_I8, offsetof(particle, charge), 1}};
    return dome_type_struct(env, "particle", sizeof(particle), fields, 4, sizeof(dome_field));
}

static void test_struct(void)
{
    dome_type type = particle_type();
    dome_field field;
    g_assert_nonnull(type);
    g_assert_cmpstr(dome_type_name(type), ==, "particle");
    g_assert_cmpint(dome_type_kind_of(type), ==, DOME_KIND_STRUCT);
    g_assert_cmpuint(dome_type_size(type), ==, sizeof(particle));
    g_assert_cmpuint(dome_type_portable_size(type), ==, 1 + 8 + 8 + 1);
    g_assert_cmpuint(dome_type_fields(type), ==, 4);
    g_assert_cmpint(dome_type_field(type, 2, &field, sizeof field), ==, DOME_OK);
    g_assert_cmpstr(field.name, ==, "at");
    g_assert_true(dome_type_equal(field.type, point_type()));
    g_assert_true(particle_type() == type);
    g_assert_false(dome_type_equal(type, point_type()));

    particle p = {.tag = 7, .mass = 1.0, .at = {{1, -2}, {3, 4}}, .charge = -1}, back;
    const char expected[] = "\x07\x3f\xf0\0\0\0\0\0\0\0\x01\xff\xfe\0\x03\0\x04\xff";
    char packed[sizeof expected];
    dome_type_pack(type, DOME_PORTABLE, packed, &p, 1);
    g_assert_cmpmem(packed, 18, expected, 18);
    memset(&back, 0x55, sizeof back);
    dome_type_unpack(type, DOME_PORTABLE, &back, packed, 1);
    g_assert_true(back.tag == 7 && back.mass == 1.0 && back.charge == -1);
    g_assert_cmpmem(back.at, sizeof back.at, p.at, sizeof p.at);
    g_assert_cmpint(((unsigned char *)&back)[1], ==, 0x55); /* padding */
}

/* More elements than are converted at a time; padding is neither sent nor changed. */
static void test_struct_runs(void)
{
    enum { COUNT = 3000 };
    dome_type type = particle_type();
    particle *from = g_new0(particle, COUNT), *back = g_new(particle, COUNT);
    for (int i = 0; i < COUNT; i++)
        from[i] = (particle){(uint8_t)i, i * 0.5, {{(int16_t)i, (int16_t)-i}, {(int16_t)(3 * i), 0}}, (int8_t)(i % 5)};
    for (int format = DOME_NATIVE; format <= DOME_PORTABLE; format++) {
        size_t bytes = COUNT * dome_type_bytes(type, format);
        char *a = g_malloc(bytes), *b = g_malloc(bytes);
        dome_type_pack(type, format, a, from, COUNT);
        memset(back, 0xaa, COUNT * sizeof *back);
        dome_type_unpack(type, format, back, a, COUNT);
        for (int i = 0; i < COUNT; i++) {
            g_assert_true(back[i].tag == from[i].tag && back[i].mass == from[i].mass && back[i].charge == from[i].charge);
            g_assert_cmpmem(back[i].at, sizeof back[i].at, from[i].at, sizeof from[i].at);
            g_assert_cmpint(((unsigned char *)&back[i])[1], ==, 0xaa);
        }
        dome_type_pack(type, format, b, back, COUNT); /* other padding, same bytes */
        g_assert_cmpmem(a, bytes, b, bytes);
        g_free(a);
        g_free(b);
    }
    g_free(from);
    g_free(back);
}

static void refuse(int status, const char *word, const char *name, size_t size, const dome_field *fields, size_t nfields)
{
    dome_error_clear(env);
    g_assert_null(dome_type_struct(env, name, size, fields, nfields, sizeof(dome_field)));
    g_assert_cmpint(dome_error_status(env), ==, status);
    g_assert_nonnull(strstr(dome_error_message(env), word));
    dome_error_clear(env);
}

static void test_refused(void)
{
    const dome_field good[] = {{"a", DOME_I32, 0, 1}};
    const dome_field outside[] = {{"a", DOME_I32, 5, 1}}, many[] = {{"a", DOME_I32, 0, SIZE_MAX / 2}};
    const dome_field far[] = {{"a", DOME_I32, SIZE_MAX - 2, 1}}, none[] = {{"a", DOME_I32, 0, 0}};
    const dome_field overlap[] = {{"b", DOME_I32, 4, 1}, {"a", DOME_I64, 0, 1}};
    const dome_field twice[] = {{"a", DOME_I32, 0, 1}, {"a", DOME_I32, 4, 1}};
    const dome_field untyped[] = {{"a", NULL, 0, 1}}, unnamed[] = {{"", DOME_I8, 0, 1}};
    refuse(DOME_ERR_ARGUMENT, "no fields", "r", 8, NULL, 0);
    refuse(DOME_ERR_ARGUMENT, "no fields", "r", 8, good, 0);
    refuse(DOME_ERR_ARGUMENT, "outside", "r", 8, outside, 1);
    refuse(DOME_ERR_ARGUMENT, "outside", "r", 8, many, 1);
    refuse(DOME_ERR_ARGUMENT, "outside", "r", 8, far, 1);
    refuse(DOME_ERR_ARGUMENT, "count 0", "r", 8, none, 1);
    refuse(DOME_ERR_ARGUMENT, "overlap", "r", 8, overlap, 2);
    refuse(DOME_ERR_ARGUMENT, "two fields", "r", 8, twice, 2);
    refuse(DOME_ERR_ARGUMENT, "no type", "r", 8, untyped, 1);
    refuse(DOME_ERR_ARGUMENT, "no name", "r", 8, unnamed, 1);
    refuse(DOME_ERR_ARGUMENT, "name", NULL, 8, good, 1);
    refuse(DOME_ERR_NAME, "basic", "f64", 8, good, 1);
    g_assert_nonnull(dome_type_struct(env, "r", 8, good, 1, sizeof(dome_field)));

    /* a program with a newer header: fields that this library does not know must be 0 */
    struct {
        dome_field field;
        size_t more;
    } newer[] = {{{"a", DOME_I32, 0, 1}, 0}, {{"b", DOME_I32, 4, 1}, 0}};
    g_assert_nonnull(dome_type_struct(env, "newer", 8, &newer[0].field, 2, sizeof *newer));
    newer[1].more = 1;
    g_assert_null(dome_type_struct(env, "newer still", 8, &newer[0].field, 2, sizeof *newer));
    g_assert_cmpint(dome_error_status(env), ==, DOME_ERR_ARGUMENT);
    g_assert_null(dome_type_struct(env, "older", 8, good, 1, sizeof(dome_field) - 1));
    g_assert_cmpint(dome_error_status(env), ==, DOME_ERR_ARGUMENT);
    dome_error_clear(env);
    refuse(DOME_ERR_NAME, "differently", "r", 12, good, 1);
}

/* ---- type strings ---- */

/* The structs that the strings below describe, as the compiler lays them out. */
typedef struct row {
    int8_t c;
    double d[20];
} row;

typedef struct inner {
    int16_t i;
    float f;
} inner;

typedef struct nested {
    int8_t c;
    inner in[3];
    int64_t l;
    int8_t last;
} nested;

static void test_parse(void)
{
    const size_t counts[] = {10, 20}, of_nested[] = {7, 3}, one[] = {5}, deep[] = {1, 1, 4};
    const dome_field of_row[] = {{"0", DOME_I8, offsetof(row, c), 1}, {"1", DOME_F64, offsetof(row, d), 20}};
    dome_type type = dome_type_parse(env, "row", "{C{D}}", counts, 2, sizeof(row));
    g_assert_nonnull(type);
    g_assert_true(dome_type_struct(env, "row", sizeof(row), of_row, 2, sizeof(dome_field)) == type);
    g_assert_true(dome_type_parse(env, "row", "{C{D}}", counts, 2, sizeof(row)) == type);

    const dome_field of_inner[] = {{"0", DOME_I16, offsetof(inner, i), 1}, {"1", DOME_F32, offsetof(inner, f), 1}};
    type = dome_type_parse(env, "nested", "{C{IF}LC}", of_nested, 2, sizeof(nested));
    const dome_type within = dome_type_struct(env, "nested.1", sizeof(inner), of_inner, 2, sizeof(dome_field));
    const dome_field whole[] = {{"0", DOME_I8, offsetof(nested, c), 1},
                                {"1", within, offsetof(nested, in), 3},
                                {"2", DOME_I64, offsetof(nested, l), 1},
                                {"3", DOME_I8, offsetof(nested, last), 1}};
    g_assert_true(type && within && dome_type_struct(env, "nested", sizeof(nested), whole, 4, sizeof(dome_field)) == type);

    g_assert_true(dome_type_parse(env, "", "{D}", one, 1, sizeof(double)) == DOME_F64);
    g_assert_true(dome_type_parse(env, "", "{{L}}", (const size_t[]){3, 1}, 2, sizeof(int64_t)) == DOME_I64);
    type = dome_type_parse(env, "line", "{{{F}}}", deep, 3, 4 * sizeof(float));
    g_assert_true(type && dome_type_size(type) == 4 * sizeof(float));
}

static void refuse_text(const char *text, const size_t *counts, size_t ncounts, size_t size, const char *words)
{
    g_assert_null(dome_type_parse(env, "wrong", text, counts, ncounts, size));
    g_assert_cmpint(dome_error_status(env), ==, DOME_ERR_ARGUMENT);
    if (!strstr(dome_error_message(env), words))
        g_error("'%s' does not say '%s'", dome_error_message(env), words);
    dome_error_clear(env);
}

static void test_wrong_strings(void)
{
    const size_t counts[] = {2, 3, 0}, ones[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const size_t huge[] = {1, SIZE_MAX};
    refuse_text("", counts, 1, 8, "character 1: there is no '{'");
    refuse_text("D", counts, 1, 8, "character 1: there is no '{'");
    refuse_text("{C{D}", counts, 2, 8, "character 6: a '}' is missing");
    refuse_text("{CX}", counts, 1, 8, "type string '{CX}' of 'wrong', character 3: it is none of");
    refuse_text("{}", counts, 1, 8, "character 2: there is nothing in these braces");
    refuse_text("{C{}}", counts, 2, 8, "character 4: there is nothing in these braces");
    refuse_text("{D}}", counts, 1, 8, "character 4: something follows the last '}'");
    refuse_text("{C{D}}", counts, 1, 8, "character 3: there is no count for these braces");
    refuse_text("{D}", counts, 2, 8, "there are more counts than braces");
    refuse_text("{C{I{D}}}", counts, 3, 8, "character 5: the count of these braces is 0");
    refuse_text("{C{D}}", counts, 2, 8, "has 32 bytes, and not 8");
    refuse_text("{C{D}}", huge, 2, 8, "character 6: the struct is larger than memory can be");
    refuse_text("{{{{{{{{{{{{{{{{{D}}}}}}}}}}}}}}}}}", ones, 17, 8, "character 17: braces are nested more than 16 deep");
}

int main(int argc, char **argv)
{
    char *arguments[] = {argv[0], "--dome-transport", "self", NULL}, **init_argv = arguments;
    int init_argc = 3;
    g_test_init(&argc, &argv, NULL);
    env = dome_init(&init_argc, &init_argv);
    dome_set_errors_return(env);
    g_test_add_func("/type/basic", test_basic);
    g_test_add_func("/type/portable", test_portable);
    g_test_add_func("/type/runs", test_runs);
    g_test_add_func("/type/struct", test_struct);
    g_test_add_func("/type/struct_runs", test_struct_runs);
    g_test_add_func("/type/refused", test_refused);
    g_test_add_func("/type/parse", test_parse);
    g_test_add_func("/type/wrong_strings", test_wrong_strings);
    int failed = g_test_run();
    return dome_finalize(env) | failed;
}
