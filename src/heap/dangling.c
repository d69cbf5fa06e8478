#include "heap/dangling.h"

#include "heap/heap.h"
#include "heap/pages.h"
#include "heap/slabs.h"

#include <dome/capture.h>

#include <glib.h>
#include <pthread.h>

enum { GRANULE = 1 << DOME_CAPTURE_GRANULE_BITS };

void dome__capture_dangling_begin(const void *own_frame)
{
    dome_capture_dangling_stack *g = &dome__capture_heap.dangling;
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t bytes = 0;
    g->frame = (uintptr_t)own_frame;
    g->lowest = g->frame;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
        g->lowest = (uintptr_t)begin;
    pthread_attr_destroy(&attributes);
}

/* Bits [first, first + count) of a page's, count at most those of a page. */
static void mark_bits(uint64_t *words, unsigned first, unsigned count, bool dangling)
{
    while (count > 0) {
        const unsigned at = first % 64, here = MIN(count, 64 - at);
        const uint64_t bits = (here == 64 ? UINT64_MAX : (1ull << here) - 1) << at;
        words[first / 64] = dangling ? words[first / 64] | bits : words[first / 64] & ~bits;
        first += here;
        count -= here;
    }
}

static void mark(const void *memory, size_t bytes, bool dangling)
{
    const uintptr_t end = (uintptr_t)memory + bytes;
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(GRANULE - 1); at < end;) {
        const uintptr_t behind = (at | (DOME_CAPTURE_PAGE - 1)) + 1, to = MIN(end, behind);
        const uint64_t number = at >> DOME_CAPTURE_PAGE_BITS;
        dome_capture_page *p = dangling ? dome__capture_page_make(number) : dome__capture_page_find(number);
        if (p) /* else nothing was given back there, or there is no memory: a pointer to it then keeps a checkpoint from being */
            mark_bits(p->dangling, dome__capture_granule_of((const void *)at), (unsigned)((to - at + GRANULE - 1) / GRANULE),
                      dangling);
        at = behind;
    }
}

void dome__capture_dangling_add(const void *memory, size_t bytes)
{
    mark(memory, bytes, true);
}

void dome__capture_dangling_cut(const void *memory, size_t bytes)
{
    mark(memory, bytes, false);
}

static bool was_given_back(const void *address)
{
    const dome_capture_page *p = dome__capture_page_find(dome__capture_page_of(address));
    const unsigned granule = dome__capture_granule_of(address);
    return p && (p->dangling[granule / 64] >> granule % 64 & 1);
}

/* A place that had a block, or a slab that has none any more. */
static bool is_free_place(const void *address)
{
    const dome_capture_slab *s = dome__capture_slab_of(address);
    if (!s)
        return false;
    const uint32_t place = dome__capture_slab_place(s, address);
    return s->places == 0 || (place < s->fresh && !s->words[place]);
}

bool dome__capture_is_dangling(const void *address)
{
    dome_capture_dangling_stack *g = &dome__capture_heap.dangling;
    const uintptr_t at = (uintptr_t)address;
    return address == DOME_CAPTURE_DANGLING || (at >= g->lowest && at < g->frame) || is_free_place(address) ||
           was_given_back(address);
}
