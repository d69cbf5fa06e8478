/* Reductions along axes. Each task reduces the values that it has; parts of results go to the owners of the results, who combine
 * them in the order of the array. */
#include "arrays/dvec_ranges.h"
#include "arrays/rows.h"
#include "core/type_private.h"
#include "kernels/along.h"
#include "kernels/kernels_reduce.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <math.h>
#include <string.h>

/* A reduction of an array of three axes - outer, along, inner - to a new vector. */
typedef struct reduction {
    dvec_rows rows;
    dvec_axis_operation operation;
    dome_along what;
    dome_type type;          /* of the values as they are reduced: parts of complex values are values of their own */
    dome_type first, second; /* of the parts of results; second: NULL if there is none */
    uint64_t each;           /* parts of a value that are reduced: 2 of complex ones */
    uint64_t inner;          /* the inner extent in parts */
    dvec *z;
} reduction;

static bool is_complex(dome_type type)
{
    return dome_type_kind_of(type) == DOME_KIND_C64 || dome_type_kind_of(type) == DOME_KIND_C128;
}

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

static bool is_product(const reduction *r)
{
    return r->operation == DVEC_PROD_ALONG && !is_integer(r->rows.x->type);
}

/* ---- results of parts ---- */

/* Some results, which are not complete, and their numbers. */
typedef struct parts {
    dome_span range[2]; /* one range for each of a task's spans of x */
    dome_along_state state;
    bool inexact; /* a sum needs more digits than it has */
} parts;

/* The results to which the values of a span contribute: of whole planes. */
static dome_span results_of(const reduction *r, dome_span values)
{
    const uint64_t plane = r->rows.count * r->inner;
    if (values.count == 0)
        return (dome_span){0, 0};
    const uint64_t first = values.first / plane, last = (values.first + values.count - 1) / plane;
    return (dome_span){first * r->inner, (last - first + 1) * r->inner};
}

/* This task's spans of x in values as they are reduced. */
static void own_values(const reduction *r, dome_span spans[2], const char *data[2])
{
    dvec_span own[2];
    const uint64_t each = r->rows.x->width * r->each;
    dvec__spans(r->rows.x, own);
    for (int k = 0; k < 2; k++) {
        spans[k] = (dome_span){own[k].first * each, own[k].count * each};
        data[k] = own[k].data;
    }
}

/* Reduces values begin ... end - 1 of one plane, of which x has the first, into results at, at + 1, ... */
static bool reduce_plane(const reduction *r, const dome_along_state *s, uint64_t at, const char *x, uint64_t begin, uint64_t end)
{
    enum { CHUNK = 1024 }; /* results that stay in the cache while all rows pass */
    const uint64_t inner = r->inner;
    const size_t size = dome_type_size(r->type);
    bool inexact = false;
    if (inner == 1)
        return dome__along_run(r->what, r->type)(s, at, x, end - begin, (int64_t)begin);
    const dome_along_kernel rows = dome__along_rows(r->what, r->type);
    for (uint64_t chunk = 0; chunk < inner; chunk += CHUNK)
        for (uint64_t j = begin / inner; j <= (end - 1) / inner; j++) {
            const uint64_t low = MAX(MAX(chunk, begin > j * inner ? begin - j * inner : 0), 0);
            const uint64_t high = MIN(MIN(chunk + CHUNK, inner), end - j * inner);
            if (low < high)
                inexact |= rows(s, at + low, x + (j * inner + low - begin) * size, high - low, (int64_t)j);
        }
    return inexact;
}

/* Sums of a whole plane that were not exact: once more, one by one. */
static void sum_again(const reduction *r, const dome_along_state *s, uint64_t at, const char *x)
{
    double *sums = (double *)s->first + at, *rests = (double *)s->second + at;
    for (uint64_t b = 0; b < r->inner; b++) {
        sums[b] = dome__along_exact(r->type, x + b * dome_type_size(r->type), r->rows.count, r->inner);
        rests[b] = 0;
    }
}

enum { SHORT = 16 }; /* rows of so many values, or fewer, are reduced together */

/* Reduces some short rows from x on, at most `most`: their values of one position are laid side by side. Returns how many rows.
 */
static uint64_t reduce_short_rows(const reduction *r, const dome_along_state *s, uint64_t at, const char *x, uint64_t most)
{
    enum { TOGETHER = 256 };
    _Alignas(64) char values[TOGETHER * 2 * sizeof(double)];
    const uint64_t rows = MIN(most, TOGETHER), n = r->rows.count;
    const size_t size = dome_type_size(r->type);
    const dome_along_kernel kernel = dome__along_rows(r->what, r->type);
    const dvec_box column = {.ndim = 1, .extent = {rows}, .to_stride = {1}, .from_stride = {(int64_t)n}};
    bool inexact = false;
    for (uint64_t j = 0; j < n; j++) {
        dvec__copy_box(&column, values, x + j * size, size);
        inexact |= kernel(s, at, values, rows, (int64_t)j);
    }
    for (uint64_t i = 0; i < rows && inexact; i++)
        sum_again(r, s, at + i, x + i * n * size);
    return rows;
}

/* Reduces the values of one span. at: the place of the range's first result. */
static void reduce_span(const reduction *r, parts *p, uint64_t at, const char *x, dome_span values)
{
    const uint64_t plane = r->rows.count * r->inner, end = values.first + values.count;
    for (uint64_t first = values.first; first < end;) {
        const uint64_t base = first / plane * plane, last = MIN(end, base + plane);
        const char *from = x + (first - values.first) * dome_type_size(r->type);
        if (r->inner == 1 && plane <= SHORT && first == base && last == base + plane) {
            const uint64_t rows = reduce_short_rows(r, &p->state, at, from, (end - first) / plane);
            at += rows;
            first += rows * plane;
            continue;
        }
        if (reduce_plane(r, &p->state, at, from, first - base, last - base)) {
            if (first == base && last == base + plane)
                sum_again(r, &p->state, at, from);
            else
                p->inexact = true;
        }
        at += r->inner;
        first = last;
    }
}

static int allocate(const reduction *r, dome_along_state *s, uint64_t count)
{
    s->first = dome__storage_raw(count * dome_type_size(r->first), NULL);
    s->second = r->second ? dome__storage_raw(count * dome_type_size(r->second), NULL) : NULL;
    return dvec__agree_memory(r->rows.x, count == 0 || (s->first && (s->second || !r->second)), "results along an axis");
}

static void state_clear(dome_along_state *s)
{
    dome__storage_free(s->first);
    dome__storage_free(s->second);
}

static int reduce_own(const reduction *r, parts *p)
{
    dome_span spans[2];
    const char *data[2];
    *p = (parts){.inexact = false};
    own_values(r, spans, data);
    for (int k = 0; k < 2; k++)
        p->range[k] = results_of(r, spans[k]);
    const int status = allocate(r, &p->state, p->range[0].count + p->range[1].count);
    if (status != DOME_OK)
        return status;
    dome__along_begin(r->what, r->type, &p->state, p->range[0].count + p->range[1].count);
    for (int k = 0; k < 2; k++)
        reduce_span(r, p, k ? p->range[0].count : 0, data[k], spans[k]);
    return DOME_OK;
}

/* ---- exchange ---- */

/* The parts that one span of one task has for one span of another one's results. */
static dome_span common(dome_span a, dome_span b)
{
    const uint64_t begin = MAX(a.first, b.first), end = MIN(a.first + a.count, b.first + b.count);
    return begin < end ? (dome_span){begin, end - begin} : (dome_span){0, 0};
}

/* The ranges of results of all tasks: of their values of x (two each), and of their part of z. */
typedef struct routes {
    dome_span *from, *to;
    uint64_t *counts, *in_counts; /* by rank */
} routes;

static uint64_t shared(const routes *w, int from, int to)
{
    uint64_t count = 0;
    for (int k = 0; k < 4; k++)
        count += common(w->from[2 * from + k / 2], w->to[2 * to + k % 2]).count;
    return count;
}

static void find_routes(const reduction *r, routes *w)
{
    const int size = r->rows.x->env->size, rank = r->rows.x->env->rank;
    w->from = dvec__parts_of(r->rows.x, r->each);
    w->to = dvec__parts_of(r->z, r->each);
    for (int k = 0; k < 2 * size; k++)
        w->from[k] = results_of(r, w->from[k]);
    w->counts = g_new0(uint64_t, 2 * (gsize)size);
    w->in_counts = w->counts + size;
    for (int k = 0; k < size; k++) {
        w->counts[k] = shared(w, rank, k);
        w->in_counts[k] = shared(w, k, rank);
    }
}

static void routes_clear(routes *w)
{
    g_free(w->from);
    g_free(w->to);
    g_free(w->counts);
}

/* Copies one array of this task's parts in the order in which they are sent. */
static void pack(const reduction *r, const routes *w, const char *from, char *to, size_t size)
{
    const int rank = r->rows.x->env->rank;
    const dome_span *own = w->from + 2 * rank;
    for (int dest = 0; dest < r->rows.x->env->size; dest++)
        for (int k = 0; k < 4; k++) {
            const dome_span part = common(own[k / 2], w->to[2 * dest + k % 2]);
            const uint64_t at = (k / 2 ? own[0].count : 0) + part.first - own[k / 2].first;
            if (part.count > 0)
                memcpy(to, from + at * size, (size_t)part.count * size);
            to += part.count * size;
        }
}

/* Combines the received results, `in`, with those of this task, `all`, in the order of the spans of x. */
static bool merge(const reduction *r, const routes *w, const dome_along_state *in, const dome_along_state *all)
{
    const dvec *x = r->rows.x;
    const dome_span *own = w->to + 2 * x->env->rank;
    uint64_t nsegments, *begin = g_new(uint64_t, x->env->size + 1);
    bool inexact = false;
    begin[0] = 0;
    for (int s = 0; s < x->env->size; s++)
        begin[s + 1] = begin[s] + w->in_counts[s];
    dvec_segment *segments = dvec__segments(x, &nsegments);
    for (uint64_t j = 0; j < nsegments; j++) {
        const dvec_segment *g = &segments[j];
        uint64_t at = begin[g->rank];
        if (g->number == 1)
            for (int k = 0; k < 2; k++)
                at += common(w->from[2 * g->rank], own[k]).count;
        for (int k = 0; k < 2; k++) {
            const dome_span part = common(w->from[2 * g->rank + g->number], own[k]);
            const uint64_t place = (k ? own[0].count : 0) + part.first - own[k].first;
            if (part.count > 0)
                inexact |= dome__along_merge(r->what, r->type, all, place, in, at, part.count);
            at += part.count;
        }
    }
    g_free(segments);
    g_free(begin);
    return inexact;
}

static int send_array(const reduction *r, const routes *w, dome_type type, const void *from, void *send, void *recv)
{
    pack(r, w, from, send, dome_type_size(type));
    const int status = dome__alltoallv(r->rows.x->env->transport, type, send, w->counts, recv, w->in_counts);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(r->rows.x->env, status);
}

static uint64_t sum_of(const uint64_t counts[], int size)
{
    uint64_t total = 0;
    for (int k = 0; k < size; k++)
        total += counts[k];
    return total;
}

/* Sets `all` to the complete results that this task owns. */
static int exchange(const reduction *r, const parts *p, dome_along_state *all, bool *inexact)
{
    const dvec *x = r->rows.x;
    const int size = x->env->size;
    dome_along_state send = {0}, in = {0};
    routes w;
    find_routes(r, &w);
    const uint64_t count = w.to[2 * x->env->rank].count + w.to[2 * x->env->rank + 1].count;
    int status = allocate(r, all, count);
    if (status == DOME_OK)
        status = allocate(r, &in, sum_of(w.in_counts, size));
    if (status == DOME_OK)
        status = allocate(r, &send, sum_of(w.counts, size));
    if (status == DOME_OK)
        status = send_array(r, &w, r->first, p->state.first, send.first, in.first);
    if (status == DOME_OK && r->second)
        status = send_array(r, &w, r->second, p->state.second, send.second, in.second);
    if (status == DOME_OK) {
        dome__along_begin(r->what, r->type, all, count);
        uint64_t lost = merge(r, &w, &in, all) || p->inexact;
        if (r->what == DOME_ALONG_SUM)
            status = dome__allreduce(x->env->transport, DOME_U64, &lost, 1, dome__combine_max_u64, NULL);
        *inexact = lost;
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
    }
    state_clear(&send);
    state_clear(&in);
    routes_clear(&w);
    return status;
}

/* ---- results ---- */

/* A double as a value of a floating-point type. */
static void store(dome_type type, char *to, double value)
{
    if (type == DOME_F32 || type == DOME_C64)
        memcpy(to, &(float){(float)value}, sizeof(float));
    else
        memcpy(to, &value, sizeof value);
}

/* Writes this task's results, which are complete, into z. */
static void store_results(const reduction *r, const dome_along_state *all)
{
    dvec *z = r->z;
    const bool mean = r->operation == DVEC_MEAN_ALONG;
    const uint64_t values = z->local * r->each;
    const double n = (double)r->rows.count;
    const size_t size = dome_type_size(r->type);
    if (r->what == DOME_ALONG_SUM) {
        const double *sum = all->first, *rest = all->second;
        for (uint64_t i = 0; i < values; i++)
            store(z->type, z->data + i * size, mean ? (sum[i] + rest[i]) / n : sum[i] + rest[i]);
    } else if (mean) {
        const bool has_sign = dome_type_kind_of(r->type) <= DOME_KIND_I64;
        for (uint64_t i = 0; i < values; i++) {
            const uint64_t sum = ((const uint64_t *)all->first)[i];
            store(z->type, z->data + i * sizeof(double), (has_sign ? (double)(int64_t)sum : (double)sum) / n);
        }
    } else if (values > 0) {
        memcpy(z->data, r->second ? all->second : all->first, (size_t)values * DVEC_VALUE(z));
    }
}

/* ---- from whole rows ---- */

/* The product of a row, in order. */
static void multiply_row(dome_type type, const char *row, uint64_t count, char *to)
{
    const bool complex = is_complex(type), narrow = type == DOME_F32 || type == DOME_C64;
    const int each = complex ? 2 : 1;
    double product[2] = {1, 0};
    for (uint64_t j = 0; j < count; j++) {
        double factor[2] = {0};
        for (int k = 0; k < each; k++)
            factor[k] = narrow ? (double)((const float *)(const void *)row)[j * (uint64_t)each + (uint64_t)k]
                               : ((const double *)(const void *)row)[j * (uint64_t)each + (uint64_t)k];
        dome__multiply(complex, product, factor);
    }
    for (int k = 0; k < each; k++)
        store(type, to + (size_t)k * (dome_type_size(type) / (size_t)each), product[k]);
}

/* The exact sum of a row, or its mean. */
static void sum_row(const reduction *r, const char *row, char *to)
{
    const uint64_t each = r->each;
    const size_t size = dome_type_size(r->type);
    for (uint64_t k = 0; k < each; k++) {
        const double sum = dome__along_exact(r->type, row + k * size, r->rows.count, each);
        store(r->z->type, to + k * size, r->operation == DVEC_MEAN_ALONG ? sum / (double)r->rows.count : sum);
    }
}

/* Brings rows together, and reduces each on one task. */
static int reduce_rows(const reduction *r)
{
    const size_t size = DVEC_VALUE(r->z);
    dome_span *shares = dvec__share_rows(&r->rows);
    const dome_span *own = shares + 2 * r->rows.x->env->rank;
    const uint64_t count = own[0].count + own[1].count;
    char *values = NULL, *results = dome__storage_raw(count * size, NULL);
    int status = dvec__agree_memory(r->rows.x, results || count == 0, "results along an axis");
    if (status == DOME_OK)
        status = dvec__gather_rows(&r->rows, shares, &values);
    for (uint64_t i = 0; i < count && status == DOME_OK; i++) {
        const char *row = values + i * r->rows.count * DVEC_VALUE(r->rows.x);
        if (is_product(r))
            multiply_row(r->rows.x->type, row, r->rows.count, results + i * size);
        else
            sum_row(r, row, results + i * size);
    }
    if (status == DOME_OK && r->z->distribution != DOME_WHOLE)
        status = dvec__deliver(r->z, shares, results);
    else if (status == DOME_OK && count > 0)
        memcpy(r->z->data, results, (size_t)(count * size));
    dome__storage_free(values);
    dome__storage_free(results);
    g_free(shares);
    return status;
}

/* The product of all values: they need not be brought to one task. */
static int multiply_all(const reduction *r)
{
    double product[2] = {0};
    const int status = dvec_prod_c128(r->rows.x, product);
    const uint64_t each = is_complex(r->z->type) ? 2 : 1;
    for (uint64_t k = 0; k < each && r->z->local > 0 && status == DOME_OK; k++)
        store(r->z->type, r->z->data + k * (DVEC_VALUE(r->z) / each), product[k]);
    return status;
}

/* ---- sums that need more than two doubles ---- */

enum { FEW = 4096 }; /* results of which each task keeps all digits */

static void add_exactly(const reduction *r, dome_exact_sum *sums)
{
    const uint64_t plane = r->rows.count * r->inner;
    dome_span spans[2];
    const char *data[2];
    own_values(r, spans, data);
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < spans[k].count; i++) {
            const uint64_t p = spans[k].first + i;
            dome__exact_add(&sums[p / plane * r->inner + p % r->inner], r->type == DOME_F64
                                                                            ? ((const double *)(const void *)data[k])[i]
                                                                            : (double)((const float *)(const void *)data[k])[i]);
        }
}

/* Few results: all tasks add the digits of all. */
static int sum_few(const reduction *r)
{
    const dvec *x = r->rows.x;
    const uint64_t count = r->rows.outer * r->inner, each = r->each;
    const double n = r->operation == DVEC_MEAN_ALONG ? (double)r->rows.count : 1;
    dome_exact_sum *sums = g_try_new(dome_exact_sum, count);
    int status = dvec__agree_memory(x, sums || count == 0, "exact sums");
    if (status == DOME_OK) {
        for (uint64_t k = 0; k < count; k++)
            dome__exact_init(&sums[k]);
        add_exactly(r, sums);
        for (uint64_t k = 0; k < count; k++)
            dome__exact_shorten(&sums[k]);
        if (x->distribution != DOME_WHOLE)
            status = dome__allreduce(x->env->transport, DOME_I64, sums, count * DOME_EXACT_WORDS, dome__combine_sum_i64, NULL);
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
    }
    if (status == DOME_OK) {
        dvec_span spans[2];
        dvec__spans(r->z, spans);
        for (int k = 0; k < 2; k++)
            for (uint64_t i = 0; i < spans[k].count * each; i++) {
                dome_exact_sum *sum = &sums[spans[k].first * each + i];
                dome__exact_normalize(sum);
                store(r->z->type, (char *)spans[k].data + i * dome_type_size(r->type), dome__exact_round(sum) / n);
            }
    }
    g_free(sums);
    return status;
}

/* ---- the public function ---- */

/* Whether this task's results are all of z's, in the same order: there is nothing to exchange. */
static bool has_all(const reduction *r, const parts *p)
{
    dome_span spans[2];
    const dvec *z = r->z;
    const bool alone = z->distribution == DOME_WHOLE || z->env->size == 1;
    return alone && p->range[0].count == z->length * r->each && p->range[1].count == 0 &&
           dvec__spans_of(z, z->env->rank, spans) <= 1;
}

static int reduce(const reduction *r)
{
    parts p;
    dome_along_state all = {0};
    bool inexact = false;
    if (is_product(r))
        return r->rows.outer * r->rows.inner == 1 ? multiply_all(r) : reduce_rows(r);
    int status = reduce_own(r, &p);
    if (status == DOME_OK && has_all(r, &p)) {
        store_results(r, &p.state); /* of whole planes: exact */
    } else if (status == DOME_OK) {
        status = exchange(r, &p, &all, &inexact);
        if (status == DOME_OK && !inexact)
            store_results(r, &all);
    }
    state_clear(&p.state);
    state_clear(&all);
    if (status == DOME_OK && inexact)
        status = r->rows.outer * r->inner <= FEW ? sum_few(r) : reduce_rows(r);
    return status;
}

/* Chooses the loops, and the type of the result; false: there is none for x's type. */
static bool choose(reduction *r, dome_type type, dome_type *result)
{
    static const dome_along others[] = {[DVEC_MIN_ALONG] = DOME_ALONG_LEAST,
                                        [DVEC_MAX_ALONG] = DOME_ALONG_MOST,
                                        [DVEC_ARGMIN_ALONG] = DOME_ALONG_FIRST_LEAST,
                                        [DVEC_ARGMAX_ALONG] = DOME_ALONG_FIRST_MOST,
                                        [DVEC_ANY_ALONG] = DOME_ALONG_ANY,
                                        [DVEC_ALL_ALONG] = DOME_ALONG_ALL};
    const dome_type_kind kind = dome_type_kind_of(type);
    const bool sums = r->operation <= DVEC_MEAN_ALONG;
    r->type = type;
    r->each = 1;
    if (!sums)
        r->what = others[r->operation];
    else if (is_integer(type))
        r->what = r->operation == DVEC_PROD_ALONG ? DOME_ALONG_PRODUCT : DOME_ALONG_COUNT;
    else
        r->what = DOME_ALONG_SUM;
    if (sums && is_complex(type)) {
        r->type = kind == DOME_KIND_C64 ? DOME_F32 : DOME_F64;
        r->each = 2;
        r->inner *= 2;
    }
    r->first = dome__along_first(r->what, r->type);
    r->second = dome__along_second(r->what);
    *result = !sums ? (r->second ? DOME_I64 : r->first) : type;
    if (sums && is_integer(type))
        *result = r->operation == DVEC_MEAN_ALONG ? DOME_F64 : kind <= DOME_KIND_I64 ? DOME_I64 : DOME_U64;
    return kind != DOME_KIND_STRUCT && dome__along_rows(r->what, r->type) != NULL;
}

/* Which axes of a view are reduced. */
typedef struct chosen {
    dvec_view kept; /* the others */
    uint64_t outer, count, inner;
    bool together;            /* the reduced ones follow each other */
    int order[DVEC_MAX_AXES]; /* the others, then the reduced ones */
} chosen;

static bool is_chosen(uint32_t axes, int d)
{
    return axes >> d & 1;
}

static void choose_axes(const dvec_view *v, uint32_t axes, chosen *c)
{
    int at = 0, groups = 0;
    bool inside = false;
    *c = (chosen){.outer = 1, .count = 1, .inner = 1};
    for (int d = 0; d < v->ndim; d++) {
        if (!is_chosen(axes, d)) {
            c->kept.extent[c->kept.ndim++] = v->extent[d];
            c->order[at++] = d;
            *(groups ? &c->inner : &c->outer) *= v->extent[d];
            inside = inside && v->extent[d] == 1;
            continue;
        }
        c->count *= v->extent[d];
        groups += !inside && v->extent[d] != 1;
        inside = inside || v->extent[d] != 1;
    }
    for (int d = 0; d < v->ndim; d++)
        if (is_chosen(axes, d))
            c->order[at++] = d;
    c->together = groups <= 1;
}

/* Makes a vector of a view's values in an order in which the reduced axes are the last ones. */
static dvec *arrange(const dvec *x, const dvec_view *view, chosen *c)
{
    dvec_view v = *view;
    dvec_view_transpose(&v, c->order);
    dvec *t = dvec__new_array(x, x->type, v.ndim, v.extent, NULL);
    if (t && dvec__fill_from_view(t, x, &v) != DOME_OK) {
        dvec_free(t);
        return NULL;
    }
    c->outer *= c->inner;
    c->inner = 1;
    return t;
}

static int check_axes(const dvec *x, const dvec_view *v, uint32_t *axes, dvec_axis_operation operation)
{
    const uint32_t all = v->ndim < 32 ? (UINT32_C(1) << v->ndim) - 1 : UINT32_MAX;
    if (*axes == DVEC_ALL_AXES)
        *axes = all;
    if (*axes & ~all)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "axes 0x%x of %d", *axes, v->ndim);
    if ((unsigned)operation > DVEC_ALL_ALONG)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "no operation has number %d", (int)operation);
    return DOME_OK;
}

/* Makes the result; x has been checked. */
static int reduce_view(reduction *r, const dvec *x, const dvec_view *v, uint32_t axes, const char *name)
{
    chosen c;
    dvec *arranged = NULL;
    dome_type type;
    choose_axes(v, axes, &c);
    if (c.count == 0 && dvec_view_count(&c.kept) > 0 && r->operation >= DVEC_MIN_ALONG && r->operation <= DVEC_ARGMAX_ALONG)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "the smallest or largest of no values");
    int status = dvec__settle(x, NULL);
    if (status != DOME_OK)
        return status;
    if (!c.together || !dvec__is_plain(x, v)) {
        arranged = arrange(x, v, &c);
        if (!arranged)
            return dome_error_status(x->env);
    }
    r->rows = (dvec_rows){arranged ? arranged : x, c.outer, c.count, c.inner};
    r->inner = c.inner;
    if (!choose(r, x->type, &type))
        status = dome__fail(x->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(x->type));
    if (status == DOME_OK) {
        r->z = dvec__new_array(x, type, c.kept.ndim, c.kept.extent, name);
        status = r->z ? reduce(r) : (int)dome_error_status(x->env);
    }
    if (r->z)
        dvec__overwritten(r->z);
    dvec_free(arranged);
    return status;
}

dvec *dvec_reduce_view(const dvec *x, const dvec_view *view, dvec_axis_operation operation, uint32_t axes, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec_view v;
    reduction r = {.operation = operation};
    dome__begin_with(&op, x->env, DOME_OP_DVEC_REDUCE_VIEW, x->object,
                     (uint64_t[]){dome__text_word(x->env, name), dvec__view_word(view), (uint64_t)operation, axes}, 4);
    int status = dvec__take_view(x, view, &v);
    if (status == DOME_OK)
        status = check_axes(x, &v, &axes, operation);
    if (status == DOME_OK)
        status = reduce_view(&r, x, &v, axes, name);
    if (status != DOME_OK && r.z)
        dvec_free(r.z);
    dome__end(&op, status);
    return status == DOME_OK ? r.z : NULL;
}
