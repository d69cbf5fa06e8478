/* The codecs of Zarr arrays: what is done with the bytes of a chunk when it is written, and undone when it is read. */
#include "files/zarr_private.h"

#include "system/bytes.h"
#include "system/checksum.h"

#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#ifdef DOME_WITH_BLOSC
#include <blosc.h>
#endif
#ifdef DOME_WITH_LZ4
#include <lz4.h>
#endif
#ifdef DOME_WITH_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef DOME_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum { CRC_BYTES = 4, LZ4_LENGTH_BYTES = 4 };

/* The most bytes that a writer makes of so many: compressors add little to what they cannot compress. */
static uint64_t grown(dome_zarr_codec codec, uint64_t bytes)
{
    return codec == DOME_ZARR_CRC32C ? bytes + CRC_BYTES : bytes + bytes / 64 + 4096;
}

/* The most bytes after the first `count` codecs. */
static uint64_t most_after(const dome_zarr *zarr, int count)
{
    uint64_t bytes = zarr->chunk_bytes;
    for (int i = 0; i < count; i++)
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

static bool check_crc(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    if (bytes < CRC_BYTES)
        return dome__zarr_refuse(message, "is truncated: it ends within its checksum");
    bytes -= CRC_BYTES;
    if (bytes > *room)
        return too_long(message, *room);
    if (dome__crc32c(from, (size_t)bytes) != dome__get_le_u32((const uint8_t *)from + bytes))
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

static bool decompress_zlib(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    return inflate_all(to, room, from, bytes, false, message);
}

static bool decompress_gzip(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    return inflate_all(to, room, from, bytes, true, message);
}
#else
#define decompress_zlib NULL
#define decompress_gzip NULL
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
#else
#define decompress_zstd NULL
#endif

#ifdef DOME_WITH_LZ4
/* numcodecs: the length, as 32 bits in little-endian order, and one block of LZ4. */
static bool decompress_lz4(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    if (bytes < LZ4_LENGTH_BYTES)
        return dome__zarr_refuse(message, "is truncated: it ends within its length");
    uint64_t length = dome__get_le_u32(from);
    bytes -= LZ4_LENGTH_BYTES;
    if (length > *room)
        return too_long(message, *room);
    if (length > INT_MAX || bytes > INT_MAX ||
        LZ4_decompress_safe((const char *)from + LZ4_LENGTH_BYTES, to, (int)bytes, (int)length) != (int)length)
        return dome__zarr_refuse(message, "is damaged: it cannot be decompressed by lz4");
    *room = length;
    return true;
}
#else
#define decompress_lz4 NULL
#endif

#ifdef DOME_WITH_BLOSC
/* On this thread alone: the tasks are the parallelism. */
static bool decompress_blosc(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message)
{
    size_t length;
    if (blosc_cbuffer_validate(from, (size_t)bytes, &length) != 0)
        return dome__zarr_refuse(message, "is damaged: it has no valid head of blosc, or another length than that says");
    if (length > *room)
        return too_long(message, *room);
    const char *compressor = blosc_cbuffer_complib(from); /* NULL: unknown to the library */
    if (blosc_decompress_ctx(from, to, length, 1) != (int)length)
        return dome__zarr_refuse(message, "is damaged: it cannot be decompressed by blosc (%s)",
                                 compressor ? compressor : "an unknown compressor");
    *room = length;
    return true;
}
#else
#define decompress_blosc NULL
#endif

/* By dome_zarr_codec; the library that undoes it, and the versions of Zarr that have it. */
static const struct {
    const char *name, *library;
    bool in_v2, in_v3;
    bool (*undo)(void *to, uint64_t *room, const void *from, uint64_t bytes, char **message); /* NULL: without the library */
} codecs[] = {
    [DOME_ZARR_ZLIB] = {"zlib", "zlib", true, false, decompress_zlib},
    [DOME_ZARR_GZIP] = {"gzip", "zlib", true, true, decompress_gzip},
    [DOME_ZARR_ZSTD] = {"zstd", "zstd", true, true, decompress_zstd},
    [DOME_ZARR_LZ4] = {"lz4", "lz4", true, false, decompress_lz4},
    [DOME_ZARR_BLOSC] = {"blosc", "blosc", true, true, decompress_blosc},
    [DOME_ZARR_CRC32C] = {"crc32c", NULL, false, true, check_crc},
};

const char *dome__zarr_codec_name(dome_zarr_codec codec)
{
    return codecs[codec].name;
}

bool dome__zarr_codec_find(const char *name, int version, dome_zarr_codec *codec)
{
    for (size_t i = 0; i < G_N_ELEMENTS(codecs); i++)
        if (!strcmp(name, codecs[i].name) && (version == 2 ? codecs[i].in_v2 : codecs[i].in_v3)) {
            *codec = (dome_zarr_codec)i;
            return true;
        }
    return false;
}

bool dome__zarr_decode(const dome_zarr *zarr, void *chunk, const void *file, uint64_t bytes, char **message)
{
    const void *from = file;
    void *between = NULL;
    *message = NULL;
    for (int i = zarr->ncodecs; i-- > 0 && !*message;) {
        uint64_t room = most_after(zarr, i);
        void *to = i > 0 ? g_try_malloc((gsize)room) : chunk;
        if (!codecs[zarr->codecs[i]].undo)
            dome__zarr_refuse(message, "cannot be decompressed: Dome was built without the library %s",
                              codecs[zarr->codecs[i]].library);
        else if (!to)
            dome__zarr_refuse(message, "cannot be decompressed: no memory");
        else
            codecs[zarr->codecs[i]].undo(to, &room, from, bytes, message);
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
    return dome__zarr_refuse(message, "cannot be compressed by %s", zarr->ncodecs ? codecs[zarr->codecs[0]].name : "nothing");
}
