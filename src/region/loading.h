/* A region that gets its values from a checkpoint while the program goes on: units are read when they are first touched, and a
 * thread of each task reads the others.
 *
 *     setup.shared = ...dome__loading_bytes(&setup)...                       // zeros, one for all tasks of a member
 *     loading = dome__loading_new(&setup);                                   // on the member's first task: `first`
 *     ...                                                                    // all tasks of the member have come here
 *     dome__loading_start(loading);
 *     dome__loading_want(loading, offset, bytes);                            // now these values are in the memory
 *     dome__loading_finish(loading);                                         // now all of this task's share are
 *     dome__loading_free(loading);
 *
 * A unit is read into a buffer, and copied to the memory only if no thread of the member's tasks has done so by then: from that
 * moment on the program may write it. A task that is killed meanwhile leaves it to the others. */
#ifndef DOME_SRC_REGION_LOADING_H
#define DOME_SRC_REGION_LOADING_H

#include "core/block_source.h"
#include "memory/memory.h"

typedef struct dome_loading dome_loading;

typedef struct dome_loading_setup {
    dome_block_source *source;
    dome_memory *memory, *shared;
    dome_type type;
    uint64_t length, width, block; /* elements; values of one; elements of a block, without the last */
    uint64_t unit, units;          /* bytes of a unit: whole pages; number */
    dome_span shares[2];           /* blocks that this task's thread reads */
    int nshares;
    bool first;                                    /* of the tasks that have `shared` */
    bool (*skips)(const void *ctx, uint64_t unit); /* with `first`: this unit's values are with others. NULL: none */
    const void *ctx;
} dome_loading_setup;

/* Bytes of memory that the tasks of a member need for it. */
uint64_t dome__loading_bytes(const dome_loading_setup *setup);

/* Takes over source and shared. */
dome_loading *dome__loading_new(const dome_loading_setup *setup);

/* The pages of `memory` have no rights from now on, until all values are there: a page gets its right when it is touched. Call it
 * before dome__loading_start. Returns NULL, or why not: a static text. */
const char *dome__loading_rule(dome_loading *loading);

/* Begins to read this task's share. */
void dome__loading_start(dome_loading *loading);

/* Waits until this part of the memory has its values, and, if pages have rights, gives them. Any thread may call it. */
void dome__loading_want(dome_loading *loading, uint64_t first, uint64_t bytes);

/* Waits until this task's share has its values. */
void dome__loading_finish(dome_loading *loading);

/* The checksum of a block's values in memory, as they were read; 0: nobody knows. Known of all blocks whose values are there. */
uint64_t dome__loading_sum(const dome_loading *loading, uint64_t block);

/* Before the memory is freed. Values that are not there yet are not read any more. NULL is allowed. */
void dome__loading_free(dome_loading *loading);

#endif
