#include "core/type_private.h"
#include "files/npy.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

/* The beginning of a file: version and header text, with the matching length. */
static GByteArray *begin(int major, const char *text)
{
    GByteArray *bytes = g_byte_array_new();
    size_t n = strlen(text);
    const uint8_t start[12] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)major, 0, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), 0};
    g_byte_array_append(bytes, start, major == 1 ? 10 : 12);
    g_byte_array_append(bytes, (const uint8_t *)text, (guint)n);
    return bytes;
}

static bool parse(dome_npy *npy, int major, const char *text, char **message)
{
    GByteArray *bytes = begin(major, text);
    bool good = dome__npy_parse(npy, bytes->data, bytes->len, message);
    g_byte_array_free(bytes, TRUE);
    return good;
}

#define HEADER(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }\n"

/* Valid headers, with the item's description and the shape that they mean. */
static void test_accepted(void)
{
    static const struct {
        const char *text, *descr;
        uint64_t length, width, bytes;
    } cases[] = {
        {HEADER("'<f8'", "(10,)"), "'<f8'", 10, 1, 8},
        {HEADER("'>f8'", "(10, 3)"), "'>f8'", 10, 3, 8},
        {HEADER("'|b1'", "(2, 3, 4)"), "'|u1'", 2, 12, 1},
        {HEADER("'|i1'", "(0,)"), "'|i1'", 0, 1, 1},
        {HEADER("'u1'", "(7,)"), "'|u1'", 7, 1, 1},
        {HEADER("'>i2'", "(7L, 1L)"), "'>i2'", 7, 1, 2},
        {HEADER("'<u2'", "(7,)"), "'<u2'", 7, 1, 2},
        {HEADER("'<i4'", "(7,)"), "'<i4'", 7, 1, 4},
        {HEADER("'>u4'", "(7,)"), "'>u4'", 7, 1, 4},
        {HEADER("'<i8'", "(18446744073709551615,)"), "'<i8'", UINT64_MAX, 1, 8},
        {HEADER("'<u8'", "(7,)"), "'<u8'", 7, 1, 8},
        {HEADER("'<f4'", "(7,)"), "'<f4'", 7, 1, 4},
        {HEADER("'<c8'", "(7,)"), "'<c8'", 7, 1, 8},
        {HEADER("'>c16'", "(7,)"), "'>c16'", 7, 1, 16},
        {"{\"shape\":(5,),\"fortran_order\":False,\"descr\":u\"<f8\"}", "'<f8'", 5, 1, 8},
        {" \t{ 'shape' : ( 5 , 2 , ) ,\n'descr' : '<f8' , 'fortran_order' : False }  \n\n", "'<f8'", 5, 2, 8},
        {HEADER("[('a', '<f8'), ('b', '|i1', 3), ('c', '>i4', (2, 2))]", "(4,)"),
         "[('a', '<f8'), ('b', '|i1', (3,)), ('c', '>i4', (4,))]", 4, 1, 27},
        {HEADER("[('in', [('x', '<i2'), ('y', '<f4', (2,)),],(5,),),('t','|b1',),]", "(4,)"),
         "[('in', [('x', '<i2'), ('y', '<f4', (2,))], (5,)), ('t', '|u1')]", 4, 1, 51},
        {HEADER("[(('a title', 'a'), '<f8'), ('', '|V7'), ('b', '<i4', ())]", "(4,)"), "[('a', '<f8'), ('b', '<i4')]", 4, 1, 19},
        {HEADER("[('it\\'s', '<f8'), (\"\\x41\\u00e9\\U0001f600\\\\\", '<i4')]", "(1,)"),
         "[('it\\'s', '<f8'), ('A\\xe9\\U0001f600\\\\', '<i4')]", 1, 1, 12},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int major = 1; major <= 3; major++) {
            dome_npy npy;
            char *message = NULL;
            if (!parse(&npy, major, cases[i].text, &message))
                g_error("%s: %s", cases[i].text, message);
            char *descr = dome__npy_descr(&npy.array.item);
            g_assert_cmpstr(descr, ==, cases[i].descr);
            g_assert_cmpuint(npy.array.length, ==, cases[i].length);
            g_assert_cmpuint(npy.array.width, ==, cases[i].width);
            g_assert_cmpuint(npy.array.item.bytes, ==, cases[i].bytes);
            g_assert_cmpuint(npy.header_bytes, ==, strlen(cases[i].text) + (major == 1 ? 10 : 12));
            g_free(descr);
            dome__npy_clear(&npy);
        }
}

/* The bytes above 0x7f are Latin-1 before version 3.0 and UTF-8 from there on. */
static void test_encodings(void)
{
    dome_npy npy;
    char *message = NULL;
    g_assert_true(parse(&npy, 1, HEADER("[('\xe9', '<f8')]", "(1,)"), &message));
    g_assert_cmpstr(npy.array.item.fields[0].name, ==, "\xc3\xa9");
    dome__npy_clear(&npy);
    g_assert_true(parse(&npy, 3, HEADER("[('\xc3\xa9', '<f8')]", "(1,)"), &message));
    g_assert_cmpstr(npy.array.item.fields[0].name, ==, "\xc3\xa9");
    dome__npy_clear(&npy);
    g_assert_false(parse(&npy, 3, HEADER("[('\xe9', '<f8')]", "(1,)"), &message));
    g_free(message);
    dome__npy_clear(&npy);
}

/* Headers that are refused, with words from the message. */
static void test_refused(void)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {HEADER("'|O'", "(3,)"), "Python objects"},
        {HEADER("[('a', '<f8'), ('b', '|O')]", "(3,)"), "Python objects"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4), }\n", "Fortran order"},
        {HEADER("'<U5'", "(3,)"), "strings"},
        {HEADER("'|S5'", "(3,)"), "strings"},
        {HEADER("'<M8[ns]'", "(3,)"), "dates or times"},
        {HEADER("'<m8[s]'", "(3,)"), "dates or times"},
        {HEADER("'<f2'", "(3,)"), "no type of Dome's"},
        {HEADER("'<f16'", "(3,)"), "no type of Dome's"},
        {HEADER("'<c32'", "(3,)"), "no type of Dome's"},
        {HEADER("'|V8'", "(3,)"), "raw bytes"},
        {HEADER("[('a', '|V8')]", "(3,)"), "raw bytes"},
        {HEADER("[('', '|V8')]", "(3,)"), "without fields"},
        {HEADER("[('', '|V0')]", "(3,)"), "raw bytes"},
        {HEADER("[('', '|V99999999999')]", "(3,)"), "raw bytes"},
        {HEADER("[]", "(3,)"), "without fields"},
        {HEADER("[('', '<f8')]", "(3,)"), "without a name"},
        {HEADER("[('a', '<f8'), ('a', '<i4')]", "(3,)"), "two fields called 'a'"},
        {HEADER("[('a', '<f8', (0,))]", "(3,)"), "no values"},
        {HEADER("[('a', '<f8', (99999, 99999))]", "(3,)"), "too long"},
        {HEADER("[('a', [('b', '<f8', 65536)], 65536)]", "(3,)"), "too long"},
        {HEADER("[('a', '<f8', (4294967296, 4294967296, 4294967296))]", "(3,)"), "2^64"},
        {HEADER("'f8'", "(3,)"), "order of bytes"},
        {HEADER("'=f8'", "(3,)"), "order of bytes"},
        {HEADER("'|f8'", "(3,)"), "order of bytes"},
        {HEADER("''", "(3,)"), "means nothing"},
        {HEADER("'<'", "(3,)"), "means nothing"},
        {HEADER("'<f8x'", "(3,)"), "means nothing"},
        {HEADER("'double'", "(3,)"), "means nothing"},
        {HEADER("'<f8'", "()"), "without dimensions"},
        {HEADER("'<f8'", "(3, 0)"), "without values"},
        {HEADER("'<f8'", "(3)"), "expected"},
        {HEADER("'<f8'", "3"), "expected"},
        {HEADER("'<f8'", "(-3,)"), "not negative"},
        {HEADER("'<f8'", "(18446744073709551616,)"), "below 2^64"},
        {HEADER("'<f8'", "(1, 4294967296, 4294967296)"), "2^64"},
        {HEADER("'<f8'", "(3,,)"), "expected"},
        {HEADER("<f8", "(3,)"), "a string expected"},
        {HEADER("'<f8", "(3,)"), "means nothing"},
        {"{'descr': '<f8, }", "well-formed string"},
        {HEADER("'<f8\\q'", "(3,)"), "well-formed string"},
        {HEADER("['<f8']", "(3,)"), "'(' expected"},
        {HEADER("[('a')]", "(3,)"), "expected"},
        {HEADER("[('a', '<f8', (2,), 5)]", "(3,)"), "expected"},
        {HEADER("[('a', '<f8')", "(3,)"), "expected"},
        {HEADER("[('a', '<f8') ('b', '<f8')]", "(3,)"), "expected"},
        {"{'descr': '<f8', 'fortran_order': False, }\n", "without 'shape'"},
        {"{'shape': (3,), 'fortran_order': False, }\n", "without 'descr'"},
        {"{'shape': (3,), 'descr': '<f8', }\n", "without 'fortran_order'"},
        {"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n", "'descr' twice"},
        {"{'descr': '<f8', 'order': 'C', 'fortran_order': False, 'shape': (3,), }\n", "Dome knows nothing"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (3,), }\n", "True or False"},
        {HEADER("'<f8'", "(3,)") "x", "nothing more"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), ", "expected"},
        {"              ", "'{' expected"},
        {"[1, 2, 3]     ", "'{' expected"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        dome_npy npy;
        char *message = NULL;
        if (parse(&npy, 1, cases[i].text, &message))
            g_error("accepted: %s", cases[i].text);
        if (!strstr(message, cases[i].reason))
            g_error("%s: %s", cases[i].text, message);
        g_assert_null(strchr(message, '\n'));
        g_free(message);
        dome__npy_clear(&npy);
    }

    GString *deep = g_string_new("{'descr': ");
    for (int i = 0; i < 100000; i++)
        g_string_append(deep, "[('a', ");
    dome_npy npy;
    char *message = NULL;
    g_assert_false(parse(&npy, 2, deep->str, &message));
    g_assert_nonnull(strstr(message, "too deeply"));
    g_free(message);
    dome__npy_clear(&npy);
    g_string_free(deep, TRUE);
}

/* Every truncated header is refused, and so is a file that does not begin like a .npy file. */
static void test_truncated(void)
{
    GByteArray *bytes = begin(2, HEADER("[('a', '<f8'), ('b', '|i1', (3, 2))]", "(4, 5)"));
    for (guint n = 0; n < bytes->len; n++) {
        dome_npy npy;
        char *message = NULL;
        uint8_t *exact = g_memdup2(bytes->data, n); /* so that a read past the end is detected */
        g_assert_false(dome__npy_parse(&npy, exact, n, &message));
        g_assert_nonnull(message);
        if (n >= 6)
            g_assert_nonnull(strstr(message, "truncated"));
        g_free(message);
        g_free(exact);
        dome__npy_clear(&npy);
    }
    char *message = NULL;
    uint64_t length;
    static const uint8_t others[][12] = {"PK\3\4........",
                                         {0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0},
                                         {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 1},
                                         {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff},
                                         {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_assert_false(dome__npy_start(others[i], sizeof others[i], &length, &message));
        g_clear_pointer(&message, g_free);
    }
    g_byte_array_free(bytes, TRUE);
}

static void test_sizes(void)
{
    dome_npy npy;
    char *message = NULL;
    uint64_t bytes;
    g_assert_true(parse(&npy, 1, HEADER("'<f8'", "(10, 3)"), &message));
    g_assert_true(dome__npy_file_bytes(&npy, &bytes));
    g_assert_cmpuint(bytes, ==, npy.header_bytes + 240);
    g_assert_true(dome__npy_check_size(&npy, bytes, &message));
    g_assert_false(dome__npy_check_size(&npy, bytes - 1, &message));
    g_assert_nonnull(strstr(message, "truncated"));
    g_clear_pointer(&message, g_free);
    g_assert_false(dome__npy_check_size(&npy, bytes + 1, &message));
    g_assert_nonnull(strstr(message, "1 more"));
    g_clear_pointer(&message, g_free);
    npy.array.length = UINT64_MAX / 8;
    g_assert_false(dome__npy_file_bytes(&npy, &bytes));
    g_assert_false(dome__npy_check_size(&npy, 1000, &message));
    g_free(message);
    dome__npy_clear(&npy);
}

typedef struct part {
    int16_t code;
    double weight;
} part;

typedef struct record {
    uint8_t tag;
    part parts[2];
    float _Complex z;
} record;

static dome_field part_fields[] = {{"code", &dome__basic_types[DOME_KIND_I16], offsetof(part, code), 1},
                                   {"weight", &dome__basic_types[DOME_KIND_F64], offsetof(part, weight), 1}};
static const struct dome_type_desc part_type = {
    .name = "part", .kind = DOME_KIND_STRUCT, .size = sizeof(part), .portable = 10, .nfields = 2, .fields = part_fields};
static dome_field record_fields[] = {{"tag", &dome__basic_types[DOME_KIND_U8], offsetof(record, tag), 1},
                                     {"parts", &part_type, offsetof(record, parts), 2},
                                     {"z", &dome__basic_types[DOME_KIND_C64], offsetof(record, z), 1}};
static const struct dome_type_desc record_type = {
    .name = "record", .kind = DOME_KIND_STRUCT, .size = sizeof(record), .portable = 29, .nfields = 3, .fields = record_fields};

/* The exact bytes that numpy.save of NumPy 1.24 writes before the data of such arrays. */
static void test_header_golden(void)
{
    const struct {
        dome_type type;
        int ndim;
        uint64_t shape[DOME_MAX_DIMENSIONS], width, bytes;
        const char *text;
    } cases[] = {
        {DOME_F64, 1, {10}, 1, 128, "{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }"},
        {DOME_U8, 1, {0}, 1, 128, "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }"},
        {DOME_C128, 2, {1000000, 3}, 3, 128, "{'descr': '<c16', 'fortran_order': False, 'shape': (1000000, 3), }"},
        {DOME_F32, 3, {2, 3, 4}, 4, 128, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }"},
        {&record_type,
         1,
         {4},
         1,
         192,
         "{'descr': [('tag', '|u1'), ('parts', [('code', '<i2'), ('weight', '<f8')], (2,)), ('z', '<c8')], "
         "'fortran_order': False, 'shape': (4,), }"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        dome_npy npy, back;
        dome__file_array_describe(&npy.array, cases[i].type, cases[i].ndim, cases[i].shape, cases[i].width);
        char *header = dome__npy_header(&npy), *message = NULL;
        g_assert_cmpuint(npy.header_bytes, ==, cases[i].bytes);
        char *expected = g_strdup_printf("%-*s\n", (int)npy.header_bytes - 11, cases[i].text);
        const uint8_t start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(cases[i].bytes - 10), 0};
        g_assert_cmpmem(header, 10, start, 10);
        g_assert_cmpmem(header + 10, npy.header_bytes - 10, expected, strlen(expected));

        g_assert_true(dome__npy_parse(&back, header, npy.header_bytes, &message));
        g_assert_true(dome__item_fits(&back.array.item, cases[i].type));
        g_assert_cmpint(back.array.ndim, ==, cases[i].ndim);
        g_assert_cmpmem(back.array.shape, sizeof back.array.shape, cases[i].shape, sizeof cases[i].shape);
        g_assert_true(dome__file_array_split(&back.array, cases[i].width));
        g_assert_cmpuint(back.array.length, ==, npy.array.length);
        dome__npy_clear(&back);
        dome__npy_clear(&npy);
        g_free(expected);
        g_free(header);
    }
}

/* A header too long for version 1.0. */
static void test_header_long(void)
{
    enum { FIELDS = 4000 };
    dome_field *fields = g_new0(dome_field, FIELDS);
    for (size_t i = 0; i < FIELDS; i++)
        fields[i] = (dome_field){g_strdup_printf("field number %zu", i), DOME_F64, 8 * i, 1};
    const struct dome_type_desc type = {.name = "wide",
                                        .kind = DOME_KIND_STRUCT,
                                        .size = 8 * FIELDS,
                                        .portable = 8 * FIELDS,
                                        .nfields = FIELDS,
                                        .fields = fields};
    dome_npy npy, back;
    char *message = NULL;
    dome__file_array_describe(&npy.array, &type, 1, (uint64_t[]){3}, 1);
    char *header = dome__npy_header(&npy);
    g_assert_cmpint(header[6], ==, 2);
    g_assert_cmpuint(npy.header_bytes % 64, ==, 0);
    g_assert_true(dome__npy_parse(&back, header, npy.header_bytes, &message));
    g_assert_true(dome__item_fits(&back.array.item, &type));
    dome__npy_clear(&back);
    dome__npy_clear(&npy);
    g_free(header);
    for (size_t i = 0; i < FIELDS; i++)
        g_free((char *)fields[i].name);
    g_free(fields);
}

static void test_elements(void)
{
    static const uint8_t little[29] = {7, 0xfe, 0xff, 0, 0, 0, 0, 0, 0,    0xf8, 0x3f, 3, 0, 0,   0,
                                       0, 0,    0,    0, 0, 0, 0, 0, 0x80, 0x3f, 0,    0, 0, 0xc0};
    record r, back;
    memset(&r, 0, sizeof r);
    memset(&back, 0, sizeof back);
    r.tag = 7;
    r.parts[0] = (part){-2, 1.5};
    r.parts[1] = (part){3, 0};
    memcpy(&r.z, (float[]){1, -2}, sizeof r.z);
    dome_npy npy;
    uint8_t bytes[29];
    dome__file_array_describe(&npy.array, &record_type, 1, (uint64_t[]){1}, 1);
    g_assert_cmpuint(npy.array.item.bytes, ==, 29);
    g_assert_false(dome__item_is_native(&npy.array.item, &record_type));
    dome__item_pack(&npy.array.item, &record_type, bytes, &r, 1);
    g_assert_cmpmem(bytes, sizeof bytes, little, sizeof little);
    dome__item_unpack(&npy.array.item, &record_type, &back, bytes, 1);
    g_assert_cmpmem(&back.parts[0].weight, 8, &r.parts[0].weight, 8);
    g_assert_cmpint(back.parts[0].code, ==, -2);
    g_assert_cmpint(back.parts[1].code, ==, 3);
    g_assert_cmpmem(&back.z, sizeof back.z, &r.z, sizeof r.z);
    dome__npy_clear(&npy);

    static const uint8_t big[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe};
    int32_t values[2];
    char *message = NULL;
    g_assert_true(parse(&npy, 1, HEADER("'>i4'", "(2,)"), &message));
    g_assert_true(dome__item_fits(&npy.array.item, DOME_I32));
    g_assert_false(dome__item_fits(&npy.array.item, DOME_U32));
    g_assert_false(dome__item_fits(&npy.array.item, &part_type));
    dome__item_unpack(&npy.array.item, DOME_I32, values, big, 2);
    g_assert_cmpint(values[0], ==, 1);
    g_assert_cmpint(values[1], ==, -2);
    dome__item_pack(&npy.array.item, DOME_I32, bytes, values, 2);
    g_assert_cmpmem(bytes, 8, big, 8);
    dome__npy_clear(&npy);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/npy/accepted", test_accepted);
    g_test_add_func("/npy/encodings", test_encodings);
    g_test_add_func("/npy/refused", test_refused);
    g_test_add_func("/npy/truncated", test_truncated);
    g_test_add_func("/npy/sizes", test_sizes);
    g_test_add_func("/npy/header/golden", test_header_golden);
    g_test_add_func("/npy/header/long", test_header_long);
    g_test_add_func("/npy/elements", test_elements);
    return g_test_run();
}
