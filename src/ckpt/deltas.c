#include "ckpt/deltas.h"

#include "delta/delta.h"
#include "store/store.h"
#include "store/windows.h"
#include "system/unconst.h"

#include <string.h>

/* Deltas that have more than this part of the blocks' bytes are given up, but not before so many bytes have been looked at. */
static const uint64_t PART = 2, LOOKED_LEAST = (uint64_t)4 << 20;

/* A longer block is not read again: its delta is all of it. */
static const uint64_t BLOCK_MOST = (uint64_t)64 << 20;

typedef struct making {
    dome_ckpt_snapshot *deltas;
    const dome_ckpt_snapshot *snapshot;
    dome_ckpt_file *file;
    dome_delta *delta;
    const dome_ckpt_object *object;
    const dome_ckpt_run *run;
    uint64_t looked; /* bytes of blocks */
    char *buffer;
    uint64_t room;
    void (*get_on)(void *ctx);
    void *ctx;
} making;

static const dome_ckpt_block *block_of(const making *m, uint64_t block)
{
    return &g_array_index(m->snapshot->blocks, dome_ckpt_block, m->run->blocks + (block - m->run->first));
}

/* Adds what the file of deltas gets for the next block; bytes DOME_CKPT_SAME: nothing. */
static bool add(making *m, const void *head, size_t head_bytes, const void *data, uint64_t bytes)
{
    dome_ckpt_block b = {.at = m->deltas->used, .bytes = bytes};
    if (bytes != DOME_CKPT_SAME) {
        b.bytes = head_bytes + bytes;
        char *to = b.bytes > 0 ? dome__ckpt_snapshot_append(m->deltas, b.bytes) : NULL;
        if (!to && b.bytes > 0)
            return false;
        if (head_bytes > 0)
            memcpy(to, head, head_bytes);
        if (bytes > 0)
            memcpy(to + head_bytes, data, (size_t)bytes);
        b.sum = dome__checksum(to, (size_t)b.bytes);
    }
    g_array_append_val(m->deltas->blocks, b);
    return true;
}

static bool add_same(making *m)
{
    return add(m, NULL, 0, NULL, DOME_CKPT_SAME);
}

/* Adds the delta, made of a block. */
static bool add_delta(making *m, uint64_t block)
{
    uint8_t head[DOME_CKPT_SEGMENT_HEAD];
    size_t bytes;
    const void *records = dome__delta_records(m->delta, &bytes);
    if (bytes == 0)
        return add_same(m);
    const size_t head_bytes = dome__ckpt_segment_head(dome__ckpt_head(m->file), m->object, block, bytes, head);
    return add(m, head, head_bytes, records, bytes);
}

/* Whether it pays so far, or cannot be said yet. */
static bool pays(const making *m)
{
    return m->looked < LOOKED_LEAST || m->deltas->used <= m->looked / PART;
}

static bool take_before(void *ctx, uint64_t block, const void *bytes, uint64_t length, char **message)
{
    making *m = ctx;
    const dome_ckpt_block *now = block_of(m, block);
    dome__delta_clear(m->delta);
    dome__delta_find(m->delta, 0, m->snapshot->buffer + now->at, dome__unconst(bytes), (size_t)length, 0); /* only compares */
    m->looked += length;
    return (add_delta(m, block) && pays(m)) || dome__ckpt_refuse(message, "%s", "");
}

/* ---- one run ---- */

/* Whether the block before is known to be the same. */
static bool is_same(const making *m, uint64_t block)
{
    const dome_ckpt *head = dome__ckpt_head(m->file);
    const dome_ckpt_entry *e = dome__ckpt_entry(head, m->object, block);
    const dome_ckpt_block *now = block_of(m, block);
    return !dome__ckpt_is_patched(head, e) && e->length == now->bytes && dome__checksum_equal(&e->sum, &now->sum);
}

static bool is_read(const making *m, uint64_t block)
{
    return !is_same(m, block) && block_of(m, block)->bytes <= BLOCK_MOST;
}

static bool add_unread(making *m, uint64_t block)
{
    const dome_ckpt_block *now = block_of(m, block);
    const char *bytes = m->snapshot->buffer + now->at;
    if (is_same(m, block))
        return add_same(m);
    m->looked += now->bytes;
    if (!m->object->fixed)
        return add(m, NULL, 0, bytes, now->bytes) && pays(m);
    dome__delta_clear(m->delta);
    dome__delta_add(m->delta, 0, bytes, (size_t)now->bytes);
    return add_delta(m, block) && pays(m);
}

static bool make_room(making *m, uint64_t bytes)
{
    if (bytes <= m->room)
        return true;
    g_free(m->buffer);
    m->buffer = g_try_malloc((gsize)bytes);
    m->room = m->buffer ? bytes : 0;
    return m->buffer != NULL;
}

/* Blocks that are read again. Returns false, without a message, if the deltas are given up. */
static bool read_blocks(making *m, dome_span blocks, char **message)
{
    uint64_t longest = DOME_CKPT_READ;
    for (uint64_t b = blocks.first; b < blocks.first + blocks.count; b++)
        longest = MAX(longest, block_of(m, b)->bytes);
    if (!make_room(m, longest))
        return false;
    const dome_ckpt_taker taker = {m->buffer, m->room, take_before, m};
    const bool good = dome__ckpt_read_run(m->file, m->object, blocks, &taker, message);
    if (!good && *message && !**message)
        g_clear_pointer(message, g_free);
    return good;
}

/* Whether the run is one of the same object in the checkpoint before. */
static bool fits(const making *m)
{
    const dome_ckpt *head = dome__ckpt_head(m->file);
    bool good = m->object && m->run->first <= m->object->blocks && m->run->count <= m->object->blocks - m->run->first;
    for (uint64_t b = m->run->first; good && m->object->fixed && b < m->run->first + m->run->count; b++)
        good = dome__ckpt_entry(head, m->object, b)->length == block_of(m, b)->bytes;
    return good;
}

static bool make_run(making *m, char **message)
{
    enum { MOST = 1024 }; /* blocks until it is said that the task gets on */
    const uint64_t end = m->run->first + m->run->count;
    bool good = fits(m) || dome__ckpt_refuse(message, "the checkpoint before is another one than it was");
    if (good && m->object->fixed)
        m->delta = dome__delta_new(dome__ckpt_delta_unit(dome__ckpt_head(m->file), m->object));
    for (uint64_t b = m->run->first, n; good && b < end; b += n) {
        for (n = 0; m->object->fixed && n < MOST && b + n < end && is_read(m, b + n);)
            n++;
        good = n > 0 ? read_blocks(m, (dome_span){b, n}, message) : add_unread(m, b);
        n = MAX(n, 1);
        dome__store_got_on();
        if (m->get_on)
            m->get_on(m->ctx);
    }
    g_clear_pointer(&m->delta, dome__delta_free);
    return good;
}

void dome__ckpt_make_deltas(dome_ckpt_snapshot *deltas, const dome_ckpt_snapshot *snapshot, const char *previous,
                            void (*get_on)(void *ctx), void *ctx)
{
    making m = {.deltas = deltas, .snapshot = snapshot, .get_on = get_on, .ctx = ctx};
    m.file = dome__ckpt_open(previous, &deltas->problem);
    bool good = m.file != NULL;
    for (guint i = 0; good && i < snapshot->runs->len; i++) {
        m.run = &g_array_index(snapshot->runs, dome_ckpt_run, i);
        m.object = dome__ckpt_object(dome__ckpt_head(m.file), m.run->object);
        good = make_run(&m, &deltas->problem);
    }
    if (!good)
        g_array_set_size(deltas->blocks, 0);
    g_free(m.buffer);
    dome__ckpt_close(m.file);
}
