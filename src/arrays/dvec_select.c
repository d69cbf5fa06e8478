/* New vectors from some of the elements of others: those where a mask is true, the positions of values that are not 0, different
 * values, slices, and several vectors one after the other. */
#include "arrays/dvec_ranges.h"
#include "arrays/dvec_sort.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* Room for what a task selects; NULL is right for 0 bytes. */
static int selected_room(const dvec *x, uint64_t bytes, char **room)
{
    *room = dome__storage_raw(bytes, NULL);
    return dvec__agree_memory(x, *room || bytes == 0, "the selected elements");
}

/* A new vector of what this task has selected: counts[k] elements of span k, one after the other at `elements`. type: NULL for
 * x's. NULL on failure, with its status. */
static dvec *new_selection(const dvec *x, dome_type type, const char *name, uint64_t counts[2], void *elements, int *status)
{
    dome_span *ranges = dvec__new_ranges(x->env);
    uint64_t total = 0;
    dvec *z = NULL;
    *status = dvec__number(x, counts, ranges, &total);
    if (*status == DOME_OK) {
        z = dvec__assemble(x, type, name, total, ranges, elements);
        *status = z ? DOME_OK : (int)dome_error_status(x->env);
    }
    g_free(ranges);
    return z;
}

/* ---- where a mask is true, and positions of values that are not 0 ---- */

static const uint8_t *mask_of(const dvec *x, const dvec *mask, const dvec_span *spans, int number)
{
    uint64_t at = mask->distribution == x->distribution ? (number ? spans[0].count : 0) : spans[number].first;
    return (const uint8_t *)mask->data + at;
}

static uint64_t count_true(const uint8_t *mask, uint64_t count)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += mask[i] != 0;
    return found;
}

static char *take_true(const uint8_t *mask, uint64_t count, uint64_t element, const char *from, char *to)
{
    for (uint64_t i = 0; i < count; i++)
        if (mask[i]) {
            memcpy(to, from + i * element, (size_t)element);
            to += element;
        }
    return to;
}

static int check_mask(const dvec *x, const dvec *mask)
{
    int status = dvec__conforms(x, mask, false, false);
    if (status == DOME_OK && mask->type != DOME_U8)
        status = dome__fail(x->env, DOME_ERR_TYPE, "the mask '%s' has type %s, but must be u8", dvec_name(mask),
                            dome_type_name(mask->type));
    if (status == DOME_OK && mask->width != 1)
        status = dome__fail(x->env, DOME_ERR_SHAPE, "the mask '%s' has width %" G_GUINT64_FORMAT ", but must have width 1",
                            dvec_name(mask), mask->width);
    return status == DOME_OK ? dvec__settle(x, mask) : status;
}

dvec *dvec_compress(const dvec *x, const dvec *mask, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_COMPRESS, x->object, (uint64_t[]){dome__text_word(x->env, name), dvec__id(mask)},
                     2);
    dvec_span spans[2];
    uint64_t mine[2] = {0, 0};
    char *elements = NULL;
    int status = check_mask(x, mask);
    if (status == DOME_OK) {
        dvec__spans(x, spans);
        for (int k = 0; k < 2; k++)
            mine[k] = count_true(mask_of(x, mask, spans, k), spans[k].count);
        if (x->distribution == DOME_WHOLE)
            mine[0] += mine[1];
        status = selected_room(x, (mine[0] + mine[1]) * DVEC_ELEMENT(x), &elements);
    }
    if (status == DOME_OK) {
        char *to = elements;
        for (int k = 0; k < 2; k++)
            to = take_true(mask_of(x, mask, spans, k), spans[k].count, DVEC_ELEMENT(x), spans[k].data, to);
        z = new_selection(x, NULL, name, mine, elements, &status);
    }
    dome__storage_free(elements);
    dome__end(&op, status);
    return z;
}

/* Writes the positions of values that are not 0, from `first` on, to `to` unless it is NULL. Returns how many there are. */
static uint64_t find_nonzero(const dvec *x, const dvec_span *span, int64_t *to)
{
    uint64_t found = 0;
#define FIND(T, width, condition)                                                                                                \
    {                                                                                                                            \
        const T *v = span->data;                                                                                                 \
        for (uint64_t i = 0; i < span->count; i++, v += width)                                                                   \
            if (condition) {                                                                                                     \
                if (to)                                                                                                          \
                    to[found] = (int64_t)(span->first + i);                                                                      \
                found++;                                                                                                         \
            }                                                                                                                    \
        return found;                                                                                                            \
    }
    switch (dome_type_kind_of(x->type)) {
    case DOME_KIND_I8:
    case DOME_KIND_U8:
        FIND(uint8_t, 1, *v)
    case DOME_KIND_I16:
    case DOME_KIND_U16:
        FIND(uint16_t, 1, *v)
    case DOME_KIND_I32:
    case DOME_KIND_U32:
        FIND(uint32_t, 1, *v)
    case DOME_KIND_I64:
    case DOME_KIND_U64:
        FIND(uint64_t, 1, *v)
    case DOME_KIND_F32:
        FIND(float, 1, v[0] != 0)
    case DOME_KIND_F64:
        FIND(double, 1, v[0] != 0)
    case DOME_KIND_C64:
        FIND(float, 2, v[0] != 0 || v[1] != 0)
    case DOME_KIND_C128:
        FIND(double, 2, v[0] != 0 || v[1] != 0)
    default:
        return 0;
    }
#undef FIND
}

dvec *dvec_nonzero(const dvec *x, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_NONZERO, x->object, (uint64_t[]){dome__text_word(x->env, name), dvec__id(x)}, 2);
    dvec_span spans[2];
    uint64_t mine[2] = {0, 0};
    char *positions = NULL;
    int status = DOME_OK;
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT)
        status = dome__fail(x->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(x->type));
    else if (x->width != 1)
        status = dome__fail(x->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but must have width 1", dvec_name(x),
                            x->width);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        dvec__spans(x, spans);
        for (int k = 0; k < 2; k++)
            mine[k] = find_nonzero(x, &spans[k], NULL);
        status = selected_room(x, (mine[0] + mine[1]) * sizeof(int64_t), &positions);
    }
    if (status == DOME_OK) {
        int64_t *to = (int64_t *)(void *)positions;
        for (int k = 0; k < 2; to += mine[k++])
            if (mine[k] > 0)
                find_nonzero(x, &spans[k], to);
        z = new_selection(x, DOME_I64, name, mine, positions, &status);
    }
    dome__storage_free(positions);
    dome__end(&op, status);
    return z;
}

/* ---- different values ---- */

/* A task's words about its spans: the last key of each, of two words. */
enum { KEY_WORDS = 2, LAST_KEYS = 2 * KEY_WORDS };

/* The last key before each of this task's spans; before[k] is not set where nothing lies before. */
static int keys_before(const dvec *x, const dvec_span *spans, const uint64_t *keys, uint64_t before[2][KEY_WORDS], bool any[2])
{
    dome_transport *t = x->env->transport;
    const uint64_t words = (uint64_t)dome__item_of(x->type, false).words;
    uint64_t mine[LAST_KEYS] = {0}, *all = g_new(uint64_t, LAST_KEYS * (gsize)t->group.size), nsegments, at = 0;
    for (int k = 0; k < 2; k++) {
        at += spans[k].count;
        if (spans[k].count > 0)
            memcpy(mine + k * KEY_WORDS, keys + (at - 1) * words, (size_t)words * sizeof *keys);
    }
    dvec_segment *segments = dvec__segments(x, &nsegments);
    int status = dome__allgather(t, DOME_U64, mine, LAST_KEYS, all);
    for (uint64_t j = 1; j < nsegments && status == DOME_OK; j++)
        if (segments[j].rank == t->group.rank) {
            const dvec_segment *last = &segments[j - 1];
            any[segments[j].number] = true;
            memcpy(before[segments[j].number], all + LAST_KEYS * last->rank + KEY_WORDS * last->number, sizeof *before);
        }
    g_free(segments);
    g_free(all);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(x->env, status);
}

/* Keeps the first of equal keys of each span, in place; all keys of NaN are equal here. Sets how many are left of each. */
static int keep_first(const dvec *x, uint64_t *keys, uint64_t left[2])
{
    const uint64_t words = (uint64_t)dome__item_of(x->type, false).words, nan = dome__nan_key(x->type);
    dvec_span spans[2];
    uint64_t before[2][KEY_WORDS] = {{0}}, at = 0, to = 0;
    bool any[2] = {false, false};
    int status = DOME_OK;
    dvec__spans(x, spans);
    if (x->distribution != DOME_WHOLE)
        status = keys_before(x, spans, keys, before, any);
    for (int k = 0; k < 2; k++) {
        left[k] = to;
        for (uint64_t i = 0; i < spans[k].count; i++) {
            const uint64_t *key = keys + words * at++;
            const bool equal = any[k] && ((nan && key[0] >= nan && before[k][0] >= nan) ||
                                          memcmp(key, before[k], (size_t)words * sizeof *key) == 0);
            memcpy(before[k], key, (size_t)words * sizeof *key);
            any[k] = true;
            if (!equal)
                memmove(keys + words * to++, key, (size_t)words * sizeof *key);
        }
        left[k] = to - left[k];
    }
    return status;
}

dvec *dvec_unique(const dvec *x, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_UNIQUE, x->object, (uint64_t[]){dome__text_word(x->env, name), dvec__id(x)}, 2);
    dvec_sorted sorted = {0};
    uint64_t left[2] = {0, 0};
    int status = dvec__check_order(x);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK)
        status = dvec__sort(x, x, DOME_KEYS_EQUAL, false, &sorted);
    if (status == DOME_OK)
        status = keep_first(x, sorted.items, left);
    if (status == DOME_OK) {
        dome__from_keys(x->type, sorted.items, dome__item_of(x->type, false).words, left[0] + left[1], sorted.other);
        z = new_selection(x, NULL, name, left, sorted.other, &status);
    }
    dvec__sorted_clear(&sorted);
    dome__end(&op, status);
    return z;
}

/* ---- slices ---- */

/* The elements first, first + step, ... of a vector, `count` of them; distance: of two, without sign. */
typedef struct slice {
    uint64_t first, count, distance;
    bool downwards;
} slice;

/* The numbers of those elements of a slice that lie in a span. */
static dome_span part_of_slice(const slice *s, dome_span span)
{
    uint64_t end = span.first + span.count, low, high; /* numbers low ... high - 1 */
    if (s->downwards) {
        low = s->first < end ? 0 : (s->first - end) / s->distance + 1;
        high = s->first < span.first ? 0 : (s->first - span.first) / s->distance + 1;
    } else {
        low = span.first <= s->first ? 0 : (span.first - s->first - 1) / s->distance + 1;
        high = end <= s->first ? 0 : (end - s->first - 1) / s->distance + 1;
    }
    high = MIN(high, s->count);
    return low < high ? (dome_span){low, high - low} : (dome_span){0, 0};
}

static char *take_slice(const slice *s, const dvec *x, const dvec_span *span, dome_span numbers, char *to)
{
    const uint64_t element = DVEC_ELEMENT(x);
    for (uint64_t j = numbers.first; j < numbers.first + numbers.count; j++, to += element) {
        uint64_t index = s->downwards ? s->first - j * s->distance : s->first + j * s->distance;
        memcpy(to, (const char *)span->data + (index - span->first) * element, (size_t)element);
    }
    return to;
}

static int check_slice(const dvec *x, const slice *s)
{
    if (s->distance == 0)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "a step of 0");
    uint64_t way = s->downwards ? s->first : x->length - 1 - s->first;
    if (s->count > 0 && (s->first >= x->length || (s->count - 1) > way / s->distance))
        return dome__fail(x->env, DOME_ERR_RANGE,
                          "%" G_GUINT64_FORMAT " elements from %" G_GUINT64_FORMAT " on, %s%" G_GUINT64_FORMAT
                          " apart, do not lie in the %" G_GUINT64_FORMAT " elements of '%s'",
                          s->count, s->first, s->downwards ? "-" : "", s->distance, x->length, dvec_name(x));
    return DOME_OK;
}

dvec *dvec_slice(const dvec *x, uint64_t first, uint64_t count, int64_t step, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_SLICE, x->object,
                     (uint64_t[]){dome__text_word(x->env, name), first, count, (uint64_t)step}, 4);
    const slice s = {first, count, step < 0 ? -(uint64_t)step : (uint64_t)step, step < 0};
    const int rank = x->env->rank, size = x->env->size;
    dome_span *ranges = dvec__new_ranges(x->env);
    dvec_span spans[2];
    char *elements = NULL;
    int status = check_slice(x, &s);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        for (int r = 0; r < size; r++) {
            dome_span theirs[2];
            int nspans = dvec__spans_of(x, r, theirs);
            for (int k = 0; k < nspans; k++)
                ranges[2 * r + k] = part_of_slice(&s, theirs[k]);
        }
        status = selected_room(x, (ranges[2 * rank].count + ranges[2 * rank + 1].count) * DVEC_ELEMENT(x), &elements);
    }
    if (status == DOME_OK) {
        char *to = elements;
        dvec__spans(x, spans);
        for (int k = 0; k < 2; k++)
            to = take_slice(&s, x, &spans[k], ranges[2 * rank + k], to);
        z = dvec__assemble(x, NULL, name, count, ranges, elements);
        status = z ? DOME_OK : dome_error_status(x->env);
    }
    dome__storage_free(elements);
    g_free(ranges);
    dome__end(&op, status);
    return z;
}

/* ---- several vectors one after the other ---- */

/* A vector that begins at an element of the result. */
typedef struct placed {
    const dvec *z, *x;
    uint64_t begin;
} placed;

static int wants_placed(const void *ctx, int rank, dvec_want wants[DVEC_WANTS])
{
    const placed *p = ctx;
    dome_span spans[2];
    uint64_t at = 0;
    int count = 0, nspans = dvec__spans_of(p->z, rank, spans);
    for (int k = 0; k < nspans; at += spans[k++].count) {
        uint64_t low = MAX(spans[k].first, p->begin), high = MIN(spans[k].first + spans[k].count, p->begin + p->x->length);
        if (low < high)
            wants[count++] = (dvec_want){low - p->begin, high - low, at + low - spans[k].first};
    }
    return count;
}

static int check_concatenate(size_t n, const dvec *const x[], uint64_t *total)
{
    dome_env *env = x[0]->env;
    int status = DOME_OK;
    for (size_t k = 0; k < n && status == DOME_OK; k++) {
        if (!x[k])
            status = dome__fail(env, DOME_ERR_ARGUMENT, "vector number %zu is NULL", k);
        else
            status = dvec__check_values(x[0], x[k]);
        if (status == DOME_OK && x[k]->length > INT64_MAX - *total)
            status = dome__fail(env, DOME_ERR_SHAPE, "the vectors together are too long");
        if (status == DOME_OK) {
            *total += x[k]->length;
            status = dvec__settle(x[k], NULL);
        }
    }
    return status;
}

dvec *dvec_concatenate(size_t n, const dvec *const x[], const char *name)
{
    DOME_NEEDS(n > 0 && x ? x[0] : NULL, "the vector", NULL);
    dome_operation op;
    dome_env *env = x[0]->env;
    if (n > DVEC_LIST_MOST)
        return dvec__refuse_list(env, DOME_OP_DVEC_CONCATENATE, NULL, n), NULL;
    dvec *z = NULL;
    uint64_t total = 0, *words = g_new(uint64_t, n + 2);
    words[0] = dome__text_word(env, name);
    words[1] = n;
    for (size_t k = 0; k < n; k++)
        words[2 + k] = dvec__id(x[k]);
    dome__begin_with(&op, env, DOME_OP_DVEC_CONCATENATE, NULL, words, n + 2);
    int status = check_concatenate(n, x, &total);
    if (status == DOME_OK) {
        z = dvec_new_with(env, name, x[0]->type, total,
                          DVEC_OPTIONS(.distribution = x[0]->distribution, .width = (size_t)x[0]->width));
        status = z ? DOME_OK : dome_error_status(env);
    }
    if (z) {
        dvec__complete(z);
        placed p = {.z = z};
        for (size_t k = 0; k < n && status == DOME_OK; p.begin += x[k++]->length) {
            p.x = x[k];
            status = dvec__fetch(x[k], wants_placed, &p, z->data);
        }
        dvec__overwritten(z);
        if (status != DOME_OK)
            dvec_free(z);
    }
    g_free(words);
    dome__end(&op, status);
    return status == DOME_OK ? z : NULL;
}
