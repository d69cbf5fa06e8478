/* A tree of three levels over pages of 4096 bytes, from addresses to what is known of them: where the heap's long blocks begin,
 * and which memory was given back. */
#ifndef DOME_SRC_HEAP_PAGES_H
#define DOME_SRC_HEAP_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum {
    DOME_CAPTURE_PAGE_BITS = 12,
    DOME_CAPTURE_PAGE = 1 << DOME_CAPTURE_PAGE_BITS,
    DOME_CAPTURE_GRANULE_BITS = 4, /* malloc's alignment */
    DOME_CAPTURE_PAGE_WORDS = 1 << (DOME_CAPTURE_PAGE_BITS - DOME_CAPTURE_GRANULE_BITS - 6),
    DOME_CAPTURE_LEVEL_BITS = 12,
    DOME_CAPTURE_LEVEL = 1 << DOME_CAPTURE_LEVEL_BITS
};

/* A bit for each granule. */
typedef struct dome_capture_page {
    uint64_t begins[DOME_CAPTURE_PAGE_WORDS];   /* a long block begins there */
    uint64_t dangling[DOME_CAPTURE_PAGE_WORDS]; /* memory that was given back, and was not taken again */
    void *cover; /* the long block that reaches into this page from an earlier one, if it is longer than a page */
} dome_capture_page;

typedef struct dome_capture_leaf {
    dome_capture_page pages[DOME_CAPTURE_LEVEL];
} dome_capture_leaf;

typedef struct dome_capture_branch {
    dome_capture_leaf *leaves[DOME_CAPTURE_LEVEL];
} dome_capture_branch;

extern dome_capture_branch *dome__capture_branches[DOME_CAPTURE_LEVEL];

static inline uint64_t dome__capture_page_of(const void *address)
{
    return (uint64_t)(uintptr_t)address >> DOME_CAPTURE_PAGE_BITS;
}

static inline unsigned dome__capture_granule_of(const void *address)
{
    return (unsigned)((uintptr_t)address & (DOME_CAPTURE_PAGE - 1)) >> DOME_CAPTURE_GRANULE_BITS;
}

/* A page by its number; NULL: nothing is known of it. */
static inline dome_capture_page *dome__capture_page_find(uint64_t number)
{
    if (number >> (3 * DOME_CAPTURE_LEVEL_BITS))
        return NULL;
    const dome_capture_branch *b = dome__capture_branches[number >> (2 * DOME_CAPTURE_LEVEL_BITS)];
    dome_capture_leaf *l = b ? b->leaves[number >> DOME_CAPTURE_LEVEL_BITS & (DOME_CAPTURE_LEVEL - 1)] : NULL;
    return l ? &l->pages[number & (DOME_CAPTURE_LEVEL - 1)] : NULL;
}

/* The same, and makes it. NULL without memory. */
dome_capture_page *dome__capture_page_make(uint64_t number);

#endif
