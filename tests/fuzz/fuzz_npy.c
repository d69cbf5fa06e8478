/* The .npy header parser on arbitrary bytes: no crash, and what it accepts can be written and means the same again. */
#include "files/npy.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_item(const dome_file_item *item, int depth)
{
    uint64_t end = 0;
    require(depth <= 17 && item->bytes > 0 && item->count > 0);
    require((item->kind == DOME_KIND_STRUCT) == (item->nfields > 0));
    for (size_t i = 0; i < item->nfields; i++) {
        const dome_file_item *f = &item->fields[i];
        require(f->name && *f->name && g_utf8_validate(f->name, -1, NULL) && f->offset >= end);
        end = f->offset + f->count * f->bytes;
        require(end <= item->bytes);
        check_item(f, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dome_npy npy;
    uint64_t header_bytes = 0;
    char *message = NULL;
    bool started = dome__npy_start(data, size, &header_bytes, &message);
    require(started == (message == NULL));
    g_clear_pointer(&message, g_free);

    bool good = dome__npy_parse(&npy, data, size, &message);
    require(good == (message == NULL) && (!good || (started && npy.header_bytes == header_bytes && header_bytes <= size)));
    if (!good) {
        require(*message && !strchr(message, '\n') && g_utf8_validate(message, -1, NULL));
        g_free(message);
        dome__npy_clear(&npy);
        return 0;
    }
    require(npy.array.width > 0);
    check_item(&npy.array.item, 0);
    if (!dome__npy_check_size(&npy, size, &message))
        g_clear_pointer(&message, g_free);

    dome_npy again;
    char *before = dome__npy_descr(&npy.array.item), *header = dome__npy_header(&npy);
    require(npy.header_bytes % 64 == 0);
    require(dome__npy_parse(&again, header, npy.header_bytes, &message));
    char *after = dome__npy_descr(&again.array.item);
    require(!strcmp(before, after) && again.array.length == npy.array.length && again.array.width == npy.array.width);
    require(again.array.ndim == npy.array.ndim && !memcmp(again.array.shape, npy.array.shape, sizeof npy.array.shape));
    require(again.array.item.bytes == npy.array.item.bytes);
    require(npy.array.length == 0 || !dome__file_array_split(&again.array, 1) ||
            again.array.length / npy.array.width == npy.array.length);
    g_free(before);
    g_free(after);
    g_free(header);
    dome__npy_clear(&again);
    dome__npy_clear(&npy);
    return 0;
}
