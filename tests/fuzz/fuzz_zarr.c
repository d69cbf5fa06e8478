/* Zarr metadata and chunks on arbitrary bytes: no crash, what is accepted can be written and means the same again, and a chunk
 * never becomes longer than the array says. The first byte chooses the version, the metadata end at a zero byte, a chunk's file
 * follows. */
#include "files/zarr.h"

#include "core/type_private.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_message(char *message)
{
    require(message && *message && !strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
    g_free(message);
}

static void check_again(const dome_zarr *z)
{
    dome_zarr again;
    char *message = NULL, *text = dome__zarr_metadata(z, &message);
    require(text && dome__zarr_parse(&again, z->version, text, strlen(text), &message));
    require(again.array.ndim == z->array.ndim && !memcmp(again.array.shape, z->array.shape, sizeof z->array.shape));
    require(!memcmp(again.chunk, z->chunk, sizeof z->chunk) && again.chunk_bytes == z->chunk_bytes);
    require(again.ncodecs == z->ncodecs && !memcmp(again.codecs, z->codecs, sizeof z->codecs));
    require(again.separator == z->separator && again.prefixed == z->prefixed && (again.fill != NULL) == (z->fill != NULL));
    dome__zarr_clear(&again);
    g_free(text);
}

static void check_chunk(const dome_zarr *z, const uint8_t *file, size_t bytes)
{
    uint8_t *chunk = g_malloc(z->chunk_bytes), *data;
    char *message = NULL;
    bool good = z->ncodecs ? dome__zarr_decode(z, chunk, file, bytes, &message) : bytes == z->chunk_bytes;
    require(good || message || !z->ncodecs);
    if (message)
        check_message(message);
    if (good && !z->ncodecs && bytes)
        memcpy(chunk, file, bytes);
    uint64_t total = z->array.length * z->array.width;
    if (z->array.item.kind != DOME_KIND_STRUCT && total > 0 && total <= 4096) {
        dome_zarr_walk walk;
        dome_type type = dome_type_basic(z->array.item.kind);
        data = g_malloc(total * dome_type_size(type));
        int chunks = 0;
        for (bool more = dome__zarr_first_chunk(z, &walk, 0, total); more && chunks < 100;
             more = dome__zarr_next_chunk(z, &walk)) {
            char *name = dome__zarr_chunk_name(z, walk.index);
            require(*name);
            g_free(name);
            dome__zarr_unpack(z, walk.index, type, data, 0, total, good && chunks++ % 2 == 0 ? chunk : NULL);
        }
        g_free(data);
    }
    g_free(chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int version = data[0] % 2 ? 3 : 2;
    const uint8_t *end = memchr(data + 1, 0, size - 1);
    size_t text = end ? (size_t)(end - data - 1) : size - 1;
    char *message = NULL, *copy = g_strndup((const char *)data + 1, text);
    dome_zarr z;
    dome__zarr_is_array(copy);
    bool good = dome__zarr_parse(&z, version, copy, text, &message);
    require(good == (message == NULL));
    if (!good) {
        check_message(message);
    } else {
        require(z.array.ndim > 0 && z.array.width > 0 && z.array.item.bytes > 0 && z.chunk_values > 0);
        require(z.chunk_bytes == z.chunk_values * z.array.item.bytes);
        check_again(&z);
        if (z.chunk_bytes <= 1 << 16)
            check_chunk(&z, end ? end + 1 : data, end ? size - text - 2 : 0);
    }
    dome__zarr_clear(&z);
    g_free(copy);
    return 0;
}
