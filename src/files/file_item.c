#include "files/file_item.h"

#include "core/type_private.h"

#include <glib.h>
#include <string.h>

void dome__item_clear(dome_file_item *item)
{
    for (size_t i = 0; i < item->nfields; i++)
        dome__item_clear(&item->fields[i]);
    g_free(item->fields);
    g_free(item->name);
    *item = (dome_file_item){0};
}

/* ---- shapes ---- */

void dome__file_array_clear(dome_file_array *array)
{
    dome__item_clear(&array->item);
    *array = (dome_file_array){0};
}

bool dome__file_array_add(dome_file_array *array, uint64_t dimension)
{
    if (array->ndim == 0) {
        array->length = dimension;
        array->width = 1;
    } else if (__builtin_mul_overflow(array->width, dimension, &array->width)) {
        return false;
    }
    if (array->ndim < DOME_MAX_DIMENSIONS) {
        array->shape[array->ndim++] = dimension;
        return true;
    }
    return !__builtin_mul_overflow(array->shape[array->ndim - 1], dimension, &array->shape[array->ndim - 1]);
}

int dome__shape_split(int ndim, const uint64_t shape[], uint64_t width, uint64_t *length)
{
    uint64_t rest = 1;
    for (int k = ndim; k >= 0; k--) {
        bool fits = rest == width;
        *length = 1;
        for (int d = 0; d < k && fits; d++)
            fits = !__builtin_mul_overflow(*length, shape[d], length);
        if (fits)
            return k;
        if (k == 0 || __builtin_mul_overflow(rest, shape[k - 1], &rest))
            break;
    }
    return -1;
}

bool dome__file_array_split(dome_file_array *array, uint64_t width)
{
    uint64_t length;
    if (dome__shape_split(array->ndim, array->shape, width, &length) < 0)
        return false;
    array->length = length;
    array->width = width;
    return true;
}

bool dome__file_array_bytes(const dome_file_array *array, uint64_t *bytes)
{
    return !__builtin_mul_overflow(array->length, array->width, bytes) &&
           !__builtin_mul_overflow(*bytes, array->item.bytes, bytes);
}

/* ---- items ---- */

void dome__item_describe(dome_file_item *item, dome_type type)
{
    const dome_field *fields = type->fields;
    size_t nfields = type->nfields;
    item->kind = dome_type_kind_of(type);
    item->count = 1;
    item->bytes = dome_type_portable_size(type);
    item->nfields = nfields;
    item->fields = nfields ? g_new0(dome_file_item, nfields) : NULL;
    uint64_t offset = 0;
    for (size_t i = 0; i < nfields; i++) {
        dome__item_describe(&item->fields[i], fields[i].type);
        item->fields[i].name = g_strdup(fields[i].name);
        item->fields[i].count = fields[i].count;
        item->fields[i].offset = offset;
        offset += fields[i].count * item->fields[i].bytes;
    }
}

void dome__file_array_describe(dome_file_array *array, dome_type type, int ndim, const uint64_t shape[], uint64_t width)
{
    *array = (dome_file_array){0};
    for (int d = 0; d < ndim; d++)
        dome__file_array_add(array, shape[d]);
    dome__file_array_split(array, width);
    dome__item_describe(&array->item, type);
}

bool dome__item_fits(const dome_file_item *item, dome_type type)
{
    const dome_field *fields = type->fields;
    size_t nfields = type->nfields;
    if (item->kind != dome_type_kind_of(type) || item->nfields != nfields)
        return false;
    for (size_t i = 0; i < nfields; i++)
        if (strcmp(item->fields[i].name, fields[i].name) != 0 || item->fields[i].count != fields[i].count ||
            !dome__item_fits(&item->fields[i], fields[i].type))
            return false;
    return true;
}

static bool swapped(const dome_file_item *item)
{
    return item->bytes > 1 && item->big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN);
}

bool dome__item_is_native(const dome_file_item *item, dome_type type)
{
    const dome_field *fields = type->fields;
    if (item->kind != DOME_KIND_STRUCT)
        return !swapped(item);
    if (item->bytes != dome_type_size(type))
        return false;
    uint64_t covered = 0;
    for (size_t i = 0; i < item->nfields; i++) {
        const dome_file_item *f = &item->fields[i];
        if (f->offset != fields[i].offset || !dome__item_is_native(f, fields[i].type))
            return false;
        covered += f->count * f->bytes;
    }
    return covered == item->bytes;
}

#define SWAP_LOOP(bits)                                                                                                          \
    for (uint64_t i = 0; i < count; i++) {                                                                                       \
        uint##bits##_t value;                                                                                                    \
        memcpy(&value, (const char *)from + i * sizeof value, sizeof value);                                                     \
        value = __builtin_bswap##bits(value);                                                                                    \
        memcpy((char *)to + i * sizeof value, &value, sizeof value);                                                             \
    }

/* count items of `atom` bytes, with their byte order reversed. */
static void swap(void *to, const void *from, uint64_t atom, uint64_t count)
{
    switch (atom) {
    case 2:
        SWAP_LOOP(16)
        break;
    case 4:
        SWAP_LOOP(32)
        break;
    case 8:
        SWAP_LOOP(64)
        break;
    default:
        g_assert_not_reached();
    }
}

static void copy_basic(const dome_file_item *item, void *to, const void *from, uint64_t count)
{
    int parts = item->kind == DOME_KIND_C64 || item->kind == DOME_KIND_C128 ? 2 : 1;
    if (swapped(item))
        swap(to, from, item->bytes / (uint64_t)parts, count * (uint64_t)parts);
    else if (count)
        memcpy(to, from, count * item->bytes);
}

void dome__item_pack(const dome_file_item *item, dome_type type, void *packed, const void *elements, uint64_t count)
{
    const dome_field *fields = type->fields;
    if (item->kind != DOME_KIND_STRUCT) {
        copy_basic(item, packed, elements, count);
        return;
    }
    for (uint64_t e = 0; e < count; e++)
        for (size_t i = 0; i < item->nfields; i++)
            dome__item_pack(&item->fields[i], fields[i].type, (char *)packed + e * item->bytes + item->fields[i].offset,
                            (const char *)elements + e * dome_type_size(type) + fields[i].offset, item->fields[i].count);
}

void dome__item_unpack(const dome_file_item *item, dome_type type, void *elements, const void *packed, uint64_t count)
{
    const dome_field *fields = type->fields;
    if (item->kind != DOME_KIND_STRUCT) {
        copy_basic(item, elements, packed, count);
        return;
    }
    for (uint64_t e = 0; e < count; e++)
        for (size_t i = 0; i < item->nfields; i++)
            dome__item_unpack(&item->fields[i], fields[i].type, (char *)elements + e * dome_type_size(type) + fields[i].offset,
                              (const char *)packed + e * item->bytes + item->fields[i].offset, item->fields[i].count);
}
