#include "races/watched.h"

#include "delta/delta.h"
#include "memory/memory.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* The piece is first: others know that alone. */
typedef struct watched_piece {
    dome_omp_piece piece;
    dome_omp_watched *of;
    dome_memory *memory;
    char *twin;    /* of each page, as it was before the first write since the last look */
    bool own;      /* the memory is this process's alone */
    unsigned part; /* if not: of the space */
    bool written;
} watched_piece;

struct dome_omp_watched {
    dome_space *space;
    pthread_mutex_t lock; /* of what follows, with one task: threads that the program has created write, too */
    GPtrArray *pieces;    /* watched_piece *, by address */
    GPtrArray *written;   /* watched_piece *: those with pages that were written */
    dome_delta *delta;
    dome_omp_changed *visit; /* of the look that there is */
    void *context;
};

static void hold(dome_omp_watched *w)
{
    if (w->space)
        dome__space_hold(w->space);
    else
        pthread_mutex_lock(&w->lock);
}

static void let_go(dome_omp_watched *w)
{
    if (w->space)
        dome__space_let_go(w->space);
    else
        pthread_mutex_unlock(&w->lock);
}

/* ---- a page is written ---- */

static void first_write(void *context, size_t page)
{
    watched_piece *p = context;
    const size_t bytes = dome__memory_page(p->memory);
    hold(p->of);
    memcpy(p->twin + page * bytes, (char *)dome__memory_alias(p->memory) + page * bytes, bytes);
    if (!p->written)
        g_ptr_array_add(p->of->written, p);
    p->written = true;
    let_go(p->of);
}

/* Of this process's own memory all pages have their right from the start. */
static void no_right(void *context, size_t offset, bool write)
{
    const watched_piece *p = context;
    (void)write;
    dome__memory_allow_surely(p->memory, offset / dome__memory_page(p->memory), 1, DOME_ACCESS_WRITE);
}

/* ---- pieces ---- */

static void free_piece(void *piece)
{
    watched_piece *p = piece;
    if (p->own)
        dome__memory_free(p->memory);
    if (p->memory && !p->own) {
        dome__space_mirror(p->of->space, p->part, NULL);
        dome__memory_on_write(p->memory, NULL, NULL);
    }
    if (p->twin)
        munmap(p->twin, p->piece.bytes);
    dome__omp_shadow_free(&p->piece.shadow);
    g_free(p);
}

dome_omp_watched *dome__omp_watched_new(dome_space *space)
{
    dome_omp_watched *w = g_new0(dome_omp_watched, 1);
    w->space = space;
    pthread_mutex_init(&w->lock, NULL);
    w->pieces = g_ptr_array_new_with_free_func(free_piece);
    w->written = g_ptr_array_new();
    w->delta = dome__delta_new(1);
    return w;
}

void dome__omp_watched_free(dome_omp_watched *watched)
{
    if (!watched)
        return;
    g_ptr_array_unref(watched->pieces);
    g_ptr_array_unref(watched->written);
    dome__delta_free(watched->delta);
    pthread_mutex_destroy(&watched->lock);
    g_free(watched);
}

static watched_piece *new_piece(dome_omp_watched *w, void *at, size_t bytes, const char **why)
{
    watched_piece *p = g_new0(watched_piece, 1);
    *p = (watched_piece){.piece = {.at = at, .bytes = bytes}, .of = w};
    void *twin = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *why = twin == MAP_FAILED ? g_strerror(errno) : dome__omp_shadow_make(&p->piece.shadow, bytes);
    p->twin = twin == MAP_FAILED ? NULL : twin;
    if (*why)
        g_clear_pointer(&p, free_piece);
    return p;
}

static int by_address(const void *a, const void *b)
{
    const watched_piece *x = *(watched_piece *const *)a, *y = *(watched_piece *const *)b;
    return (x->piece.at > y->piece.at) - (x->piece.at < y->piece.at);
}

/* The piece, or if there is a reason it is freed. */
static const char *take_in(watched_piece *p, const char *why)
{
    if (!why) {
        dome__memory_on_write(p->memory, first_write, p);
        why = dome__memory_watch(p->memory);
    }
    if (!why && p->own)
        why = dome__memory_allow(p->memory, 0, p->piece.bytes / dome__memory_page(p->memory), DOME_ACCESS_WRITE);
    if (why) {
        free_piece(p);
        return why;
    }
    g_ptr_array_add(p->of->pieces, p);
    g_ptr_array_sort(p->of->pieces, by_address);
    return NULL;
}

const char *dome__omp_watched_add(dome_omp_watched *watched, void *at, size_t bytes)
{
    const char *why;
    watched_piece *p = new_piece(watched, at, bytes, &why);
    if (!p)
        return why;
    p->own = true;
    p->memory = dome__memory_here(at, bytes);
    return take_in(p, dome__memory_on_fault(p->memory, no_right, p));
}

const char *dome__omp_watched_add_part(dome_omp_watched *watched, unsigned part)
{
    dome_space_memory of;
    const char *why;
    if (!dome__space_part(watched->space, part, &of))
        return "there is no such range";
    watched_piece *p = new_piece(watched, of.address, of.bytes, &why);
    if (!p)
        return why;
    p->memory = of.memory;
    p->part = part;
    dome__space_mirror(watched->space, part, p->twin);
    return take_in(p, NULL);
}

static watched_piece *find(const dome_omp_watched *w, const void *address)
{
    guint low = 0, high = w->pieces->len;
    while (low < high) { /* the first that ends behind the address */
        const guint middle = low + (high - low) / 2;
        const dome_omp_piece *p = w->pieces->pdata[middle];
        if (p->at + p->bytes <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    watched_piece *p = low < w->pieces->len ? w->pieces->pdata[low] : NULL;
    return p && p->piece.at <= (const char *)address ? p : NULL;
}

dome_omp_piece *dome__omp_watched_at(const dome_omp_watched *watched, const void *address)
{
    watched_piece *p = find(watched, address);
    return p ? &p->piece : NULL;
}

void dome__omp_watched_each(const dome_omp_watched *watched, void (*visit)(void *context, dome_omp_piece *piece), void *context)
{
    for (guint k = 0; k < watched->pieces->len; k++)
        visit(context, watched->pieces->pdata[k]);
}

const void *dome__omp_watched_bytes(const dome_omp_watched *watched, const void *address)
{
    const watched_piece *p = find(watched, address);
    return p ? (char *)dome__memory_alias(p->memory) + ((const char *)address - p->piece.at) : NULL;
}

/* ---- a look ---- */

static void visit_run(void *context, uint64_t first, uint64_t count, const void *values)
{
    watched_piece *p = context;
    p->of->visit(p->of->context, &p->piece, first, count, values);
}

static void compare(void *context, size_t first, size_t count)
{
    watched_piece *p = context;
    const size_t at = first * dome__memory_page(p->memory), bytes = count * dome__memory_page(p->memory);
    if (!p->of->visit)
        return;
    dome__delta_clear(p->of->delta);
    hold(p->of);
    dome__delta_find(p->of->delta, at, (char *)dome__memory_alias(p->memory) + at, p->twin + at, bytes, 0);
    let_go(p->of);
    dome__delta_runs(p->of->delta, visit_run, p);
}

static watched_piece *next_written(dome_omp_watched *w)
{
    hold(w);
    watched_piece *p = w->written->len ? g_ptr_array_steal_index_fast(w->written, w->written->len - 1) : NULL;
    if (p)
        p->written = false;
    let_go(w);
    return p;
}

void dome__omp_watched_take(dome_omp_watched *watched, dome_omp_changed *visit, void *context)
{
    dome_omp_watched *w = watched;
    w->visit = visit;
    w->context = context;
    for (watched_piece *p; (p = next_written(w));)
        dome__memory_written(p->memory, compare, p);
}
