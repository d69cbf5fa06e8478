/* The typed heap: its blocks in the order in which they were allocated, and the way from an address to a block. Short blocks lie
 * in slabs (slabs.h); others are of malloc, with what is known of them before their memory. */
#ifndef DOME_SRC_HEAP_HEAP_H
#define DOME_SRC_HEAP_HEAP_H

#include "heap/dangling.h"
#include "heap/lent.h"
#include "heap/own_layouts.h"
#include "heap/slabs.h"
#include "heap/type_layout.h"

#include <glib.h>

typedef struct dome_capture_block {
    void *memory;
    const dome_capture_layout *layout; /* of an element */
    uint64_t serial;                   /* 1, 2, ...: a block's name in the image */
    size_t bytes;
} dome_capture_block;

typedef struct dome_capture_long_blocks {
    struct dome_capture_head *first, *last; /* in the order in which they were allocated */
    GPtrArray *restored;                    /* arrays of RESTORED_TOGETHER dome_capture_block, for a restart */
    size_t restored_count;
} dome_capture_long_blocks;

/* The heap of the program. Each part belongs to the file of its name; of the other members `serial` is set at a restart, too. */
typedef struct dome_capture_heap {
    dome_capture_block *blocks;           /* by serial: those of the last dome__capture_heap_index */
    size_t count;                         /* blocks now */
    uint64_t serial;                      /* of the newest block */
    uint64_t saved;                       /* the image has no blocks with higher serials: those of the content of structures */
    dome_capture_long_blocks long_blocks; /* heap.c */
    dome_capture_slab_pool slabs;
    dome_capture_dangling_stack dangling;
    dome_capture_lent lent;
    dome_capture_held_layouts own_layouts;
    dome_capture_type_layouts type_layout;
} dome_capture_heap;

/* There is one, at a fixed address: its members take no longer to reach than variables of a file. */
extern dome_capture_heap dome__capture_heap __attribute__((visibility("hidden")));

static inline void *dome__capture_block_memory(const dome_capture_block *block)
{
    return block->memory;
}

/* Elements of a block, and of the flexible last member of the only one. */
uint64_t dome__capture_block_elements(const dome_capture_block *block);
uint64_t dome__capture_block_tail(const dome_capture_block *block);

/* The block in which an address lies, or which ends there; false: none. */
bool dome__capture_block_find(const void *address, dome_capture_block *block);

/* Makes heap.blocks; false without memory. It holds until the heap changes. */
bool dome__capture_heap_index(void);

/* The serial of the block that begins at an address. 0: none begins there. */
uint64_t dome__capture_serial_at(const void *address);

/* Brings near what a following dome__capture_serial_at will read; in two steps, as the second needs what the first brings. */
void dome__capture_serial_soon(const void *address, int step);

/* Makes heap.blocks, and gives them the serials 1, 2, ... in their order: those that were freed leave no gaps. All are saved.
 * False without memory. */
bool dome__capture_heap_renumber(void);

/* Behind that: block k of heap.blocks with apart[k] is not in the image. The others get the serials 1 to heap.saved in their
 * order, and those the ones behind. heap.blocks is out of date then. */
void dome__capture_heap_set_apart(const bool *apart);

/* For a restart: a block of zeros, later than all that there are. Sets heap.serial. NULL without memory. What it returns holds
 * until the next dome__capture_heap_index. */
dome_capture_block *dome__capture_block_restore(const dome_capture_layout *layout, uint64_t elements, uint64_t tail,
                                                uint64_t serial);

/* Frees all blocks: a program that is restored has only those of the image. */
void dome__capture_heap_clear(void);

#endif
