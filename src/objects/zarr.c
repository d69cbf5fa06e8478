/* The chunks of Zarr arrays: which there are, what they hold, and their codecs. */
#include "objects/zarr_private.h"

#include "core/bytes.h"
#include "core/type_private.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

bool dome__zarr_refuse(char **message, const char *format, ...)
{
    if (*message)
        return false;
    va_list args;
    va_start(args, format);
    *message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

void dome__zarr_clear(dome_zarr *zarr)
{
    dome__file_array_clear(&zarr->array);
    g_free(zarr->fill);
    *zarr = (dome_zarr){0};
}

bool dome__zarr_measure(dome_zarr *zarr)
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
        return dome__zarr_refuse(message, "cannot be compressed: Dome was built without the library zstd");
#endif
    if (version == 3 && type->kind == DOME_KIND_STRUCT)
        return dome__zarr_refuse(message, "cannot hold structs in version 3 of Zarr; version 2 can");

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
    return dome__zarr_measure(zarr) || dome__zarr_refuse(message, "would have chunks longer than this machine can hold");
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

const char *const dome__zarr_codec_names[DOME_ZARR_CODEC_KINDS] = {"zlib", "gzip", "zstd", "crc32c"};

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
    return dome__zarr_refuse(message, "is damaged: it holds more than the %" PRIu64 " bytes of a chunk", room);
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
        return dome__zarr_refuse(message, "is truncated: it ends within its checksum");
    bytes -= CRC_BYTES;
    if (bytes > *room)
        return too_long(message, *room);
    if (crc32c(from, bytes) != dome__get_le_u32((const uint8_t *)from + bytes))
        return dome__zarr_refuse(message, "is damaged: its checksum is another one");
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
        return dome__zarr_refuse(message, "cannot be decompressed: no memory");
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
        return dome__zarr_refuse(message, "is damaged: %" PRIu64 " bytes follow what is compressed", bytes - in);
    if (status == Z_BUF_ERROR && out == *room && in < bytes)
        return too_long(message, *room);
    if (status == Z_BUF_ERROR)
        return dome__zarr_refuse(message, in < bytes ? "is damaged" : "is truncated: what is compressed does not end");
    if (status != Z_STREAM_END)
        return dome__zarr_refuse(message, "is damaged: it cannot be decompressed by %s", gzip ? "gzip" : "zlib");
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
        return dome__zarr_refuse(message, "is damaged: it cannot be decompressed by zstd (%s)", ZSTD_getErrorName(found));
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
        return dome__zarr_refuse(message, "cannot be decompressed: Dome was built without the library %s",
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
            dome__zarr_refuse(message, "cannot be decompressed: no memory");
        else
            decode(zarr->codecs[i], to, &room, from, bytes, message);
        g_free(between);
        from = between = i > 0 ? to : NULL;
        bytes = room;
    }
    if (!*message && bytes != zarr->chunk_bytes)
        dome__zarr_refuse(message, "is truncated: it holds %" PRIu64 " of the %" PRIu64 " bytes of a chunk", bytes,
                          zarr->chunk_bytes);
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
        dome__zarr_refuse(message, "cannot be compressed: %s", found ? ZSTD_getErrorName(found) : "no memory");
        g_clear_pointer(file, g_free);
        return false;
    }
#endif
    (void)chunk, (void)file, (void)bytes;
    return dome__zarr_refuse(message, "cannot be compressed by %s",
                             zarr->ncodecs ? dome__zarr_codec_names[zarr->codecs[0]] : "nothing");
}
