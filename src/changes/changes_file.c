/* Files of changes: written in one step, read with all of it checked, merged. */
#include "changes/changes.h"

#include "system/bytes.h"
#include "system/checksum.h"

#include <string.h>

enum { SUM = 8, VERSION = 1 };

static const char magic[8] = "DOMECHNG";

static void free_change(gpointer change)
{
    dome__delta_free(((dome_change *)change)->delta);
    g_free(change);
}

dome_changes *dome__changes_new(uint32_t region)
{
    dome_changes *changes = g_new0(dome_changes, 1);
    changes->region = region;
    changes->areas = g_ptr_array_new_with_free_func(free_change);
    return changes;
}

void dome__changes_add(dome_changes *changes, uint64_t bytes, size_t skew, dome_delta *delta)
{
    dome_change *change = g_new(dome_change, 1);
    *change = (dome_change){bytes, skew, delta};
    g_ptr_array_add(changes->areas, change);
}

void dome__changes_free(dome_changes *changes)
{
    if (changes)
        g_ptr_array_free(changes->areas, TRUE);
    g_free(changes);
}

static GByteArray *encode(const dome_changes *changes)
{
    GByteArray *bytes = g_byte_array_new();
    dome__append_bytes(bytes, magic, sizeof magic);
    dome__append_u32(bytes, VERSION);
    dome__append_u32(bytes, changes->region);
    dome__append_u32(bytes, changes->areas->len);
    for (guint k = 0; k < changes->areas->len; k++) {
        const dome_change *change = g_ptr_array_index(changes->areas, k);
        uint8_t head[DOME_DELTA_HEAD];
        size_t length;
        const void *records = dome__delta_records(change->delta, &length);
        dome__delta_head(change->delta, head);
        dome__append_u64(bytes, change->bytes);
        dome__append_u32(bytes, (uint32_t)change->skew);
        dome__append_u64(bytes, length + sizeof head);
        dome__append_bytes(bytes, head, sizeof head);
        dome__append_bytes(bytes, records, length);
    }
    dome__append_u64(bytes, dome__checksum64(bytes->data, bytes->len));
    return bytes;
}

bool dome__changes_write(const dome_changes *changes, const char *file, char **why)
{
    GByteArray *bytes = encode(changes);
    GError *error = NULL;
    const bool written = g_file_set_contents(file, (const char *)bytes->data, bytes->len, &error);
    if (error)
        *why = g_strdup(error->message);
    g_clear_error(&error);
    g_byte_array_unref(bytes);
    return written;
}

/* NULL, or what is wrong. */
static const char *decode_area(dome_bytes *from, dome_changes *changes)
{
    const char *why = NULL;
    const uint64_t bytes = dome__read_u64(from);
    const uint32_t skew = dome__read_u32(from);
    const uint64_t length = dome__read_u64(from);
    const void *data = dome__read_bytes(from, length);
    if (from->bad || bytes > PTRDIFF_MAX / 2 || skew > UINT16_MAX * 16)
        return "it is damaged";
    dome_delta *delta = dome__delta_read(data, length, (bytes + skew + 511) / 512 * 512, &why);
    if (delta)
        dome__changes_add(changes, bytes, skew, delta);
    return why;
}

static const char *decode(dome_bytes *from, dome_changes *changes)
{
    const void *begin = dome__read_bytes(from, sizeof magic);
    if (!begin || memcmp(begin, magic, sizeof magic) != 0)
        return "it is no file of dome_delta_save";
    if (dome__read_u32(from) != VERSION)
        return "it is of a later version of Dome";
    changes->region = dome__read_u32(from);
    const char *why = NULL;
    for (uint32_t n = dome__read_u32(from); n > 0 && !why; n--)
        why = decode_area(from, changes);
    return why ? why : dome__read_all(from) ? NULL : "it is damaged";
}

dome_changes *dome__changes_read(const char *file, char **why)
{
    char *text = NULL;
    const char *wrong = NULL;
    gsize length = 0;
    GError *error = NULL;
    if (!g_file_get_contents(file, &text, &length, &error)) {
        *why = g_strdup(error->message);
        g_error_free(error);
        return NULL;
    }
    dome_changes *changes = dome__changes_new(0);
    if (length < SUM || dome__get_u64(text + length - SUM) != dome__checksum64(text, length - SUM)) {
        wrong = "it is damaged, or no file of dome_delta_save";
    } else {
        dome_bytes from = dome__bytes_of(text, length - SUM);
        wrong = decode(&from, changes);
    }
    g_free(text);
    if (!wrong)
        return changes;
    *why = g_strdup_printf("%s: %s", file, wrong);
    dome__changes_free(changes);
    return NULL;
}

const char *dome__changes_merge(dome_changes *into, const dome_changes *more)
{
    if (into->region != more->region)
        return "they are of different starts";
    bool alike = into->areas->len == more->areas->len;
    for (guint k = 0; alike && k < into->areas->len; k++) {
        const dome_change *a = g_ptr_array_index(into->areas, k), *b = g_ptr_array_index(more->areas, k);
        alike = a->bytes == b->bytes && a->skew == b->skew && dome__delta_unit(a->delta) == dome__delta_unit(b->delta);
    }
    if (!alike)
        return "they are of other memory";
    for (guint k = 0; k < into->areas->len; k++) {
        dome_change *a = g_ptr_array_index(into->areas, k);
        const dome_change *b = g_ptr_array_index(more->areas, k);
        dome_delta *both = dome__delta_new(dome__delta_unit(a->delta));
        dome__delta_merge(both, a->delta, b->delta, NULL, NULL);
        dome__delta_free(a->delta);
        a->delta = both;
    }
    return NULL;
}
