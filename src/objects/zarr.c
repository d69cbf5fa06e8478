#include "objects/zarr.h"

#include "core/bytes.h"
#include "core/type_private.h"
#include "core/unconst.h"
#include "objects/npy.h"

#include <glib.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifdef DOME_WITH_JANSSON
#include <jansson.h>
#endif
#ifdef DOME_WITH_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef DOME_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* The bytes of a chunk where the program does not choose. */
static const uint64_t CHUNK_BYTES = 8 << 20;

static bool refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char **message, const char *format, ...)
{
    if (*message)
        return false;
    va_list args;
    va_start(args, format);
    *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

const char *dome__zarr_metadata_name(int version)
{
    return version == 2 ? ".zarray" : "zarr.json";
}

void dome__zarr_clear(dome_zarr *zarr)
{
    dome__file_array_clear(&zarr->array);
    g_free(zarr->fill);
    *zarr = (dome_zarr){0};
}

/* Computes what follows from the shapes. False if the array or a chunk has more bytes than a machine can address. */
static bool measure(dome_zarr *zarr)
{
    const dome_file_array *a = &zarr->array;
    uint64_t bytes;
    if (!dome__file_array_bytes(a, &bytes) || bytes > INT64_MAX)
        return false;
    zarr->chunk_values = 1;
    for (int d = 0; d < a->ndim; d++)
        if (__builtin_mul_overflow(zarr->chunk_values, zarr->chunk[d], &zarr->chunk_values))
            return false;
    return !__builtin_mul_overflow(zarr->chunk_values, a->item.bytes, &zarr->chunk_bytes) && zarr->chunk_bytes <= SIZE_MAX / 8;
}

bool dome__zarr_describe(dome_zarr *zarr, int version, dome_type type, int ndim, const uint64_t shape[], uint64_t width,
                         uint64_t elements, uint64_t block, int level, char **message)
{
    *zarr = (dome_zarr){.version = version, .separator = '.', .prefixed = version == 3, .level = level};
    *message = NULL;
    dome__file_array_describe(&zarr->array, type, ndim, shape, width);
    if (level)
        zarr->codecs[zarr->ncodecs++] = DOME_ZARR_ZSTD;
#ifndef DOME_WITH_ZSTD
    if (level)
        return refuse(message, "cannot be compressed: Dome was built without the library zstd");
#endif
    if (version == 3 && type->kind == DOME_KIND_STRUCT)
        return refuse(message, "cannot hold structs in version 3 of Zarr; version 2 can");

    uint64_t most = CHUNK_BYTES / zarr->array.item.bytes; /* values of a chunk */
    if (elements) {
        if (__builtin_mul_overflow(elements, width, &most))
            most = UINT64_MAX;
    } else if (most >= width) {
        most -= most % width;
        if (most / width > block)
            most -= most / width % block * width;
    }
    most = MAX(most, 1);
    /* As many of the last dimensions as fit, and a part of the one before. */
    for (int d = ndim - 1; d >= 0; d--) {
        zarr->chunk[d] = MAX(1, MIN(shape[d], most));
        most = shape[d] <= most ? most / zarr->chunk[d] : 1;
    }
    return measure(zarr) || refuse(message, "would have chunks longer than this machine can hold");
}

/* ---- chunks ---- */

/* The number of chunks along a dimension. */
static uint64_t grid(const dome_zarr *zarr, int d)
{
    uint64_t n = zarr->array.shape[d];
    return n / zarr->chunk[d] + (n % zarr->chunk[d] != 0);
}

void dome__zarr_begin_runs(const dome_zarr *zarr, const uint64_t index[], dome_zarr_runs *runs)
{
    const dome_file_array *a = &zarr->array;
    *runs = (dome_zarr_runs){.axes = a->ndim - 1, .count = 1};
    for (int d = 0; d < a->ndim; d++) {
        runs->origin[d] = index[d] * zarr->chunk[d];
        runs->extent[d] = MIN(zarr->chunk[d], a->shape[d] - runs->origin[d]);
    }
    while (runs->axes > 0 && zarr->chunk[runs->axes] == a->shape[runs->axes])
        runs->count *= runs->extent[runs->axes--];
    runs->count *= runs->extent[runs->axes];
}

bool dome__zarr_next_run(const dome_zarr *zarr, dome_zarr_runs *runs)
{
    const dome_file_array *a = &zarr->array;
    if (runs->begun) {
        int d = runs->axes - 1;
        while (d >= 0 && ++runs->place[d] == runs->extent[d])
            runs->place[d--] = 0;
        if (d < 0)
            return false;
    }
    runs->begun = true;
    runs->value = runs->at = 0;
    for (int d = 0; d < a->ndim; d++) {
        runs->value = runs->value * a->shape[d] + runs->origin[d] + runs->place[d];
        runs->at = runs->at * zarr->chunk[d] + runs->place[d];
    }
    return true;
}

void dome__zarr_chunk_at(const dome_zarr *zarr, uint64_t value, uint64_t index[])
{
    for (int d = zarr->array.ndim - 1; d >= 0; d--) {
        index[d] = value % zarr->array.shape[d] / zarr->chunk[d];
        value /= zarr->array.shape[d];
    }
}

/* Whether a chunk has any of the values. */
static bool touches(const dome_zarr *zarr, const dome_zarr_walk *walk)
{
    dome_zarr_runs runs;
    dome__zarr_begin_runs(zarr, walk->index, &runs);
    while (dome__zarr_next_run(zarr, &runs) && runs.value < walk->end)
        if (runs.value + runs.count > walk->first)
            return true;
    return false;
}

/* Goes on to the next chunk; false after the last one. */
static bool step(const dome_zarr *zarr, dome_zarr_walk *walk)
{
    int d = zarr->array.ndim - 1;
    while (d >= 0 && ++walk->index[d] == grid(zarr, d))
        walk->index[d--] = 0;
    return d >= 0;
}

/* The values in one step along the first dimension. */
static uint64_t row(const dome_zarr *zarr)
{
    uint64_t values = 1;
    for (int d = 1; d < zarr->array.ndim; d++)
        values *= zarr->array.shape[d];
    return values;
}

static bool find(const dome_zarr *zarr, dome_zarr_walk *walk)
{
    uint64_t last = (walk->end - 1) / row(zarr) / zarr->chunk[0];
    while (!touches(zarr, walk))
        if (!step(zarr, walk) || walk->index[0] > last)
            return false;
    return true;
}

bool dome__zarr_first_chunk(const dome_zarr *zarr, dome_zarr_walk *walk, uint64_t first, uint64_t end)
{
    *walk = (dome_zarr_walk){.first = first, .end = end};
    if (first >= end)
        return false;
    walk->index[0] = first / row(zarr) / zarr->chunk[0];
    return find(zarr, walk);
}

bool dome__zarr_next_chunk(const dome_zarr *zarr, dome_zarr_walk *walk)
{
    return step(zarr, walk) && find(zarr, walk);
}

char *dome__zarr_chunk_name(const dome_zarr *zarr, const uint64_t index[])
{
    GString *name = g_string_new(zarr->prefixed ? "c" : NULL);
    for (int d = 0; d < zarr->array.ndim; d++) {
        if (d > 0 || zarr->prefixed)
            g_string_append_c(name, zarr->separator);
        g_string_append_printf(name, "%" PRIu64, index[d]);
    }
    return g_string_free(name, FALSE);
}

void dome__zarr_fill(const dome_zarr *zarr, void *chunk, uint64_t at, uint64_t count)
{
    size_t bytes = (size_t)zarr->array.item.bytes;
    char *to = (char *)chunk + at * bytes;
    if (!zarr->fill)
        memset(to, 0, (size_t)count * bytes);
    for (uint64_t i = 0; i < count && zarr->fill; i++)
        memcpy(to + i * bytes, zarr->fill, bytes);
}

void dome__zarr_unpack(const dome_zarr *zarr, const uint64_t index[], dome_type type, void *data, uint64_t first, uint64_t end,
                       const void *chunk)
{
    const dome_file_item *item = &zarr->array.item;
    size_t size = dome_type_size(type);
    dome_zarr_runs runs;
    dome__zarr_begin_runs(zarr, index, &runs);
    while (dome__zarr_next_run(zarr, &runs) && runs.value < end) {
        uint64_t from = MAX(runs.value, first), until = MIN(runs.value + runs.count, end);
        char *to = (char *)data + (from - first) * size;
        if (from >= until)
            continue;
        if (chunk)
            dome__item_unpack(item, type, to, (const char *)chunk + (runs.at + (from - runs.value)) * item->bytes, until - from);
        for (uint64_t i = 0; !chunk && i < until - from; i++)
            if (zarr->fill)
                dome__item_unpack(item, type, to + i * size, zarr->fill, 1);
    }
}

/* ---- codecs ---- */

static const char *const codec_names[] = {"zlib", "gzip", "zstd", "crc32c"};

enum { CRC_BYTES = 4 };

/* The most bytes that a writer makes of so many: compressors add little to what they cannot compress. */
static uint64_t grown(dome_zarr_codec codec, uint64_t bytes)
{
    return codec == DOME_ZARR_CRC32C ? bytes + CRC_BYTES : bytes + bytes / 64 + 4096;
}

/* The most bytes after the first `codecs` codecs. */
static uint64_t most_after(const dome_zarr *zarr, int codecs)
{
    uint64_t bytes = zarr->chunk_bytes;
    for (int i = 0; i < codecs; i++)
        bytes = grown(zarr->codecs[i], bytes);
    return bytes;
}

uint64_t dome__zarr_most_bytes(const dome_zarr *zarr)
{
    return most_after(zarr, zarr->ncodecs);
}

static bool too_long(char **message, uint64_t room)
{
    return refuse(message, "is damaged: it holds more than the %" PRIu64 " bytes of a chunk", room);
}

/* CRC-32C (RFC 3720, appendix B.4), reflected. */
static uint32_t crc32c(const uint8_t *data, uint64_t bytes)
{
    static uint32_t table[256];
    static gsize ready;
    if (g_once_init_enter(&ready)) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++)
                c = c >> 1 ^ (c & 1 ? UINT32_C(0x82f63b78) : 0);
            table[i] = c;
        }
        g_once_init_leave(&ready, 1);
    }
    uint32_t crc = UINT32_MAX;
    for (uint64_t i = 0; i < bytes; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    return ~crc;
}

static bool check_crc(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    if (bytes < CRC_BYTES)
        return refuse(message, "is truncated: it ends within its checksum");
    bytes -= CRC_BYTES;
    if (bytes > *room)
        return too_long(message, *room);
    if (crc32c(from, bytes) != dome__get_le_u32((const uint8_t *)from + bytes))
        return refuse(message, "is damaged: its checksum is another one");
    if (bytes)
        memcpy(to, from, (size_t)bytes);
    *room = bytes;
    return true;
}

#ifdef DOME_WITH_ZLIB
/* gzip: a file may consist of several parts. */
static bool inflate_all(void *to, uint64_t *room, const void *from, uint64_t bytes, bool gzip, char **message)
{
    static const uint64_t MOST = 1 << 30; /* lengths in zlib's calls */
    z_stream z = {0};
    uint64_t in = 0, out = 0;
    int status = inflateInit2(&z, gzip ? 15 + 16 : 15);
    if (status != Z_OK)
        return refuse(message, "cannot be decompressed: no memory");
    do {
        uint8_t none; /* zlib wants an address also where there is no room */
        uint64_t had = MIN(bytes - in, MOST), space = MIN(*room - out, MOST);
        z.next_in = (const Bytef *)from + in;
        z.avail_in = (uInt)had;
        z.next_out = space ? (Bytef *)to + out : &none;
        z.avail_out = (uInt)space;
        status = inflate(&z, Z_NO_FLUSH);
        in += had - z.avail_in;
        out += space - z.avail_out;
        if (status == Z_STREAM_END && gzip && in < bytes)
            status = inflateReset(&z);
    } while (status == Z_OK);
    inflateEnd(&z);
    if (status == Z_STREAM_END && in < bytes)
        return refuse(message, "is damaged: %" PRIu64 " bytes follow what is compressed", bytes - in);
    if (status == Z_BUF_ERROR && out == *room && in < bytes)
        return too_long(message, *room);
    if (status == Z_BUF_ERROR)
        return refuse(message, in < bytes ? "is damaged" : "is truncated: what is compressed does not end");
    if (status != Z_STREAM_END)
        return refuse(message, "is damaged: it cannot be decompressed by %s", gzip ? "gzip" : "zlib");
    *room = out;
    return true;
}
#endif

#ifdef DOME_WITH_ZSTD
/* With a checksum, which every reader of zstd looks at: damage is found. */
static size_t compress_zstd(void *to, size_t room, const void *from, size_t bytes, int level)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!context)
        return 0;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t found = ZSTD_compress2(context, to, room, from, bytes);
    ZSTD_freeCCtx(context);
    return found;
}

static bool decompress_zstd(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    size_t found = ZSTD_decompress(to, (size_t)*room, from, (size_t)bytes);
    if (ZSTD_isError(found) && ZSTD_getErrorCode(found) == ZSTD_error_dstSize_tooSmall)
        return too_long(message, *room);
    if (ZSTD_isError(found))
        return refuse(message, "is damaged: it cannot be decompressed by zstd (%s)", ZSTD_getErrorName(found));
    *room = found;
    return true;
}
#endif

/* Undoes one codec. *room: bytes at `to`, and then how many were written. */
static bool decode(dome_zarr_codec codec, void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    switch (codec) {
    case DOME_ZARR_CRC32C:
        return check_crc(to, room, from, bytes, message);
#ifdef DOME_WITH_ZLIB
    case DOME_ZARR_ZLIB:
    case DOME_ZARR_GZIP:
        return inflate_all(to, room, from, bytes, codec == DOME_ZARR_GZIP, message);
#endif
#ifdef DOME_WITH_ZSTD
    case DOME_ZARR_ZSTD:
        return decompress_zstd(to, room, from, bytes, message);
#endif
    default:
        return refuse(message, "cannot be decompressed: Dome was built without the library %s",
                      codec == DOME_ZARR_ZSTD ? "zstd" : "zlib");
    }
}

bool dome__zarr_decode(const dome_zarr *zarr, void *chunk, const void *file, uint64_t bytes, char **message)
{
    const void *from = file;
    void *between = NULL;
    *message = NULL;
    for (int i = zarr->ncodecs; i-- > 0 && !*message;) {
        uint64_t room = most_after(zarr, i);
        void *to = i > 0 ? g_try_malloc((gsize)room) : chunk;
        if (!to)
            refuse(message, "cannot be decompressed: no memory");
        else
            decode(zarr->codecs[i], to, &room, from, bytes, message);
        g_free(between);
        from = between = i > 0 ? to : NULL;
        bytes = room;
    }
    if (!*message && bytes != zarr->chunk_bytes)
        refuse(message, "is truncated: it holds %" PRIu64 " of the %" PRIu64 " bytes of a chunk", bytes, zarr->chunk_bytes);
    g_free(between);
    return !*message;
}

bool dome__zarr_encode(const dome_zarr *zarr, const void *chunk, void **file, uint64_t *bytes, char **message)
{
    *message = NULL;
#ifdef DOME_WITH_ZSTD
    if (zarr->ncodecs == 1 && zarr->codecs[0] == DOME_ZARR_ZSTD) {
        size_t room = ZSTD_compressBound((size_t)zarr->chunk_bytes);
        *file = g_try_malloc(room);
        size_t found = *file ? compress_zstd(*file, room, chunk, (size_t)zarr->chunk_bytes, zarr->level) : 0;
        *bytes = found;
        if (found && !ZSTD_isError(found))
            return true;
        refuse(message, "cannot be compressed: %s", found ? ZSTD_getErrorName(found) : "no memory");
        g_clear_pointer(file, g_free);
        return false;
    }
#endif
    (void)chunk, (void)file, (void)bytes;
    return refuse(message, "cannot be compressed by %s", zarr->ncodecs ? codec_names[zarr->codecs[0]] : "nothing");
}

/* ---- metadata ---- */

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
        return refuse(message, "does not say its %s", what);
    if (json_array_size(value) > DOME_MAX_DIMENSIONS)
        return refuse(message, "has %zu dimensions, and Dome's vectors at most %d", json_array_size(value), DOME_MAX_DIMENSIONS);
    *count = (int)json_array_size(value);
    for (int d = 0; d < *count; d++) {
        const json_t *one = json_array_get(value, (size_t)d);
        if (!json_is_integer(one) || json_integer_value(one) < 0 || (uint64_t)json_integer_value(one) < least)
            return refuse(message, "has a %s with something that is not a length", what);
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
        return refuse(message, "holds a single value without dimensions, not a vector");
    if (ndim != chunk_ndim)
        return refuse(message, "has %d dimensions, and its chunks have %d", ndim, chunk_ndim);
    for (int d = 0; d < ndim; d++)
        if (!dome__file_array_add(&zarr->array, list[d]))
            return refuse(message, "has a shape of more than 2^64 values");
    if (zarr->array.width == 0)
        return refuse(message, "has elements without values");
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
        return refuse(message, "has a dtype with something that is not a field");
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
            return refuse(message, "has elements that are too long");
    return true;
}

/* A list of fields. Padding appears in it as fields without a name. */
static bool structure(const json_t *value, dome_file_item *item, int depth, char **message)
{
    GHashTable *names = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = depth < DEPTH || refuse(message, "has structures nested too deeply");
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
            good = item->bytes <= ITEM_LIMIT || refuse(message, "has elements that are too long");
        }
        if (good && !padding)
            item->fields[item->nfields++] = one;
        else
            dome__item_clear(&one);
    }
    g_hash_table_destroy(names);
    return good && (item->nfields > 0 || refuse(message, "has elements without fields"));
}

static bool dtype(const json_t *value, dome_file_item *item, bool *padding, int depth, char **message)
{
    *padding = false;
    if (json_is_array(value))
        return structure(value, item, depth, message);
    if (!json_is_string(value))
        return refuse(message, "does not say its dtype");
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
        return refuse(message, "does not say its data_type");
    for (size_t i = 0; i < G_N_ELEMENTS(data_types); i++)
        if (!strcmp(name, data_types[i].name)) {
            item->kind = data_types[i].kind;
            item->bytes = dome_type_size(dome_type_basic(item->kind));
            return true;
        }
    return refuse_text(message, "has data_type %s, which no type of Dome's can hold", name);
}

/* ---- fill values ---- */

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
    return good || refuse(message, "has a fill_value that is none of its type");
}

/* ---- codecs ---- */

static bool add_codec(dome_zarr *zarr, const char *name, char **message)
{
    for (size_t i = 0; i < G_N_ELEMENTS(codec_names); i++) {
        if (strcmp(name, codec_names[i]) != 0 || (zarr->version == 2 ? i == DOME_ZARR_CRC32C : i == DOME_ZARR_ZLIB))
            continue;
        if (zarr->ncodecs == DOME_ZARR_CODECS)
            return refuse(message, "has more than %d codecs", DOME_ZARR_CODECS);
        zarr->codecs[zarr->ncodecs++] = (dome_zarr_codec)i;
        return true;
    }
    return refuse_text(message,
                       zarr->version == 2 ? "is compressed by %s, which Dome cannot read; gzip, zlib, zstd or none can be read"
                                          : "has the codec %s, which Dome cannot read; bytes, gzip, zstd and crc32c can be read",
                       name);
}

/* The order of bytes, from the codec that comes first. */
static bool bytes_codec(dome_file_item *item, const json_t *configuration, char **message)
{
    const json_t *endian = json_object_get(configuration, "endian");
    item->big_endian = is_text(endian, "big");
    return item->big_endian || is_text(endian, "little") || (!endian && item->bytes == 1) ||
           refuse(message, "does not say its order of bytes");
}

static bool codecs(dome_zarr *zarr, const json_t *list, char **message)
{
    bool bytes = false;
    if (!json_is_array(list))
        return refuse(message, "has no list of codecs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *configuration;
        const char *name = named(json_array_get(list, i), &configuration);
        if (!name)
            return refuse(message, "has a codec without a name");
        if (!strcmp(name, "bytes") && !bytes) {
            if (!bytes_codec(&zarr->array.item, configuration, message))
                return false;
            bytes = true;
        } else if (!add_codec(zarr, name, message)) {
            return false;
        } else if (!bytes) {
            return refuse(message, "has codecs in an order that Dome cannot read: the first is not 'bytes'");
        }
    }
    return bytes || refuse(message, "has no codec 'bytes'");
}

/* ---- the whole ---- */

static bool separator(dome_zarr *zarr, const json_t *value, char standard, char **message)
{
    zarr->separator = !value ? standard : is_text(value, "/") ? '/' : is_text(value, ".") ? '.' : 0;
    return zarr->separator || refuse(message, "separates the numbers of chunks by something that is not '.' or '/'");
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
        return refuse(message, "holds raw bytes without a type");
    zarr->array.item.count = 1;
    if (is_text(order, "F"))
        return refuse(message, "is in Fortran order; numpy.ascontiguousarray gives an array in C order");
    if (!is_text(order, "C"))
        return refuse(message, "does not say that its order is 'C'");
    if (json_array_size(filters) > 0) {
        const char *id = json_string_value(json_object_get(json_array_get(filters, 0), "id"));
        return refuse_text(message, "has the filter %s, which Dome cannot read", id ? id : "");
    }
    if (filters && !json_is_null(filters) && !json_is_array(filters))
        return refuse(message, "has filters that are no list");
    if (compressor && !json_is_null(compressor)) {
        const char *id = json_string_value(json_object_get(compressor, "id"));
        if (!id)
            return refuse(message, "has a compressor without an id");
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
        return refuse(message, "is a Zarr group; name one of its arrays");
    if (!is_text(json_object_get(root, "node_type"), "array"))
        return refuse(message, "is not the metadata of an array");
    if (!all_known(root, message))
        return false;
    if (json_array_size(json_object_get(root, "storage_transformers")) > 0)
        return refuse(message, "has storage_transformers, which Dome cannot read");
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

bool dome__zarr_is_array(const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    bool result = is_text(json_object_get(root, "node_type"), "array");
    json_decref(root);
    return result;
}

bool dome__zarr_parse(dome_zarr *zarr, int version, const void *text, size_t bytes, char **message)
{
    json_error_t error;
    *zarr = (dome_zarr){.version = version};
    *message = NULL;
    json_t *root = json_loadb(text, bytes, 0, &error);
    if (!root) {
        char *shown = quoted(error.text);
        refuse(message, "is not JSON, at line %d: %.*s", error.line, (int)strlen(shown) - 2, shown + 1);
        g_free(shown);
        return false;
    }
    const json_t *format = json_object_get(root, "zarr_format");
    bool good = json_is_integer(format) || refuse(message, "is not the metadata of a Zarr array: it has no zarr_format");
    if (good && json_integer_value(format) != version)
        good =
            refuse(message, "says that its zarr_format is %" JSON_INTEGER_FORMAT ", not %d", json_integer_value(format), version);
    good = good && (version == 2 ? parse_v2 : parse_v3)(zarr, root, message);
    if (good && !measure(zarr))
        good = refuse(message, "has a shape that no machine can hold");
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
    case DOME_KIND_U64:
        return json_integer((json_int_t)v.u64); /* one beyond the range of JSON's library is never read */
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
    json_t *compressor = zarr->ncodecs ? json_pack("{s:s}", "id", codec_names[zarr->codecs[0]]) : json_null();
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
    json_t *value = json_pack("{s:s}", "name", codec_names[codec]);
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
        refuse(message, "has no metadata that can be written as JSON");
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
    return refuse(message, "is a Zarr array, for which Dome was built without the library jansson");
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
