/* Addresses lead to blocks through a tree of three levels over pages of 4096 bytes. A page knows at which of its places blocks
 * begin, and the block that began on an earlier page and reaches into it, if that block is longer than a page. So an allocation
 * sets a bit, and a look-up takes the same few steps whatever the number of blocks. */
#include "capture/heap.h"

#include "capture/die.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BITS = 12,
    GRANULE_BITS = 4, /* malloc's alignment */
    LEVEL_BITS = 12,
    LEVEL = 1 << LEVEL_BITS,
    PAGE_WORDS = 1 << (PAGE_BITS - GRANULE_BITS - 6),
    PAGE = 1 << PAGE_BITS
};

typedef struct page {
    uint64_t begins[PAGE_WORDS];
    dome_capture_block *cover;
    uint64_t before; /* blocks at lower addresses, by dome__capture_heap_index */
} page;

typedef struct leaf {
    page pages[LEVEL];
} leaf;

typedef struct branch {
    leaf *leaves[LEVEL];
} branch;

static branch *branches[LEVEL];
static uint64_t *serials; /* by number of the block */
static size_t serial_room;
dome_capture_heap dome__capture_heap;

/* ---- the tree ---- */

static inline page *find_page(uint64_t number)
{
    if (number >> (3 * LEVEL_BITS))
        return NULL;
    const branch *b = branches[number >> (2 * LEVEL_BITS)];
    leaf *l = b ? b->leaves[number >> LEVEL_BITS & (LEVEL - 1)] : NULL;
    return l ? &l->pages[number & (LEVEL - 1)] : NULL;
}

static page *make_page(uint64_t number)
{
    if (number >> (3 * LEVEL_BITS))
        dome__capture_die("this machine gives addresses of more than 48 bits, which the captured heap does not know");
    branch **b = &branches[number >> (2 * LEVEL_BITS)];
    if (!*b)
        *b = calloc(1, sizeof **b);
    leaf **l = *b ? &(*b)->leaves[number >> LEVEL_BITS & (LEVEL - 1)] : NULL;
    if (l && !*l)
        *l = calloc(1, sizeof **l);
    return l && *l ? &(*l)->pages[number & (LEVEL - 1)] : NULL;
}

static inline uint64_t page_of(const void *address)
{
    return (uint64_t)(uintptr_t)address >> PAGE_BITS;
}

static inline unsigned granule_of(const void *address)
{
    return (unsigned)((uintptr_t)address & (PAGE - 1)) >> GRANULE_BITS;
}

/* The last block that begins in a page at or before a granule. */
static inline dome_capture_block *last_in(const page *p, uint64_t number, unsigned granule)
{
    for (int w = (int)(granule / 64); w >= 0; w--) {
        uint64_t word = p->begins[w];
        if (w == (int)(granule / 64) && granule % 64 < 63)
            word &= (2ull << granule % 64) - 1;
        if (word) {
            unsigned bit = (unsigned)w * 64 + 63 - (unsigned)__builtin_clzll(word);
            uintptr_t begin = (uintptr_t)(number << PAGE_BITS) + ((uintptr_t)bit << GRANULE_BITS);
            return (dome_capture_block *)begin - 1;
        }
    }
    return NULL;
}

static inline bool contains(const dome_capture_block *block, const void *address)
{
    return block && (uintptr_t)address - (uintptr_t)dome__capture_block_memory(block) <= block->bytes;
}

dome_capture_block *dome__capture_block_find(const void *address)
{
    uint64_t number = page_of(address);
    const page *p = find_page(number);
    if (p) {
        dome_capture_block *block = last_in(p, number, granule_of(address));
        if (contains(block, address))
            return block;
        if (contains(p->cover, address))
            return p->cover;
    }
    const page *q = number > 0 ? find_page(number - 1) : NULL; /* a block of at most a page, or the end of a long one */
    if (q) {
        dome_capture_block *block = last_in(q, number - 1, (PAGE >> GRANULE_BITS) - 1);
        if (contains(block, address))
            return block;
        if (contains(q->cover, address))
            return q->cover;
    }
    return NULL;
}

/* The pages into which a block reaches from an earlier one, if they must know it. */
static void cover(dome_capture_block *block, dome_capture_block *by)
{
    const char *memory = dome__capture_block_memory(block);
    if (block->bytes <= PAGE)
        return;
    for (uint64_t n = page_of(memory) + 1, last = page_of(memory + block->bytes - 1); n <= last; n++) {
        page *p = by ? make_page(n) : find_page(n);
        if (p)
            p->cover = by;
    }
}

static bool enter(dome_capture_block *block)
{
    void *memory = dome__capture_block_memory(block);
    page *p = make_page(page_of(memory));
    if (!p)
        return false;
    p->begins[granule_of(memory) / 64] |= 1ull << granule_of(memory) % 64;
    cover(block, block);
    return true;
}

static void leave(dome_capture_block *block)
{
    void *memory = dome__capture_block_memory(block);
    page *p = find_page(page_of(memory));
    p->begins[granule_of(memory) / 64] &= ~(1ull << granule_of(memory) % 64);
    cover(block, NULL);
}

/* ---- blocks ---- */

uint64_t dome__capture_block_elements(const dome_capture_block *block)
{
    return block->layout->tail ? 1 : block->bytes / block->layout->size;
}

uint64_t dome__capture_block_tail(const dome_capture_block *block)
{
    const dome_capture_layout *l = block->layout;
    return l->tail && block->bytes > l->tail_offset ? (block->bytes - l->tail_offset) / l->tail->size : 0;
}

static void check_size(const dome_capture_layout *l, size_t bytes)
{
    if (l->tail ? bytes < l->tail_offset : bytes % l->size != 0)
        dome__capture_die(
            "a block of %zu bytes cannot hold elements of type '%s', which has %zu: allocate it with the type of its content",
            bytes, l->name, l->size);
}

static void append(dome_capture_block *block)
{
    dome_capture_heap *h = &dome__capture_heap;
    block->previous = h->last;
    block->next = NULL;
    if (h->last)
        h->last->next = block;
    else
        h->first = block;
    h->last = block;
    h->count++;
}

static dome_capture_block *new_block(const dome_capture_layout *layout, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    dome_capture_block *block = calloc(1, sizeof *block + bytes);
    if (!block)
        return NULL;
    if ((uintptr_t)block % (1 << GRANULE_BITS))
        dome__capture_die("this machine's malloc aligns to less than 16 bytes");
    block->layout = layout;
    block->bytes = bytes;
    if (!enter(block)) {
        free(block);
        return NULL;
    }
    append(block);
    return block;
}

void *dome_capture_malloc(dome_capture_type *type, size_t bytes)
{
    uint64_t one;
    if (!type)
        dome__capture_die("dome_capture_malloc: the type is NULL");
    const dome_capture_layout *layout = type->known ? type->known : dome__capture_layout(type, &one);
    if (bytes != layout->size)
        check_size(layout, bytes);
    dome_capture_block *block = new_block(layout, bytes);
    if (!block)
        return NULL;
    block->serial = ++dome__capture_heap.serial;
    return dome__capture_block_memory(block);
}

void *dome_capture_calloc(dome_capture_type *type, size_t count, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : dome_capture_malloc(type, all);
}

/* The block that begins at an address. */
static dome_capture_block *block_at(const void *address)
{
    const page *p = find_page(page_of(address));
    bool begins = p && (uintptr_t)address % (1 << GRANULE_BITS) == 0 &&
                  (p->begins[granule_of(address) / 64] >> granule_of(address) % 64 & 1);
    return begins ? (dome_capture_block *)(uintptr_t)address - 1 : NULL;
}

static void take_out(dome_capture_block *block)
{
    dome_capture_heap *h = &dome__capture_heap;
    if (block->previous)
        block->previous->next = block->next;
    else
        h->first = block->next;
    if (block->next)
        block->next->previous = block->previous;
    else
        h->last = block->previous;
    h->count--;
}

void *dome_capture_realloc(dome_capture_type *type, void *memory, size_t bytes)
{
    if (!memory)
        return dome_capture_malloc(type, bytes);
    dome_capture_block *block = block_at(memory);
    if (!block)
        return realloc(memory, bytes);
    check_size(block->layout, bytes);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    const size_t before = block->bytes;
    leave(block);
    dome_capture_block *moved = realloc(block, sizeof *block + bytes);
    if (!moved) {
        enter(block);
        return NULL;
    }
    block = moved;
    block->bytes = bytes;
    if (bytes > before)
        memset((char *)dome__capture_block_memory(block) + before, 0, bytes - before);
    if (block->previous)
        block->previous->next = block;
    else
        dome__capture_heap.first = block;
    if (block->next)
        block->next->previous = block;
    else
        dome__capture_heap.last = block;
    if (!enter(block))
        dome__capture_die("no memory for the table of the heap's blocks");
    return dome__capture_block_memory(block);
}

void dome_capture_free(void *memory)
{
    if (!memory)
        return;
    dome_capture_block *block = block_at(memory);
    if (!block) {
        free(memory);
        return;
    }
    leave(block);
    take_out(block);
    free(block);
}

char *dome_capture_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = dome_capture_malloc(&dome_capture_char, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *dome_capture_strdup(const char *text)
{
    return dome_capture_strndup(text, SIZE_MAX);
}

size_t dome_capture_blocks(void)
{
    return dome__capture_heap.count;
}

dome_capture_block *dome__capture_block_restore(const dome_capture_layout *layout, uint64_t elements, uint64_t tail,
                                                uint64_t serial)
{
    uint64_t bytes, more = 0;
    if (__builtin_mul_overflow(elements, layout->size, &bytes) ||
        (layout->tail &&
         (__builtin_mul_overflow(tail, layout->tail->size, &more) || __builtin_add_overflow(more, layout->tail_offset, &more))))
        return NULL;
    bytes = MAX(bytes, more);
    dome_capture_block *block = bytes <= SIZE_MAX / 2 ? new_block(layout, (size_t)bytes) : NULL;
    if (block)
        block->serial = dome__capture_heap.serial = serial;
    return block;
}

void dome__capture_heap_clear(void)
{
    while (dome__capture_heap.last)
        dome_capture_free(dome__capture_block_memory(dome__capture_heap.last));
}

/* ---- numbers ---- */

static void number_leaf(leaf *l, uint64_t *count)
{
    for (page *p = l->pages; p < l->pages + LEVEL; p++) {
        p->before = *count;
        for (int w = 0; w < PAGE_WORDS; w++)
            *count += (uint64_t)__builtin_popcountll(p->begins[w]);
    }
}

static inline uint64_t number_at(const page *p, unsigned granule)
{
    uint64_t number = p->before;
    unsigned w = 0;
    for (; w < granule / 64; w++)
        number += (uint64_t)__builtin_popcountll(p->begins[w]);
    return number + (uint64_t)__builtin_popcountll(p->begins[w] & ((1ull << granule % 64) - 1));
}

bool dome__capture_heap_index(void)
{
    uint64_t count = 0;
    for (int b = 0; b < LEVEL; b++)
        for (int l = 0; branches[b] && l < LEVEL; l++)
            if (branches[b]->leaves[l])
                number_leaf(branches[b]->leaves[l], &count);
    if (count > serial_room) {
        uint64_t *more = realloc(serials, count * sizeof *serials);
        if (!more)
            return false;
        serials = more;
        serial_room = count;
    }
    for (const dome_capture_block *b = dome__capture_heap.first; b; b = b->next) {
        const void *memory = dome__capture_block_memory(b);
        serials[number_at(find_page(page_of(memory)), granule_of(memory))] = b->serial;
    }
    return true;
}

uint64_t dome__capture_serial_at(const void *address)
{
    const page *p = find_page(page_of(address));
    const unsigned granule = granule_of(address);
    if (!p || (uintptr_t)address % (1 << GRANULE_BITS) || !(p->begins[granule / 64] >> granule % 64 & 1))
        return 0;
    return serials[number_at(p, granule)];
}

void dome__capture_serial_soon(const void *address, int step)
{
    const page *p = find_page(page_of(address));
    const unsigned granule = granule_of(address);
    if (!p)
        return;
    if (step == 0) { /* a page's entry may lie in two lines of the cache */
        __builtin_prefetch(&p->begins[granule / 64]);
        __builtin_prefetch(&p->before);
    } else if (p->begins[granule / 64] >> granule % 64 & 1) {
        __builtin_prefetch(&serials[number_at(p, granule)]);
    }
}
