/* Gather and scatter: elements by index. */
#include "arrays/dvec_exchange.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <string.h>

/* Converts indices to uint64_t. Negative ones become larger than any limit. */
static void load_indices(dome_type type, const char *from, uint64_t count, uint64_t *to)
{
    switch (dome_type_kind_of(type)) {
#define LOAD(KIND, ctype)                                                                                                        \
    case DOME_KIND_##KIND:                                                                                                       \
        for (uint64_t i = 0; i < count; i++)                                                                                     \
            to[i] = (uint64_t)((const ctype *)(const void *)from)[i];                                                            \
        return;
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
        return;
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

/* This task's part of an index vector, in the order of the elements of the vector to which it belongs. */
typedef struct taken {
    const uint64_t *at;
    uint64_t *copy; /* NULL: `at` points to the vector's own memory */
    bool near;      /* every task names only elements that it owns itself; known to all tasks */
} taken;

static void taken_clear(taken *t)
{
    dome__storage_free(t->copy);
}

/* Whether indices can be read in place: they lie in memory in the order needed, and the operation does not write there. */
static bool as_they_are(const dvec *index, const dvec *shape, const dvec *output)
{
    dome_type_kind kind = dome_type_kind_of(index->type);
    return (kind == DOME_KIND_I64 || kind == DOME_KIND_U64) && index->distribution == shape->distribution && index != output;
}

/* Vectors of any processor: gcc finds none in the loop that needs them. */
typedef uint64_t two_numbers __attribute__((vector_size(2 * sizeof(uint64_t)), aligned(8), may_alias));

/* Whether all numbers are at least `first` and below first + limit, which is below 2^63: then neither the distance from the first
 * nor that from the last has the highest bit. */
static bool all_within(const uint64_t *at, uint64_t count, uint64_t first, uint64_t limit)
{
    two_numbers a = {0}, b = {0};
    uint64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const two_numbers x = *(const two_numbers *)(const void *)(at + i) - first;
        const two_numbers y = *(const two_numbers *)(const void *)(at + i + 2) - first;
        a |= x | (limit - 1 - x);
        b |= y | (limit - 1 - y);
    }
    a |= b;
    uint64_t highest = a[0] | a[1];
    for (; i < count; i++)
        highest |= (at[i] - first) | (limit - 1 - (at[i] - first));
    return !(highest >> 63);
}

/* The position of the first index that is not below limit, or count; *far is set if one of them belongs to another task. */
static uint64_t look_at(const uint64_t *at, uint64_t count, uint64_t limit, const own_part *own, bool *far)
{
    uint64_t most = 0, outside = 0, good = 0;
    if (own->span[0].count > 0 && all_within(at, count, own->span[0].first, own->span[0].count))
        return count;
    for (uint64_t i = 0; i < count; i++) {
        most = MAX(most, at[i]);
        outside |= !dvec__is_own(own, at[i]);
    }
    *far = *far || outside;
    if (most < limit)
        return count;
    while (at[good] < limit)
        good++;
    return good;
}

/* One task's findings about the indices; after the exchange, by the maximum, those of all tasks. */
enum { FIRST_BAD, FAR, KNOWN };

static int fail_index(const dvec *index, const dvec *target, uint64_t bad, uint64_t value, bool mine)
{
    char *text = NULL;
    if (mine) {
        char *number = index_text(index->type, value);
        text = g_strdup_printf("index %s at position %" G_GUINT64_FORMAT " of '%s' is outside the %" G_GUINT64_FORMAT
                               " elements of '%s'",
                               number, bad, dvec_name(index), target->length, dvec_name(target));
        g_free(number);
    }
    int status = dome__agree(index->env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

/* Takes the indices of elements of target; index follows shape's layout or is whole. All must be below target's length; the
 * lowest bad position of all tasks is reported. output: the vector that will be written. */
static int take_indices(const dvec *index, const dvec *shape, const dvec *target, const dvec *output, taken *t)
{
    enum { CHUNK = 1024 }; /* stays in the cache between passes */
    dome_transport *transport = index->env->transport;
    bool far = false, direct = as_they_are(index, shape, output);
    own_part own = dvec__own_part(target);
    uint64_t bad = UINT64_MAX, bad_value = 0, at = 0;
    dvec_span spans[2];
    *t = (taken){.at = (const uint64_t *)(const void *)index->data};
    if (!direct)
        t->at = t->copy = dome__storage_raw(shape->local * sizeof(uint64_t), NULL);
    int status = dvec__agree_memory(index, direct || t->copy || shape->local == 0, "the indices");
    if (status != DOME_OK)
        return status;

    int nspans = dvec__spans(shape, spans);
    for (int s = 0; s < nspans; at += spans[s++].count) {
        uint64_t from = index->distribution == shape->distribution ? at : spans[s].first;
        for (uint64_t done = 0, count; done < spans[s].count && spans[s].first + done < bad; done += count) {
            count = MIN(CHUNK, spans[s].count - done);
            if (!direct)
                load_indices(index->type, index->data + (from + done) * DVEC_VALUE(index), count, t->copy + at + done);
            uint64_t good = look_at(t->at + at + done, count, target->length, &own, &far);
            if (good < count) {
                bad = spans[s].first + done + good;
                bad_value = t->at[at + done + good];
            }
        }
    }
    uint64_t known[KNOWN] = {[FIRST_BAD] = ~bad, [FAR] = far};
    if (shape->distribution != DOME_WHOLE) {
        status = dome__allreduce(transport, DOME_U64, known, KNOWN, dome__combine_max_u64, NULL);
        if (status != DOME_OK)
            return dome__fail_transport(index->env, status);
    } else if (target->distribution != DOME_WHOLE && transport->group.size > 1) {
        known[FAR] = 1; /* if all tasks name the same elements, all tasks but one must send */
    }
    t->near = !known[FAR];
    return known[FIRST_BAD] == 0 ? DOME_OK : fail_index(index, target, bad, bad_value, known[FIRST_BAD] == ~bad);
}

/* The size of the largest part of a task: all tasks run the same number of batches. */
static uint64_t largest_part(const dvec *x)
{
    uint64_t largest = 0;
    for (int r = 0; r < dome_layout_tasks(x->layout); r++)
        largest = MAX(largest, dome_layout_local(x->layout, r));
    return largest;
}

/* Sets out[i] = x[at[i]] for the elements that this task owns; the numbers of the others go to `which`, if it is not NULL.
 * Returns how many. */
static uint64_t gather_own(const dvec *x, const uint64_t *at, uint64_t count, char *out, uint64_t *which)
{
    const own_part own = dvec__own_part(x);
    const char *from = x->data;
    const uint64_t first = own.span[0].first;
    const bool plain = !which && own.span[1].count == 0;
    uint64_t element = DVEC_ELEMENT(x), far = 0;
#define PICK(bytes)                                                                                                              \
    for (uint64_t i = 0; plain && i < count; i++)                                                                                \
        memcpy(out + i * (bytes), from + (at[i] - first) * (bytes), bytes);                                                      \
    for (uint64_t i = 0; !plain && i < count; i++)                                                                               \
        if (!which || dvec__is_own(&own, at[i]))                                                                                 \
            memcpy(out + i * (bytes), from + dvec__own_place(&own, at[i]) * (bytes), bytes);                                     \
        else                                                                                                                     \
            which[far++] = i;
    switch (element) {
    case 1:
        PICK(1)
        return far;
    case 2:
        PICK(2)
        return far;
    case 4:
        PICK(4)
        return far;
    case 8:
        PICK(8)
        return far;
    case 16:
        PICK(16)
        return far;
    default:
        PICK(element)
        return far;
    }
#undef PICK
}

/* Sets out[i] = x[indices[i]] for one batch. */
static int gather_batch(const dvec *x, const uint64_t *indices, uint64_t count, char *out)
{
    uint64_t element = DVEC_ELEMENT(x), *which;
    dvec_exchange m = {0};
    int status = dvec__exchange_which(x, count, &which);
    if (status == DOME_OK) {
        uint64_t far = gather_own(x, indices, count, out, which);
        status = dvec__exchange_open(&m, x, indices, which, far, 1);
    }
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < m.total; i++)
            m.items[i] = indices[m.order[i]];
        status = dvec__exchange_send(&m, x->env, DOME_U64, 1, m.items, m.in_items, false);
    }
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < m.in_total; i++)
            memcpy(m.in_elements + i * element,
                   x->data + dome_layout_position(x->layout, x->layout_rank, m.in_items[i]) * element, element);
        status = dvec__exchange_send(&m, x->env, x->type, x->width, m.in_elements, m.elements, true);
    }
    for (uint64_t i = 0; status == DOME_OK && i < m.total; i++)
        memcpy(out + m.order[i] * element, m.elements + i * element, element);
    dvec__exchange_clear(&m);
    g_free(which);
    return status;
}

static int gather_all(const dvec *z, const dvec *x, const taken *indices, char *out)
{
    uint64_t element = DVEC_ELEMENT(x);
    if (indices->near) {
        gather_own(x, indices->at, z->local, out, NULL);
        return DOME_OK;
    }
    uint64_t batch = dvec__exchange_batch(x), longest = largest_part(z);
    int status = DOME_OK;
    for (uint64_t done = 0; done < longest && status == DOME_OK; done += MIN(batch, longest - done)) {
        uint64_t begin = MIN(done, z->local);
        status = gather_batch(x, indices->at + begin, MIN(batch, z->local - begin), out ? out + begin * element : NULL);
    }
    return status;
}

int dvec__gather_at(const dvec *z, const dvec *x, const uint64_t *at, char *out)
{
    const taken indices = {.at = at, .near = x->distribution == DOME_WHOLE || x->env->size == 1};
    return gather_all(z, x, &indices, out);
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

dome_status dvec_gather(dvec *z, const dvec *x, const dvec *index)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_GATHER, z->object, (uint64_t[]){dvec__id(x), dvec__id(index)}, 2);

    taken indices = {0};
    char *out = z->data;
    int status = check_gather(z, x, index);
    if (status == DOME_OK)
        status = take_indices(index, z, x, z, &indices);
    if (status == DOME_OK && z == x) {
        out = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
        status = dvec__agree_memory(z, out || z->local == 0, "the gathered elements");
    }
    if (status == DOME_OK) {
        status = gather_all(z, x, &indices, out);
        dvec__overwritten(z);
    }
    if (out != z->data) {
        if (status == DOME_OK)
            dvec__replace(z, out);
        else
            dome__storage_free(out);
    }
    taken_clear(&indices);
    return dome__end(&op, status);
}

/* ---- many single elements ---- */

/* One task's findings about its indices; after the exchange, by the maximum, those of all tasks. */
enum { ANY_BAD, ANY_FAR, MOST, ASKED };

/* All tasks agree on whether every index is valid, whether any belongs to another task, and the largest number of elements that
 * one task requests. */
static int agree_on_many(const dvec *x, size_t n, const uint64_t index[], const void *elements, uint64_t asked[ASKED])
{
    const own_part own = dvec__own_part(x);
    char *text = NULL;
    int found = DOME_OK;
    asked[ANY_FAR] = 0;
    asked[MOST] = n;
    if (n > 0 && (!index || !elements)) {
        text = g_strdup("there are no indices, or there is no place for the elements");
        found = DOME_ERR_ARGUMENT;
    } else if (n > dome__array_most(MAX(sizeof *index, DVEC_ELEMENT(x)))) {
        text = g_strdup_printf("%zu elements are more than memory can have", n);
        found = DOME_ERR_ARGUMENT;
    }
    for (size_t i = 0; i < n && !text; i++) {
        asked[ANY_FAR] |= !dvec__is_own(&own, index[i]);
        if (index[i] >= x->length) {
            text = g_strdup_printf("index %" G_GUINT64_FORMAT ", number %zu of those asked for, is outside the %" G_GUINT64_FORMAT
                                   " elements",
                                   index[i], i, x->length);
            found = DOME_ERR_RANGE;
        }
    }
    asked[ANY_BAD] = found != DOME_OK;
    int status = dome__allreduce(x->env->transport, DOME_U64, asked, ASKED, dome__combine_max_u64, NULL);
    if (status != DOME_OK)
        status = dome__fail_transport(x->env, status);
    else if (asked[ANY_BAD])
        status = dome__agree(x->env, found, text);
    g_free(text);
    return status;
}

dome_status dvec_get_many(const dvec *x, size_t n, const uint64_t index[], void *elements)
{
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    uint64_t asked[ASKED];
    dome__begin_with(&op, x->env, DOME_OP_DVEC_GET_MANY, x->object, NULL, 0);
    int status = dvec__settle_read(x);
    if (status == DOME_OK)
        status = agree_on_many(x, n, index, elements, asked);
    if (status == DOME_OK && !asked[ANY_FAR]) {
        gather_own(x, index, n, elements, NULL);
    } else if (status == DOME_OK) {
        uint64_t batch = dvec__exchange_batch(x);
        for (uint64_t done = 0; done < asked[MOST] && status == DOME_OK; done += MIN(batch, asked[MOST] - done)) {
            uint64_t begin = MIN(done, n);
            status = gather_batch(x, index + begin, MIN(batch, n - begin), (char *)elements + begin * DVEC_ELEMENT(x));
        }
    }
    return dome__end(&op, status);
}

/* ---- scatter ---- */

/* State of a scatter: where the elements come from, and the largest source index that has been written to each local element of
 * z. */
typedef struct scattering {
    dvec *z;
    const dvec *x, *index, *source; /* source: the one of x and index by whose distribution the work is divided */
    const char *from;               /* x's values, or a copy of them */
    char *data;                     /* z's values, or a copy of them */
    uint64_t *winner;               /* source + 1; 0 for none */
    own_part own;                   /* of z */
    unsigned shift;                 /* a block has 1 << shift elements of z */
    uint64_t blocks;                /* in the first span */
} scattering;

/* Marks the block of a written element of this task. */
static inline void mark(const scattering *s, uint64_t target)
{
    const dome_span *span = s->own.span;
    uint64_t at = target - span[0].first;
    if (s->z->dirty)
        s->z->dirty[at < span[0].count ? at >> s->shift : s->blocks + ((target - span[1].first) >> s->shift)] = DOME_WRITTEN;
}

static void scatter_one(const scattering *s, uint64_t target, uint64_t source, const char *from)
{
    uint64_t element = DVEC_ELEMENT(s->z), at = dvec__own_place(&s->own, target);
    if (s->winner[at] <= source) {
        s->winner[at] = source + 1;
        mark(s, target);
        memcpy(s->data + at * element, from, element);
    }
}

/* The global index of the element at a local position. */
static uint64_t global_index(const dvec_span *spans, uint64_t local)
{
    return local < spans[0].count ? spans[0].first + local : spans[1].first + (local - spans[0].count);
}

/* The element of x that belongs to a local position of the source. */
static const char *source_element(const scattering *s, const dvec_span *spans, uint64_t local)
{
    uint64_t at = s->x->distribution == s->source->distribution ? local : global_index(spans, local);
    return s->from + at * DVEC_ELEMENT(s->x);
}

/* Moves the items begin ... begin + count - 1 whose targets this task owns; the numbers of the others go to `which`. Returns how
 * many. */
static uint64_t scatter_own(const scattering *s, const uint64_t *indices, uint64_t begin, uint64_t count, uint64_t *which)
{
    uint64_t far = 0;
    dvec_span spans[2] = {{0}, {0}};
    dvec__spans(s->source, spans);
    for (uint64_t i = begin; i < begin + count; i++) {
        if (dvec__is_own(&s->own, indices[i]))
            scatter_one(s, indices[i], global_index(spans, i), source_element(s, spans, i));
        else if (which)
            which[far++] = i;
    }
    return far;
}

static int scatter_batch(const scattering *s, const uint64_t *indices, uint64_t begin, uint64_t count)
{
    uint64_t element = DVEC_ELEMENT(s->z), *which;
    dvec_span spans[2] = {{0}, {0}};
    dvec_exchange m = {0};
    dvec__spans(s->source, spans);
    int status = dvec__exchange_which(s->z, count, &which);
    if (status == DOME_OK) {
        uint64_t far = scatter_own(s, indices, begin, count, which);
        status = dvec__exchange_open(&m, s->z, indices, which, far, 2);
    }
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < m.total; i++) {
            uint64_t local = m.order[i];
            m.items[2 * i] = indices[local];
            m.items[2 * i + 1] = global_index(spans, local);
            memcpy(m.elements + i * element, source_element(s, spans, local), element);
        }
        status = dvec__exchange_send(&m, s->z->env, DOME_U64, 2, m.items, m.in_items, false);
    }
    if (status == DOME_OK)
        status = dvec__exchange_send(&m, s->z->env, s->z->type, s->z->width, m.elements, m.in_elements, false);
    for (uint64_t i = 0; status == DOME_OK && i < m.in_total; i++)
        scatter_one(s, m.in_items[2 * i], m.in_items[2 * i + 1], m.in_elements + i * element);
    dvec__exchange_clear(&m);
    g_free(which);
    return status;
}

static int scatter_all(const scattering *s, const taken *indices)
{
    uint64_t batch = dvec__exchange_batch(s->z), longest = largest_part(s->source), local = s->source->local;
    int status = DOME_OK;
    /* where each task has the whole source, nothing needs to be sent */
    if (indices->near || s->source->distribution == DOME_WHOLE) {
        scatter_own(s, indices->at, 0, local, NULL);
        return DOME_OK;
    }
    for (uint64_t done = 0; done < longest && status == DOME_OK; done += MIN(batch, longest - done)) {
        uint64_t begin = MIN(done, local);
        status = scatter_batch(s, indices->at, begin, MIN(batch, local - begin));
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

/* Sets up the state of a scatter and takes the indices, before elements move. */
static int begin_scatter(scattering *s, dvec *z, taken *indices)
{
    uint64_t block = dome_layout_block_size(z->layout);
    s->source = s->index->distribution == DOME_WHOLE ? s->x : s->index;
    s->own = dvec__own_part(z);
    s->from = s->x->data;
    s->shift = (unsigned)__builtin_ctzll(block);
    s->blocks = (s->own.span[0].count + block - 1) >> s->shift;
    return take_indices(s->index, s->source, z, z, indices);
}

dome_status dvec_scatter(dvec *z, const dvec *x, const dvec *index)
{
    if (!z)
        return dome__null(__func__, "a vector");
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_SCATTER, z->object, (uint64_t[]){dvec__id(x), dvec__id(index)}, 2);

    taken indices = {0};
    scattering s = {.z = z, .x = x, .index = index, .data = z->data};
    int status = check_scatter(z, x, index);
    if (status == DOME_OK)
        status = begin_scatter(&s, z, &indices);
    if (status == DOME_OK) {
        bool have = z->local == 0 || (s.winner = g_try_new0(uint64_t, z->local));
        if (z == x) { /* elements that get overwritten may still have to be sent */
            s.data = dome__storage_raw(z->local * DVEC_ELEMENT(z), NULL);
            have = have && (s.data || z->local == 0);
        }
        status = dvec__agree_memory(z, have, "the scattered elements");
    }
    if (status == DOME_OK) {
        if (s.data != z->data && z->local > 0)
            memcpy(s.data, z->data, (size_t)(z->local * DVEC_ELEMENT(z)));
        status = scatter_all(&s, &indices);
        dvec__written_in_part(z);
    }
    if (s.data != z->data) {
        if (status == DOME_OK)
            dvec__replace(z, s.data);
        else
            dome__storage_free(s.data);
    }
    g_free(s.winner);
    taken_clear(&indices);
    return dome__end(&op, status);
}

/* ---- scatter that adds ----
 *
 * z[index[i]] += x[i] has the bits of a sequential loop over i: the source's spans are processed in the order of their first
 * elements. Each task sends the elements that others own, batch by batch; the owner keeps them until all elements of a span have
 * arrived, and then adds them task by task. So rounding does not depend on the layout. */

typedef void (*adder)(void *to, const void *from, uint64_t values);

/* Sums are computed in type `sum`: integers wrap around. */
#define ADDER(suffix, T, sum)                                                                                                    \
    static void add_##suffix(void *to, const void *from, uint64_t values)                                                        \
    {                                                                                                                            \
        T *a = to;                                                                                                               \
        const T *b = from;                                                                                                       \
        for (uint64_t k = 0; k < values; k++)                                                                                    \
            a[k] = (T)((sum)a[k] + (sum)b[k]);                                                                                   \
    }
ADDER(8, uint8_t, uint32_t)
ADDER(16, uint16_t, uint32_t)
ADDER(32, uint32_t, uint32_t)
ADDER(64, uint64_t, uint64_t)
ADDER(f32, float, float)
ADDER(f64, double, double)

/* Complex values are added part by part. */
static void add_c64(void *to, const void *from, uint64_t values)
{
    add_f32(to, from, 2 * values);
}

static void add_c128(void *to, const void *from, uint64_t values)
{
    add_f64(to, from, 2 * values);
}

static const adder adders[] = {
    [DOME_KIND_I8] = add_8,    [DOME_KIND_I16] = add_16,  [DOME_KIND_I32] = add_32,  [DOME_KIND_I64] = add_64,
    [DOME_KIND_U8] = add_8,    [DOME_KIND_U16] = add_16,  [DOME_KIND_U32] = add_32,  [DOME_KIND_U64] = add_64,
    [DOME_KIND_F32] = add_f32, [DOME_KIND_F64] = add_f64, [DOME_KIND_C64] = add_c64, [DOME_KIND_C128] = add_c128,
};

typedef struct addition {
    scattering s;
    adder add;
    const uint64_t *indices;
} addition;

static void add_one(const addition *a, uint64_t target, const char *from)
{
    mark(&a->s, target);
    a->add(a->s.data + dvec__own_place(&a->s.own, target) * DVEC_ELEMENT(a->s.z), from, a->s.z->width);
}

/* Adds the elements of a local range of the source whose targets this task owns. */
static void add_own(const addition *a, uint64_t begin, uint64_t count)
{
    dvec_span spans[2] = {{0}, {0}};
    dvec__spans(a->s.source, spans);
    for (uint64_t i = begin; i < begin + count; i++)
        if (dvec__is_own(&a->s.own, a->indices[i]))
            add_one(a, a->indices[i], source_element(&a->s, spans, i));
}

/* Sends the elements whose targets other tasks own, and keeps the received ones in m. */
static int send_batch(const addition *a, uint64_t begin, uint64_t count, dvec_exchange *m)
{
    dvec *z = a->s.z;
    uint64_t element = DVEC_ELEMENT(z), far = 0, *which;
    dvec_span spans[2] = {{0}, {0}};
    dvec__spans(a->s.source, spans);
    int status = dvec__exchange_which(z, count, &which);
    if (status == DOME_OK) {
        for (uint64_t i = begin; i < begin + count; i++)
            if (!dvec__is_own(&a->s.own, a->indices[i]))
                which[far++] = i;
        status = dvec__exchange_open(m, z, a->indices, which, far, 1);
    }
    for (uint64_t i = 0; status == DOME_OK && i < m->total; i++) {
        m->items[i] = a->indices[m->order[i]];
        memcpy(m->elements + i * element, source_element(&a->s, spans, m->order[i]), element);
    }
    if (status == DOME_OK)
        status = dvec__exchange_send(m, z->env, DOME_U64, 1, m->items, m->in_items, false);
    if (status == DOME_OK)
        status = dvec__exchange_send(m, z->env, z->type, z->width, m->elements, m->in_elements, false);
    g_free(which);
    g_clear_pointer(&m->items, g_free);
    g_clear_pointer(&m->order, g_free);
    g_clear_pointer(&m->elements, g_free);
    return status;
}

/* Adds the elements received from one task in all batches, in the order in which they were sent. */
static void add_received(const addition *a, const dvec_exchange *batches, uint64_t count, int rank)
{
    uint64_t element = DVEC_ELEMENT(a->s.z);
    for (uint64_t b = 0; b < count; b++) {
        uint64_t at = 0;
        for (int r = 0; r < rank; r++)
            at += batches[b].in_counts[r];
        for (uint64_t end = at + batches[b].in_counts[rank]; at < end; at++)
            add_one(a, batches[b].in_items[at], batches[b].in_elements + at * element);
    }
}

/* Adds span number k of every task's part of the source, beginning with the task whose span has the lowest index. */
static int add_spans(const addition *a, int k)
{
    const dvec *source = a->s.source;
    const dome_transport *t = source->env->transport;
    uint64_t batch = dvec__exchange_batch(a->s.z), longest = 0, lowest = UINT64_MAX, count = 0;
    int first = 0, status = DOME_OK;
    dome_span mine[2] = {{0, 0}, {0, 0}};
    dvec__spans_of(source, t->group.rank, mine);
    for (int r = 0; r < t->group.size; r++) {
        dome_span spans[2] = {{0, 0}, {0, 0}};
        dvec__spans_of(source, r, spans);
        longest = MAX(longest, spans[k].count);
        if (spans[k].count > 0 && spans[k].first < lowest) {
            lowest = spans[k].first;
            first = r;
        }
    }
    uint64_t start = k > 0 ? mine[0].count : 0, most = (longest + batch - 1) / batch;
    dvec_exchange *batches = g_new0(dvec_exchange, most);
    for (; count < most && status == DOME_OK; count++) {
        uint64_t done = MIN(count * batch, mine[k].count);
        status = send_batch(a, start + done, MIN(batch, mine[k].count - done), &batches[count]);
    }
    for (int i = 0; i < t->group.size && status == DOME_OK; i++) {
        int r = (first + i) % t->group.size;
        if (r == t->group.rank)
            add_own(a, start, mine[k].count);
        else
            add_received(a, batches, most, r);
    }
    for (uint64_t b = 0; b < count; b++)
        dvec__exchange_clear(&batches[b]);
    g_free(batches);
    return status;
}

/* A task's second span begins at index 0, so it is added first. */
static int add_all(const addition *a, bool near)
{
    const dvec *source = a->s.source;
    if (near || source->distribution == DOME_WHOLE) {
        dvec_span spans[2] = {{0}, {0}};
        dvec__spans(source, spans);
        add_own(a, spans[0].count, spans[1].count);
        add_own(a, 0, spans[0].count);
        return DOME_OK;
    }
    int status = add_spans(a, 1);
    return status == DOME_OK ? add_spans(a, 0) : status;
}

dome_status dvec_scatter_add(dvec *z, const dvec *x, const dvec *index)
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_SCATTER_ADD, z->object, (uint64_t[]){dvec__id(x), dvec__id(index)}, 2);

    taken indices = {0};
    char *copy = NULL;
    addition a = {.s = {.z = z, .x = x, .index = index, .data = z->data}};
    int status = check_scatter(z, x, index);
    if (status == DOME_OK && dome_type_kind_of(z->type) == DOME_KIND_STRUCT)
        status = dome__fail(z->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(z->type));
    if (status == DOME_OK) {
        a.s.data = z->data;
        a.add = adders[dome_type_kind_of(z->type)];
        status = begin_scatter(&a.s, z, &indices);
        a.indices = indices.at;
    }
    if (status == DOME_OK && z == x) { /* the addition must read x's values from before */
        copy = dome__storage_raw(x->local * DVEC_ELEMENT(x), NULL);
        status = dvec__agree_memory(z, copy || x->local == 0, "the elements to add");
        if (copy && status == DOME_OK)
            memcpy(copy, x->data, (size_t)(x->local * DVEC_ELEMENT(x)));
        a.s.from = copy;
    }
    if (status == DOME_OK) {
        status = add_all(&a, indices.near);
        dvec__written_in_part(z);
    }
    dome__storage_free(copy);
    taken_clear(&indices);
    return dome__end(&op, status);
}
