/* The metadata of Zarr arrays: JSON, read and written by libjansson. */
#include "files/zarr_private.h"

#include "core/type_private.h"
#include "files/npy.h"
#include "system/unconst.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef DOME_WITH_JANSSON
#include <jansson.h>
#endif

const char *dome__zarr_metadata_name(int version)
{
    return version == 2 ? ".zarray" : "zarr.json";
}

#ifdef DOME_WITH_JANSSON

enum { DEPTH = 16 };

static const uint64_t ITEM_LIMIT = 1 << 30;

/* Text from the file in a message: printable and not too long. */
static char *quoted(const char *text)
{
    GString *s = g_string_new("'");
    for (size_t i = 0; text[i] && i < 40; i++)
        g_string_append_c(s, g_ascii_isprint(text[i]) ? text[i] : '?');
    g_string_append(s, strlen(text) > 40 ? "...'" : "'");
    return g_string_free(s, FALSE);
}

/* format has one %s, for a text from the file. */
static bool refuse_text(char **message, const char *format, const char *text) __attribute__((format(printf, 2, 0)));

static bool refuse_text(char **message, const char *format, const char *text)
{
    char *shown = quoted(text);
    if (!*message)
        *message = g_strdup_printf(format, shown);
    g_free(shown);
    return false;
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && !strcmp(json_string_value(value), text);
}

/* A list of lengths, at most `most`. */
static bool lengths(const json_t *value, const char *what, uint64_t least, uint64_t list[], int *count, char **message)
{
    if (!json_is_array(value))
        return dome__zarr_refuse(message, "does not say its %s", what);
    if (json_array_size(value) > DOME_MAX_DIMENSIONS)
        return dome__zarr_refuse(message, "has %zu dimensions, and Dome's vectors at most %d", json_array_size(value),
                                 DOME_MAX_DIMENSIONS);
    *count = (int)json_array_size(value);
    for (int d = 0; d < *count; d++) {
        const json_t *one = json_array_get(value, (size_t)d);
        if (!json_is_integer(one) || json_integer_value(one) < 0 || (uint64_t)json_integer_value(one) < least)
            return dome__zarr_refuse(message, "has a %s with something that is not a length", what);
        list[d] = (uint64_t)json_integer_value(one);
    }
    return true;
}

static bool shapes(dome_zarr *zarr, const json_t *shape, const json_t *chunk, char **message)
{
    uint64_t list[DOME_MAX_DIMENSIONS];
    int ndim, chunk_ndim;
    if (!lengths(shape, "shape", 0, list, &ndim, message) ||
        !lengths(chunk, "shape of chunks", 1, zarr->chunk, &chunk_ndim, message))
        return false;
    if (ndim == 0)
        return dome__zarr_refuse(message, "holds a single value without dimensions, not a vector");
    if (ndim != chunk_ndim)
        return dome__zarr_refuse(message, "has %d dimensions, and its chunks have %d", ndim, chunk_ndim);
    for (int d = 0; d < ndim; d++)
        if (!dome__file_array_add(&zarr->array, list[d]))
            return dome__zarr_refuse(message, "has a shape of more than 2^64 values");
    if (zarr->array.width == 0)
        return dome__zarr_refuse(message, "has elements without values");
    return true;
}

/* ---- dtypes of version 2: NumPy's ---- */

static bool dtype(const json_t *value, dome_file_item *item, bool *padding, int depth, char **message);

/* [name, dtype] or [name, dtype, shape]. */
static bool field(const json_t *value, dome_file_item *item, bool *padding, int depth, char **message)
{
    uint64_t shape[DOME_MAX_DIMENSIONS];
    int ndim = 0;
    size_t parts = json_array_size(value);
    if (!json_is_array(value) || parts < 2 || parts > 3 || !json_is_string(json_array_get(value, 0)))
        return dome__zarr_refuse(message, "has a dtype with something that is not a field");
    item->name = g_strdup(json_string_value(json_array_get(value, 0)));
    if (!dtype(json_array_get(value, 1), item, padding, depth, message))
        return false;
    const json_t *last = json_array_get(value, 2);
    item->count = 1;
    if (json_is_integer(last) && json_integer_value(last) > 0) {
        shape[ndim++] = (uint64_t)json_integer_value(last);
    } else if (last && !lengths(last, "shape of a field", 1, shape, &ndim, message)) {
        return false;
    }
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(item->count, shape[d], &item->count) || item->count > ITEM_LIMIT)
            return dome__zarr_refuse(message, "has elements that are too long");
    return true;
}

/* A list of fields. Padding appears in it as fields without a name. */
static bool structure(const json_t *value, dome_file_item *item, int depth, char **message)
{
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = depth < DEPTH || dome__zarr_refuse(message, "has structures nested too deeply");
    item->kind = DOME_KIND_STRUCT;
    item->fields = g_new0(dome_file_item, json_array_size(value));
    for (size_t i = 0; good && i < json_array_size(value); i++) {
        dome_file_item one = {0};
        bool padding = false;
        good = field(json_array_get(value, i), &one, &padding, depth + 1, message);
        if (good && padding != !*one.name)
            good = refuse_text(message, padding ? "holds raw bytes without a type in field %s" : "has a field without a name%.0s",
                               one.name);
        if (good && !padding && !g_hash_table_add(names, one.name))
            good = refuse_text(message, "has two fields called %s", one.name);
        one.offset = item->bytes;
        if (good) {
            item->bytes += one.count * one.bytes; /* both at most ITEM_LIMIT */
            good = item->bytes <= ITEM_LIMIT || dome__zarr_refuse(message, "has elements that are too long");
        }
        if (good && !padding)
            item->fields[item->nfields++] = one;
        else
            dome__item_clear(&one);
    }
    g_hash_table_destroy(names);
    return good && (item->nfields > 0 || dome__zarr_refuse(message, "has elements without fields"));
}

static bool dtype(const json_t *value, dome_file_item *item, bool *padding, int depth, char **message)
{
    *padding = false;
    if (json_is_array(value))
        return structure(value, item, depth, message);
    if (!json_is_string(value))
        return dome__zarr_refuse(message, "does not say its dtype");
    return dome__npy_basic(json_string_value(value), item, padding, message);
}

/* ---- data types of version 3 ---- */

static const struct {
    const char *name;
    dome_type_kind kind;
} data_types[] = {
    {"int8", DOME_KIND_I8},     {"int16", DOME_KIND_I16},   {"int32", DOME_KIND_I32},     {"int64", DOME_KIND_I64},
    {"uint8", DOME_KIND_U8},    {"uint16", DOME_KIND_U16},  {"uint32", DOME_KIND_U32},    {"uint64", DOME_KIND_U64},
    {"float32", DOME_KIND_F32}, {"float64", DOME_KIND_F64}, {"complex64", DOME_KIND_C64}, {"complex128", DOME_KIND_C128},
    {"bool", DOME_KIND_U8},
};

/* The name of an extension point of version 3: a text, or an object with "name". *configuration: NULL, or an object. */
static const char *named(const json_t *value, const json_t **configuration)
{
    *configuration = json_object_get(value, "configuration");
    if (json_is_object(value))
        value = json_object_get(value, "name");
    return json_string_value(value);
}

static bool data_type(const json_t *value, dome_file_item *item, char **message)
{
    const json_t *configuration;
    const char *name = named(value, &configuration);
    if (!name)
        return dome__zarr_refuse(message, "does not say its data_type");
    for (size_t i = 0; i < G_N_ELEMENTS(data_types); i++)
        if (!strcmp(name, data_types[i].name)) {
            item->kind = data_types[i].kind;
            item->bytes = dome_type_size(dome_type_basic(item->kind));
            return true;
        }
    return refuse_text(message, "has data_type %s, which no type of Dome's can hold", name);
}

/* ---- fill values ---- */

/* An integer that is too long for JSON's library stands as its digits: dome__zarr_plain_json. */
static bool long_digits(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) >= 19 && text[strspn(text, "-0123456789")] == 0;
}

/* A number; a text for those that JSON has not; or the bits as a hexadecimal number. */
static bool real(const json_t *value, bool single, double *result)
{
    static const struct {
        const char *text;
        double value;
    } special[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const char *text = json_string_value(value);
    *result = json_number_value(value);
    if (!text)
        return json_is_number(value);
    for (size_t i = 0; i < G_N_ELEMENTS(special); i++)
        if (!strcmp(text, special[i].text)) {
            *result = special[i].value;
            return true;
        }
    char *end;
    if (long_digits(value)) {
        *result = g_ascii_strtod(text, &end);
        return !*end;
    }
    size_t digits = single ? 8 : 16;
    if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + digits)
        return false;
    uint64_t bits = g_ascii_strtoull(text + 2, &end, 16);
    if (single) {
        float f;
        uint32_t few = (uint32_t)bits;
        memcpy(&f, &few, sizeof f);
        *result = (double)f;
    } else {
        memcpy(result, &bits, sizeof bits);
    }
    return !*end && g_ascii_isxdigit(text[2]);
}

static bool whole(const json_t *value, dome_type_kind kind, void *result)
{
    json_int_t v = json_is_boolean(value) ? json_is_true(value) : json_integer_value(value);
    if (kind == DOME_KIND_U64 && long_digits(value))
        return g_ascii_string_to_unsigned(json_string_value(value), 10, 0, UINT64_MAX, result, NULL);
    if (!json_is_integer(value) && !(json_is_boolean(value) && kind == DOME_KIND_U8))
        return false;
    switch (kind) {
#define WHOLE(name, ctype)                                                                                                       \
    case DOME_KIND_##name: {                                                                                                     \
        ctype c = (ctype)v;                                                                                                      \
        memcpy(result, &c, sizeof c);                                                                                            \
        return (json_int_t)c == v && (v >= 0 || (ctype)-1 < (ctype)1);                                                           \
    }
        WHOLE(I8, int8_t)
        WHOLE(I16, int16_t)
        WHOLE(I32, int32_t)
        WHOLE(I64, int64_t)
        WHOLE(U8, uint8_t)
        WHOLE(U16, uint16_t)
        WHOLE(U32, uint32_t)
        WHOLE(U64, uint64_t)
#undef WHOLE
    default:
        return false;
    }
}

/* A fill value of a basic type, in native form. */
static bool basic_fill(const json_t *value, dome_type_kind kind, void *result)
{
    bool single = kind == DOME_KIND_F32 || kind == DOME_KIND_C64, pair = kind == DOME_KIND_C64 || kind == DOME_KIND_C128;
    double parts[2] = {0, 0};
    if (kind < DOME_KIND_F32)
        return whole(value, kind, result);
    if (pair && json_is_array(value)) {
        if (json_array_size(value) != 2 || !real(json_array_get(value, 0), single, &parts[0]) ||
            !real(json_array_get(value, 1), single, &parts[1]))
            return false;
    } else if (!real(value, single, &parts[0])) {
        return false;
    }
    if (single)
        memcpy(result, (float[]){(float)parts[0], (float)parts[1]}, (pair ? 2 : 1) * sizeof(float));
    else
        memcpy(result, parts, (pair ? 2 : 1) * sizeof(double));
    return true;
}

/* The bytes of a struct in base64. */
static bool struct_fill(const json_t *value, uint64_t bytes, void *result)
{
    const char *text = json_string_value(value);
    gsize found;
    if (json_is_integer(value))
        return json_integer_value(value) == 0;
    if (!text || strlen(text) != (bytes + 2) / 3 * 4)
        return false;
    guchar *decoded = g_base64_decode(text, &found);
    bool good = found == bytes;
    if (good)
        memcpy(result, decoded, found);
    g_free(decoded);
    return good;
}

static bool fill_value(dome_zarr *zarr, const json_t *value, char **message)
{
    const dome_file_item *item = &zarr->array.item;
    uint64_t native[2] = {0, 0};
    uint8_t zero = 0;
    if (!value || json_is_null(value))
        return true;
    zarr->fill = g_malloc0((gsize)item->bytes);
    bool good =
        item->kind == DOME_KIND_STRUCT ? struct_fill(value, item->bytes, zarr->fill) : basic_fill(value, item->kind, native);
    if (good && item->kind != DOME_KIND_STRUCT)
        dome__item_pack(item, dome_type_basic(item->kind), zarr->fill, native, 1);
    for (uint64_t i = 0; i < item->bytes; i++)
        zero |= ((uint8_t *)zarr->fill)[i];
    if (zero == 0)
        g_clear_pointer(&zarr->fill, g_free);
    return good || dome__zarr_refuse(message, "has a fill_value that is none of its type");
}

/* ---- codecs ---- */

static bool add_codec(dome_zarr *zarr, const char *name, char **message)
{
    dome_zarr_codec codec;
    if (dome__zarr_codec_find(name, zarr->version, &codec)) {
        if (zarr->ncodecs == DOME_ZARR_CODECS)
            return dome__zarr_refuse(message, "has more than %d codecs", DOME_ZARR_CODECS);
        zarr->codecs[zarr->ncodecs++] = codec;
        return true;
    }
    return refuse_text(message,
                       zarr->version == 2
                           ? "is compressed by %s, which Dome cannot read; blosc, gzip, lz4, zlib, zstd or none can be read"
                           : "has the codec %s, which Dome cannot read; bytes, blosc, gzip, zstd and crc32c can be read",
                       name);
}

/* The order of bytes, from the codec that comes first. */
static bool bytes_codec(dome_file_item *item, const json_t *configuration, char **message)
{
    const json_t *endian = json_object_get(configuration, "endian");
    item->big_endian = is_text(endian, "big");
    return item->big_endian || is_text(endian, "little") || (!endian && item->bytes == 1) ||
           dome__zarr_refuse(message, "does not say its order of bytes");
}

static bool codecs(dome_zarr *zarr, const json_t *list, char **message)
{
    bool bytes = false;
    if (!json_is_array(list))
        return dome__zarr_refuse(message, "has no list of codecs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *configuration;
        const char *name = named(json_array_get(list, i), &configuration);
        if (!name)
            return dome__zarr_refuse(message, "has a codec without a name");
        if (!strcmp(name, "bytes") && !bytes) {
            if (!bytes_codec(&zarr->array.item, configuration, message))
                return false;
            bytes = true;
        } else if (!add_codec(zarr, name, message)) {
            return false;
        } else if (!bytes) {
            return dome__zarr_refuse(message, "has codecs in an order that Dome cannot read: the first is not 'bytes'");
        }
    }
    return bytes || dome__zarr_refuse(message, "has no codec 'bytes'");
}

/* ---- the whole ---- */

static bool separator(dome_zarr *zarr, const json_t *value, char standard, char **message)
{
    zarr->separator = !value ? standard : is_text(value, "/") ? '/' : is_text(value, ".") ? '.' : 0;
    return zarr->separator || dome__zarr_refuse(message, "separates the numbers of chunks by something that is not '.' or '/'");
}

static bool parse_v2(dome_zarr *zarr, const json_t *root, char **message)
{
    const json_t *order = json_object_get(root, "order"), *filters = json_object_get(root, "filters"),
                 *compressor = json_object_get(root, "compressor");
    bool padding = false;
    if (!shapes(zarr, json_object_get(root, "shape"), json_object_get(root, "chunks"), message) ||
        !dtype(json_object_get(root, "dtype"), &zarr->array.item, &padding, 0, message))
        return false;
    if (padding)
        return dome__zarr_refuse(message, "holds raw bytes without a type");
    zarr->array.item.count = 1;
    if (is_text(order, "F"))
        return dome__zarr_refuse(message, "is in Fortran order; numpy.ascontiguousarray gives an array in C order");
    if (!is_text(order, "C"))
        return dome__zarr_refuse(message, "does not say that its order is 'C'");
    if (json_array_size(filters) > 0) {
        const char *id = json_string_value(json_object_get(json_array_get(filters, 0), "id"));
        return refuse_text(message, "has the filter %s, which Dome cannot read", id ? id : "");
    }
    if (filters && !json_is_null(filters) && !json_is_array(filters))
        return dome__zarr_refuse(message, "has filters that are no list");
    if (compressor && !json_is_null(compressor)) {
        const char *id = json_string_value(json_object_get(compressor, "id"));
        if (!id)
            return dome__zarr_refuse(message, "has a compressor without an id");
        if (!add_codec(zarr, id, message))
            return false;
    }
    return separator(zarr, json_object_get(root, "dimension_separator"), '.', message) &&
           fill_value(zarr, json_object_get(root, "fill_value"), message);
}

/* A reader of version 3 must refuse what it does not know, unless the file allows it. */
static bool all_known(const json_t *root, char **message)
{
    static const char *const known[] = {"zarr_format",         "node_type",          "shape",  "data_type",  "chunk_grid",
                                        "fill_value",          "chunk_key_encoding", "codecs", "attributes", "dimension_names",
                                        "storage_transformers"};
    json_t *object = dome__unconst(root);
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        bool found = json_is_false(json_object_get(json_object_iter_value(at), "must_understand"));
        for (size_t i = 0; i < G_N_ELEMENTS(known) && !found; i++)
            found = !strcmp(known[i], json_object_iter_key(at));
        if (!found)
            return refuse_text(message, "has %s, of which Dome knows nothing", json_object_iter_key(at));
    }
    return true;
}

static bool parse_v3(dome_zarr *zarr, const json_t *root, char **message)
{
    const json_t *grid_settings, *key_settings;
    if (is_text(json_object_get(root, "node_type"), "group"))
        return dome__zarr_refuse(message, "is a Zarr group; name one of its arrays");
    if (!is_text(json_object_get(root, "node_type"), "array"))
        return dome__zarr_refuse(message, "is not the metadata of an array");
    if (!all_known(root, message))
        return false;
    if (json_array_size(json_object_get(root, "storage_transformers")) > 0)
        return dome__zarr_refuse(message, "has storage_transformers, which Dome cannot read");
    const char *grid_name = named(json_object_get(root, "chunk_grid"), &grid_settings);
    if (!grid_name || strcmp(grid_name, "regular") != 0)
        return refuse_text(message, "has the chunk_grid %s, which Dome cannot read", grid_name ? grid_name : "");
    if (!shapes(zarr, json_object_get(root, "shape"), json_object_get(grid_settings, "chunk_shape"), message) ||
        !data_type(json_object_get(root, "data_type"), &zarr->array.item, message))
        return false;
    zarr->array.item.count = 1;
    const char *keys = named(json_object_get(root, "chunk_key_encoding"), &key_settings);
    zarr->prefixed = keys && !strcmp(keys, "default");
    if (!zarr->prefixed && (!keys || strcmp(keys, "v2") != 0))
        return refuse_text(message, "has the chunk_key_encoding %s, which Dome cannot read", keys ? keys : "");
    return separator(zarr, json_object_get(key_settings, "separator"), zarr->prefixed ? '/' : '.', message) &&
           codecs(zarr, json_object_get(root, "codecs"), message) &&
           fill_value(zarr, json_object_get(root, "fill_value"), message);
}

static json_t *load(const char *text, size_t bytes, json_error_t *error)
{
    size_t length;
    char *plain = dome__zarr_plain_json(text, bytes, &length);
    json_t *root = json_loadb(plain, length, 0, error);
    g_free(plain);
    return root;
}

bool dome__zarr_is_array(const char *text)
{
    json_t *root = load(text, strlen(text), NULL);
    bool result = is_text(json_object_get(root, "node_type"), "array");
    json_decref(root);
    return result;
}

bool dome__zarr_parse(dome_zarr *zarr, int version, const void *text, size_t bytes, char **message)
{
    json_error_t error;
    *zarr = (dome_zarr){.version = version};
    *message = NULL;
    json_t *root = load(text, bytes, &error);
    if (!root) {
        char *shown = quoted(error.text);
        dome__zarr_refuse(message, "is not JSON, at line %d: %.*s", error.line, (int)strlen(shown) - 2, shown + 1);
        g_free(shown);
        return false;
    }
    const json_t *format = json_object_get(root, "zarr_format");
    bool good =
        json_is_integer(format) || dome__zarr_refuse(message, "is not the metadata of a Zarr array: it has no zarr_format");
    if (good && json_integer_value(format) != version)
        good = dome__zarr_refuse(message, "says that its zarr_format is %" JSON_INTEGER_FORMAT ", not %d",
                                 json_integer_value(format), version);
    good = good && (version == 2 ? parse_v2 : parse_v3)(zarr, root, message);
    if (good && !dome__zarr_measure(zarr))
        good = dome__zarr_refuse(message, "has a shape that no machine can hold");
    json_decref(root);
    return good;
}

/* ---- writing ---- */

/* A text of any bytes: those that are not UTF-8 count as Latin-1. */
static json_t *text_of(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    GString *utf8 = g_string_new(NULL);
    for (; *text; text++)
        g_string_append_unichar(utf8, (uint8_t)*text);
    value = json_string(utf8->str);
    g_string_free(utf8, TRUE);
    return value;
}

static json_t *list_of(int count, const uint64_t numbers[])
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)numbers[i]));
    return list;
}

/* Bytes that belong to no field. NumPy reads lengths of at most nine digits. */
static void add_padding(json_t *list, uint64_t begin, uint64_t end)
{
    for (uint64_t bytes; begin < end; begin += bytes) {
        bytes = MIN(end - begin, 999999999);
        char *code = g_strdup_printf("|V%" PRIu64, bytes);
        json_array_append_new(list, json_pack("[s, s]", "", code));
        g_free(code);
    }
}

static json_t *dtype_of(const dome_file_item *item)
{
    if (item->kind != DOME_KIND_STRUCT) {
        char *code = dome__npy_descr(item); /* in quotes */
        json_t *value = json_stringn(code + 1, strlen(code) - 2);
        g_free(code);
        return value;
    }
    json_t *list = json_array();
    uint64_t at = 0;
    for (size_t i = 0; i < item->nfields; i++) {
        const dome_file_item *f = &item->fields[i];
        json_t *one = json_array();
        add_padding(list, at, f->offset);
        at = f->offset + f->count * f->bytes;
        json_array_append_new(one, text_of(f->name));
        json_array_append_new(one, dtype_of(f));
        if (f->count != 1)
            json_array_append_new(one, list_of(1, &f->count));
        json_array_append_new(list, one);
    }
    add_padding(list, at, item->bytes);
    return list;
}

static json_t *real_of(double value)
{
    return isnan(value)   ? json_string("NaN")
           : isinf(value) ? json_string(value > 0 ? "Infinity" : "-Infinity")
                          : json_real(value);
}

static json_t *fill_of(const dome_zarr *zarr)
{
    const dome_file_item *item = &zarr->array.item;
    uint8_t zeros[16] = {0};
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32[2];
        double f64[2];
    } v = {0};
    if (item->kind == DOME_KIND_STRUCT) {
        guchar *bytes = zarr->fill ? zarr->fill : g_malloc0((gsize)item->bytes);
        char *text = g_base64_encode(bytes, (gsize)item->bytes);
        json_t *value = json_string(text);
        g_free(text);
        if (!zarr->fill)
            g_free(bytes);
        return value;
    }
    dome__item_unpack(item, dome_type_basic(item->kind), &v, zarr->fill ? zarr->fill : zeros, 1);
    switch (item->kind) {
    case DOME_KIND_I8:
        return json_integer(v.i8);
    case DOME_KIND_I16:
        return json_integer(v.i16);
    case DOME_KIND_I32:
        return json_integer(v.i32);
    case DOME_KIND_I64:
        return json_integer(v.i64);
    case DOME_KIND_U8:
        return json_integer(v.u8);
    case DOME_KIND_U16:
        return json_integer(v.u16);
    case DOME_KIND_U32:
        return json_integer(v.u32);
    case DOME_KIND_U64: /* beyond the range of JSON's library as it is read; Dome's own arrays have 0 */
        return v.u64 <= INT64_MAX ? json_integer((json_int_t)v.u64) : json_sprintf("%" PRIu64, v.u64);
    case DOME_KIND_F32:
        return real_of((double)v.f32[0]);
    case DOME_KIND_F64:
        return real_of(v.f64[0]);
    default: {
        bool single = item->kind == DOME_KIND_C64;
        json_t *pair = json_array();
        for (int i = 0; i < 2; i++)
            json_array_append_new(pair, real_of(single ? (double)v.f32[i] : v.f64[i]));
        return pair;
    }
    }
}

static json_t *metadata_v2(const dome_zarr *zarr)
{
    const dome_file_array *a = &zarr->array;
    char mark[] = {zarr->separator, 0};
    json_t *compressor = zarr->ncodecs ? json_pack("{s:s}", "id", dome__zarr_codec_name(zarr->codecs[0])) : json_null();
    if (zarr->ncodecs)
        json_object_set_new(compressor, "level", json_integer(zarr->level));
    return json_pack("{s:i, s:o, s:o, s:o, s:s, s:o, s:n, s:o, s:s}", "zarr_format", 2, "shape", list_of(a->ndim, a->shape),
                     "chunks", list_of(a->ndim, zarr->chunk), "dtype", dtype_of(&a->item), "order", "C", "compressor", compressor,
                     "filters", "fill_value", fill_of(zarr), "dimension_separator", mark);
}

static const char *data_type_name(dome_type_kind kind)
{
    size_t i = 0;
    while (i + 1 < G_N_ELEMENTS(data_types) && data_types[i].kind != kind)
        i++;
    return data_types[i].name;
}

static json_t *codec_of(const dome_zarr *zarr, dome_zarr_codec codec)
{
    json_t *value = json_pack("{s:s}", "name", dome__zarr_codec_name(codec));
    if (codec == DOME_ZARR_ZSTD)
        json_object_set_new(value, "configuration", json_pack("{s:i, s:b}", "level", zarr->level, "checksum", 1));
    if (codec == DOME_ZARR_GZIP)
        json_object_set_new(value, "configuration", json_pack("{s:i}", "level", zarr->level));
    return value;
}

static json_t *metadata_v3(const dome_zarr *zarr)
{
    const dome_file_array *a = &zarr->array;
    char mark[] = {zarr->separator, 0};
    json_t *list = json_array();
    json_t *bytes = json_pack("{s:s}", "name", "bytes");
    if (a->item.bytes > 1)
        json_object_set_new(bytes, "configuration", json_pack("{s:s}", "endian", a->item.big_endian ? "big" : "little"));
    json_array_append_new(list, bytes);
    for (int i = 0; i < zarr->ncodecs; i++)
        json_array_append_new(list, codec_of(zarr, zarr->codecs[i]));
    return json_pack("{s:i, s:s, s:o, s:s, s:{s:s, s:{s:o}}, s:{s:s, s:{s:s}}, s:o, s:o, s:{}}", "zarr_format", 3, "node_type",
                     "array", "shape", list_of(a->ndim, a->shape), "data_type", data_type_name(a->item.kind), "chunk_grid",
                     "name", "regular", "configuration", "chunk_shape", list_of(a->ndim, zarr->chunk), "chunk_key_encoding",
                     "name", zarr->prefixed ? "default" : "v2", "configuration", "separator", mark, "codecs", list, "fill_value",
                     fill_of(zarr), "attributes");
}

char *dome__zarr_metadata(const dome_zarr *zarr, char **message)
{
    *message = NULL;
    json_t *root = zarr->version == 2 ? metadata_v2(zarr) : metadata_v3(zarr);
    char *text = root ? json_dumps(root, JSON_INDENT(4) | JSON_SORT_KEYS) : NULL;
    json_decref(root);
    if (!text) {
        dome__zarr_refuse(message, "has no metadata that can be written as JSON");
        return NULL;
    }
    char *result = g_strconcat(text, "\n", NULL);
    free(text);
    return result;
}

#else

static bool lacks(char **message)
{
    *message = NULL;
    return dome__zarr_refuse(message, "is a Zarr array, for which Dome was built without the library jansson");
}

bool dome__zarr_is_array(const char *text)
{
    (void)text;
    return false;
}

bool dome__zarr_parse(dome_zarr *zarr, int version, const void *text, size_t bytes, char **message)
{
    (void)text, (void)bytes;
    *zarr = (dome_zarr){.version = version};
    return lacks(message);
}

char *dome__zarr_metadata(const dome_zarr *zarr, char **message)
{
    (void)zarr;
    lacks(message);
    return NULL;
}

#endif
