#include "heap/slabs.h"

#include "heap/heap.h"
#include "system/huge_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Slabs come from arenas, each twice as large as the one before, so that a small program takes little and the pages of a large
 * one are huge ones. */
enum { FIRST_ARENA = 16, LAST_ARENA = 1024, KEPT = 16 };

typedef struct dome_capture_arena arena;
struct dome_capture_arena {
    arena *previous;
    size_t used, slabs; /* used: slabs from here on were never needed */
    dome_capture_slab slab[];
};

dome_capture_slab **dome__capture_slab_table[1 << 16];

/* Tools that watch malloc and free know nothing of places in a slab. */
extern void __asan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __lsan_do_leak_check(void) __attribute__((weak));

static bool is_watched(void)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    if (p->watched < 0) {
        const char *preloaded = getenv("LD_PRELOAD"); /* valgrind's own libraries are in it */
        p->watched = __asan_init || __msan_init || __lsan_do_leak_check || (preloaded && strstr(preloaded, "vgpreload"));
    }
    return p->watched > 0;
}

/* Memory that begins at a multiple of its bytes, or of a huge page. */
static char *map(size_t bytes)
{
    const size_t alignment = bytes < DOME_HUGE_PAGE ? bytes : DOME_HUGE_PAGE, all = bytes + alignment;
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    const size_t before = (alignment - (uintptr_t)memory % alignment) % alignment;
    if (before > 0)
        munmap(memory, before);
    if (alignment > before)
        munmap(memory + before + bytes, alignment - before);
    dome__huge_pages(memory + before, bytes);
    return memory + before;
}

static bool enter(dome_capture_slab *s)
{
    const uint64_t number = (uint64_t)(uintptr_t)s->begin >> DOME_CAPTURE_SLAB_BITS;
    if (number >> 32)
        return false;
    dome_capture_slab ***leaf = &dome__capture_slab_table[number >> 16];
    if (!*leaf)
        *leaf = calloc(1 << 16, sizeof **leaf);
    if (*leaf)
        (*leaf)[number & 0xffff] = s;
    return *leaf;
}

static bool new_arena(void)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    const size_t slabs = !p->arenas ? FIRST_ARENA : p->arenas->slabs < LAST_ARENA ? 2 * p->arenas->slabs : LAST_ARENA;
    arena *a = calloc(1, sizeof *a + slabs * sizeof a->slab[0]);
    char *memory = a ? map(slabs << DOME_CAPTURE_SLAB_BITS) : NULL;
    bool entered = memory;
    for (size_t k = 0; entered && k < slabs; k++) {
        a->slab[k] = (dome_capture_slab){.begin = memory + (k << DOME_CAPTURE_SLAB_BITS), .words = &p->no_word, .zeros = true};
        entered = enter(&a->slab[k]);
    }
    if (!entered) {
        for (size_t k = 0; memory && k < slabs && a->slab[k].begin; k++) {
            const uint64_t number = (uint64_t)(uintptr_t)a->slab[k].begin >> DOME_CAPTURE_SLAB_BITS;
            if (number >> 32 == 0 && dome__capture_slab_table[number >> 16])
                dome__capture_slab_table[number >> 16][number & 0xffff] = NULL;
        }
        if (memory)
            munmap(memory, slabs << DOME_CAPTURE_SLAB_BITS);
        free(a);
        return false;
    }
    a->slabs = slabs;
    a->previous = p->arenas;
    p->arenas = a;
    return true;
}

static dome_capture_slab *new_slab(void)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    dome_capture_slab *s = p->idle;
    if (s) {
        p->idle = s->next;
        p->kept -= !s->zeros;
        s->next = NULL;
        return s;
    }
    if ((!p->arenas || p->arenas->used == p->arenas->slabs) && !new_arena())
        return NULL;
    return &p->arenas->slab[p->arenas->used++];
}

static void unlink_open(dome_capture_slab *s)
{
    if (s->previous)
        s->previous->next = s->next;
    else
        s->all->open = s->next;
    if (s->next)
        s->next->previous = s->previous;
    s->previous = s->next = NULL;
    s->is_open = false;
}

/* A slab without blocks may serve another layout. */
static void retire(dome_capture_slab *s)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    free(s->words);
    const bool given_back = p->kept >= KEPT && madvise(s->begin, DOME_CAPTURE_SLAB_BYTES, MADV_DONTNEED) == 0;
    *s = (dome_capture_slab){.begin = s->begin, .words = &p->no_word, .zeros = given_back, .next = p->idle};
    p->kept += !given_back;
    p->idle = s;
}

dome_capture_slab *dome__capture_slab_more(const dome_capture_layout *layout, uint32_t class)
{
    if (is_watched())
        return NULL;
    if (!layout->slabs) {
        dome_capture_slabs *slabs = calloc(DOME_CAPTURE_SLAB_SIZES, sizeof *slabs);
        if (!slabs)
            return NULL;
        ((dome_capture_layout *)(uintptr_t)layout)->slabs = slabs;
    }
    dome_capture_slabs *all = &layout->slabs[class];
    dome_capture_slab *s = all->open;
    if (s) {
        unlink_open(s);
        return all->current = s;
    }
    const uint32_t size = (class + 1) * DOME_CAPTURE_SLAB_GRANULE, places = DOME_CAPTURE_SLAB_BYTES / size;
    uint64_t *words = calloc(places + 1, sizeof *words);
    s = words ? new_slab() : NULL;
    if (!s) {
        free(words);
        return NULL;
    }
    *s = (dome_capture_slab){.begin = s->begin,
                             .words = words,
                             .layout = layout,
                             .all = all,
                             .size = size,
                             .inverse = (uint32_t)(((1ull << 32) + size - 1) / size),
                             .places = places,
                             .zeros = s->zeros};
    return all->current = s;
}

void dome__capture_slab_give(dome_capture_slab *s, uint32_t place)
{
    char *memory = s->begin + place * s->size;
    s->words[place] = 0;
    memcpy(memory, &s->released, sizeof s->released);
    s->released = memory;
    s->blocks--;
    if (s == s->all->current)
        return;
    if (s->blocks == 0) {
        if (s->is_open)
            unlink_open(s);
        retire(s);
    } else if (!s->is_open) {
        s->is_open = true;
        s->next = s->all->open;
        if (s->next)
            s->next->previous = s;
        s->all->open = s;
    }
}

void dome__capture_slabs_clear(void)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    for (arena *a = p->arenas; a; a = a->previous)
        for (dome_capture_slab *s = a->slab; s < a->slab + a->used; s++) {
            if (!s->all)
                continue;
            s->all->current = s->all->open = NULL;
            retire(s);
        }
}

void dome__capture_slabs_each(void (*function)(void *ctx, const dome_capture_slab *slab), void *ctx)
{
    dome_capture_slab_pool *p = &dome__capture_heap.slabs;
    for (arena *a = p->arenas; a; a = a->previous)
        for (dome_capture_slab *s = a->slab; s < a->slab + a->used; s++)
            if (s->blocks > 0)
                function(ctx, s);
}
