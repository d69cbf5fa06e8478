/* Memory of the heap's short blocks. A slab has blocks of one layout and of sizes that round up to the same: so what is known of
 * a block follows from its address, and no words stand before it. Its serial is aside, where a walk through the blocks does not
 * fetch it. Each block is followed by at least one byte of no block, because a pointer to its end must not be one to the next. */
#ifndef DOME_SRC_HEAP_SLABS_H
#define DOME_SRC_HEAP_SLABS_H

#include "heap/type_layout.h"

#include <string.h>

enum {
    DOME_CAPTURE_SLAB_BITS = 16,
    DOME_CAPTURE_SLAB_BYTES = 1 << DOME_CAPTURE_SLAB_BITS,
    DOME_CAPTURE_SLAB_GRANULE = 16,   /* malloc's alignment */
    DOME_CAPTURE_SLAB_SIZES = 32,     /* multiples of it */
    DOME_CAPTURE_SLAB_SPARE_BITS = 5, /* of a place's word: its bytes behind the block, 1 to 16. The others are the serial */
    DOME_CAPTURE_SLAB_MOST = DOME_CAPTURE_SLAB_SIZES * DOME_CAPTURE_SLAB_GRANULE - 1
};

typedef struct dome_capture_slab dome_capture_slab;

/* Slabs of one layout and size. */
typedef struct dome_capture_slabs {
    dome_capture_slab *current, *open; /* where blocks are taken; others with free places */
} dome_capture_slabs;

struct dome_capture_slab {
    char *begin;
    uint64_t *words; /* by place; 0: it is free */
    const dome_capture_layout *layout;
    dome_capture_slabs *all;
    void *released; /* places that were given back: each begins with the address of the next */
    uint32_t size, inverse, places;
    uint32_t fresh; /* places from here on were never taken */
    uint32_t blocks;
    bool is_open, zeros; /* zeros: what was never taken is */
    dome_capture_slab *previous, *next;
};

/* The slabs that slabs.c has. */
typedef struct dome_capture_slab_pool {
    struct dome_capture_arena *arenas;
    dome_capture_slab *idle; /* linked by next: slabs without blocks, of no layout */
    size_t kept;             /* of these, with memory of their own */
    uint64_t no_word;        /* of slabs without places: their `inverse` is 0 */
    int watched;             /* by a tool that is to see each block: there are no slabs; -1: not known yet */
} dome_capture_slab_pool;

/* By the upper and lower 16 of an address' bits 16 to 47. */
extern dome_capture_slab **dome__capture_slab_table[1 << 16];

/* The slab in which an address lies; NULL: none. */
static inline dome_capture_slab *dome__capture_slab_of(const void *address)
{
    const uint64_t number = (uint64_t)(uintptr_t)address >> DOME_CAPTURE_SLAB_BITS;
    if (number >> 32)
        return NULL;
    dome_capture_slab **leaf = dome__capture_slab_table[number >> 16];
    return leaf ? leaf[number & 0xffff] : NULL;
}

/* The place in which an address lies. Behind the last one it is `places`, whose word is 0. */
static inline uint32_t dome__capture_slab_place(const dome_capture_slab *s, const void *address)
{
    const uint64_t offset = (uintptr_t)address & (DOME_CAPTURE_SLAB_BYTES - 1);
    return (uint32_t)(offset * s->inverse >> 32);
}

static inline uint64_t dome__capture_slab_serial(const dome_capture_slab *s, uint32_t place)
{
    return s->words[place] >> DOME_CAPTURE_SLAB_SPARE_BITS;
}

static inline size_t dome__capture_slab_block_bytes(const dome_capture_slab *s, uint32_t place)
{
    return s->size - (size_t)(s->words[place] & ((1u << DOME_CAPTURE_SLAB_SPARE_BITS) - 1));
}

/* Number of the size, in which blocks of at most DOME_CAPTURE_SLAB_MOST bytes lie. */
static inline uint32_t dome__capture_slab_class(size_t bytes)
{
    return (uint32_t)(bytes / DOME_CAPTURE_SLAB_GRANULE);
}

static inline void dome__capture_slab_note(dome_capture_slab *s, uint32_t place, size_t bytes, uint64_t serial)
{
    s->words[place] = serial << DOME_CAPTURE_SLAB_SPARE_BITS | (s->size - bytes);
}

/* A current slab with a free place; NULL: no memory, or this process has no slabs because a tool is to see each block. */
dome_capture_slab *dome__capture_slab_more(const dome_capture_layout *layout, uint32_t class);

/* A block of zeros; NULL: it must be found elsewhere. */
static inline void *dome__capture_slab_take(const dome_capture_layout *layout, size_t bytes, uint64_t serial)
{
    if (bytes > DOME_CAPTURE_SLAB_MOST || serial >> (64 - DOME_CAPTURE_SLAB_SPARE_BITS))
        return NULL;
    const uint32_t class = dome__capture_slab_class(bytes);
    dome_capture_slab *s = layout->slabs ? layout->slabs[class].current : NULL;
    if (!s || (!s->released && s->fresh == s->places)) {
        s = dome__capture_slab_more(layout, class);
        if (!s)
            return NULL;
    }
    char *memory = s->released;
    uint32_t place;
    if (memory) {
        memcpy(&s->released, memory, sizeof s->released);
        memset(memory, 0, s->size);
        place = dome__capture_slab_place(s, memory);
    } else {
        place = s->fresh++;
        memory = s->begin + place * s->size;
        if (!s->zeros)
            memset(memory, 0, s->size);
    }
    dome__capture_slab_note(s, place, bytes, serial);
    s->blocks++;
    return memory;
}

/* Gives a block back. */
void dome__capture_slab_give(dome_capture_slab *slab, uint32_t place);

/* All of them. */
void dome__capture_slabs_clear(void);

/* Calls function(ctx, slab) for each slab that has blocks. */
void dome__capture_slabs_each(void (*function)(void *ctx, const dome_capture_slab *slab), void *ctx);

#endif
