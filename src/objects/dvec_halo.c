/* Elements next to a task's own: copies of them for the program, and loops over elements with their neighbours. */
#include "core/layout.h"
#include "objects/dvec_private.h"
#include "transport/ahead.h"
#include "transport/transport.h"

#include <string.h>

/* ---- copies ---- */

typedef struct halo {
    const dvec *x;
    uint64_t below, above; /* planes */
    uint64_t plane;        /* elements; 1 for dvec_halo_elements */
    bool periodic;
} halo;

/* `count` elements from `first` on, wrapping at the end. */
static int want_around(uint64_t first, uint64_t count, uint64_t n, uint64_t *at, dvec_want *wants)
{
    int used = 0;
    while (count > 0) {
        uint64_t part = MIN(count, n - first);
        wants[used++] = (dvec_want){first, part, *at};
        *at += part;
        count -= part;
        first = 0;
    }
    return used;
}

/* The number of elements to fetch below and above a span: so many planes, and the rest of the planes in which the span begins and
 * ends. */
static void halo_counts(const halo *h, const dome_span *span, uint64_t *below, uint64_t *above)
{
    uint64_t end = span->first + span->count, n = h->x->length;
    *below = h->below * h->plane + span->first % h->plane;
    *above = h->above * h->plane + (h->plane - end % h->plane) % h->plane;
    if (!h->periodic) {
        *below = MIN(*below, span->first);
        *above = MIN(*above, n - end);
    }
}

static int wants_halo(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const halo *h = ctx;
    uint64_t n = h->x->length, at = 0, below, above;
    dome_span spans[2];
    int count = 0, nspans = dvec__spans_of(h->x, rank, spans);
    for (int s = 0; s < nspans; s++) {
        uint64_t first = spans[s].first, end = first + spans[s].count;
        halo_counts(h, &spans[s], &below, &above);
        uint64_t back = below % n;
        count += want_around(first >= back ? first - back : n - (back - first), below, n, &at, wants + count);
        count += want_around(end == n ? 0 : end, above, n, &at, wants + count);
    }
    return count;
}

/* Allocates room for the copies. Tasks keep it while its arguments and the layout stay the same, so all of them know when it is
 * replaced. */
static int halo_room(dvec *x, const halo *h, uint64_t elements)
{
    if (x->lazy->halo_layout == x->layout && x->lazy->halo_below == h->below && x->lazy->halo_above == h->above &&
        x->lazy->halo_plane == h->plane && x->lazy->halo_periodic == h->periodic)
        return DOME_OK;
    dome__storage_retire(g_steal_pointer(&x->lazy->halo), dvec_name(x));
    g_clear_pointer(&x->lazy->halo_layout, dome_layout_unref);

    uint64_t bytes = 0;
    if (!__builtin_mul_overflow(elements, (uint64_t)DVEC_ELEMENT(x), &bytes))
        x->lazy->halo = dome__storage_raw(bytes, NULL);
    int status = dvec__agree_memory(x, x->lazy->halo || elements == 0, "the neighbouring elements");
    if (status == DOME_OK) {
        x->lazy->halo_layout = dome_layout_ref(x->layout);
        x->lazy->halo_below = h->below;
        x->lazy->halo_above = h->above;
        x->lazy->halo_plane = h->plane;
        x->lazy->halo_periodic = h->periodic;
    }
    return status;
}

/* Whether so many planes can be fetched; more than there are become all of them. */
static int halo_check(halo *h, uint64_t planes, const char *what)
{
    if (h->periodic && (h->below > planes || h->above > planes))
        return dome__fail(h->x->env, DOME_ERR_ARGUMENT,
                          "a periodic halo of %" G_GUINT64_FORMAT " below and %" G_GUINT64_FORMAT
                          " above is longer than the vector of %" G_GUINT64_FORMAT " %s",
                          h->below, h->above, planes, what);
    h->below = MIN(h->below, planes);
    h->above = MIN(h->above, planes);
    return DOME_OK;
}

static int halo_fetch(dvec *x, halo *h, bool by_plane)
{
    uint64_t elements = 0, planes = x->length;
    dvec_want wants[DVEC_WANTS];
    int status = dvec__settle(x, NULL);
    if (status != DOME_OK)
        return status;
    if (by_plane && !dvec__plane(x, &planes, &h->plane))
        return dome__fail(x->env, DOME_ERR_SHAPE,
                          "an element is more than a plane of %" G_GUINT64_FORMAT " along the first dimension", planes);
    h->plane = MAX(1, h->plane);
    status = halo_check(h, planes, by_plane ? "planes" : "elements");
    if (status != DOME_OK)
        return status;
    for (int w = wants_halo(h, x->env->rank, wants); w-- > 0;)
        elements += wants[w].count;
    status = halo_room(x, h, elements);
    return status == DOME_OK ? dvec__fetch_near(x, wants_halo, h, x->lazy->halo) : status;
}

/* The spans of x with the copies that have been fetched. Returns the number of non-empty ones. */
static int halo_spans(const dvec *x, const halo *h, dvec_halo_span spans[2])
{
    dvec_span local[2];
    int count = dvec__spans(x, local);
    const char *copies = x->lazy->halo;
    for (int s = 0; s < count; s++) {
        uint64_t nbelow, nabove;
        halo_counts(h, &(dome_span){local[s].first, local[s].count}, &nbelow, &nabove);
        spans[s] = (dvec_halo_span){.local = local[s], .nbelow = nbelow, .nabove = nabove};
        spans[s].below = nbelow ? copies : NULL;
        copies = nbelow ? copies + nbelow * DVEC_ELEMENT(x) : copies;
        spans[s].above = nabove ? copies : NULL;
        copies = nabove ? copies + nabove * DVEC_ELEMENT(x) : copies;
    }
    return count;
}

static int fetch_halo(dome_operation_code code, dvec *x, const halo *wanted, dvec_halo_span spans[2])
{
    dome_operation op;
    halo h = *wanted;
    dome__begin_with(&op, x->env, code, x->object, (uint64_t[]){h.below, h.above, h.periodic}, 3);
    int status = halo_fetch(x, &h, code == DOME_OP_DVEC_HALO_PLANES);
    if (dome__end(&op, status) != DOME_OK)
        return status;
    halo_spans(x, &h, spans);
    dvec__lend(x);
    return DOME_OK;
}

/* Empties spans that have not been fetched. */
static void no_halo(dvec_halo_span spans[2])
{
    dvec_span local[2];
    dvec__no_spans(local);
    for (int s = 0; s < 2; s++)
        spans[s] = (dvec_halo_span){.local = local[s]};
}

dome_status dvec_halo_elements(dvec *x, uint64_t below, uint64_t above, bool periodic, dvec_halo_span spans[2])
{
    DOME_NEEDS(spans, "the place for the spans", DOME_ERR_ARGUMENT);
    no_halo(spans);
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    return fetch_halo(DOME_OP_DVEC_HALO, x, &(halo){.x = x, .below = below, .above = above, .periodic = periodic}, spans);
}

dome_status dvec_halo_planes(dvec *x, uint64_t below, uint64_t above, bool periodic, dvec_halo_span spans[2])
{
    DOME_NEEDS(spans, "the place for the spans", DOME_ERR_ARGUMENT);
    no_halo(spans);
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    return fetch_halo(DOME_OP_DVEC_HALO_PLANES, x, &(halo){.x = x, .below = below, .above = above, .periodic = periodic}, spans);
}

/* ---- loops ---- */

typedef struct stencil {
    const dvec *x;
    uint64_t below, above;
    bool periodic;
} stencil;

/* Element `index` + k - below of a vector that is whole on this task; NULL beyond its ends. */
static const char *near_in_whole(const stencil *s, uint64_t index, uint64_t k)
{
    const uint64_t n = s->x->length;
    uint64_t at = index + k;
    if (at < s->below)
        return s->periodic ? (const char *)s->x->data + (at + n - s->below) * DVEC_ELEMENT(s->x) : NULL;
    at -= s->below;
    if (at >= n && !s->periodic)
        return NULL;
    return (const char *)s->x->data + (at < n ? at : at - n) * DVEC_ELEMENT(s->x);
}

/* The same for element i of a span. */
static const char *near_in_span(const stencil *s, const dvec_halo_span *span, uint64_t i, uint64_t k)
{
    const uint64_t element = DVEC_ELEMENT(s->x), at = i + k;
    if (at < s->below) {
        const uint64_t back = s->below - at;
        return back <= span->nbelow ? (const char *)span->below + (span->nbelow - back) * element : NULL;
    }
    const uint64_t here = at - s->below, beyond = here - span->local.count;
    if (here < span->local.count)
        return (const char *)span->local.data + here * element;
    return beyond < span->nabove ? (const char *)span->above + beyond * element : NULL;
}

/* Calls the kernel for every element of this task, block after block. */
static void stencil_spans(dvec *out, dvec_stencil_kernel kernel, void *ctx, const stencil *s, const dvec_halo_span from[2])
{
    dvec_span to[2];
    const uint64_t block = dome_layout_block_size(out->layout);
    const int nspans = dvec__spans(out, to);
    const bool whole = s->x->distribution == DOME_WHOLE;
    dome_block_clock clock;
    dome__block_clock_start(&clock, out->env, out->distribution == DOME_DYNAMIC ? out->layout : NULL);
    for (int p = 0; p < nspans; p++)
        for (uint64_t done = 0, count; done < to[p].count; done += count) {
            count = MIN(block, to[p].count - done);
            for (uint64_t i = done; i < done + count; i++) {
                const void *near[DVEC_STENCIL_MAX];
                const uint64_t index = to[p].first + i;
                for (uint64_t k = 0; k <= s->below + s->above; k++)
                    near[k] = whole ? near_in_whole(s, index, k) : near_in_span(s, &from[p], i, k);
                kernel(ctx, index, (char *)to[p].data + i * DVEC_ELEMENT(out), near);
            }
            dome__block_clock_tick(&clock, to[p].first + done, count);
            dome__ahead_poll(out->env->transport);
        }
    dome__block_clock_stop(&clock);
}

static int stencil_check(const dvec *out, dvec_stencil_kernel kernel, const stencil *s)
{
    dome_env *env = out->env;
    if (!kernel)
        return dome__fail(env, DOME_ERR_ARGUMENT, "there is no kernel");
    int status = dvec__conforms(out, s->x, false, false);
    if (status != DOME_OK)
        return status;
    if (s->x == out)
        return dome__fail(env, DOME_ERR_ARGUMENT, "the output is the input, whose elements others need as they were");
    if (s->below >= DVEC_STENCIL_MAX || s->above >= DVEC_STENCIL_MAX - s->below)
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "%" G_GUINT64_FORMAT " elements below and %" G_GUINT64_FORMAT
                          " above: an element can have at most %d neighbours",
                          s->below, s->above, DVEC_STENCIL_MAX - 1);
    return DOME_OK;
}

/* The elements next to this task's own. A vector that is whole needs none. */
static int stencil_fetch(const stencil *s, dvec *x, dvec_halo_span from[2])
{
    halo h = {.x = x, .plane = 1, .below = s->below, .above = s->above, .periodic = s->periodic};
    if (x->distribution == DOME_WHOLE) {
        int status = dvec__settle(x, NULL);
        return status == DOME_OK ? halo_check(&h, x->length, "elements") : status;
    }
    int status = halo_fetch(x, &h, false);
    if (status == DOME_OK)
        halo_spans(x, &h, from);
    return status;
}

dome_status dvec_stencil(dvec *out, dvec_stencil_kernel kernel, void *ctx, dvec *x, uint64_t below, uint64_t above, bool periodic)
{
    if (!out)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dvec_halo_span from[2];
    const stencil s = {.x = x, .below = below, .above = above, .periodic = periodic};
    no_halo(from);
    dome__begin_with(&op, out->env, DOME_OP_DVEC_STENCIL, out->object, (uint64_t[]){dvec__id(x), below, above, periodic}, 4);
    int status = stencil_check(out, kernel, &s);
    if (status == DOME_OK)
        status = dvec__settle(out, NULL); /* the kernel may read what was there */
    if (status == DOME_OK)
        status = stencil_fetch(&s, x, from);
    if (status != DOME_OK)
        return dome__end(&op, status);
    op.program = true;
    stencil_spans(out, kernel, ctx, &s, from);
    op.program = false;
    dvec__overwritten(out);
    dome__count_bytes(&op, out->local * (DVEC_ELEMENT(out) + DVEC_ELEMENT(x)));
    return dome__end(&op, DOME_OK);
}
