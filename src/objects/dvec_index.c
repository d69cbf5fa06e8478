/* Gather and scatter: elements by index. */
#include "objects/dvec_private.h"
#include "objects/type_private.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <string.h>

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
    int status = dvec__check_values(z, x);
    if (status == DOME_OK)
        status = dvec__conforms(z, index, false, false);
    if (status == DOME_OK)
        status = check_index_type(index);
    if (status == DOME_OK)
        status = dvec__settle(x, index);
    if (status == DOME_OK)
        dvec__complete(z);
    return status;
}

int dvec_gather(dvec *z, const dvec *x, const dvec *index)
{
    if (!z)
        return dvec__no_vector(DOME_OP_DVEC_GATHER);
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_GATHER, z->object, (uint64_t[]){dvec__id(x), dvec__id(index)}, 2);

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
        dvec__overwritten(z);
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
        dvec__mark(s->z, target);
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
    int status = dvec__check_values(z, x);
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
    dome__begin_with(&op, z->env, DOME_OP_DVEC_SCATTER, z->object, (uint64_t[]){dvec__id(x), dvec__id(index)}, 2);

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
        dvec__written_in_part(z);
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
