/* A task's copy of its part of the state for a checkpoint: runs of blocks in one buffer, converted to the bytes that go into the
 * file. */
#ifndef DOME_SRC_CKPT_SNAPSHOT_H
#define DOME_SRC_CKPT_SNAPSHOT_H

#include "memory/frozen.h"
#include "store/format.h"

typedef struct dome_ckpt_block {
    uint64_t at, bytes; /* in the buffer: first as copied, then in the form of the file */
    uint64_t offset;    /* in the file; 0: an earlier file holds the block */
    uint64_t early;     /* the offset at which it was written before its checksum was known; 0: not written early */
    dome_checksum sum;
} dome_ckpt_block;

/* A run of blocks of one object. */
typedef struct dome_ckpt_run {
    uint64_t object; /* number in the description */
    uint64_t first, count;
    dome_type type; /* of the values as they were in memory; NULL: already in portable form */
    guint blocks;   /* index of its first block */
} dome_ckpt_run;

/* Values that are not in the buffer yet. */
typedef struct dome_ckpt_later {
    const void *from;
    uint64_t at, bytes; /* in the buffer */
} dome_ckpt_later;

typedef struct dome_ckpt_snapshot {
    char *buffer; /* kept from one checkpoint to the next */
    uint64_t room, used;
    GArray *runs, *blocks; /* dome_ckpt_run, dome_ckpt_block */
    GArray *later;         /* dome_ckpt_later: values as they are in `frozen` */
    dome_frozen frozen;
    const char *unreadable; /* why a frozen memory could not be read, once; static. NULL: it could */
    char *problem;          /* why the state cannot be saved now; NULL: no reason */
} dome_ckpt_snapshot;

void dome__ckpt_snapshot_init(dome_ckpt_snapshot *snapshot);
void dome__ckpt_snapshot_empty(dome_ckpt_snapshot *snapshot);
void dome__ckpt_snapshot_free(dome_ckpt_snapshot *snapshot);

/* Returns room for so many more bytes, 16-byte aligned; NULL without memory. Earlier contents may move. */
void *dome__ckpt_snapshot_room(dome_ckpt_snapshot *snapshot, uint64_t bytes);

/* The same without alignment: behind what is there. */
void *dome__ckpt_snapshot_append(dome_ckpt_snapshot *snapshot, uint64_t bytes);

/* Notes values that are to be copied into this room later. */
void dome__ckpt_snapshot_later(dome_ckpt_snapshot *snapshot, void *room, const void *from, uint64_t bytes);

/* Keeps these values as they are now without copying them. If that is not possible they are copied now: false, with *why, a
 * static text. */
bool dome__ckpt_snapshot_freeze(dome_ckpt_snapshot *snapshot, const char **why);

/* Copies the values that were kept, and ends keeping them. In the thread, before all else. */
void dome__ckpt_snapshot_fetch(dome_ckpt_snapshot *snapshot);

/* Allocates and touches so many bytes for an empty snapshot. Does nothing if there is no memory. */
void dome__ckpt_snapshot_reserve(dome_ckpt_snapshot *snapshot, uint64_t bytes);

/* The bytes that a block of a run has in the file, before it is converted. */
uint64_t dome__ckpt_snapshot_portable_bytes(const dome_ckpt_snapshot *snapshot, const dome_ckpt_run *run, uint64_t k);

/* Converts all blocks in place to their portable form, which is never longer, and computes their checksums. `converted`, if not
 * NULL, is called for each block while the block is in the cache. */
void dome__ckpt_snapshot_convert(dome_ckpt_snapshot *snapshot, void (*converted)(void *ctx, dome_ckpt_block *block), void *ctx);

#endif
