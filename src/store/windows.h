/* Checkpoints of deltas: they say, window by window, what differs from the checkpoint before (docs/checkpoint-format.md). Pure
 * functions on memory.
 *
 * A window of an object whose blocks are fixed has a delta for each block that has changed: its number in the window, the bytes
 * of the records, and the records (delta/delta.h) that make the block from what it was. A block of any other object is a window
 * of its own, whose bytes are those of the block. */
#ifndef DOME_SRC_STORE_WINDOWS_H
#define DOME_SRC_STORE_WINDOWS_H

#include "store/format.h"

/* Windows that a checkpoint of deltas can have. */
enum { DOME_CKPT_WINDOWS_MAX = 1 << 24 };

/* Blocks of one window of the object; how many windows it has; which one a block is in. */
uint64_t dome__ckpt_window_blocks(const dome_ckpt *ckpt, const dome_ckpt_object *object);
uint64_t dome__ckpt_windows(const dome_ckpt *ckpt, const dome_ckpt_object *object);

/* The window that this checkpoint of deltas has for a block; NULL: it has none. */
const dome_ckpt_window *dome__ckpt_window_of(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block);

/* The unit of the deltas of an object: its values have a multiple of so many bytes. */
unsigned dome__ckpt_delta_unit(const dome_ckpt *ckpt, const dome_ckpt_object *object);

/* Whether a block is not what its entry says, because deltas belong to it. */
static inline bool dome__ckpt_is_patched(const dome_ckpt *ckpt, const dome_ckpt_entry *entry)
{
    return ckpt->patched && ckpt->patched[entry - ckpt->table];
}

/* ---- writing ---- */

/* What a checkpoint of deltas has for a block: its delta with number and length before it, or the whole block. */
typedef struct dome_ckpt_segment {
    uint64_t bytes;    /* DOME_CKPT_SAME: nothing */
    uint64_t offset;   /* in the file, after planning; DOME_CKPT_SAME: 0 */
    dome_checksum sum; /* of the bytes */
} dome_ckpt_segment;

#define DOME_CKPT_SAME UINT64_MAX

/* What stands before the records of a block. Returns the bytes written, DOME_CKPT_SEGMENT_HEAD at most. */
enum { DOME_CKPT_SEGMENT_HEAD = 20 };
size_t dome__ckpt_segment_head(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block, size_t records,
                               uint8_t *to);

/* Whether `ckpt`, described, can be a checkpoint of deltas behind `previous`: it has the same objects, and the chain is not too
 * long. */
bool dome__ckpt_takes_deltas(const dome_ckpt *ckpt, const dome_ckpt *previous);

/* Plans a checkpoint of deltas: sets its windows, and the offset of each segment (by entry). The table has the lengths and
 * checksums of all blocks whose segment is not DOME_CKPT_SAME. */
bool dome__ckpt_plan_deltas(dome_ckpt *ckpt, const dome_ckpt *previous, dome_ckpt_segment *segments, char **message);

/* Bytes of the files of the chain that ends with this one. */
uint64_t dome__ckpt_chain_bytes(const dome_ckpt *ckpt);

/* The number of the checkpoint with a table before the chain; bytes of the deltas that this one has for an object. */
uint64_t dome__ckpt_chain_start(const dome_ckpt *ckpt);
uint64_t dome__ckpt_delta_bytes(const dome_ckpt *ckpt, const dome_ckpt_object *object);

/* Makes a checkpoint with a table of it again, which is still to be planned. */
void dome__ckpt_drop_windows(dome_ckpt *ckpt);

/* ---- where the bytes are ---- */

/* Sets sources and offsets in the table of a planned checkpoint of deltas, which has the checksums of all blocks, and which
 * blocks are patched: so the next one can be planned. */
void dome__ckpt_inherit(dome_ckpt *ckpt, const dome_ckpt *previous, const dome_ckpt_segment *segments);

/* Enters the windows of `of`, this checkpoint or one before it in the chain, into the table. */
void dome__ckpt_enter_windows(dome_ckpt *ckpt, const dome_ckpt *of);

/* Whether the objects, with their types, are the same. */
bool dome__ckpt_same_objects(const dome_ckpt *a, const dome_ckpt *b);

/* ---- reading ---- */

/* A delta in a window. */
typedef struct dome_ckpt_change {
    uint64_t block; /* of the object */
    const uint8_t *records;
    size_t bytes;
} dome_ckpt_change;

/* The deltas of a window, checked, whose bytes these are: an array of dome_ckpt_change, which refers to the bytes,
 * g_array_unref'd by the caller. NULL: they are damaged; *reason is a static text then. */
GArray *dome__ckpt_window_changes(const dome_ckpt *ckpt, const dome_ckpt_window *window, const void *bytes, const char **reason);

#endif
