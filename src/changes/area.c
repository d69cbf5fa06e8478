/* Pages that were written, and their twins. A page that the area shares with other variables is not closed to writes, because the
 * program may need these at any time: it counts as written, and its twin is made when tracking begins. */
#include "changes/changes.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_whole(const dome_area *area, size_t page)
{
    const char *from = area->base + page * area->page;
    return from >= area->at && from + area->page <= area->at + area->bytes;
}

/* The first page that is all the area's, and their number. */
static size_t whole_pages(const dome_area *area, size_t *first)
{
    size_t n = 0;
    *first = is_whole(area, 0) ? 0 : 1;
    while (*first + n < area->pages && is_whole(area, *first + n))
        n++;
    return n;
}

size_t dome__area_skew(const dome_area *area)
{
    return (size_t)(area->at - area->base);
}

dome_area *dome__area_new(void *at, size_t bytes, unsigned unit)
{
    dome_area *area = g_new0(dome_area, 1);
    area->at = at;
    area->bytes = bytes;
    area->unit = unit;
    area->page = (size_t)sysconf(_SC_PAGESIZE);
    area->base = area->at - (uintptr_t)at % area->page;
    area->pages = ((size_t)(area->at - area->base) + bytes + area->page - 1) / area->page;
    area->wrote = g_array_new(FALSE, FALSE, sizeof(dome_written));
    return area;
}

/* What of the page is the area's: the rest may be anything, and others may be writing it. */
static void keep(dome_area *area, size_t page)
{
    const char *from = area->base + page * area->page;
    const char *begin = MAX(from, area->at), *end = MIN(from + area->page, area->at + area->bytes);
    memcpy(area->twin + (begin - area->base), begin, (size_t)(end - begin));
    area->written[page] = 1;
}

/* In the thread that writes, with signals blocked. */
static void first_write(void *context, size_t offset, bool write)
{
    dome_area *area = context;
    size_t first;
    whole_pages(area, &first);
    const size_t page = offset / area->page;
    if (write && !area->written[first + page])
        keep(area, first + page);
    dome__memory_allow_surely(area->memory, page, 1, write ? DOME_ACCESS_WRITE : DOME_ACCESS_READ);
}

static void keep_edges(dome_area *area)
{
    for (size_t page = 0; page < area->pages; page += MAX(area->pages - 1, 1))
        if (!is_whole(area, page))
            keep(area, page);
}

const char *dome__area_track(dome_area *area)
{
    const char *why = NULL;
    size_t first;
    const size_t n = whole_pages(area, &first);
    char *twin = mmap(NULL, area->pages * area->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (twin == MAP_FAILED)
        return g_strerror(errno);
    area->twin = twin;
    area->written = g_new0(uint8_t, area->pages);
    keep_edges(area);
    if (n > 0)
        area->memory = dome__memory_here(area->base + first * area->page, n * area->page);
    if (area->memory)
        why = dome__memory_on_fault(area->memory, first_write, area);
    if (area->memory && !why)
        why = dome__memory_allow(area->memory, 0, n, DOME_ACCESS_READ);
    if (why)
        dome__area_untrack(area);
    return why;
}

void dome__area_untrack(dome_area *area)
{
    dome__memory_free(area->memory);
    if (area->twin)
        munmap(area->twin, area->pages * area->page);
    g_free(area->written);
    g_array_set_size(area->wrote, 0);
    area->memory = NULL;
    area->twin = NULL;
    area->written = NULL;
}

void dome__area_wrote(dome_area *area, size_t first, size_t bytes)
{
    const dome_written span = {first + dome__area_skew(area), bytes};
    for (size_t page = span.first / area->page; bytes > 0 && page <= (span.first + bytes - 1) / area->page; page++) {
        const size_t in_area = MAX(page * area->page, dome__area_skew(area));
        volatile char *byte = area->base + in_area;
        *byte = *byte; /* the page is written, so it has a twin */
    }
    g_array_append_val(area->wrote, span);
}

/* What was written with the values that it had is made to differ, between these offsets from base on. */
static void make_differ(dome_area *area, size_t begin, size_t end)
{
    for (guint i = 0; i < area->wrote->len; i++) {
        const dome_written *span = &g_array_index(area->wrote, dome_written, i);
        for (size_t k = MAX(span->first, begin); k < MIN(span->first + span->count, end); k++)
            area->twin[k] = (char)~area->base[k];
    }
}

/* What was written there is told no more. */
static void drop_written(dome_area *area, size_t begin, size_t end)
{
    for (guint i = area->wrote->len; i-- > 0;) {
        const dome_written span = g_array_index(area->wrote, dome_written, i);
        const size_t last = span.first + span.count;
        const dome_written before = {span.first, MAX(MIN(begin, last), span.first) - span.first},
                           behind = {MAX(end, span.first), 0};
        g_array_remove_index_fast(area->wrote, i);
        if (before.count > 0)
            g_array_append_val(area->wrote, before);
        if (last > behind.first)
            g_array_append_vals(area->wrote, &(dome_written){behind.first, last - behind.first}, 1);
    }
}

/* Of a page only the bytes between these: others are of other variables, or not to be taken. */
static void find_between(dome_area *area, dome_delta *delta, size_t page, const char *begin, const char *end)
{
    char *now = g_malloc(area->page), *from = area->base + page * area->page, *then = area->twin + page * area->page;
    begin = MAX(from, begin), end = MIN(from + area->page, end);
    memcpy(now, then, area->page);
    memcpy(now + (begin - from), begin, (size_t)(end - begin));
    dome__delta_find(delta, page * area->page, now, then, area->page, DOME_DELTA_TAKE);
    g_free(now);
}

static void find_edge(dome_area *area, dome_delta *delta, size_t page)
{
    find_between(area, delta, page, area->at, area->at + area->bytes);
}

dome_delta *dome__area_take_part(dome_area *area, size_t first, size_t bytes)
{
    dome_delta *delta = dome__delta_new(area->unit);
    const size_t begin = first + dome__area_skew(area), end = begin + bytes;
    make_differ(area, begin, end);
    for (size_t page = begin / area->page; bytes > 0 && page <= (end - 1) / area->page; page++)
        if (area->written[page])
            find_between(area, delta, page, area->base + begin, area->base + end);
    drop_written(area, begin, end);
    return delta;
}

dome_delta *dome__area_take(dome_area *area)
{
    dome_delta *delta = dome__delta_new(area->unit);
    make_differ(area, 0, area->pages * area->page);
    for (size_t page = 0; page < area->pages; page++) {
        const size_t at = page * area->page;
        if (!area->written[page])
            continue;
        if (is_whole(area, page))
            dome__delta_find(delta, at, area->base + at, area->twin + at, area->page, 0);
        else
            find_edge(area, delta, page);
    }
    dome__area_forget(area);
    return delta;
}

void dome__area_forget(dome_area *area)
{
    size_t first;
    const size_t n = whole_pages(area, &first);
    for (size_t page = first; page < first + n; page++) {
        size_t end = page;
        while (end < first + n && area->written[end])
            area->written[end++] = 0;
        if (end > page)
            dome__memory_allow_surely(area->memory, page - first, end - page, DOME_ACCESS_READ);
        page = MAX(end, page);
    }
    g_array_set_size(area->wrote, 0);
    keep_edges(area);
}

typedef struct applying {
    dome_area *area;
    size_t skew, begin, end; /* begin, end: of the area, what is written */
    bool fits;
} applying;

static void apply_run(void *context, uint64_t first, uint64_t count, const void *values)
{
    applying *a = context;
    const uint64_t from = first * a->area->unit, bytes = count * a->area->unit;
    if (from < a->skew || from - a->skew > a->area->bytes || bytes > a->area->bytes - (from - a->skew))
        a->fits = false;
    else if (from - a->skew < a->end && from - a->skew + bytes > a->begin) {
        const size_t at = MAX(from - a->skew, a->begin), end = MIN(from - a->skew + bytes, a->end);
        memcpy(a->area->at + at, (const char *)values + (at - (from - a->skew)), end - at);
    }
}

bool dome__area_fits(const dome_area *area, const dome_delta *delta, size_t skew)
{
    dome_area same = *area;
    applying a = {.area = &same, .skew = skew, .fits = dome__delta_unit(delta) == area->unit};
    if (a.fits)
        dome__delta_runs(delta, apply_run, &a);
    return a.fits;
}

void dome__area_apply(dome_area *area, const dome_delta *delta, size_t skew, size_t first, size_t bytes)
{
    applying a = {.area = area, .skew = skew, .begin = first, .end = first + bytes, .fits = true};
    dome__delta_runs(delta, apply_run, &a);
}
