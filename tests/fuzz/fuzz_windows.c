/* The deltas of a window of a checkpoint: whatever the bytes are, they are refused in words or change blocks of the window alone.
 * The first byte chooses the object, and whether the checksum is put right, so that the parts behind it are reached. */
#include "delta/delta.h"
#include "store/windows.h"
#include "system/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 16 };

static void require_at(bool so, int line)
{
    if (!so) {
        fprintf(stderr, "fuzz_windows.c:%d: it is not so\n", line);
        abort();
    }
}
#define require(so) require_at(so, __LINE__)

/* Objects of values with 1, 2, 4 and 8 bytes. */
static dome_ckpt *describe(void)
{
    const dome_type types[] = {DOME_U8, DOME_I16, DOME_F32, DOME_F64};
    dome_ckpt *ckpt = dome__ckpt_new("fuzz", 2, 1);
    char *message = NULL;
    for (size_t k = 0; k < G_N_ELEMENTS(types); k++) {
        char name[] = {(char)('a' + k), 0};
        const dome_ckpt_description d = {.name = name,
                                         .kind = "dvec",
                                         .type = types[k],
                                         .length = 5 * BLOCK + 3,
                                         .width = 1 + k % 2 * 3,
                                         .distribution = DOME_DYNAMIC,
                                         .block_size = BLOCK,
                                         .fixed = true};
        require(dome__ckpt_add_object(ckpt, &d, &message));
    }
    dome__ckpt_make_table(ckpt);
    return ckpt;
}

/* The checksum that these bytes would have if they were what they look like. */
static dome_checksum seal(const uint8_t *data, size_t size)
{
    dome_bytes from = dome__bytes_of(data, size);
    dome_checksumming *summing = dome__checksum_begin();
    while (from.at < from.end && !from.bad) {
        const uint8_t *begin = from.at;
        dome__read_leb128(&from);
        dome__read_bytes(&from, dome__read_leb128(&from));
        const dome_checksum sum = dome__checksum(begin, (size_t)(from.at - begin));
        dome__checksum_add(summing, sum.bytes, sizeof sum.bytes);
    }
    return dome__checksum_end(summing);
}

static void check(const dome_ckpt *ckpt, const dome_ckpt_object *object, const GArray *changes)
{
    uint64_t last = 0;
    dome_delta *delta = dome__delta_new(dome__ckpt_delta_unit(ckpt, object));
    for (guint i = 0; i < changes->len; i++) {
        const dome_ckpt_change *c = &g_array_index(changes, dome_ckpt_change, i);
        require(c->block < object->blocks && (i == 0 || c->block > last) && c->bytes > 0);
        const uint64_t length = dome__ckpt_entry(ckpt, object, c->block)->length;
        uint8_t *block = calloc(1, length); /* exactly as long, for the sanitizer */
        require(dome__delta_set_records(delta, c->records, c->bytes, length) && dome__delta_apply(delta, block, length, NULL));
        free(block);
        last = c->block;
    }
    dome__delta_free(delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    dome_ckpt *ckpt = describe();
    dome_ckpt_window w = {.object = data[0] >> 1 & 3, .bytes = size - 1};
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, w.object);
    uint8_t *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    bytes = realloc(bytes, MAX(size - 1, 1));
    if (data[0] & 1)
        w.sum = seal(bytes, size - 1);
    const char *reason = NULL;
    GArray *changes = dome__ckpt_window_changes(ckpt, &w, bytes, &reason);
    require((changes == NULL) == (reason != NULL) && (!reason || !strchr(reason, '\n')));
    if (changes) {
        check(ckpt, object, changes);
        g_array_unref(changes);
    }
    free(bytes);
    dome__ckpt_free(ckpt);
    return 0;
}
