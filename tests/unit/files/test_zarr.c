/* Zarr metadata, and chunks as memory. */
#include "files/zarr.h"

#include "core/type_private.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#ifdef DOME_WITH_BLOSC
#include <blosc.h>
#endif
#ifdef DOME_WITH_LZ4
#include <lz4.h>
#endif
#ifdef DOME_WITH_ZLIB
#include <zlib.h>
#endif

#include "draw.h"

/* What a case of version 2 or 3 changes: `text` replaces the member of the same name, or is added. */
static char *metadata(int version, const char *text)
{
    static const char *const members[][9] = {
        {"\"zarr_format\": 2", "\"shape\": [10, 6]", "\"chunks\": [4, 6]", "\"dtype\": \"<f8\"", "\"compressor\": null",
         "\"fill_value\": 0", "\"order\": \"C\"", "\"filters\": null", NULL},
        {"\"zarr_format\": 3", "\"node_type\": \"array\"", "\"shape\": [10, 6]", "\"data_type\": \"float64\"",
         "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4, 6]}}",
         "\"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \"/\"}}", "\"fill_value\": 0",
         "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]", NULL}};
    GString *s = g_string_new("{");
    size_t key = strcspn(text, ":");
    for (int i = 0; members[version - 2][i]; i++)
        if (!key || strncmp(members[version - 2][i], text, key + 1) != 0)
            g_string_append_printf(s, "%s,", members[version - 2][i]);
    g_string_append(s, key ? text : "\"attributes\": {}");
    g_string_append_c(s, '}');
    return g_string_free(s, FALSE);
}

static bool parse(dome_zarr *z, int version, const char *text, char **message)
{
    char *exact = g_memdup2(text, strlen(text)); /* so that a read past the end is detected */
    bool good = dome__zarr_parse(z, version, exact, strlen(text), message);
    g_free(exact);
    return good;
}

typedef struct accepted {
    int version;
    const char *text; /* what differs */
    uint64_t bytes;   /* of an item */
    const char *name; /* of the chunk (2, 0) */
    const char *fill; /* in hexadecimal digits, as in a chunk; NULL: zeros */
} accepted;

/* Valid metadata and what they mean; and what is written means the same when it is read. */
static void test_accepted(void)
{
    static const accepted cases[] = {
        {2, "", 8, "2.0", NULL},
        {3, "", 8, "c/2/0", NULL},
        {2, "\"dimension_separator\": \"/\"", 8, "2/0", NULL},
        {2, "\"dtype\": \">i4\"", 4, "2.0", NULL},
        {2, "\"dtype\": \"|b1\", \"fill_value\": true", 1, "2.0", "01"},
        {2, "\"dtype\": \"<c16\", \"fill_value\": [1.0, \"-Infinity\"]", 16, "2.0", "000000000000f03f000000000000f0ff"},
        {2, "\"dtype\": [[\"a\", \"<f8\"], [\"b\", \"|i1\", [3]], [\"c\", [[\"x\", \">i2\"]], [2, 2]]]", 19, "2.0", NULL},
        {2, "\"dtype\": [[\"a\", \"<i2\"], [\"b\", \"|u1\"]], \"fill_value\": \"AQIE\"", 3, "2.0", "010204"},
        {2, "\"dtype\": [[\"a\", \"<i2\"], [\"\", \"|V2\"], [\"b\", \"|u1\"]]", 5, "2.0", NULL},
        {2, "\"fill_value\": null", 8, "2.0", NULL},
        {2, "\"fill_value\": \"NaN\"", 8, "2.0", "000000000000f87f"},
        {2, "\"fill_value\": -1.5", 8, "2.0", "000000000000f8bf"},
        {2, "\"dtype\": \">i2\", \"fill_value\": -2", 2, "2.0", "fffe"},
        {2, "\"filters\": []", 8, "2.0", NULL},
        {2, "\"compressor\": {\"id\": \"zlib\", \"level\": 1}", 8, "2.0", NULL},
        {2, "\"compressor\": {\"id\": \"gzip\", \"level\": 1}", 8, "2.0", NULL},
        {2, "\"compressor\": {\"id\": \"zstd\", \"level\": 1}", 8, "2.0", NULL},
        {2, "\"something\": {\"else\": 1}", 8, "2.0", NULL},
        {3, "\"chunk_key_encoding\": {\"name\": \"default\"}", 8, "c/2/0", NULL},
        {3, "\"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}", 8, "c.2.0", NULL},
        {3, "\"chunk_key_encoding\": {\"name\": \"v2\"}", 8, "2.0", NULL},
        {3, "\"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": \"/\"}}", 8, "2/0", NULL},
        {3, "\"data_type\": \"complex64\", \"fill_value\": [0, 1]", 8, "c/2/0", "000000000000803f"},
        {3, "\"data_type\": \"uint64\", \"fill_value\": 258", 8, "c/2/0", "0201000000000000"},
        {3, "\"fill_value\": \"0x7ff8000000000001\"", 8, "c/2/0", "010000000000f87f"},
        {3, "\"data_type\": \"float32\", \"fill_value\": \"0x3fc00000\"", 4, "c/2/0", "0000c03f"},
        {3, "\"data_type\": \"bool\", \"fill_value\": false, \"codecs\": [\"bytes\"]", 1, "c/2/0", NULL},
        {3, "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}, \"crc32c\"], \"fill_value\": 1.0", 8,
         "c/2/0", "3ff0000000000000"},
        {3,
         "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"gzip\", "
         "\"configuration\": {\"level\": 5}}, {\"name\": \"zstd\", \"configuration\": {\"level\": 1, \"checksum\": true}}]",
         8, "c/2/0", NULL},
        {2, "\"compressor\": {\"id\": \"lz4\", \"acceleration\": 1}", 8, "2.0", NULL},
        {2, "\"compressor\": {\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, \"shuffle\": 1, \"blocksize\": 0}", 8, "2.0",
         NULL},
        {3, "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"blosc\"}]", 8, "c/2/0",
         NULL},
        {2, "\"dtype\": \"<u8\", \"fill_value\": 9223372036854775807", 8, "2.0", "ffffffffffffff7f"},
        {2, "\"dtype\": \"<u8\", \"fill_value\": 9223372036854775808", 8, "2.0", "0000000000000080"},
        {2, "\"dtype\": \">u8\", \"fill_value\": 18446744073709551614", 8, "2.0", "fffffffffffffffe"},
        {2, "\"dtype\": \"<i8\", \"fill_value\": -9223372036854775808", 8, "2.0", "0000000000000080"},
        {2, "\"fill_value\": 18446744073709551616", 8, "2.0", "000000000000f043"},
        {2, "\"fill_value\": NaN", 8, "2.0", "000000000000f87f"},
        {2, "\"fill_value\": -Infinity", 8, "2.0", "000000000000f0ff"},
        {3, "\"attributes\": {\"id\": 18446744073709551615, \"x\": [NaN, 1e999], \"s\": \"\\ud800 }]\", \"t\": \"\\u0000\\\"\"}",
         8, "c/2/0", NULL},
        {3, "\"attributes\": \"a\\\\\" , \"fill_value\": 1.0", 8, "c/2/0", "000000000000f03f"},
        {3, "\"attributes\" : 18446744073709551615", 8, "c/2/0", NULL},
        {3, "\"storage_transformers\": [], \"dimension_names\": [\"a\", null], \"mine\": {\"must_understand\": false}", 8,
         "c/2/0", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const accepted *c = &cases[i];
        char *text = metadata(c->version, c->text), *message = NULL;
        dome_zarr z, again;
        if (!parse(&z, c->version, text, &message))
            g_error("%s: %s", text, message);
        g_assert_cmpint(z.array.ndim, ==, 2);
        g_assert_cmpuint(z.array.length, ==, 10);
        g_assert_cmpuint(z.array.width, ==, 6);
        g_assert_cmpuint(z.chunk_values, ==, 24);
        g_assert_cmpuint(z.array.item.bytes, ==, c->bytes);
        g_assert_cmpuint(z.chunk_bytes, ==, 24 * c->bytes);
        char *name = dome__zarr_chunk_name(&z, (uint64_t[]){2, 0});
        g_assert_cmpstr(name, ==, c->name);
        g_free(name);
        g_assert_true((z.fill != NULL) == (c->fill != NULL));
        for (size_t b = 0; c->fill && b < c->bytes; b++)
            g_assert_cmpuint(((uint8_t *)z.fill)[b], ==,
                             (guint)(g_ascii_xdigit_value(c->fill[2 * b]) * 16 + g_ascii_xdigit_value(c->fill[2 * b + 1])));

        char *written = dome__zarr_metadata(&z, &message);
        if (!written || !parse(&again, c->version, written, &message))
            g_error("%s, written as %s: %s", text, written, message);
        g_assert_cmpint(again.ncodecs, ==, z.ncodecs);
        g_assert_cmpmem(again.codecs, sizeof z.codecs, z.codecs, sizeof z.codecs);
        g_assert_cmpmem(again.chunk, sizeof z.chunk, z.chunk, sizeof z.chunk);
        g_assert_cmpint(again.separator, ==, z.separator);
        g_assert_true(again.prefixed == z.prefixed && again.array.item.big_endian == z.array.item.big_endian);
        if (c->fill && !strstr(c->text, "0x7ff8")) /* a NaN's other bits are not written */
            g_assert_cmpmem(again.fill, c->bytes, z.fill, c->bytes);
        dome__zarr_clear(&z);
        dome__zarr_clear(&again);
        g_free(text);
        g_free(written);
    }
}

/* Metadata that are refused, with words from the message. */
static void test_refused(void)
{
    static const struct {
        int version;
        const char *text, *reason;
    } cases[] = {
        {2, "\"zarr_format\": 3", "not 2"},
        {3, "\"zarr_format\": 2", "not 3"},
        {2, "\"zarr_format\": \"2\"", "no zarr_format"},
        {2, "\"order\": \"F\"", "Fortran order"},
        {2, "\"order\": 1", "order is 'C'"},
        {2, "\"dtype\": \"|O\"", "Python objects"},
        {2, "\"dtype\": \"<f2\"", "no type of Dome's"},
        {2, "\"dtype\": \"f8\"", "order of bytes"},
        {2, "\"dtype\": 3", "dtype"},
        {2, "\"dtype\": []", "without fields"},
        {2, "\"dtype\": [[\"a\"]]", "not a field"},
        {2, "\"dtype\": [[\"a\", \"<f8\"], [\"a\", \"<i4\"]]", "two fields called 'a'"},
        {2, "\"dtype\": [[\"a\", \"|V8\"]]", "raw bytes"},
        {2, "\"dtype\": [[\"\", \"<f8\"]]", "without a name"},
        {2, "\"dtype\": [[\"a\", \"<f8\", [99999, 99999]]]", "too long"},
        {2, "\"dtype\": \"|V8\"", "raw bytes"},
        {2, "\"compressor\": {\"id\": \"bz2\"}", "compressed by 'bz2'"},
        {2, "\"compressor\": {\"id\": \"crc32c\"}", "compressed by 'crc32c'"},
        {2, "\"compressor\": {}", "without an id"},
        {2, "\"compressor\": 5", "without an id"},
        {2, "\"filters\": [{\"id\": \"delta\", \"dtype\": \"<f8\"}]", "filter 'delta'"},
        {2, "\"filters\": 5", "no list"},
        {2, "\"shape\": []", "without dimensions"},
        {2, "\"shape\": [10]", "dimensions"},
        {2, "\"shape\": [10, -1]", "not a length"},
        {2, "\"shape\": [10, 1.5]", "not a length"},
        {2, "\"shape\": [10, 0]", "without values"},
        {2, "\"shape\": 5", "does not say its shape"},
        {2, "\"shape\": [9223372036854775807, 6]", "no machine"},
        {2, "\"shape\": [10, 9223372036854775808]", "not a length"},
        {2, "\"shape\": [1, 2, 3, 4, 5, 6, 7, 8, 9]", "9 dimensions"},
        {2, "\"chunks\": [4, 0]", "not a length"},
        {2, "\"chunks\": [9223372036854775807, 9223372036854775807]", "no machine"},
#if SIZE_MAX == UINT32_MAX
        {2, "\"chunks\": [4, 134217729]", "no machine"},
#endif
        {2, "\"dimension_separator\": \"_\"", "separates"},
        {2, "\"fill_value\": \"no\"", "fill_value"},
        {2, "\"dtype\": \"<u8\", \"fill_value\": 18446744073709551616", "fill_value"},
        {2, "\"dtype\": \"<u8\", \"fill_value\": -9223372036854775809", "fill_value"},
        {2, "\"dtype\": \"<i8\", \"fill_value\": 9223372036854775808", "fill_value"},
        {2, "\"dtype\": \"<u8\", \"fill_value\": 99999999999999999999e", "not JSON"},
        {2, "\"fill_value\": 1e999", "not JSON"},
        {3, "\"attributes\": {\"id\": 1", "not JSON"},
        {3, "\"attributes\": {\"id\": 1}}, 5", "not JSON"},
        {3, "\"codecs\": [], \"a\\\"b\": 18446744073709551615", "'a\"b'"},
        {2, "\"fill_value\": [1, 2]", "fill_value"},
        {2, "\"dtype\": \"|i1\", \"fill_value\": 128", "fill_value"},
        {2, "\"dtype\": \"<u2\", \"fill_value\": -1", "fill_value"},
        {2, "\"dtype\": \"<u2\", \"fill_value\": 1.5", "fill_value"},
        {2, "\"dtype\": \"<c8\", \"fill_value\": [1]", "fill_value"},
        {2, "\"dtype\": [[\"a\", \"<i2\"], [\"b\", \"|u1\"]], \"fill_value\": \"AQID\\n\"", "fill_value"},
        {2, "\"dtype\": [[\"a\", \"<i2\"], [\"b\", \"|u1\"]], \"fill_value\": \"AQI=\"", "fill_value"},
        {3, "\"node_type\": \"group\"", "Zarr group"},
        {3, "\"node_type\": 3", "not the metadata of an array"},
        {3, "\"data_type\": \"float16\"", "'float16'"},
        {3, "\"data_type\": {\"name\": \"structured\", \"configuration\": {}}", "'structured'"},
        {3, "\"data_type\": \"r16\"", "'r16'"},
        {3, "\"chunk_grid\": {\"name\": \"rectilinear\"}", "'rectilinear'"},
        {3, "\"chunk_grid\": {\"name\": \"regular\"}", "shape of chunks"},
        {3, "\"chunk_key_encoding\": {\"name\": \"suffix\"}", "'suffix'"},
        {3, "\"chunk_key_encoding\": {\"name\": \"v2\", \"configuration\": {\"separator\": \"\"}}", "separates"},
        {3, "\"codecs\": []", "no codec 'bytes'"},
        {3, "\"codecs\": [{\"name\": \"bytes\"}]", "order of bytes"},
        {3, "\"codecs\": [{\"name\": \"sharding_indexed\", \"configuration\": {}}]", "'sharding_indexed'"},
        {3, "\"codecs\": [{\"name\": \"transpose\"}, {\"name\": \"bytes\"}]", "'transpose'"},
        {3, "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}, {\"name\": \"lz4\"}]", "'lz4'"},
        {3, "\"codecs\": [\"gzip\", \"bytes\"]", "first is not 'bytes'"},
        {3,
         "\"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"big\"}}, \"gzip\", \"gzip\", \"gzip\", \"gzip\", "
         "\"gzip\"]",
         "more than 4"},
        {3, "\"storage_transformers\": [{\"name\": \"x\"}]", "storage_transformers"},
        {3, "\"mine\": {\"must_understand\": true}", "'mine'"},
        {3, "\"mine\\nand\": 5", "'mine?and'"},
        {3, "\"fill_value\": \"0x7ff\"", "fill_value"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *text = metadata(cases[i].version, cases[i].text), *message = NULL;
        dome_zarr z;
        if (parse(&z, cases[i].version, text, &message))
            g_error("accepted: %s", text);
        if (!strstr(message, cases[i].reason))
            g_error("%s: %s", text, message);
        g_assert_null(strchr(message, '\n'));
        g_free(message);
        g_free(text);
        dome__zarr_clear(&z);
    }

    /* Every truncated text, texts that are no JSON, and JSON that is no object. */
    static const char *const others[] = {
        "", "[]", "{}", "3", "null", "\x89PNG", "{\"zarr_format\": 2}", "{\"zarr_format\": NaN}"};
    dome_zarr z;
    char *message = NULL, *good = metadata(2, "");
    for (size_t n = 0; n < strlen(good); n++) {
        char *text = g_strndup(good, n);
        g_assert_false(parse(&z, 2, text, &message));
        g_assert_nonnull(strstr(message, "not JSON"));
        g_clear_pointer(&message, g_free);
        g_free(text);
        dome__zarr_clear(&z);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_assert_false(parse(&z, 2, others[i], &message));
        g_assert_nonnull(message);
        g_clear_pointer(&message, g_free);
        dome__zarr_clear(&z);
    }
    GString *deep = g_string_new("{\"dtype\": ");
    for (int i = 0; i < 100000; i++)
        g_string_append(deep, "[[\"a\", ");
    g_assert_false(parse(&z, 2, deep->str, &message));
    g_assert_null(strchr(message, '\n'));
    g_free(message);
    g_string_free(deep, TRUE);
    g_free(good);
}

/* ---- boxes ---- */

static dome_zarr make(int ndim, const uint64_t shape[], const uint64_t chunk[])
{
    dome_zarr z = {.version = 2, .separator = '.'};
    z.array.item = (dome_file_item){.kind = DOME_KIND_I32, .bytes = 4, .count = 1, .big_endian = true};
    z.chunk_values = 1;
    for (int d = 0; d < ndim; d++) {
        g_assert_true(dome__file_array_add(&z.array, shape[d]));
        z.chunk[d] = chunk[d];
        z.chunk_values *= chunk[d];
    }
    z.chunk_bytes = 4 * z.chunk_values;
    return z;
}

/* For any shapes, the chunks that a walk finds for a part of the array contain all its values, each once and at its place, and
 * none of them has no value of it. */
static void test_walks(void)
{
    draw_state = 4;
    for (int round = 0; round < 3000; round++) {
        int ndim = 1 + (int)draw(4);
        uint64_t shape[4], chunk[4], total = 1;
        for (int d = 0; d < ndim; d++) {
            shape[d] = 1 + draw(7);
            chunk[d] = 1 + draw(shape[d] + 2);
            total *= shape[d];
        }
        dome_zarr z = make(ndim, shape, chunk);
        uint64_t first = draw(total + 1), end = first + draw(total - first + 1), found = 0, last = 0;
        int32_t *data = g_new0(int32_t, total + 1), *values = g_new0(int32_t, z.chunk_values);
        dome_zarr_walk walk;
        uint64_t chunks = 0;
        for (bool more = dome__zarr_first_chunk(&z, &walk, first, end); more; more = dome__zarr_next_chunk(&z, &walk)) {
            /* A chunk whose values are their numbers in the array, and one. */
            for (uint64_t i = 0; i < z.chunk_values; i++) {
                uint64_t at = i, value = 0, place[4];
                bool inside = true;
                for (int d = ndim - 1; d >= 0; d--) {
                    place[d] = walk.index[d] * chunk[d] + at % chunk[d];
                    at /= chunk[d];
                    inside = inside && place[d] < shape[d];
                }
                for (int d = 0; d < ndim; d++)
                    value = value * shape[d] + place[d];
                values[i] = GINT32_TO_BE(inside ? (int32_t)value + 1 : -1);
                if (inside) {
                    uint64_t index[DOME_MAX_DIMENSIONS];
                    dome__zarr_chunk_at(&z, value, index);
                    g_assert_cmpmem(index, (size_t)ndim * sizeof *index, walk.index, (size_t)ndim * sizeof *index);
                }
            }
            uint64_t number = 0, before = found;
            for (int d = 0; d < ndim; d++)
                number = number * (shape[d] + 1) + walk.index[d];
            g_assert_true(chunks++ == 0 || number > last);
            last = number;
            dome__zarr_unpack(&z, walk.index, DOME_I32, data, first, end, values);
            found = 0;
            for (uint64_t i = 0; i < end - first; i++)
                found += data[i] != 0;
            g_assert_cmpuint(found, >, before);
        }
        for (uint64_t i = 0; i < end - first; i++)
            g_assert_cmpint(data[i], ==, (int32_t)(first + i + 1));
        g_assert_cmpint(data[end - first], ==, 0);
        g_free(data);
        g_free(values);
        dome__zarr_clear(&z);
    }
}

/* What is written consists of chunks whose values lie one after the other, about as many as asked for. */
static void test_describe(void)
{
    static const struct {
        int ndim;
        uint64_t shape[4], width, elements, block, chunk[4];
    } cases[] = {
        {1, {100}, 1, 0, 4, {100}},
        {1, {100}, 1, 7, 4, {7}},
        {1, {100}, 1, 1000, 4, {100}},
        {1, {0}, 1, 0, 1, {1}},
        {1, {200000000}, 1, 0, 1024, {1048576}},
        {1, {200000000}, 1, 0, 3000, {1047000}},
        {2, {100, 3}, 3, 0, 1, {100, 3}},
        {2, {100, 3}, 3, 8, 1, {8, 3}},
        {2, {0, 3}, 3, 0, 1, {1, 3}},
        {2, {100000, 1000}, 1000, 0, 256, {1024, 1000}},
        {2, {100, 2000000}, 2000000, 0, 1, {1, 1048576}},
        {2, {100, 2000000}, 2000000, 1, 1, {1, 2000000}},
        {3, {4, 5, 6}, 1, 13, 1, {1, 2, 6}},
        {3, {4, 5, 6}, 6, 13, 1, {2, 5, 6}},
        {3, {4, 5, 6}, 6, 2, 1, {1, 2, 6}},
        {3, {4, 5, 6}, 1, 1, 1, {1, 1, 1}},
        {4, {2, 3, 4, 5}, 1, 60, 1, {1, 3, 4, 5}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        dome_zarr z;
        char *message = NULL;
        if (!dome__zarr_describe(&z, 2,
                                 &(dome_zarr_vector){DOME_F64, cases[i].ndim, cases[i].shape, cases[i].width, cases[i].block},
                                 cases[i].elements, 0, &message))
            g_error("case %zu: %s", i, message);
        for (int d = 0; d < cases[i].ndim; d++)
            g_assert_cmpuint(z.chunk[d], ==, cases[i].chunk[d]);
        dome_zarr_walk walk;
        dome_zarr_runs runs;
        uint64_t end = 0, total = z.array.length * z.array.width;
        for (bool more = dome__zarr_first_chunk(&z, &walk, 0, total); more; more = dome__zarr_next_chunk(&z, &walk)) {
            dome__zarr_begin_runs(&z, walk.index, &runs);
            g_assert_true(dome__zarr_next_run(&z, &runs));
            g_assert_cmpuint(runs.value, ==, end);
            g_assert_cmpuint(runs.at, ==, 0);
            end += runs.count;
            g_assert_false(dome__zarr_next_run(&z, &runs));
        }
        g_assert_cmpuint(end, ==, total);
        dome__zarr_clear(&z);
    }
}

static void test_fill(void)
{
    dome_zarr z = make(1, (uint64_t[]){5}, (uint64_t[]){4});
    int32_t chunk[4] = {1, 1, 1, 1}, data[5] = {0};
    dome__zarr_fill(&z, chunk, 1, 3);
    g_assert_true(chunk[0] == 1 && chunk[1] == 0 && chunk[3] == 0);
    z.fill = g_memdup2((uint8_t[]){0, 0, 1, 2}, 4);
    dome__zarr_fill(&z, chunk, 2, 2);
    g_assert_true(chunk[1] == 0 && chunk[2] == GINT32_TO_BE(258) && chunk[3] == GINT32_TO_BE(258));
    dome__zarr_unpack(&z, (uint64_t[]){1}, DOME_I32, data, 0, 5, NULL);
    g_assert_true(data[3] == 0 && data[4] == 258);
    dome__zarr_clear(&z);
}

/* ---- codecs ---- */

static bool decode(const dome_zarr *z, const void *file, uint64_t bytes, bool changed, char **message)
{
    void *chunk = g_malloc(z->chunk_bytes), *exact = g_memdup2(file, bytes);
    bool good = dome__zarr_decode(z, chunk, exact, bytes, message);
    if (good && !changed)
        for (uint64_t i = 0; i < z->chunk_values; i++)
            g_assert_cmpint(((int32_t *)chunk)[i], ==, (int32_t)(i / 7));
    g_free(chunk);
    g_free(exact);
    return good;
}

static void refused(const dome_zarr *z, const void *file, uint64_t bytes, const char *words)
{
    char *message = NULL;
    g_assert_false(decode(z, file, bytes, false, &message));
    if (!strstr(message, words))
        g_error("%s: %s", words, message);
    g_assert_null(strchr(message, '\n'));
    g_free(message);
}

/* A file and its truncations, with bits changed, followed by others, and for a smaller and a larger chunk. */
static void try_file(dome_zarr *z, const void *file, uint64_t bytes)
{
    bool no_checksum = z->codecs[0] == DOME_ZARR_LZ4 || z->codecs[0] == DOME_ZARR_BLOSC;
    char *message = NULL;
    uint8_t *changed = g_malloc(bytes + 100);
    memcpy(changed, file, bytes);
    memset(changed + bytes, 7, 100);
    if (!decode(z, file, bytes, false, &message))
        g_error("%s", message);
    for (uint64_t n = 0; n < bytes; n += 1 + n / 8)
        refused(z, file, n, "");
    for (uint64_t at = 0; at < bytes; at += 1 + at / 8) {
        changed[at] ^= 0x10;
        if (!decode(z, changed, bytes, no_checksum, &message)) /* some bits mean nothing */
            g_clear_pointer(&message, g_free);
        changed[at] ^= 0x10;
    }
    refused(z, changed, bytes + 100, "");
    g_free(changed);
    z->chunk_bytes -= 4;
    refused(z, file, bytes, "holds more than");
    z->chunk_bytes += 8;
    z->chunk_values += 1;
    refused(z, file, bytes, "is truncated: it holds");
    z->chunk_bytes -= 4;
    z->chunk_values -= 1;
}

static void test_codecs(void)
{
    enum { VALUES = 1000 };
    dome_zarr z = make(1, (uint64_t[]){VALUES}, (uint64_t[]){VALUES});
    int32_t values[VALUES];
    for (int i = 0; i < VALUES; i++)
        values[i] = i / 7;
    const uint8_t *bytes = (const uint8_t *)values;
    (void)bytes; /* without the libraries of codecs */
    z.ncodecs = 1;

    /* The check value of this CRC is 0xe3069283. */
    dome_zarr digits = make(1, (uint64_t[]){9}, (uint64_t[]){9});
    digits.array.item = (dome_file_item){.kind = DOME_KIND_U8, .bytes = 1, .count = 1};
    digits.chunk_bytes = 9;
    digits.ncodecs = 1;
    digits.codecs[0] = DOME_ZARR_CRC32C;
    uint8_t nine[9];
    char *message = NULL;
    g_assert_true(dome__zarr_decode(&digits, nine, "123456789\x83\x92\x06\xe3", 13, &message));
    g_assert_false(dome__zarr_decode(&digits, nine, "123456788\x83\x92\x06\xe3", 13, &message));
    g_assert_nonnull(strstr(message, "checksum"));
    g_clear_pointer(&message, g_free);
    refused(&digits, "123", 3, "truncated");

#ifdef DOME_WITH_ZSTD
    void *file = NULL;
    uint64_t length = 0;
    z.codecs[0] = DOME_ZARR_ZSTD;
    z.level = 3;
    g_assert_true(dome__zarr_encode(&z, values, &file, &length, &message));
    g_assert_cmpuint(length, <, sizeof values / 4);
    try_file(&z, file, length);
    g_free(file);
#endif
#ifdef DOME_WITH_LZ4
    {
        char out[LZ4_COMPRESSBOUND(sizeof values) + 4] = {sizeof values & 0xff, sizeof values >> 8};
        int length = LZ4_compress_default((const char *)bytes, out + 4, sizeof values, sizeof out - 4);
        g_assert_cmpint(length, >, 0);
        z.codecs[0] = DOME_ZARR_LZ4;
        try_file(&z, out, (uint64_t)length + 4);
    }
#endif
#ifdef DOME_WITH_BLOSC
    static const char *const inside[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
    for (size_t i = 0; i < G_N_ELEMENTS(inside); i++)
        for (int shuffle = BLOSC_NOSHUFFLE; shuffle <= BLOSC_BITSHUFFLE; shuffle++) {
            char out[sizeof values + BLOSC_MAX_OVERHEAD];
            int length = blosc_compress_ctx(5, shuffle, 4, sizeof values, bytes, out, sizeof out, inside[i], 0, 1);
            if (length < 0)
                continue; /* a library without this compressor */
            z.codecs[0] = DOME_ZARR_BLOSC;
            try_file(&z, out, (uint64_t)length);
        }
#endif
#ifdef DOME_WITH_ZLIB
    for (int gzip = 0; gzip < 2; gzip++) {
        uint8_t out[2 * sizeof values];
        z_stream s = {0};
        g_assert_cmpint(deflateInit2(&s, 6, Z_DEFLATED, gzip ? 31 : 15, 8, Z_DEFAULT_STRATEGY), ==, Z_OK);
        s.next_in = (Bytef *)(uintptr_t)bytes;
        s.avail_in = sizeof values;
        s.next_out = out;
        s.avail_out = sizeof out;
        g_assert_cmpint(deflate(&s, Z_FINISH), ==, Z_STREAM_END);
        z.codecs[0] = gzip ? DOME_ZARR_GZIP : DOME_ZARR_ZLIB;
        try_file(&z, out, s.total_out);

        /* A bomb: a thousand times as much as the chunk, of which no more than the chunk is made. */
        uint8_t *zeros = g_malloc0(1000 * sizeof values), *bomb = g_malloc(1000 * sizeof values);
        deflateReset(&s);
        s.next_in = zeros;
        s.avail_in = 1000 * sizeof values;
        s.next_out = bomb;
        s.avail_out = 1000 * sizeof values;
        g_assert_cmpint(deflate(&s, Z_FINISH), ==, Z_STREAM_END);
        refused(&z, bomb, s.total_out, "holds more than");
        deflateEnd(&s);
        g_free(zeros);
        g_free(bomb);
    }
#endif
    dome__zarr_clear(&z);
    dome__zarr_clear(&digits);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#ifdef DOME_WITH_JANSSON
    g_test_add_func("/zarr/accepted", test_accepted);
    g_test_add_func("/zarr/refused", test_refused);
#else
    (void)test_accepted, (void)test_refused;
#endif
    g_test_add_func("/zarr/walks", test_walks);
    g_test_add_func("/zarr/describe", test_describe);
    g_test_add_func("/zarr/fill", test_fill);
    g_test_add_func("/zarr/codecs", test_codecs);
    return g_test_run();
}
