/* Files of dome_delta_save: whatever is in one is refused, or can be merged and applied within the memory that it names. The
 * checksums of the file and of the deltas in it are made right, or nothing else would be reached. */
#include "changes/changes.h"

#include "system/bytes.h"
#include "system/checksum.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 1 << 16, HEAD = 20, AREA = 20, NAME = 64 };

/* The head of one delta. */
static void mend_delta(uint8_t *at, size_t bytes)
{
    const unsigned unit = bytes >= DOME_DELTA_HEAD ? at[5] : 0;
    if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
        return;
    dome_delta *delta = dome__delta_new(unit);
    if (dome__delta_set_records(delta, at + DOME_DELTA_HEAD, bytes - DOME_DELTA_HEAD, UINT64_MAX / 2))
        dome__delta_head(delta, at);
    dome__delta_free(delta);
}

static void mend(uint8_t *file, size_t bytes)
{
    size_t at = HEAD;
    while (at + AREA <= bytes) {
        const uint64_t length = dome__get_u64(file + at + 12);
        at += AREA;
        if (length > bytes - at)
            break;
        mend_delta(file + at, length);
        at += length;
    }
    dome__put_u64(file + bytes, dome__checksum64(file, bytes));
}

static dome_changes *read_file(const uint8_t *file, size_t bytes)
{
    char name[NAME], *why = NULL;
    const int fd = memfd_create("fuzz_changes", MFD_CLOEXEC);
    if (fd < 0 || write(fd, file, bytes) != (ssize_t)bytes)
        abort();
    g_snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    dome_changes *changes = dome__changes_read(name, &why);
    close(fd);
    if (!changes == !why)
        abort();
    g_free(why);
    return changes;
}

/* As dome_delta_inject: into memory that has so many bytes. */
static void apply(const dome_change *change)
{
    if (change->bytes == 0 || change->bytes > MEMORY)
        return;
    char *memory = g_malloc0(change->bytes);
    dome_area *area = dome__area_new(memory, change->bytes, dome__delta_unit(change->delta));
    if (dome__area_fits(area, change->delta, change->skew)) {
        dome__area_apply(area, change->delta, change->skew, 0, change->bytes);
        dome__area_apply(area, change->delta, change->skew, change->bytes / 3, change->bytes / 2);
    }
    g_array_unref(area->wrote);
    g_free(area);
    g_free(memory);
}

static void check(const uint8_t *file, size_t bytes)
{
    dome_changes *first = read_file(file, bytes), *second = first ? read_file(file, bytes) : NULL;
    if (!first != !second)
        abort();
    if (!first)
        return;
    if (dome__changes_merge(first, second)) /* they are of the same memory */
        abort();
    for (guint k = 0; k < first->areas->len; k++) {
        const dome_change *a = g_ptr_array_index(first->areas, k), *b = g_ptr_array_index(second->areas, k);
        if (dome__delta_units(a->delta) != dome__delta_units(b->delta))
            abort();
        apply(a);
    }
    dome__changes_free(first);
    dome__changes_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file = g_malloc(size + 8);
    memcpy(file, data, size);
    mend(file, size);
    check(file, size + 8);
    check(data, size);
    g_free(file);
    return 0;
}
