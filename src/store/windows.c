#include "store/windows.h"

#include "delta/delta.h"
#include "store/format_private.h"
#include "system/bytes.h"

#include <string.h>

/* ---- windows ---- */

uint64_t dome__ckpt_window_blocks(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    const uint64_t most = UINT64_C(1) << 20; /* bytes */
    if (!object->fixed || object->block_size == 0 || object->blocks == 0)
        return 1;
    const uint64_t bytes = dome__ckpt_fixed_length(ckpt, object, 0);
    uint64_t blocks = 1;
    while (bytes > 0 && blocks * 2 <= most / bytes)
        blocks *= 2;
    return blocks;
}

uint64_t dome__ckpt_windows(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    const uint64_t blocks = dome__ckpt_window_blocks(ckpt, object);
    return object->blocks / blocks + (object->blocks % blocks != 0);
}

static uint64_t number_of(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    return (uint64_t)(object - dome__ckpt_object(ckpt, 0));
}

static int compare_windows(const dome_ckpt_window *w, uint64_t object, uint64_t window)
{
    if (w->object != object)
        return w->object < object ? -1 : 1;
    return w->window == window ? 0 : w->window < window ? -1 : 1;
}

const dome_ckpt_window *dome__ckpt_window_of(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block)
{
    const uint64_t number = number_of(ckpt, object), window = block / dome__ckpt_window_blocks(ckpt, object);
    guint first = 0, end = ckpt->windows ? ckpt->windows->len : 0;
    while (first < end) {
        const guint middle = first + (end - first) / 2;
        const dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, middle);
        const int order = compare_windows(w, number, window);
        if (order == 0)
            return w;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

unsigned dome__ckpt_delta_unit(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    const uint64_t bytes = dome__ckpt_type_bytes(ckpt, object->type);
    return bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

/* ---- planning ---- */

size_t dome__ckpt_segment_head(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block, size_t records, uint8_t *to)
{
    uint8_t *end = dome__put_leb128(to, block % dome__ckpt_window_blocks(ckpt, object));
    return (size_t)(dome__put_leb128(end, records) - to);
}

bool dome__ckpt_takes_deltas(const dome_ckpt *ckpt, const dome_ckpt *previous)
{
    return strcmp(previous->program, ckpt->program) == 0 && previous->number < ckpt->number && previous->pieces == 0 &&
           ckpt->pieces == 0 && previous->chain < DOME_CKPT_CHAIN_MAX && dome__ckpt_same_objects(ckpt, previous);
}

/* Adds a window if any of its blocks has a segment; *offset: where its bytes begin. */
static bool plan_window(dome_ckpt *ckpt, const dome_ckpt_object *object, dome_span blocks, dome_ckpt_segment *segments,
                        uint64_t *offset)
{
    dome_ckpt_window w = {.object = number_of(ckpt, object), .offset = *offset};
    w.window = blocks.first / dome__ckpt_window_blocks(ckpt, object);
    dome_checksumming *sum = NULL, *result = NULL;
    for (uint64_t b = blocks.first; b < blocks.first + blocks.count; b++) {
        dome_ckpt_segment *s = &segments[object->first_entry + b];
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        if (s->bytes == DOME_CKPT_SAME)
            continue;
        if (!sum) {
            sum = dome__checksum_begin();
            result = dome__checksum_begin();
        }
        dome__checksum_add(sum, s->sum.bytes, sizeof s->sum.bytes);
        dome__checksum_add(result, e->sum.bytes, sizeof e->sum.bytes);
        s->offset = *offset;
        w.bytes += s->bytes;
        *offset += s->bytes;
        w.sum = s->sum; /* of a window that is one block as it is */
        w.result = e->sum;
    }
    if (!sum)
        return true;
    const dome_checksum of_deltas = dome__checksum_end(sum), of_blocks = dome__checksum_end(result);
    if (object->fixed) {
        w.sum = of_deltas;
        w.result = of_blocks;
    }
    g_array_append_val(ckpt->windows, w);
    return ckpt->windows->len <= DOME_CKPT_WINDOWS_MAX;
}

/* Offsets are counted from the end of the head, whose length is known when all windows are. */
static bool plan_windows(dome_ckpt *ckpt, dome_ckpt_segment *segments, uint64_t *bytes)
{
    bool good = true;
    *bytes = 0;
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        const uint64_t step = dome__ckpt_window_blocks(ckpt, object);
        for (uint64_t b = 0; b < object->blocks && good; b += step)
            good = plan_window(ckpt, object, (dome_span){b, MIN(step, object->blocks - b)}, segments, bytes);
    }
    return good;
}

bool dome__ckpt_plan_deltas(dome_ckpt *ckpt, const dome_ckpt *previous, dome_ckpt_segment *segments, char **message)
{
    uint64_t bytes;
    dome__ckpt_drop_windows(ckpt);
    g_array_set_size(ckpt->earlier, 0);
    g_array_append_vals(ckpt->earlier, previous->earlier->data, previous->earlier->len);
    const dome_ckpt_earlier before = {previous->number, previous->file_bytes, previous->sum};
    g_array_append_val(ckpt->earlier, before);
    ckpt->windows = g_array_new(FALSE, TRUE, sizeof(dome_ckpt_window));
    ckpt->chain = previous->chain + 1;
    if (!plan_windows(ckpt, segments, &bytes))
        return dome__ckpt_refuse(message, "cannot hold so many deltas");
    ckpt->head_bytes = dome__ckpt_count_head(ckpt);
    if (ckpt->head_bytes == 0)
        return dome__ckpt_refuse(message, "cannot hold a directory of more than 2^32 bytes");
    ckpt->file_bytes = ckpt->head_bytes + bytes;
    for (guint i = 0; i < ckpt->windows->len; i++)
        g_array_index(ckpt->windows, dome_ckpt_window, i).offset += ckpt->head_bytes;
    for (uint64_t i = 0; i < ckpt->entries; i++)
        segments[i].offset = segments[i].bytes == DOME_CKPT_SAME ? 0 : segments[i].offset + ckpt->head_bytes;
    return true;
}

uint64_t dome__ckpt_chain_bytes(const dome_ckpt *ckpt)
{
    uint64_t bytes = ckpt->chain > 0 ? ckpt->file_bytes : 0;
    for (guint k = 1; k < ckpt->chain; k++)
        bytes += g_array_index(ckpt->earlier, dome_ckpt_earlier, ckpt->earlier->len - k).file_bytes;
    return bytes;
}

uint64_t dome__ckpt_chain_start(const dome_ckpt *ckpt)
{
    return ckpt->chain > 0 ? g_array_index(ckpt->earlier, dome_ckpt_earlier, ckpt->earlier->len - ckpt->chain).number
                           : ckpt->number;
}

uint64_t dome__ckpt_delta_bytes(const dome_ckpt *ckpt, const dome_ckpt_object *object)
{
    const uint64_t number = number_of(ckpt, object);
    uint64_t bytes = 0;
    for (guint i = 0; ckpt->windows && object->fixed && i < ckpt->windows->len; i++) {
        const dome_ckpt_window *w = &g_array_index(ckpt->windows, dome_ckpt_window, i);
        bytes += w->object == number ? w->bytes : 0;
    }
    return bytes;
}

void dome__ckpt_drop_windows(dome_ckpt *ckpt)
{
    if (ckpt->windows)
        g_array_unref(ckpt->windows);
    ckpt->windows = NULL;
    g_clear_pointer(&ckpt->patched, g_free);
    ckpt->chain = 0;
}

/* ---- where the bytes are ---- */

static void enter_window(dome_ckpt *ckpt, const dome_ckpt *of, const dome_ckpt_window *w)
{
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, w->object);
    const uint64_t step = dome__ckpt_window_blocks(ckpt, object), first = w->window * step;
    if (object->fixed)
        memset(ckpt->patched + object->first_entry + first, DOME_CKPT_PATCHED_BEFORE, (size_t)MIN(step, object->blocks - first));
    else
        *dome__ckpt_entry(ckpt, object, first) = (dome_ckpt_entry){of->number, w->offset, w->bytes, w->sum};
}

void dome__ckpt_enter_windows(dome_ckpt *ckpt, const dome_ckpt *of)
{
    if (!ckpt->patched)
        ckpt->patched = g_malloc0((gsize)ckpt->entries + 1);
    for (guint i = 0; i < of->windows->len; i++)
        enter_window(ckpt, of, &g_array_index(of->windows, dome_ckpt_window, i));
}

static void inherit_block(dome_ckpt *ckpt, const dome_ckpt *previous, bool fixed, uint64_t entry,
                          const dome_ckpt_segment *segment)
{
    dome_ckpt_entry *e = &ckpt->table[entry];
    const bool changed = segment->bytes != DOME_CKPT_SAME;
    const uint8_t before = previous->patched ? previous->patched[entry] : DOME_CKPT_UNPATCHED;
    ckpt->patched[entry] = changed && fixed ? DOME_CKPT_PATCHED_HERE : before;
    e->source = changed && !fixed ? ckpt->number : previous->table[entry].source;
    e->offset = changed && !fixed ? segment->offset : previous->table[entry].offset;
}

void dome__ckpt_inherit(dome_ckpt *ckpt, const dome_ckpt *previous, const dome_ckpt_segment *segments)
{
    g_free(ckpt->patched);
    ckpt->patched = g_malloc0((gsize)ckpt->entries + 1);
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        for (uint64_t k = object->first_entry; k < object->first_entry + object->blocks; k++)
            inherit_block(ckpt, previous, object->fixed, k, &segments[k]);
    }
}

/* ---- reading ---- */

/* Reads the next delta of a window, and adds the checksum of its bytes. */
static bool next_change(dome_bytes *from, dome_checksumming *summing, uint64_t *index, dome_ckpt_change *change)
{
    const uint8_t *begin = from->at;
    *index = dome__read_leb128(from);
    change->bytes = (size_t)dome__read_leb128(from);
    change->records = dome__read_bytes(from, change->bytes);
    if (from->bad)
        return false;
    const dome_checksum sum = dome__checksum(begin, (size_t)(from->at - begin));
    dome__checksum_add(summing, sum.bytes, sizeof sum.bytes);
    return true;
}

/* The deltas as they stand in the bytes; NULL: they are damaged. */
static GArray *split(const dome_ckpt *ckpt, const dome_ckpt_window *w, const void *bytes)
{
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, w->object);
    const uint64_t step = dome__ckpt_window_blocks(ckpt, object), first = w->window * step;
    const uint64_t blocks = MIN(step, object->blocks - first);
    dome_bytes from = dome__bytes_of(bytes, w->bytes);
    dome_checksumming *summing = dome__checksum_begin();
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_change));
    bool good = true;
    for (uint64_t least = 0, index; good && from.at < from.end; least = index + 1) {
        dome_ckpt_change change;
        good = next_change(&from, summing, &index, &change) && index >= least && index < blocks && change.bytes > 0;
        change.block = first + (good ? index : 0);
        g_array_append_val(changes, change);
    }
    const dome_checksum sum = dome__checksum_end(summing);
    if (good && dome__checksum_equal(&sum, &w->sum))
        return changes;
    g_array_unref(changes);
    return NULL;
}

GArray *dome__ckpt_window_changes(const dome_ckpt *ckpt, const dome_ckpt_window *w, const void *bytes, const char **reason)
{
    const dome_ckpt_object *object = dome__ckpt_object(ckpt, w->object);
    GArray *changes = split(ckpt, w, bytes);
    if (!changes) {
        *reason = "its deltas are damaged (checksum differs)";
        return NULL;
    }
    dome_delta *delta = dome__delta_new(dome__ckpt_delta_unit(ckpt, object));
    bool good = true;
    for (guint i = 0; good && i < changes->len; i++) {
        const dome_ckpt_change *c = &g_array_index(changes, dome_ckpt_change, i);
        good = dome__delta_set_records(delta, c->records, c->bytes, dome__ckpt_fixed_length(ckpt, object, c->block));
    }
    dome__delta_free(delta);
    if (good)
        return changes;
    *reason = "its deltas make no sense";
    g_array_unref(changes);
    return NULL;
}
