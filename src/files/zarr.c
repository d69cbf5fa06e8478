/* The chunks of Zarr arrays: which there are, and what they hold. */
#include "files/zarr_private.h"

#include "core/type_private.h"

#include <glib.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

bool dome__zarr_describe(dome_zarr *zarr, int version, const dome_zarr_vector *vector, uint64_t elements, int level,
                         char **message)
{
    const uint64_t *shape = vector->shape, width = vector->width, block = vector->block;
    *zarr = (dome_zarr){.version = version, .separator = '.', .prefixed = version == 3, .level = level};
    *message = NULL;
    dome__file_array_describe(&zarr->array, vector->type, vector->ndim, shape, width);
    if (level)
        zarr->codecs[zarr->ncodecs++] = DOME_ZARR_ZSTD;
#ifndef DOME_WITH_ZSTD
    if (level)
        return dome__zarr_refuse(message, "cannot be compressed: Dome was built without the library zstd");
#endif
    if (version == 3 && vector->type->kind == DOME_KIND_STRUCT)
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
    for (int d = vector->ndim - 1; d >= 0; d--) {
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
