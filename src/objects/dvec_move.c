#include "objects/dvec_private.h"
#include "objects/exact_sum.h"
#include "objects/type_private.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <string.h>

/* Longest message that movement makes of one range. */
#define MESSAGE_BYTES (UINT64_C(8) << 20)

static uint64_t id_of(const dvec *x)
{
    return x ? dome_object_id(x->object) : 0;
}

/* The spans of a rank's part; a DOME_WHOLE vector's are the same everywhere. */
static int spans_of(const dvec *x, int rank, dome_span spans[2])
{
    return dome_layout_spans(x->layout, x->distribution == DOME_WHOLE ? 0 : rank, spans);
}

static int check_values(const dvec *z, const dvec *x)
{
    if (x->env != z->env)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x));
    if (!dome_type_equal(x->type, z->type))
        return dome__fail(z->env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x), dome_type_name(x->type),
                          dvec_name(z), dome_type_name(z->type));
    if (x->width != z->width)
        return dome__fail(z->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                          dvec_name(x), x->width, dvec_name(z), z->width);
    return DOME_OK;
}

/* ---- fetching ranges ---- */

typedef struct piece {
    uint64_t from, to, count; /* elements: place in the owner's memory, place in the output */
} piece;

enum { PIECES = 2 * DVEC_WANTS };

/* The part of one task's wants that another (or itself) owns. */
static int pieces_of(const dvec_want *wants, int nwants, const dome_span *spans, int nspans, piece pieces[PIECES])
{
    int count = 0;
    for (int w = 0; w < nwants; w++) {
        uint64_t from = 0;
        for (int s = 0; s < nspans; s++) {
            uint64_t begin = MAX(wants[w].first, spans[s].first);
            uint64_t end = MIN(wants[w].first + wants[w].count, spans[s].first + spans[s].count);
            if (begin < end)
                pieces[count++] = (piece){from + begin - spans[s].first, wants[w].at + begin - wants[w].first, end - begin};
            from += spans[s].count;
        }
    }
    return count;
}

/* Takes up to `limit` elements off the first of the pieces left. */
static piece next_message(piece **pieces, int *left, uint64_t limit)
{
    piece message = **pieces;
    message.count = MIN(message.count, limit);
    (*pieces)->from += message.count;
    (*pieces)->to += message.count;
    (*pieces)->count -= message.count;
    if ((*pieces)->count == 0) {
        (*pieces)++;
        (*left)--;
    }
    return message;
}

/* One round of the exchange. Sending and receiving take turns, so that no more than a message is under way in a pair. */
static int trade(const dvec *x, int dest, piece *out, int nout, int source, piece *in, int nin, char *to)
{
    dome_transport *t = x->env->transport;
    uint64_t element = DVEC_ELEMENT(x), limit = MAX(1, MESSAGE_BYTES / element);
    int status = DOME_OK;

    while (status == DOME_OK && (nout > 0 || nin > 0)) {
        if (nout > 0) {
            piece m = next_message(&out, &nout, limit);
            status = dome__send(t, dest, DOME_CHANNEL_DATA, x->type, x->data + m.from * element, m.count * x->width);
        }
        if (status == DOME_OK && nin > 0) {
            piece m = next_message(&in, &nin, limit);
            status = dome__recv(t, source, DOME_CHANNEL_DATA, x->type, to + m.to * element, m.count * x->width);
        }
    }
    return status;
}

int dvec__fetch(const dvec *x, dvec_wants wants, void *ctx, void *out)
{
    const dome_transport *t = x->env->transport;
    uint64_t element = DVEC_ELEMENT(x);
    dvec_want mine[DVEC_WANTS], theirs[DVEC_WANTS];
    dome_span own[2], others[2];
    piece incoming[PIECES], outgoing[PIECES];

    int nmine = wants(ctx, t->rank, mine), nown = spans_of(x, t->rank, own);
    int here = pieces_of(mine, nmine, own, nown, incoming);
    for (int i = 0; i < here; i++)
        memcpy((char *)out + incoming[i].to * element, x->data + incoming[i].from * element,
               (size_t)(incoming[i].count * element));
    if (x->distribution == DOME_WHOLE)
        return DOME_OK;

    for (int k = 1; k < t->size; k++) {
        int dest = (int)(((unsigned)t->rank + (unsigned)k) % (unsigned)t->size);
        int source = (int)(((unsigned)t->rank + (unsigned)(t->size - k)) % (unsigned)t->size);
        int nout = pieces_of(theirs, wants(ctx, dest, theirs), own, nown, outgoing);
        int nin = pieces_of(mine, nmine, others, spans_of(x, source, others), incoming);
        int status = trade(x, dest, outgoing, nout, source, incoming, nin, out);
        if (status != DOME_OK)
            return dome__fail_transport(x->env, status);
    }
    return DOME_OK;
}

/* ctx is a vector: its own elements. */
static int wants_own(void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    dome_span spans[2];
    uint64_t at = 0;
    int count = spans_of(ctx, rank, spans);
    for (int s = 0; s < count; s++) {
        wants[s] = (dvec_want){spans[s].first, spans[s].count, at};
        at += spans[s].count;
    }
    return count;
}

int dvec__redistribute(dvec *z, const dvec *x)
{
    int status = check_values(z, x);
    if (status == DOME_OK && x->length != z->length)
        status = dome__fail(z->env, DOME_ERR_SHAPE, "'%s' has %" G_GUINT64_FORMAT " elements, but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(x), x->length, dvec_name(z), z->length);
    if (status == DOME_OK)
        status = dvec__settle(x, z);
    if (status == DOME_OK)
        status = dvec__fetch(x, wants_own, z, z->data);
    if (status == DOME_OK)
        dvec__written(z);
    return status;
}

/* ---- shift ---- */

typedef struct shift {
    const dvec *z;
    uint64_t distance;
    bool upwards, circular;
} shift;

/* Where the elements come from that a shift without wrapping puts into a span: begin ... end - 1 of the span. */
static void shift_inside(const shift *s, const dome_span *span, uint64_t *begin, uint64_t *end)
{
    uint64_t n = s->z->length, low = s->upwards ? MIN(s->distance, n) : 0;
    uint64_t high = s->upwards ? n : n - MIN(s->distance, n);
    *begin = CLAMP(low, span->first, span->first + span->count);
    *end = CLAMP(high, *begin, MAX(*begin, span->first + span->count));
}

static int wants_shift(void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const shift *s = ctx;
    uint64_t n = s->z->length, at = 0;
    dome_span spans[2];
    int count = 0, nspans = spans_of(s->z, rank, spans);

    for (int i = 0; i < nspans; at += spans[i++].count) {
        if (s->circular) {
            uint64_t first = spans[i].first;
            first = first >= s->distance ? first - s->distance : n - (s->distance - first);
            uint64_t head = MIN(spans[i].count, n - first);
            wants[count++] = (dvec_want){first, head, at};
            if (head < spans[i].count)
                wants[count++] = (dvec_want){0, spans[i].count - head, at + head};
        } else {
            uint64_t begin, end;
            shift_inside(s, &spans[i], &begin, &end);
            if (begin < end)
                wants[count++] =
                    (dvec_want){s->upwards ? begin - s->distance : begin + s->distance, end - begin, at + begin - spans[i].first};
        }
    }
    return count;
}

static void fill_values(char *to, uint64_t values, const void *value, size_t size)
{
    if (!value && values > 0)
        memset(to, 0, (size_t)(values * size));
    for (uint64_t i = 0; value && i < values; i++)
        memcpy(to + i * size, value, size);
}

static void fill_outside(const shift *s, char *data, const void *value)
{
    const dvec *z = s->z;
    uint64_t element = DVEC_ELEMENT(z);
    dome_span spans[2];
    int nspans = spans_of(z, z->env->transport->rank, spans);
    for (int i = 0; i < nspans; data += spans[i++].count * element) {
        uint64_t begin, end, first = spans[i].first;
        shift_inside(s, &spans[i], &begin, &end);
        fill_values(data, (begin - first) * z->width, value, DVEC_VALUE(z));
        fill_values(data + (end - first) * element, (first + spans[i].count - end) * z->width, value, DVEC_VALUE(z));
    }
}

static int shift_checked(dvec *z, const dvec *x, const shift *s, const void *value)
{
    int status = dvec__conforms(z, x, true, true);
    if (status == DOME_OK)
        status = dvec__settle(x, z);
    if (status != DOME_OK)
        return status;

    char *data = z->data;
    if (z == x) {
        data = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
        status = dvec__agree_memory(z, data || z->local == 0, "the shifted elements");
        if (status != DOME_OK) {
            dome__storage_free(data);
            return status;
        }
    }
    status = dvec__fetch(x, wants_shift, (void *)s, data);
    if (status == DOME_OK && !s->circular)
        fill_outside(s, data, value);
    if (z == x) {
        if (status == DOME_OK)
            dvec__replace(z, data);
        else
            dome__storage_free(data);
    }
    dvec__written(z);
    return status;
}

int dvec_shift(dvec *z, const dvec *x, int64_t k)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_SHIFT);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SHIFT, z->object, dome__hash(dome__hash(0, id_of(x)), (uint64_t)k));
    uint64_t n = z->length, distance = 0;
    if (n > 0) {
        distance = (k < 0 ? -(uint64_t)k : (uint64_t)k) % n;
        if (k < 0 && distance > 0)
            distance = n - distance;
    }
    shift s = {.z = z, .distance = distance, .upwards = true, .circular = true};
    return dome__end(&op, shift_checked(z, x, &s, NULL));
}

int dvec_shift_fill(dvec *z, const dvec *x, int64_t k, const void *value)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_SHIFT);
    dome_operation op;
    uint64_t hash = dome__hash(dome__hash(1, id_of(x)), (uint64_t)k);
    if (value) {
        void *portable = g_malloc(z->type->portable);
        dome_type_pack(z->type, DOME_PORTABLE, portable, value, 1);
        hash = dome__hash_bytes(hash, portable, z->type->portable);
        g_free(portable);
    }
    dome__begin(&op, z->env, DOME_OP_DVEC_SHIFT, z->object, hash);
    shift s = {.z = z, .distance = k < 0 ? -(uint64_t)k : (uint64_t)k, .upwards = k >= 0};
    return dome__end(&op, shift_checked(z, x, &s, value));
}

/* ---- whole ---- */

/* Everything. */
static int wants_whole(void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const dvec *x = ctx;
    (void)rank;
    wants[0] = (dvec_want){0, x->length, 0};
    return x->length > 0;
}

static int fetch_whole(const dvec *x, void *out)
{
    dome_transport *t = x->env->transport;
    uint64_t start;
    dome_layout_run(x->layout, 0, &start);
    if (start != 0) /* the parts in rank order are not the vector in order */
        return dvec__fetch(x, wants_whole, (void *)x, out);

    uint64_t *counts = g_new(uint64_t, t->size);
    for (int r = 0; r < t->size; r++)
        counts[r] = dome_layout_local(x->layout, r) * x->width;
    int status = dome__allgatherv(t, x->type, x->data, counts, out);
    g_free(counts);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(x->env, status);
}

const void *dvec_whole(const dvec *x)
{
    if (!x)
        return dvec__no_vector(DOME_OP_DVEC_WHOLE), NULL;
    static const char nothing[16];
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_WHOLE, x->object, 0);

    const void *result = nothing;
    int status = dvec__settle(x, NULL);
    if (status == DOME_OK && x->length > 0) {
        if (x->distribution == DOME_WHOLE) {
            result = x->data;
        } else {
            dvec *cache = (dvec *)x;
            uint64_t bytes;
            if (!cache->whole) {
                if (!__builtin_mul_overflow(x->length, (uint64_t)DVEC_ELEMENT(x), &bytes))
                    cache->whole = dome__storage_raw(bytes, NULL);
                status = dvec__agree_memory(x, cache->whole != NULL, "all elements");
            }
            if (status == DOME_OK)
                status = fetch_whole(x, cache->whole);
            else
                g_clear_pointer(&cache->whole, dome__storage_free);
            result = cache->whole;
        }
    }
    return dome__end(&op, status) == DOME_OK ? result : NULL;
}

/* ---- halo ---- */

typedef struct halo {
    const dvec *x;
    uint64_t below, above;
    bool periodic;
} halo;

/* count elements from `first` on, around the end. */
static int want_around(uint64_t first, uint64_t count, uint64_t n, uint64_t *at, dvec_want *wants)
{
    uint64_t head = MIN(count, n - first);
    int used = 0;
    if (head > 0)
        wants[used++] = (dvec_want){first, head, *at};
    if (count > head)
        wants[used++] = (dvec_want){0, count - head, *at + head};
    *at += count;
    return used;
}

/* How many elements below and above a span there are to fetch. */
static void halo_counts(const halo *h, const dome_span *span, uint64_t *below, uint64_t *above)
{
    uint64_t end = span->first + span->count;
    *below = h->periodic ? h->below : MIN(h->below, span->first);
    *above = h->periodic ? h->above : MIN(h->above, h->x->length - end);
}

static int wants_halo(void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const halo *h = ctx;
    uint64_t n = h->x->length, at = 0, below, above;
    dome_span spans[2];
    int count = 0, nspans = spans_of(h->x, rank, spans);
    for (int s = 0; s < nspans; s++) {
        uint64_t first = spans[s].first, end = first + spans[s].count;
        halo_counts(h, &spans[s], &below, &above);
        count += want_around(first >= below ? first - below : n - (below - first), below, n, &at, wants + count);
        count += want_around(end == n ? 0 : end, above, n, &at, wants + count);
    }
    return count;
}

/* Room for the copies. Tasks keep it for as long as nothing about it changes, and so know together when it does. */
static int halo_room(dvec *x, const halo *h, uint64_t elements)
{
    if (x->halo_layout == x->layout && x->halo_below == h->below && x->halo_above == h->above && x->halo_periodic == h->periodic)
        return DOME_OK;
    dome__storage_retire(g_steal_pointer(&x->halo), dvec_name(x));
    g_clear_pointer(&x->halo_layout, dome_layout_unref);

    uint64_t bytes = 0;
    if (!__builtin_mul_overflow(elements, (uint64_t)DVEC_ELEMENT(x), &bytes))
        x->halo = dome__storage_raw(bytes, NULL);
    int status = dvec__agree_memory(x, x->halo || elements == 0, "the neighbouring elements");
    if (status == DOME_OK) {
        x->halo_layout = dome_layout_ref(x->layout);
        x->halo_below = (size_t)h->below;
        x->halo_above = (size_t)h->above;
        x->halo_periodic = h->periodic;
    }
    return status;
}

static int halo_fetch(dvec *x, const halo *h)
{
    uint64_t elements = 0;
    dvec_want wants[DVEC_WANTS];
    int status = dvec__settle(x, NULL);
    if (status != DOME_OK)
        return status;
    if (h->periodic && (h->below > x->length || h->above > x->length))
        return dome__fail(x->env, DOME_ERR_ARGUMENT,
                          "a periodic halo of %" G_GUINT64_FORMAT " below and %" G_GUINT64_FORMAT
                          " above is longer than the vector of %" G_GUINT64_FORMAT " elements",
                          h->below, h->above, x->length);
    for (int w = wants_halo((void *)h, x->env->transport->rank, wants); w-- > 0;)
        elements += wants[w].count;
    status = halo_room(x, h, elements);
    return status == DOME_OK ? dvec__fetch(x, wants_halo, (void *)h, x->halo) : status;
}

int dvec_halo(dvec *x, size_t below, size_t above, bool periodic, dvec_halo_span spans[2])
{
    if (!x)
        return -dvec__no_vector(DOME_OP_DVEC_HALO);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_HALO, x->object, dome__hash(dome__hash(dome__hash(0, below), above), periodic));

    halo h = {.x = x, .below = below, .above = above, .periodic = periodic};
    int status = halo_fetch(x, &h);
    if (dome__end(&op, status) != DOME_OK)
        return -status;

    dvec_span local[2];
    int count = dvec__spans(x, local);
    const char *copies = x->halo;
    for (int s = 0; s < count; s++) {
        uint64_t nbelow, nabove;
        halo_counts(&h, &(dome_span){local[s].first, local[s].count}, &nbelow, &nabove);
        spans[s] = (dvec_halo_span){.local = local[s], .nbelow = (size_t)nbelow, .nabove = (size_t)nabove};
        spans[s].below = nbelow ? copies : NULL;
        copies = nbelow ? copies + nbelow * DVEC_ELEMENT(x) : copies;
        spans[s].above = nabove ? copies : NULL;
        copies = nabove ? copies + nabove * DVEC_ELEMENT(x) : copies;
    }
    dvec__written(x);
    return count;
}

/* ---- by index ---- */

/* Memory that one batch of an exchange by index takes on the asking side, and bytes an element adds beside itself. */
#define BATCH_BYTES    (UINT64_C(32) << 20)
#define BATCH_OVERHEAD 32

/* Converts indices to uint64_t. Returns the number of the first that is not below limit, or count. */
static uint64_t load_indices(dome_type type, const char *from, uint64_t count, uint64_t limit, uint64_t *to)
{
    switch (dome_type_kind_of(type)) {
#define LOAD(KIND, ctype)                                                                                                        \
    case DOME_KIND_##KIND:                                                                                                       \
        for (uint64_t i = 0; i < count; i++) {                                                                                   \
            ctype value = ((const ctype *)(const void *)from)[i];                                                                \
            to[i] = (uint64_t)value; /* negative ones are beyond any limit */                                                    \
            if (to[i] >= limit)                                                                                                  \
                return i;                                                                                                        \
        }                                                                                                                        \
        return count;
        LOAD(I8, int8_t)
        LOAD(I16, int16_t)
        LOAD(I32, int32_t)
        LOAD(I64, int64_t)
        LOAD(U8, uint8_t)
        LOAD(U16, uint16_t)
        LOAD(U32, uint32_t)
        LOAD(U64, uint64_t)
#undef LOAD
    default:
        return 0;
    }
}

static char *index_text(dome_type type, uint64_t value)
{
    return dome_type_kind_of(type) <= DOME_KIND_I64 ? g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)value)
                                                    : g_strdup_printf("%" G_GUINT64_FORMAT, value);
}

static int check_index_type(const dvec *index)
{
    if (dome_type_kind_of(index->type) > DOME_KIND_U64)
        return dome__fail(index->env, DOME_ERR_TYPE, "'%s' has type %s, but an index must be of integer type", dvec_name(index),
                          dome_type_name(index->type));
    if (index->width != 1)
        return dome__fail(index->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but an index must have width 1",
                          dvec_name(index), index->width);
    return DOME_OK;
}

static void *try_array(uint64_t count, uint64_t size)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return g_try_malloc((gsize)MAX(bytes, 1));
}

/* Room for elements of x. Padding that comes from a machine with other formats is undefined unless it is 0 before. */
static void *try_elements(const dvec *x, uint64_t count)
{
    void *elements = try_array(count, DVEC_ELEMENT(x));
    if (elements && !x->type->dense)
        memset(elements, 0, (size_t)(count * DVEC_ELEMENT(x)));
    return elements;
}

/* This task's part of an index vector, as uint64_t, in the order of shape's elements; index follows shape's layout or is whole.
 * All must be below limit; the lowest bad position counts, whichever task has it. */
static int take_indices(const dvec *index, const dvec *shape, uint64_t limit, const char *target, uint64_t **indices)
{
    dome_env *env = index->env;
    dome_transport *t = env->transport;
    *indices = try_array(shape->local, sizeof(uint64_t));
    int status = dvec__agree_memory(index, *indices != NULL, "the indices");
    if (status != DOME_OK)
        return status;

    uint64_t bad = UINT64_MAX, bad_value = 0, at = 0;
    dvec_span spans[2];
    int nspans = dvec__spans(shape, spans);
    for (int s = 0; s < nspans; at += spans[s++].count) {
        uint64_t from = index->distribution == shape->distribution ? at : spans[s].first;
        uint64_t good = load_indices(index->type, index->data + from * DVEC_VALUE(index), spans[s].count, limit, *indices + at);
        if (good < spans[s].count && spans[s].first + good < bad) {
            bad = spans[s].first + good;
            bad_value = (*indices)[at + good];
        }
    }
    uint64_t first = ~bad;
    if (shape->distribution != DOME_WHOLE) {
        status = dome__allreduce(t, DOME_U64, &first, 1, dome__combine_max_u64, NULL);
        if (status != DOME_OK)
            return dome__fail_transport(env, status);
    }
    if (first == 0)
        return DOME_OK;
    char *text = NULL;
    if (~first == bad) {
        char *value = index_text(index->type, bad_value);
        text = g_strdup_printf("index %s at position %" G_GUINT64_FORMAT " of '%s' is outside the %" G_GUINT64_FORMAT
                               " elements of '%s'",
                               value, bad, dvec_name(index), limit, target);
        g_free(value);
    }
    status = dome__agree(env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

/* The largest part any task has: all tasks go through equally many batches. */
static uint64_t largest_part(const dvec *x)
{
    uint64_t largest = 0;
    for (int r = 0; r < dome_layout_tasks(x->layout); r++)
        largest = MAX(largest, dome_layout_local(x->layout, r));
    return largest;
}

/* What one task has to say to each other one. */
typedef struct mail {
    int size;
    uint64_t *counts, *places;    /* by rank: items to send, place of the next one */
    uint64_t *in_counts;          /* items that come */
    uint64_t *scaled, *in_scaled; /* the same times a number of values per item */
    uint64_t total, in_total;
    uint64_t *items, *in_items;   /* one or two words per item */
    uint64_t *order;              /* local number of each item sent */
    char *elements, *in_elements; /* in the direction they travel */
} mail;

static void mail_clear(mail *m)
{
    g_free(m->counts);
    g_free(m->places);
    g_free(m->in_counts);
    g_free(m->scaled);
    g_free(m->in_scaled);
    g_free(m->items);
    g_free(m->in_items);
    g_free(m->order);
    g_free(m->elements);
    g_free(m->in_elements);
}

static int owner_of(const dvec *x, uint64_t index)
{
    return dome_layout_owner(x->layout, index / dome_layout_block_size(x->layout));
}

/* Sorts the items first ... first + count - 1 by the rank that owns their index in target, tells all how much comes, and makes
 * room for it: words per item, and elements on both sides. Fails on all tasks or none. */
static int mail_open(mail *m, const dvec *target, const uint64_t *indices, uint64_t count, uint64_t words)
{
    dome_transport *t = target->env->transport;
    gsize size = (gsize)t->size;
    *m = (mail){.size = t->size, .total = count};
    m->counts = g_new0(uint64_t, size);
    m->places = g_new0(uint64_t, size);
    m->in_counts = g_new0(uint64_t, size);
    m->scaled = g_new0(uint64_t, size);
    m->in_scaled = g_new0(uint64_t, size);
    for (uint64_t i = 0; i < count; i++)
        m->counts[owner_of(target, indices[i])]++;
    int status = dome__alltoall(t, DOME_U64, m->counts, 1, m->in_counts);
    if (status != DOME_OK)
        return dome__fail_transport(target->env, status);
    for (gsize r = 0; r < size; r++) {
        m->places[r] = r ? m->places[r - 1] + m->counts[r - 1] : 0;
        m->in_total += m->in_counts[r];
    }
    m->items = try_array(count, words * sizeof(uint64_t));
    m->order = try_array(count, sizeof(uint64_t));
    m->elements = try_elements(target, count);
    m->in_items = try_array(m->in_total, words * sizeof(uint64_t));
    m->in_elements = try_elements(target, m->in_total);
    status = dvec__agree_memory(target, m->items && m->order && m->elements && m->in_items && m->in_elements,
                                "an exchange of elements");
    if (status != DOME_OK)
        return status;
    for (uint64_t i = 0; i < count; i++)
        m->order[m->places[owner_of(target, indices[i])]++] = i;
    return DOME_OK;
}

/* Sends what lies in `send` by rank and receives the others' into recv; `back` goes from the owners to those that asked. */
static int mail_send(mail *m, dome_env *env, dome_type type, uint64_t values, const void *send, void *recv, bool back)
{
    for (int r = 0; r < m->size; r++) {
        m->scaled[r] = m->counts[r] * values;
        m->in_scaled[r] = m->in_counts[r] * values;
    }
    int status =
        dome__alltoallv(env->transport, type, send, back ? m->in_scaled : m->scaled, recv, back ? m->scaled : m->in_scaled);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(env, status);
}

static uint64_t batch_size(const dvec *x)
{
    return MAX(1, BATCH_BYTES / (DVEC_ELEMENT(x) + BATCH_OVERHEAD));
}

/* out gets x[indices[i]] for one batch. */
static int gather_batch(const dvec *x, const uint64_t *indices, uint64_t count, char *out)
{
    uint64_t element = DVEC_ELEMENT(x);
    mail m;
    int status = mail_open(&m, x, indices, count, 1);
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < count; i++)
            m.items[i] = indices[m.order[i]];
        status = mail_send(&m, x->env, DOME_U64, 1, m.items, m.in_items, false);
    }
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < m.in_total; i++)
            memcpy(m.in_elements + i * element,
                   x->data + dome_layout_position(x->layout, x->layout_rank, m.in_items[i]) * element, element);
        status = mail_send(&m, x->env, x->type, x->width, m.in_elements, m.elements, true);
    }
    for (uint64_t i = 0; status == DOME_OK && i < count; i++)
        memcpy(out + m.order[i] * element, m.elements + i * element, element);
    mail_clear(&m);
    return status;
}

static int gather_all(const dvec *z, const dvec *x, const uint64_t *indices, char *out)
{
    uint64_t element = DVEC_ELEMENT(x);
    if (x->distribution == DOME_WHOLE) {
        for (uint64_t i = 0; i < z->local; i++)
            memcpy(out + i * element, x->data + indices[i] * element, element);
        return DOME_OK;
    }
    uint64_t batch = batch_size(x), longest = largest_part(z);
    int status = DOME_OK;
    for (uint64_t done = 0; done < longest && status == DOME_OK; done += MIN(batch, longest - done)) {
        uint64_t begin = MIN(done, z->local);
        status = gather_batch(x, indices + begin, MIN(batch, z->local - begin), out ? out + begin * element : NULL);
    }
    return status;
}

static int check_gather(const dvec *z, const dvec *x, const dvec *index)
{
    if (!x || !index)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "an operand is NULL");
    int status = check_values(z, x);
    if (status == DOME_OK)
        status = dvec__conforms(z, index, false, false);
    if (status == DOME_OK)
        status = check_index_type(index);
    if (status == DOME_OK)
        status = dvec__settle(x, index);
    return status == DOME_OK ? dvec__settle(z, NULL) : status;
}

int dvec_gather(dvec *z, const dvec *x, const dvec *index)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_GATHER);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_GATHER, z->object, dome__hash(dome__hash(0, id_of(x)), id_of(index)));

    uint64_t *indices = NULL;
    char *out = z->data;
    int status = check_gather(z, x, index);
    if (status == DOME_OK)
        status = take_indices(index, z, x->length, dvec_name(x), &indices);
    if (status == DOME_OK && z == x) {
        out = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
        status = dvec__agree_memory(z, out || z->local == 0, "the gathered elements");
    }
    if (status == DOME_OK) {
        status = gather_all(z, x, indices, out);
        dvec__written(z);
    }
    if (out != z->data) {
        if (status == DOME_OK)
            dvec__replace(z, out);
        else
            dome__storage_free(out);
    }
    g_free(indices);
    return dome__end(&op, status);
}

/* An element that scatter moves: where it comes from, and the largest source that has reached each local element of z. */
typedef struct scattering {
    dvec *z;
    const dvec *x, *index, *source; /* source: the one of x and index whose parts the tasks go through */
    char *data;                     /* z's, or a copy */
    uint64_t *winner;               /* source + 1; 0 for none */
} scattering;

static void scatter_one(const scattering *s, uint64_t target, uint64_t source, const char *from)
{
    uint64_t element = DVEC_ELEMENT(s->z), at = dome_layout_position(s->z->layout, s->z->layout_rank, target);
    if (s->winner[at] <= source) {
        s->winner[at] = source + 1;
        memcpy(s->data + at * element, from, element);
    }
}

/* The global index of the element that lies at a local place. */
static uint64_t global_index(const dvec_span *spans, uint64_t local)
{
    return local < spans[0].count ? spans[0].first + local : spans[1].first + (local - spans[0].count);
}

static int scatter_batch(const scattering *s, const uint64_t *indices, uint64_t begin, uint64_t count)
{
    uint64_t element = DVEC_ELEMENT(s->z);
    dvec_span spans[2] = {{0}, {0}};
    mail m;
    dvec__spans(s->source, spans);
    int status = mail_open(&m, s->z, indices + begin, count, 2);
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < count; i++) {
            uint64_t local = begin + m.order[i], source = global_index(spans, local);
            m.items[2 * i] = indices[local];
            m.items[2 * i + 1] = source;
            memcpy(m.elements + i * element,
                   s->x->data + (s->x->distribution == s->source->distribution ? local : source) * element, element);
        }
        status = mail_send(&m, s->z->env, DOME_U64, 2, m.items, m.in_items, false);
    }
    if (status == DOME_OK)
        status = mail_send(&m, s->z->env, s->z->type, s->z->width, m.elements, m.in_elements, false);
    for (uint64_t i = 0; status == DOME_OK && i < m.in_total; i++)
        scatter_one(s, m.in_items[2 * i], m.in_items[2 * i + 1], m.in_elements + i * element);
    mail_clear(&m);
    return status;
}

static int scatter_all(const scattering *s, const uint64_t *indices)
{
    if (s->source->distribution == DOME_WHOLE) { /* every task has everything that is sent */
        for (uint64_t i = 0; i < s->source->length; i++)
            if (dome_layout_position(s->z->layout, s->z->layout_rank, indices[i]) != UINT64_MAX)
                scatter_one(s, indices[i], i, s->x->data + i * DVEC_ELEMENT(s->x));
        return DOME_OK;
    }
    uint64_t batch = batch_size(s->z), longest = largest_part(s->source), local = s->source->local;
    int status = DOME_OK;
    for (uint64_t done = 0; done < longest && status == DOME_OK; done += MIN(batch, longest - done)) {
        uint64_t begin = MIN(done, local);
        status = scatter_batch(s, indices, begin, MIN(batch, local - begin));
    }
    return status;
}

static int check_scatter(const dvec *z, const dvec *x, const dvec *index)
{
    if (!x || !index)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "an operand is NULL");
    int status = check_values(z, x);
    if (status == DOME_OK)
        status = x->distribution == DOME_WHOLE ? dvec__conforms(index, x, false, false) : dvec__conforms(x, index, false, false);
    if (status == DOME_OK)
        status = check_index_type(index);
    if (status == DOME_OK && z->distribution == DOME_WHOLE &&
        (x->distribution != DOME_WHOLE || index->distribution != DOME_WHOLE))
        status = dome__fail(z->env, DOME_ERR_LAYOUT, "'%s' is DOME_WHOLE, but not both of '%s' and '%s' are", dvec_name(z),
                            dvec_name(x), dvec_name(index));
    if (status == DOME_OK)
        status = dvec__settle(x, index);
    return status == DOME_OK ? dvec__settle(z, NULL) : status;
}

int dvec_scatter(dvec *z, const dvec *x, const dvec *index)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_SCATTER);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SCATTER, z->object, dome__hash(dome__hash(0, id_of(x)), id_of(index)));

    uint64_t *indices = NULL;
    scattering s = {.z = z, .x = x, .index = index, .data = z->data};
    int status = check_scatter(z, x, index);
    if (status == DOME_OK) {
        s.source = index->distribution == DOME_WHOLE ? x : index;
        status = take_indices(index, s.source, z->length, dvec_name(z), &indices);
    }
    if (status == DOME_OK) {
        bool have = z->local == 0 || (s.winner = g_try_new0(uint64_t, z->local));
        if (z == x) { /* elements that have been overwritten may still have to be sent */
            s.data = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
            have = have && (s.data || z->local == 0);
        }
        status = dvec__agree_memory(z, have, "the scattered elements");
    }
    if (status == DOME_OK) {
        if (s.data != z->data && z->local > 0)
            memcpy(s.data, z->data, (size_t)(z->local * DVEC_ELEMENT(z)));
        status = scatter_all(&s, indices);
        dvec__written(z);
    }
    if (s.data != z->data) {
        if (status == DOME_OK)
            dvec__replace(z, s.data);
        else
            dome__storage_free(s.data);
    }
    g_free(s.winner);
    g_free(indices);
    return dome__end(&op, status);
}

/* ---- scan ---- */

/* Adds the rows of one block to the sums in order, for `columns` columns; where z is given, it gets before + sums row by
 * row. Floating point in double, integers modulo 2^64. */
typedef void (*scan_kernel)(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,
                            void *sums);

#define SCAN_KERNEL(KIND, ctype, suffix, wide)                                                                                   \
    static void scan_##suffix(void *z, const void *x, uint64_t rows, uint64_t width, uint64_t columns, const void *before,       \
                              void *sums)                                                                                        \
    {                                                                                                                            \
        const ctype *from = x;                                                                                                   \
        ctype *to = z;                                                                                                           \
        const wide *p = before;                                                                                                  \
        wide *s = sums;                                                                                                          \
        for (uint64_t i = 0; i < rows; i++) {                                                                                    \
            for (uint64_t c = 0; c < columns; c++) {                                                                             \
                s[c] += (wide)from[i * width + c];                                                                               \
                if (to)                                                                                                          \
                    to[i * width + c] = (ctype)(p[c] + s[c]);                                                                    \
            }                                                                                                                    \
        }                                                                                                                        \
    }
SCAN_KERNEL(I8, int8_t, i8, uint64_t)
SCAN_KERNEL(I16, int16_t, i16, uint64_t)
SCAN_KERNEL(I32, int32_t, i32, uint64_t)
SCAN_KERNEL(I64, int64_t, i64, uint64_t)
SCAN_KERNEL(U8, uint8_t, u8, uint64_t)
SCAN_KERNEL(U16, uint16_t, u16, uint64_t)
SCAN_KERNEL(U32, uint32_t, u32, uint64_t)
SCAN_KERNEL(U64, uint64_t, u64, uint64_t)
SCAN_KERNEL(F32, float, f32, double)
SCAN_KERNEL(F64, double, f64, double)

static const scan_kernel scan_kernels[] = {
    [DOME_KIND_I8] = scan_i8,   [DOME_KIND_I16] = scan_i16, [DOME_KIND_I32] = scan_i32, [DOME_KIND_I64] = scan_i64,
    [DOME_KIND_U8] = scan_u8,   [DOME_KIND_U16] = scan_u16, [DOME_KIND_U32] = scan_u32, [DOME_KIND_U64] = scan_u64,
    [DOME_KIND_F32] = scan_f32, [DOME_KIND_F64] = scan_f64,
};

/* A group of columns on its way through the blocks. One of `exact` and `wrapped` is in use, as the type asks. */
enum { SCAN_COLUMNS = 64 };

typedef struct scan {
    const dvec *x;
    dvec *z;
    scan_kernel kernel;
    bool real;
    uint64_t column, columns;
} scan;

typedef struct scan_sum {
    dome_exact_sum exact;
    uint64_t wrapped;
} scan_sum;

static void scan_clear(const scan *s, scan_sum *sums)
{
    for (uint64_t c = 0; c < s->columns; c++) {
        if (s->real)
            dome__exact_init(&sums[c].exact);
        sums[c].wrapped = 0;
    }
}

/* Goes through rows of x from `from` on, block by block, adding to the sums; writes z where `to` is given. */
static void scan_rows(const scan *s, const char *from, char *to, uint64_t rows, scan_sum *sums)
{
    union {
        double real[SCAN_COLUMNS];
        uint64_t wrapped[SCAN_COLUMNS];
    } before, in_block;
    uint64_t block = dome_layout_block_size(s->x->layout), element = DVEC_ELEMENT(s->x);
    uint64_t offset = s->column * DVEC_VALUE(s->x);

    for (uint64_t done = 0; done < rows; done += MIN(block, rows - done)) {
        for (uint64_t c = 0; c < s->columns; c++) {
            if (s->real) {
                before.real[c] = to ? dome__exact_round(&sums[c].exact) : 0;
                in_block.real[c] = 0;
            } else {
                before.wrapped[c] = sums[c].wrapped;
                in_block.wrapped[c] = 0;
            }
        }
        s->kernel(to ? to + done * element + offset : NULL, from + done * element + offset, MIN(block, rows - done), s->x->width,
                  s->columns, &before, &in_block);
        for (uint64_t c = 0; c < s->columns; c++) {
            if (s->real)
                dome__exact_add(&sums[c].exact, in_block.real[c]);
            else
                sums[c].wrapped += in_block.wrapped[c];
        }
    }
}

/* The sums of all that lies before each of this task's spans: every task tells the sums of its spans. */
static int scan_exchange(const scan *s, int nspans, const dvec_span *spans, scan_sum (*sums)[SCAN_COLUMNS])
{
    dome_transport *t = s->x->env->transport;
    uint64_t words = s->real ? DOME_EXACT_WORDS : 1, each = 2 * s->columns * words;
    uint64_t *mine = g_new0(uint64_t, each), *all = g_new(uint64_t, (gsize)t->size * each);

    const char *from = s->x->data;
    for (int i = 0; i < nspans; i++) {
        scan_clear(s, sums[i]);
        scan_rows(s, from, NULL, spans[i].count, sums[i]);
        from += spans[i].count * DVEC_ELEMENT(s->x);
        for (uint64_t c = 0; c < s->columns; c++) {
            uint64_t *to = mine + ((uint64_t)i * s->columns + c) * words;
            if (s->real) {
                dome__exact_normalize(&sums[i][c].exact);
                memcpy(to, &sums[i][c].exact, sizeof sums[i][c].exact);
            } else {
                *to = sums[i][c].wrapped;
            }
        }
        scan_clear(s, sums[i]);
    }
    int status = dome__allgather(t, DOME_U64, mine, each, all);

    for (int r = 0; r < t->size && status == DOME_OK; r++) {
        dome_span theirs[2];
        int ntheirs = spans_of(s->x, r, theirs);
        for (int j = 0; j < ntheirs; j++) {
            for (int i = 0; i < nspans; i++) {
                if (theirs[j].first >= spans[i].first)
                    continue;
                for (uint64_t c = 0; c < s->columns; c++) {
                    const uint64_t *sum = all + (uint64_t)r * each + ((uint64_t)j * s->columns + c) * words;
                    dome_exact_sum exact;
                    if (s->real) {
                        memcpy(&exact, sum, sizeof exact);
                        dome__exact_merge(&sums[i][c].exact, &exact);
                    } else {
                        sums[i][c].wrapped += *sum;
                    }
                }
            }
        }
    }
    g_free(mine);
    g_free(all);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(s->x->env, status);
}

static int scan_group(const scan *s)
{
    dvec_span spans[2];
    int nspans = dvec__spans(s->z, spans), status = DOME_OK;
    scan_sum(*sums)[SCAN_COLUMNS] = g_malloc(2 * sizeof *sums);
    bool whole = s->x->distribution == DOME_WHOLE;

    if (!whole)
        status = scan_exchange(s, nspans, spans, sums);
    const char *from = s->x->data;
    for (int i = 0; i < nspans && status == DOME_OK; i++) {
        if (whole) {
            scan_clear(s, sums[i]);
            scan_rows(s, s->x->data, NULL, spans[i].first, sums[i]);
            from = s->x->data + spans[i].first * DVEC_ELEMENT(s->x);
        }
        scan_rows(s, from, spans[i].data, spans[i].count, sums[i]);
        from += spans[i].count * DVEC_ELEMENT(s->x);
    }
    g_free(sums);
    return status;
}

int dvec_scan(dvec *z, const dvec *x)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_SCAN);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SCAN, z->object, dome__hash(0, id_of(x)));

    int status = dvec__conforms(z, x, true, true);
    dome_type_kind kind = dome_type_kind_of(z->type);
    if (status == DOME_OK && kind > DOME_KIND_F64)
        status = dome__fail(z->env, DOME_ERR_TYPE, "elements of type %s cannot be scanned", dome_type_name(z->type));
    if (status == DOME_OK)
        status = dvec__settle(x, z);
    if (status == DOME_OK) {
        /* Where there are many tasks, what they tell each other about a column adds up. */
        uint64_t columns = (uint64_t)CLAMP(2048 / z->env->transport->size, 1, SCAN_COLUMNS);
        scan s = {.x = x, .z = z, .kernel = scan_kernels[kind], .real = kind >= DOME_KIND_F32};
        for (; s.column < z->width && status == DOME_OK; s.column += s.columns) {
            s.columns = MIN(columns, z->width - s.column);
            status = scan_group(&s);
        }
        dvec__written(z);
    }
    return dome__end(&op, status);
}
