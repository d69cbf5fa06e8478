#include "process/omp_arena.h"

#include "system/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    STEP = 16,            /* of the sizes of small blocks, up to FINE */
    FINE = 1024,          /* from here on there are four sizes up to each power of two */
    SMALL = 32768,        /* larger blocks are runs of pages */
    SIZES = 64 + 4 * 5,   /* of small blocks */
    SPAN = 65536,         /* pages that are cut into small blocks at a time */
    GIVEN_BACK = 32 << 20 /* a free run this large is given back to the system */
};

enum { USED = 0x55ed, FREED = 0xf4ee, ALIGNED = 0xa119, RUN = 0xffff };

/* Directly before a block. */
typedef struct head {
    uint64_t bytes; /* that the program may use; of an ALIGNED one: from the block that it lies in */
    uint32_t size;  /* the number of its size, or RUN; of an ALIGNED one: how many pages, or 0 */
    uint32_t mark;
} head;

/* Pages that are free, in their first bytes; in the order of addresses. */
typedef struct run {
    uint64_t bytes;
    struct run *next;
    bool zero; /* but for this struct */
} run;

/* At the arena's beginning. */
typedef struct arena {
    char *top;     /* pages from here on are free */
    char *highest; /* pages from here on were never used */
    run *runs;
    void *free[SIZES];                 /* each block begins with the address of the next */
    char *cut[SIZES], *cut_end[SIZES]; /* blocks that were never used */
} arena;

_Static_assert(sizeof(head) == STEP, "blocks must be aligned");
_Static_assert(sizeof(arena) <= PAGE, "an arena's description is its first page");

static bool map_private(char *begin, char *end)
{
    return mmap(begin, (size_t)(end - begin), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == begin;
}

bool (*dome__omp_arena_map)(char *begin, char *end) = map_private;
bool dome__omp_arena_gives_back = true;

uint64_t dome__omp_arena_own = DOME_OMP_ARENA_OWNS;

static char *mapped[DOME_OMP_MAX_THREADS + 1]; /* up to here, in this process */

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static char *arena_end(unsigned thread)
{
    if (thread == DOME_OMP_ARENA_OF_LIBRARY)
        return dome__omp_arena_begin(thread) + DOME_OMP_ARENA_OWN;
    return dome__omp_arena_begin(thread) + (thread ? DOME_OMP_ARENA_OTHER : DOME_OMP_ARENA_FIRST);
}

/* A quarter more than there is, so that calls of the system are few. */
static bool map_up_to(unsigned thread, const char *end)
{
    char *begin = dome__omp_arena_begin(thread), *from = mapped[thread] ? mapped[thread] : begin, *last = arena_end(thread);
    if (end <= from)
        return true;
    uint64_t more = (uint64_t)(from - begin) / 4;
    more = more < 1 << 20 ? 1 << 20 : more > 64 << 20 ? 64 << 20 : more & ~(uint64_t)0xfffff;
    char *to = (char *)(((uintptr_t)end + more - 1) & ~(uintptr_t)0xfffff); // NOLINT(performance-no-int-to-ptr)
    if (to > last)
        to = last;
    bool (*map)(char *, char *) = thread == DOME_OMP_ARENA_OF_LIBRARY ? map_private : dome__omp_arena_map;
    if (end > last || !map(from, to)) {
        errno = ENOMEM;
        return false;
    }
    mapped[thread] = to;
    return true;
}

static arena *open_arena(unsigned thread)
{
    arena *a = (arena *)(void *)dome__omp_arena_begin(thread);
    if (!map_up_to(thread, (char *)a + PAGE))
        return NULL;
    if (!a->top) /* else another task has opened it */
        a->top = a->highest = (char *)a + PAGE;
    return a;
}

static inline arena *arena_of_thread(unsigned thread)
{
    arena *a = (arena *)(void *)dome__omp_arena_begin(thread);
    return __builtin_expect(mapped[thread] && a->top, 1) ? a : open_arena(thread); /* it may be mapped and not in use */
}

bool dome__omp_arena_reach(unsigned thread, const char *end)
{
    return map_up_to(thread, end);
}

uint64_t dome__omp_arena_length(unsigned thread)
{
    const arena *a = (const arena *)(void *)dome__omp_arena_begin(thread);
    return mapped[thread] && a->highest ? (uint64_t)(a->highest - (const char *)a) : 0;
}

/* ---- runs of pages ---- */

/* Gives pages of the run that stand before its end to the caller. */
static run *take_from(run **place, uint64_t bytes)
{
    run *r = *place;
    if (r->bytes == bytes) {
        *place = r->next;
        return r;
    }
    run *rest = (run *)(void *)((char *)r + bytes);
    *rest = (run){.bytes = r->bytes - bytes, .next = r->next, .zero = r->zero};
    *place = rest;
    return r;
}

/* zero: set to whether the pages are zero. */
static char *take_run(arena *a, unsigned thread, uint64_t bytes, bool *zero)
{
    for (run **place = &a->runs; *place; place = &(*place)->next) {
        if ((*place)->bytes < bytes)
            continue;
        run *r = take_from(place, bytes);
        *zero = r->zero;
        *r = (run){0};
        return (char *)r;
    }
    char *got = a->top;
    if (bytes > (uint64_t)(arena_end(thread) - got) || !map_up_to(thread, got + bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    *zero = got >= a->highest;
    a->top += bytes;
    if (a->top > a->highest)
        a->highest = a->top;
    return got;
}

static bool give_back(char *begin, uint64_t bytes)
{
    if (bytes < GIVEN_BACK || !dome__omp_arena_gives_back)
        return false;
    const int error = errno; /* free keeps it */
    const bool given = madvise(begin, bytes, MADV_DONTNEED) == 0;
    errno = error;
    return given;
}

/* Runs that touch become one; one that touches the top becomes part of it. */
static void free_run(arena *a, char *begin, uint64_t bytes)
{
    const bool zero = give_back(begin, bytes);
    run **place = &a->runs, *before = NULL, *r = (run *)(void *)begin;
    while (*place && (char *)*place < begin) {
        before = *place;
        place = &before->next;
    }
    run *after = *place;
    *r = (run){.bytes = bytes, .next = after, .zero = zero};
    *place = r;
    if (after && begin + bytes == (char *)after) {
        r->zero = false;
        r->bytes += after->bytes;
        r->next = after->next;
    }
    if (before && (char *)before + before->bytes == begin) {
        before->zero = false;
        before->bytes += r->bytes;
        before->next = r->next;
        r = before;
    }
    if ((char *)r + r->bytes != a->top)
        return;
    a->top = (char *)r;
    for (place = &a->runs; *place != r; place = &(*place)->next)
        ;
    *place = NULL; /* it was the last */
}

/* ---- small blocks ---- */

static inline unsigned size_of(size_t bytes)
{
    if (bytes <= FINE)
        return bytes ? (unsigned)((bytes - 1) / STEP) : 0;
    const unsigned power = 63 - (unsigned)__builtin_clzl(bytes - 1); /* 10: up to 2048 */
    return FINE / STEP + 4 * (power - 10) + (unsigned)((bytes - 1) >> (power - 2) & 3);
}

static inline size_t bytes_of(unsigned size)
{
    if (size < FINE / STEP)
        return (size_t)(size + 1) * STEP;
    const unsigned k = size - FINE / STEP;
    return ((size_t)(k % 4) + 5) << (k / 4 + 8);
}

static void *cut_block(arena *a, unsigned thread, unsigned size)
{
    const uint64_t stride = bytes_of(size) + sizeof(head);
    if ((uint64_t)(a->cut_end[size] - a->cut[size]) < stride) {
        bool zero;
        const uint64_t bytes = stride * 4 > SPAN ? whole_pages(stride * 4) : SPAN;
        char *span = take_run(a, thread, bytes, &zero);
        if (!span)
            return NULL;
        a->cut[size] = span;
        a->cut_end[size] = span + bytes;
    }
    head *h = (head *)(void *)a->cut[size];
    a->cut[size] += stride;
    *h = (head){.bytes = bytes_of(size), .size = size, .mark = USED};
    return h + 1;
}

static inline head *head_of(void *block)
{
    return (head *)block - 1;
}

static void *get_run(arena *a, unsigned thread, size_t bytes, bool *zero)
{
    if (bytes > DOME_OMP_ARENA_FIRST) {
        errno = ENOMEM;
        return NULL;
    }
    bool is_zero;
    const uint64_t whole = whole_pages(bytes + sizeof(head));
    head *h = (head *)(void *)take_run(a, thread, whole, &is_zero);
    if (!h)
        return NULL;
    *h = (head){.bytes = whole - sizeof(head), .size = RUN, .mark = USED};
    if (zero)
        *zero = is_zero;
    return h + 1;
}

void *dome__omp_arena_get(unsigned thread, size_t bytes, bool *zero)
{
    arena *a = arena_of_thread(thread);
    if (zero)
        *zero = false;
    if (!a)
        return NULL;
    if (bytes > SMALL)
        return get_run(a, thread, bytes, zero);
    const unsigned size = size_of(bytes);
    void *block = a->free[size];
    if (!block)
        return cut_block(a, thread, size);
    a->free[size] = *(void **)block;
    head_of(block)->mark = USED;
    return block;
}

/* The block that an aligned one lies in. */
static head *whole_of(void *block)
{
    head *h = head_of(block);
    return h->mark == ALIGNED ? head_of((char *)block - h->bytes) : h;
}

static void refuse(const char *what) __attribute__((noreturn));

static void refuse(const char *what)
{
    dome__say("the program has called %s for memory that it has not, or has already freed", what);
    abort();
}

void dome__omp_arena_free(unsigned thread, void *block)
{
    arena *a = arena_of_thread(thread);
    head *h = whole_of(block);
    if (!a || h->mark != USED || (h->size != RUN && h->size >= SIZES))
        refuse("free");
    h->mark = FREED;
    if (h->size == RUN) {
        free_run(a, (char *)h, h->bytes + sizeof *h);
        return;
    }
    *(void **)(h + 1) = a->free[h->size];
    a->free[h->size] = h + 1;
}

size_t dome__omp_arena_usable(const void *block)
{
    const head *h = (const head *)block - 1;
    if (h->mark != ALIGNED)
        return h->bytes;
    return ((const head *)(const void *)((const char *)block - h->bytes) - 1)->bytes - h->bytes;
}

static bool is_head_of(const head *h, uint64_t distance)
{
    const bool is_small = h && h->size < SIZES && h->bytes == bytes_of(h->size), is_run = h && h->size == RUN;
    return h && h->mark == USED && (is_small || is_run) && distance < sizeof *h + h->bytes;
}

/* Backwards from the address: a small block's head may be anywhere, a run's is at the beginning of a page. */
const void *dome__omp_arena_find(const void *address, dome_omp_reader *bytes, size_t *size)
{
    const unsigned thread = dome__omp_arena_of(address);
    const char *begin = dome__omp_arena_begin(thread) + PAGE, *at = (const char *)((uintptr_t)address & ~(uintptr_t)(STEP - 1));
    while ((at -= STEP) >= begin) {
        const uint64_t distance = (uint64_t)((const char *)address - at);
        const head *h = bytes(at);
        if (!h)
            return NULL;
        if (is_head_of(h, distance)) {
            *size = h->bytes;
            return at + sizeof *h;
        }
        if (distance > 2 * SMALL) /* on to the page before */
            at = (const char *)(((uintptr_t)(at - 1) & ~(uintptr_t)(PAGE - 1)) + STEP);
    }
    return NULL;
}

/* With room before it for a head of its own. */
void *dome__omp_arena_get_aligned(unsigned thread, size_t alignment, size_t bytes)
{
    if (alignment <= STEP)
        return dome__omp_arena_get(thread, bytes, NULL);
    if (bytes > DOME_OMP_ARENA_FIRST || alignment > DOME_OMP_ARENA_FIRST) {
        errno = ENOMEM;
        return NULL;
    }
    char *whole = dome__omp_arena_get(thread, bytes + alignment, NULL);
    if (!whole || ((uintptr_t)whole & (alignment - 1)) == 0)
        return whole;
    char *block = (char *)(((uintptr_t)whole + alignment - 1) & ~(alignment - 1)); // NOLINT(performance-no-int-to-ptr)
    *head_of(block) = (head){.bytes = (uint64_t)(block - whole), .mark = ALIGNED};
    return block;
}

/* The page before has the head. */
void *dome__omp_arena_get_pages(unsigned thread, uint64_t bytes, bool *zero)
{
    *zero = false;
    if (bytes > DOME_OMP_ARENA_FIRST) {
        errno = ENOMEM;
        return NULL;
    }
    char *all = dome__omp_arena_get(thread, (bytes < SMALL ? SMALL : bytes) + PAGE, zero);
    if (!all)
        return NULL;
    char *block = (char *)whole_pages((uintptr_t)all); // NOLINT(performance-no-int-to-ptr)
    *head_of(block) = (head){.bytes = (uint64_t)(block - all), .size = (uint32_t)(bytes / PAGE), .mark = ALIGNED};
    return block;
}

uint64_t dome__omp_arena_pages(const void *block)
{
    const head *h = (const head *)block - 1;
    const bool is_aligned = (uintptr_t)block % PAGE == 0 && h->mark == ALIGNED && h->bytes == PAGE - sizeof *h;
    const head *all = is_aligned ? (const head *)(const void *)((const char *)block - h->bytes) - 1 : NULL;
    return all && all->mark == USED && all->size == RUN ? (uint64_t)h->size * PAGE : 0;
}

/* ---- another size ---- */

/* Whether the pages behind the run are free, and now belong to it. */
static bool extend(unsigned thread, head *h, uint64_t bytes)
{
    arena *a = arena_of_thread(thread);
    char *end = (char *)(h + 1) + h->bytes;
    const uint64_t more = whole_pages(bytes + sizeof *h) - (h->bytes + sizeof *h);
    if (end == a->top) {
        bool zero;
        run *runs = a->runs; /* none of them, but what is at the top */
        a->runs = NULL;
        const bool taken = take_run(a, thread, more, &zero) != NULL;
        a->runs = runs;
        h->bytes += taken ? more : 0;
        return taken;
    }
    run **place = &a->runs;
    while (*place && (char *)*place < end)
        place = &(*place)->next;
    if (!*place || (char *)*place != end || (*place)->bytes < more)
        return false;
    *take_from(place, more) = (run){0};
    h->bytes += more;
    return true;
}

static void shrink(unsigned thread, head *h, uint64_t bytes)
{
    const uint64_t keep = whole_pages(bytes + sizeof *h), has = h->bytes + sizeof *h;
    if (has <= keep)
        return;
    h->bytes = keep - sizeof *h;
    free_run(arena_of_thread(thread), (char *)h + keep, has - keep);
}

void *dome__omp_arena_resize(unsigned thread, void *block, size_t bytes)
{
    head *h = head_of(block);
    const bool is_run = h->mark == USED && h->size == RUN, mine = dome__omp_arena_of(block) == thread;
    const size_t usable = dome__omp_arena_usable(block);
    if (bytes <= usable) {
        if (is_run && mine && bytes > SMALL) {
            shrink(thread, h, bytes);
            return block;
        }
        if (bytes > usable / 2 || usable <= FINE)
            return block;
    } else if (is_run && mine && bytes <= DOME_OMP_ARENA_FIRST && extend(thread, h, bytes)) {
        return block;
    }
    void *other = dome__omp_arena_get(thread, bytes, NULL);
    if (!other)
        return NULL;
    memcpy(other, block, bytes < usable ? bytes : usable);
    dome__omp_arena_free(thread, block);
    return other;
}
