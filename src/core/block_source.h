/* A checkpoint's values of one object, which the object may read when it needs them (the slot `load`). */
#ifndef DOME_SRC_CORE_BLOCK_SOURCE_H
#define DOME_SRC_CORE_BLOCK_SOURCE_H

#include <dome/structure.h>

/* Takes the DOME_PORTABLE values of a block. */
typedef void dome_block_take(void *ctx, uint64_t block, const void *values);

struct dome_block_source {
    /* Gives these blocks to `take`, in their order. Any thread may call it, in a signal handler too, at the same time as others.
     * Returns only if all have been read and are what was written: otherwise the program ends. */
    void (*read)(dome_block_source *source, dome_span blocks, dome_block_take *take, void *ctx);

    void (*free)(dome_block_source *source);
};

#endif
