/* Addresses lead to long blocks through a tree over pages (pages.h). A page knows at which of its places blocks begin, and the
 * block that began on an earlier page and reaches into it, if that block is longer than a page. So an allocation sets a bit, and
 * a look-up takes the same few steps whatever the number of blocks. */
#include "heap/heap.h"

#include "heap/dangling.h"
#include "heap/die.h"
#include "heap/pages.h"
#include "heap/slabs.h"
#include "system/huge_pages.h"

#include <glib.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGIT_BITS = 11,
    RESTORED_TOGETHER = 1024,
    HUGE_FROM = 1 << 22 /* bytes: NumPy asks for huge pages from here on, too */
};

/* Stands before the memory of a long block. */
typedef struct dome_capture_head head;
struct dome_capture_head {
    head *previous, *next;
    const dome_capture_layout *layout;
    uint64_t serial;
    size_t bytes;
} __attribute__((aligned(16)));

typedef dome_capture_page page;

static inline void *memory_of(const head *block)
{
    return (char *)(uintptr_t)block + sizeof *block;
}

/* ---- the tree ---- */

/* The last block that begins in a page at or before a granule. */
static inline head *last_in(const page *p, uint64_t number, unsigned granule)
{
    for (int w = (int)(granule / 64); w >= 0; w--) {
        uint64_t word = p->begins[w];
        if (w == (int)(granule / 64) && granule % 64 < 63)
            word &= (2ull << granule % 64) - 1;
        if (word) {
            unsigned bit = (unsigned)w * 64 + 63 - (unsigned)__builtin_clzll(word);
            uintptr_t begin = (uintptr_t)(number << DOME_CAPTURE_PAGE_BITS) + ((uintptr_t)bit << DOME_CAPTURE_GRANULE_BITS);
            return (head *)begin - 1;
        }
    }
    return NULL;
}

static inline bool contains(const head *block, const void *address)
{
    return block && (uintptr_t)address - (uintptr_t)memory_of(block) <= block->bytes;
}

static head *find_head(const void *address)
{
    uint64_t number = dome__capture_page_of(address);
    const page *p = dome__capture_page_find(number);
    if (p) {
        head *block = last_in(p, number, dome__capture_granule_of(address));
        if (contains(block, address))
            return block;
        if (contains(p->cover, address))
            return p->cover;
    }
    const page *q =
        number > 0 ? dome__capture_page_find(number - 1) : NULL; /* a block of at most a page, or the end of a long one */
    if (q) {
        head *block = last_in(q, number - 1, (DOME_CAPTURE_PAGE >> DOME_CAPTURE_GRANULE_BITS) - 1);
        if (contains(block, address))
            return block;
        if (contains(q->cover, address))
            return q->cover;
    }
    return NULL;
}

/* The pages into which a block reaches from an earlier one, if they must know it. */
static void cover(head *block, head *by)
{
    const char *memory = memory_of(block);
    if (block->bytes <= DOME_CAPTURE_PAGE)
        return;
    for (uint64_t n = dome__capture_page_of(memory) + 1, last = dome__capture_page_of(memory + block->bytes - 1); n <= last;
         n++) {
        page *p = by ? dome__capture_page_make(n) : dome__capture_page_find(n);
        if (p)
            p->cover = by;
    }
}

static bool enter(head *block)
{
    void *memory = memory_of(block);
    page *p = dome__capture_page_make(dome__capture_page_of(memory));
    if (!p)
        return false;
    p->begins[dome__capture_granule_of(memory) / 64] |= 1ull << dome__capture_granule_of(memory) % 64;
    cover(block, block);
    dome__capture_dangling_cut(block, sizeof *block + block->bytes);
    return true;
}

static void leave(head *block)
{
    void *memory = memory_of(block);
    page *p = dome__capture_page_find(dome__capture_page_of(memory));
    p->begins[dome__capture_granule_of(memory) / 64] &= ~(1ull << dome__capture_granule_of(memory) % 64);
    cover(block, NULL);
    dome__capture_dangling_add(memory, MAX(block->bytes, 1));
}

/* ---- blocks ---- */

bool dome__capture_block_find(const void *address, dome_capture_block *block)
{
    const dome_capture_slab *s = dome__capture_slab_of(address);
    if (s) {
        const uint32_t place = dome__capture_slab_place(s, address);
        *block = (dome_capture_block){.memory = s->begin + place * s->size, .layout = s->layout};
        if (!s->words[place])
            return false;
        block->serial = dome__capture_slab_serial(s, place);
        block->bytes = dome__capture_slab_block_bytes(s, place);
        return (uintptr_t)address - (uintptr_t)block->memory <= block->bytes;
    }
    const head *h = find_head(address);
    if (h)
        *block = (dome_capture_block){memory_of(h), h->layout, h->serial, h->bytes};
    return h;
}

uint64_t dome__capture_block_elements(const dome_capture_block *block)
{
    return block->layout->tail ? 1 : block->bytes / block->layout->size;
}

uint64_t dome__capture_block_tail(const dome_capture_block *block)
{
    const dome_capture_layout *l = block->layout;
    return l->tail && block->bytes > l->tail_offset ? (block->bytes - l->tail_offset) / l->tail->size : 0;
}

/* The type of a block of so many bytes: the one asked for, or bytes if it cannot hold elements of that. */
static const dome_capture_layout *fitting(const dome_capture_layout *l, size_t bytes)
{
    uint64_t one;
    if (l->tail ? bytes >= l->tail_offset : bytes % l->size == 0)
        return l;
    return dome__capture_layout(&dome_capture_uchar, &one);
}

static void append(head *block)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    block->previous = l->last;
    block->next = NULL;
    if (l->last)
        l->last->next = block;
    else
        l->first = block;
    l->last = block;
}

static void take_out(head *block)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    if (block->previous)
        block->previous->next = block->next;
    else
        l->first = block->next;
    if (block->next)
        block->next->previous = block->previous;
    else
        l->last = block->previous;
}

static void *long_block(const dome_capture_layout *layout, size_t bytes, uint64_t serial)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    head *block = calloc(1, sizeof *block + bytes);
    if (!block)
        return NULL;
    if (bytes >= HUGE_FROM)
        dome__huge_pages(block, sizeof *block + bytes);
    if ((uintptr_t)block % (1 << DOME_CAPTURE_GRANULE_BITS))
        dome__capture_die("this machine's malloc aligns to less than 16 bytes");
    block->layout = layout;
    block->bytes = bytes;
    block->serial = serial;
    if (!enter(block)) {
        free(block);
        return NULL;
    }
    append(block);
    return memory_of(block);
}

/* A block of zeros that is not counted yet. */
static inline void *new_block(const dome_capture_layout *layout, size_t bytes, uint64_t serial)
{
    void *memory = dome__capture_slab_take(layout, bytes, serial);
    return memory ? memory : long_block(layout, bytes, serial);
}

void *dome_capture_malloc(dome_capture_type *type, size_t bytes)
{
    uint64_t one;
    if (!type)
        dome__capture_die("dome_capture_malloc: the type is NULL");
    const dome_capture_layout *layout = type->known ? type->known : dome__capture_layout(type, &one);
    if (bytes == 0 && layout->tail) /* no other block of that type is without its first members */
        bytes = layout->tail_offset;
    if (bytes != layout->size)
        layout = fitting(layout, bytes);
    void *memory = new_block(layout, bytes, dome__capture_heap.serial + 1);
    if (!memory)
        return NULL;
    dome__capture_heap.serial++;
    dome__capture_heap.count++;
    return memory;
}

void *dome_capture_calloc(dome_capture_type *type, size_t count, size_t bytes)
{
    size_t all;
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : dome_capture_malloc(type, all);
}

/* The long block that begins at an address. */
static head *head_at(const void *address)
{
    const page *p = dome__capture_page_find(dome__capture_page_of(address));
    bool begins = p && (uintptr_t)address % (1 << DOME_CAPTURE_GRANULE_BITS) == 0 &&
                  (p->begins[dome__capture_granule_of(address) / 64] >> dome__capture_granule_of(address) % 64 & 1);
    return begins ? (head *)(uintptr_t)address - 1 : NULL;
}

/* The place of a block in its slab. */
static uint32_t place_at(const dome_capture_slab *s, const void *memory, const char *function)
{
    const uint32_t place = dome__capture_slab_place(s, memory);
    if (!s->words[place] || s->begin + place * s->size != memory)
        dome__capture_die(
            "%s: no block of the heap begins at address %p: it was given back before, or the address lies inside of one",
            function, memory);
    return place;
}

static void drop_long(head *block)
{
    leave(block);
    take_out(block);
    free(block);
}

static void *resize_long(head *block, const dome_capture_layout *layout, size_t bytes)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    const size_t before = block->bytes;
    leave(block);
    head *moved = realloc(block, sizeof *block + bytes);
    if (!moved) {
        enter(block);
        return NULL;
    }
    if (bytes >= HUGE_FROM)
        dome__huge_pages(moved, sizeof *moved + bytes);
    block = moved;
    block->layout = layout;
    block->bytes = bytes;
    if (bytes > before)
        memset((char *)memory_of(block) + before, 0, bytes - before);
    if (block->previous)
        block->previous->next = block;
    else
        l->first = block;
    if (block->next)
        block->next->previous = block;
    else
        l->last = block;
    if (!enter(block))
        dome__capture_die("no memory for the table of the heap's blocks");
    return memory_of(block);
}

static void *resize_foreign(void *memory, size_t bytes)
{
    dome__capture_dangling_add(memory, malloc_usable_size(memory));
    void *moved = realloc(memory, bytes);
    void *stays = moved || bytes == 0 ? moved : memory;
    dome__capture_dangling_cut(stays, stays ? malloc_usable_size(stays) : 0);
    return moved;
}

void *dome_capture_realloc(dome_capture_type *type, void *memory, size_t bytes)
{
    if (!memory)
        return dome_capture_malloc(type, bytes);
    dome_capture_slab *s = dome__capture_slab_of(memory);
    head *block = s ? NULL : head_at(memory);
    if (!s && !block)
        return resize_foreign(memory, bytes);
    if (bytes == 0) { /* as glibc does */
        dome_capture_free(memory);
        return NULL;
    }
    const uint32_t place = s ? place_at(s, memory, "dome_capture_realloc") : 0;
    const dome_capture_layout *before_that = s ? s->layout : block->layout, *layout = fitting(before_that, bytes);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    if (!s && bytes > DOME_CAPTURE_SLAB_MOST)
        return resize_long(block, layout, bytes);
    const size_t before = s ? dome__capture_slab_block_bytes(s, place) : block->bytes;
    const uint64_t serial = s ? dome__capture_slab_serial(s, place) : block->serial;
    if (before == 0 && type && layout == dome_capture_char.known) { /* malloc(0): of no type yet */
        void *first = dome_capture_malloc(type, bytes);
        if (first)
            dome_capture_free(memory);
        return first;
    }
    if (s && layout == before_that && bytes < s->size && dome__capture_slab_class(bytes) == dome__capture_slab_class(before)) {
        dome__capture_slab_note(s, place, bytes, serial);
        if (bytes > before)
            memset((char *)memory + before, 0, bytes - before);
        return memory;
    }
    void *moved = s ? new_block(layout, bytes, serial) : dome__capture_slab_take(layout, bytes, serial);
    if (!moved)
        return s ? NULL : resize_long(block, layout, bytes);
    memcpy(moved, memory, MIN(before, bytes));
    if (s)
        dome__capture_slab_give(s, place);
    else
        drop_long(block);
    return moved;
}

static void free_foreign(void *memory)
{
    dome__capture_dangling_add(memory, malloc_usable_size(memory));
    free(memory);
}

void dome_capture_free(void *memory)
{
    if (!memory)
        return;
    dome_capture_slab *s = dome__capture_slab_of(memory);
    head *block = s ? NULL : head_at(memory);
    if (s)
        dome__capture_slab_give(s, place_at(s, memory, "dome_capture_free"));
    else if (block)
        drop_long(block);
    else
        free_foreign(memory);
    dome__capture_heap.count -= s || block;
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
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    uint64_t bytes, more = 0;
    if (__builtin_mul_overflow(elements, layout->size, &bytes) ||
        (layout->tail &&
         (__builtin_mul_overflow(tail, layout->tail->size, &more) || __builtin_add_overflow(more, layout->tail_offset, &more))))
        return NULL;
    if (layout->tail) /* less than the struct's size, where its end is padding */
        bytes = more;
    void *memory = bytes <= SIZE_MAX / 2 ? new_block(layout, (size_t)bytes, serial) : NULL;
    if (!memory)
        return NULL;
    dome__capture_heap.serial = serial;
    dome__capture_heap.count++;
    if (!l->restored)
        l->restored = g_ptr_array_new_with_free_func(g_free);
    if (l->restored_count % RESTORED_TOGETHER == 0)
        g_ptr_array_add(l->restored, g_new(dome_capture_block, RESTORED_TOGETHER));
    dome_capture_block *all = l->restored->pdata[l->restored->len - 1], *block = &all[l->restored_count++ % RESTORED_TOGETHER];
    *block = (dome_capture_block){memory, layout, serial, (size_t)bytes};
    return block;
}

static void forget_restored(void)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    if (l->restored)
        g_ptr_array_set_size(l->restored, 0);
    l->restored_count = 0;
}

void dome__capture_heap_clear(void)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    dome__capture_slabs_clear();
    while (l->last)
        drop_long(l->last);
    dome__capture_heap.count = 0;
    forget_restored();
}

/* ---- blocks by serial ---- */

static void gather(void *ctx, const dome_capture_slab *s)
{
    dome_capture_block **to = ctx;
    for (uint32_t place = 0; place < s->fresh; place++)
        if (s->words[place])
            *(*to)++ = (dome_capture_block){s->begin + place * s->size, s->layout, dome__capture_slab_serial(s, place),
                                            dome__capture_slab_block_bytes(s, place)};
}

/* By the next lowest bits of their serials, and within those as they were. */
static void sort_by_digit(dome_capture_block *to, const dome_capture_block *from, size_t count, unsigned shift)
{
    enum { DIGIT = (1 << DIGIT_BITS) - 1 };
    size_t begins[DIGIT + 1] = {0}, all = 0;
    for (size_t k = 0; k < count; k++)
        begins[from[k].serial >> shift & DIGIT]++;
    for (size_t d = 0; d <= DIGIT; d++) {
        const size_t those = begins[d];
        begins[d] = all;
        all += those;
    }
    for (size_t k = 0; k < count; k++)
        to[begins[from[k].serial >> shift & DIGIT]++] = from[k];
}

static bool is_sorted(const dome_capture_block *blocks, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (blocks[k - 1].serial >= blocks[k].serial)
            return false;
    return true;
}

static bool sort(dome_capture_block **blocks, size_t count)
{
    if (is_sorted(*blocks, count))
        return true;
    dome_capture_block *other = malloc(count * sizeof *other);
    if (!other)
        return false;
    for (unsigned shift = 0; shift < 64 && dome__capture_heap.serial >> shift; shift += DIGIT_BITS) {
        sort_by_digit(other, *blocks, count, shift);
        dome_capture_block *sorted = other;
        other = *blocks;
        *blocks = sorted;
    }
    free(other);
    return true;
}

bool dome__capture_heap_index(void)
{
    dome_capture_long_blocks *l = &dome__capture_heap.long_blocks;
    dome_capture_heap *h = &dome__capture_heap;
    forget_restored();
    free(h->blocks);
    h->blocks = malloc(MAX(h->count, 1) * sizeof *h->blocks);
    if (!h->blocks)
        return false;
    dome_capture_block *to = h->blocks;
    dome__capture_slabs_each(gather, &to);
    for (const head *b = l->first; b; b = b->next)
        *to++ = (dome_capture_block){memory_of(b), b->layout, b->serial, b->bytes};
    return sort(&h->blocks, h->count);
}

static void set_serial(dome_capture_block *b, uint64_t serial)
{
    dome_capture_slab *s = dome__capture_slab_of(b->memory);
    b->serial = serial;
    if (s)
        dome__capture_slab_note(s, dome__capture_slab_place(s, b->memory), b->bytes, serial);
    else
        head_at(b->memory)->serial = serial;
}

bool dome__capture_heap_renumber(void)
{
    dome_capture_heap *h = &dome__capture_heap;
    if (!dome__capture_heap_index())
        return false;
    for (size_t k = 0; k < h->count; k++)
        set_serial(&h->blocks[k], k + 1);
    h->serial = h->saved = h->count;
    return true;
}

void dome__capture_heap_set_apart(const bool *apart)
{
    dome_capture_heap *h = &dome__capture_heap;
    h->saved = 0;
    for (size_t k = 0; k < h->count; k++)
        if (!apart[k])
            set_serial(&h->blocks[k], ++h->saved);
    uint64_t serial = h->saved;
    for (size_t k = 0; k < h->count; k++)
        if (apart[k])
            set_serial(&h->blocks[k], ++serial);
}

uint64_t dome__capture_serial_at(const void *address)
{
    const dome_capture_slab *s = dome__capture_slab_of(address);
    if (s) {
        const uint32_t place = dome__capture_slab_place(s, address);
        return s->begin + place * s->size == address ? dome__capture_slab_serial(s, place) : 0;
    }
    const head *block = head_at(address);
    return block ? block->serial : 0;
}

void dome__capture_serial_soon(const void *address, int step)
{
    const dome_capture_slab *s = dome__capture_slab_of(address);
    if (s) {
        if (step == 0)
            __builtin_prefetch(s);
        else
            __builtin_prefetch(&s->words[dome__capture_slab_place(s, address)]);
        return;
    }
    const page *p = dome__capture_page_find(dome__capture_page_of(address));
    if (!p)
        return;
    if (step == 0)
        __builtin_prefetch(&p->begins[dome__capture_granule_of(address) / 64]);
    else if (p->begins[dome__capture_granule_of(address) / 64] >> dome__capture_granule_of(address) % 64 & 1)
        __builtin_prefetch((const head *)(uintptr_t)address - 1);
}
