#include "races/writes.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>

struct dome_omp_writes {
    GArray *segments; /* dome_omp_segment: of this interval */
    uint32_t base;    /* the number of the first one */
};

dome_omp_writes *dome__omp_writes_new(void)
{
    dome_omp_writes *w = g_new0(dome_omp_writes, 1);
    w->segments = g_array_new(FALSE, FALSE, sizeof(dome_omp_segment));
    w->base = 1;
    return w;
}

void dome__omp_writes_free(dome_omp_writes *writes)
{
    if (!writes)
        return;
    g_array_unref(writes->segments);
    g_free(writes);
}

uint32_t dome__omp_writes_begin(dome_omp_writes *writes, uint32_t thread, uint64_t began, const void *function)
{
    const dome_omp_segment s = {.began = began, .ended = DOME_OMP_NOT_ENDED, .function = function, .thread = thread};
    if (writes->segments->len >= UINT32_MAX - writes->base)
        return 0; /* four thousand million of them in one interval: the rest is not looked at */
    g_array_append_val(writes->segments, s);
    return writes->base + writes->segments->len - 1;
}

dome_omp_segment *dome__omp_writes_segment(const dome_omp_writes *writes, uint32_t number)
{
    const uint32_t k = number - writes->base;
    return number >= writes->base && k < writes->segments->len ? &g_array_index(writes->segments, dome_omp_segment, k) : NULL;
}

bool dome__omp_writes_next(dome_omp_writes *writes)
{
    const uint32_t used = writes->segments->len;
    const bool room = used < UINT32_MAX / 2 && writes->base < UINT32_MAX / 2;
    writes->base = room ? writes->base + used : 1;
    g_array_set_size(writes->segments, 0);
    return room;
}

/* ---- shadows ---- */

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

const char *dome__omp_shadow_make(dome_omp_shadow *shadow, size_t bytes)
{
    void *owners = map(bytes * sizeof *shadow->owners), *values = map(bytes);
    const int error = errno;
    *shadow = (dome_omp_shadow){
        .owners = owners == MAP_FAILED ? NULL : owners, .values = values == MAP_FAILED ? NULL : values, .bytes = bytes};
    if (shadow->owners && shadow->values)
        return NULL;
    dome__omp_shadow_free(shadow);
    return g_strerror(error);
}

void dome__omp_shadow_clear(dome_omp_shadow *shadow)
{
    if (madvise(shadow->owners, shadow->bytes * sizeof *shadow->owners, MADV_DONTNEED))
        memset(shadow->owners, 0, shadow->bytes * sizeof *shadow->owners);
}

void dome__omp_shadow_free(dome_omp_shadow *shadow)
{
    if (shadow->owners)
        munmap(shadow->owners, shadow->bytes * sizeof *shadow->owners);
    if (shadow->values)
        munmap(shadow->values, shadow->bytes);
    *shadow = (dome_omp_shadow){0};
}

/* ---- bytes ---- */

#define EXEMPT UINT32_MAX

void dome__omp_shadow_exempt(dome_omp_shadow *shadow, size_t first, size_t count, bool exempt)
{
    for (size_t k = first; k < first + count; k++)
        if (exempt || shadow->owners[k] == EXEMPT)
            shadow->owners[k] = exempt ? EXEMPT : 0;
}

void dome__omp_writes_note(const dome_omp_writes *writes, dome_omp_shadow *shadow, uint32_t segment, size_t first, size_t count,
                           const void *values, dome_omp_overlap *tell, void *context)
{
    const dome_omp_segment *now = dome__omp_writes_segment(writes, segment);
    const size_t end = first + count;
    for (size_t k = first, next; k < end; k = next) {
        const uint32_t earlier = shadow->owners[k];
        const dome_omp_segment *before = earlier == segment ? NULL : dome__omp_writes_segment(writes, earlier);
        for (next = k; next < end && shadow->owners[next] == earlier; next++)
            shadow->owners[next] = earlier == EXEMPT ? EXEMPT : segment;
        if (before && !dome__omp_segments_ordered(before, now))
            tell(context, k, next - k, earlier);
    }
    memcpy(shadow->values + first, values, count);
}

void dome__omp_writes_owned(const dome_omp_writes *writes, const dome_omp_shadow *shadow, size_t first, size_t end,
                            dome_omp_owned *visit, void *context)
{
    for (size_t k = first, next; k < end; k = next) {
        const uint32_t owner = shadow->owners[k];
        for (next = k + 1; next < end && shadow->owners[next] == owner;)
            next++;
        if (dome__omp_writes_segment(writes, owner))
            visit(context, k, next - k, owner, shadow->values + k);
    }
}
