/* Places of values in a sorted vector. */
#include "arrays/dvec_exchange.h"
#include "arrays/dvec_ranges.h"
#include "arrays/dvec_sort.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* A table to search in. */
typedef struct table {
    const dvec *vector;
    dome_item form; /* of the keys: items without an index */
    uint64_t words; /* of a key */
    uint64_t *keys; /* of this task's elements, in the order of its memory */
    bool right;     /* equal values lie before the place */
    dvec_segment *segments;
    uint64_t nsegments;
    uint64_t *first; /* by segment: its first key */
} table;

/* The number of keys that lie before the place of a key. */
static uint64_t place_in(const table *t, const uint64_t *keys, uint64_t count, const uint64_t *key)
{
    return dome__count_less(keys, count, t->form, key, t->right);
}

/* Whether key number i is less than the one before it. */
static bool descends(const table *t, const uint64_t *keys, uint64_t i)
{
    return dome__count_less(keys + i * t->words, 1, t->form, keys + (i - 1) * t->words, false) == 1;
}

/* The position of the first key that is less than the one before it, in one span; count if there is none. */
static uint64_t first_descent(const table *t, const uint64_t *keys, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (descends(t, keys, i))
            return i;
    return count;
}

/* Each task's words about its spans: the first and the last key of each, of two words, and the first descent. */
enum { FIRST_KEY = 0, LAST_KEY = 2, EACH_SPAN = 4, DESCENT = 2 * EACH_SPAN, TOLD };

static const uint64_t *told_of(const uint64_t *all, const dvec_segment *segment, int key)
{
    return all + TOLD * (uint64_t)segment->rank + EACH_SPAN * (uint64_t)segment->number + (uint64_t)key;
}

/* The index of the first element of the table that is less than the one before it, UINT64_MAX if there is none: as all tasks know
 * it after the exchange. */
static uint64_t find_descent(const table *t, const uint64_t *all)
{
    uint64_t lowest = UINT64_MAX;
    for (uint64_t j = 0; j < t->nsegments; j++) {
        lowest = MIN(lowest, all[TOLD * (uint64_t)t->segments[j].rank + DESCENT]);
        if (j > 0 && dome__count_less(t->first + j * t->words, 1, t->form, told_of(all, &t->segments[j - 1], LAST_KEY), false))
            lowest = MIN(lowest, t->segments[j].first);
    }
    return lowest;
}

/* Makes the keys, and finds whether the table is sorted. */
static int open_table(table *t)
{
    const dvec *v = t->vector;
    dome_env *env = v->env;
    dvec_span spans[2];
    uint64_t mine[TOLD] = {[DESCENT] = UINT64_MAX}, *all = NULL, descent, at = 0;
    t->form = dome__item_of(v->type, false);
    t->words = (uint64_t)t->form.words;
    const size_t size = (size_t)t->words * sizeof *t->keys;
    t->keys = dome__storage_raw(v->local * size, NULL);
    int status = dvec__agree_memory(v, t->keys || v->local == 0, "the keys");
    if (status != DOME_OK)
        return status;
    dome__to_keys(v->type, v->data, v->local, DOME_KEYS_EQUAL, t->keys, t->form.words);
    dvec__spans(v, spans);
    for (int k = 0; k < 2; at += spans[k++].count) {
        if (spans[k].count == 0)
            continue;
        const uint64_t bad = first_descent(t, t->keys + at * t->words, spans[k].count);
        memcpy(mine + EACH_SPAN * k + FIRST_KEY, t->keys + at * t->words, size);
        memcpy(mine + EACH_SPAN * k + LAST_KEY, t->keys + (at + spans[k].count - 1) * t->words, size);
        if (bad < spans[k].count)
            mine[DESCENT] = MIN(mine[DESCENT], spans[k].first + bad);
    }
    if (v->distribution == DOME_WHOLE) {
        descent = mine[DESCENT];
    } else {
        all = g_new(uint64_t, TOLD * (gsize)env->size);
        t->segments = dvec__segments(v, &t->nsegments);
        t->first = g_new(uint64_t, t->nsegments * t->words);
        status = dome__allgather(env->transport, DOME_U64, mine, TOLD, all);
        for (uint64_t j = 0; j < t->nsegments && status == DOME_OK; j++)
            memcpy(t->first + j * t->words, told_of(all, &t->segments[j], FIRST_KEY), size);
        descent = status == DOME_OK ? find_descent(t, all) : 0;
        g_free(all);
        if (status != DOME_OK)
            return dome__fail_transport(env, status);
    }
    if (descent != UINT64_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT,
                          "'%s' is not sorted: element %" G_GUINT64_FORMAT " is less than the one before it", dvec_name(v),
                          descent);
    return DOME_OK;
}

static void close_table(table *t)
{
    dome__storage_free(t->keys);
    g_free(t->segments);
    g_free(t->first);
}

/* The place of a key that this task's elements decide: `index` is any index of the span. */
static uint64_t place_here(const table *t, uint64_t index, const uint64_t *key)
{
    dome_span spans[2] = {{0, 0}, {0, 0}};
    dvec__spans_of(t->vector, t->vector->env->rank, spans);
    const bool second = index - spans[0].first >= spans[0].count;
    return spans[second].first + place_in(t, t->keys + (second ? spans[0].count * t->words : 0), spans[second].count, key);
}

/* One batch of this task's values: to[i] becomes the place of keys[i]. */
static int search_batch(const table *t, const uint64_t *keys, uint64_t count, uint64_t *to)
{
    const own_part own = dvec__own_part(t->vector);
    const uint64_t item = 1 + t->words; /* an index of the span, and the key */
    dvec_exchange m = {0};
    uint64_t *which, *target = g_try_new(uint64_t, MAX(count, 1)), far = 0;
    int status = dvec__agree_memory(t->vector, target != NULL, "a search");
    if (status == DOME_OK)
        status = dvec__exchange_which(t->vector, count, &which);
    else
        which = NULL;
    for (uint64_t i = 0; i < count && status == DOME_OK; i++) {
        const uint64_t before = place_in(t, t->first, t->nsegments, keys + i * t->words); /* spans that begin before the place */
        target[i] = before > 0 ? t->segments[before - 1].first : 0;
        if (before == 0)
            to[i] = 0;
        else if (dvec__is_own(&own, target[i]))
            to[i] = place_here(t, target[i], keys + i * t->words);
        else
            which[far++] = i;
    }
    if (status == DOME_OK)
        status = dvec__exchange_open(&m, t->vector, target, which, far, item);
    for (uint64_t i = 0; status == DOME_OK && i < m.total; i++) {
        m.items[item * i] = target[m.order[i]];
        memcpy(m.items + item * i + 1, keys + m.order[i] * t->words, (size_t)t->words * sizeof *keys);
    }
    if (status == DOME_OK)
        status = dvec__exchange_send(&m, t->vector->env, DOME_U64, item, m.items, m.in_items, false);
    for (uint64_t i = 0; status == DOME_OK && i < m.in_total; i++)
        m.in_items[i] = place_here(t, m.in_items[item * i], m.in_items + item * i + 1);
    if (status == DOME_OK)
        status = dvec__exchange_send(&m, t->vector->env, DOME_U64, 1, m.in_items, m.items, true);
    for (uint64_t i = 0; status == DOME_OK && i < m.total; i++)
        to[m.order[i]] = m.items[i];
    dvec__exchange_clear(&m);
    g_free(which);
    g_free(target);
    return status;
}

/* Sets to[i] to the place of each of x's values that belong to z's elements. */
static int search_all(const table *t, const dvec *z, const dvec *x, const uint64_t *keys, uint64_t *to)
{
    if (t->vector->distribution == DOME_WHOLE || t->vector->length == 0) {
        for (uint64_t i = 0; i < z->local; i++)
            to[i] = place_in(t, t->keys, t->vector->length, keys + i * t->words);
        return DOME_OK;
    }
    uint64_t batch = dvec__exchange_batch(x), longest = 0;
    int status = DOME_OK;
    for (int r = 0; r < dome_layout_tasks(z->layout); r++)
        longest = MAX(longest, dome_layout_local(z->layout, r));
    for (uint64_t done = 0; done < longest && status == DOME_OK; done += MIN(batch, longest - done)) {
        uint64_t begin = MIN(done, z->local);
        status = search_batch(t, keys + begin * t->words, MIN(batch, z->local - begin), to + begin);
    }
    return status;
}

static int check_search(const dvec *index, const dvec *vector, const dvec *x)
{
    if (!x || !vector)
        return dome__fail(index->env, DOME_ERR_ARGUMENT, "an operand is NULL");
    int status = dvec__conforms(index, x, false, true);
    if (status == DOME_OK)
        status = dvec__check_values(x, vector);
    if (status == DOME_OK)
        status = dvec__check_order(x);
    if (status == DOME_OK)
        status = dvec__check_positions(index);
    if (status == DOME_OK)
        status = dvec__settle(x, vector);
    return status;
}

/* The keys of those values of x that belong to index's elements. */
static void wanted_keys(const table *t, const dvec *index, const dvec *x, uint64_t *keys)
{
    dvec_span spans[2];
    dvec__spans(index, spans);
    uint64_t at = 0;
    for (int k = 0; k < 2; at += spans[k++].count) {
        const uint64_t from = x->distribution == index->distribution ? at : spans[k].first;
        dome__to_keys(x->type, x->data + from * DVEC_VALUE(x), spans[k].count, DOME_KEYS_EQUAL, keys + at * t->words,
                      t->form.words);
    }
}

dome_status dvec_searchsorted(dvec *index, const dvec *sorted, const dvec *x, bool right)
{
    DOME_NEEDS(index, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    table t = {.vector = sorted, .right = right};
    uint64_t *keys = NULL, *places = NULL;
    dome__begin_with(&op, index->env, DOME_OP_DVEC_SEARCHSORTED, index->object,
                     (uint64_t[]){dvec__id(sorted), dvec__id(x), right}, 3);
    int status = check_search(index, sorted, x);
    if (status == DOME_OK)
        status = open_table(&t);
    if (status == DOME_OK) {
        const uint64_t bytes = index->local * sizeof *places;
        keys = dome__storage_raw(bytes * t.words, NULL);
        places = dome__storage_raw(bytes, NULL);
        status = dvec__agree_memory(index, (keys && places) || bytes == 0, "a search");
    }
    if (status == DOME_OK) {
        wanted_keys(&t, index, x, keys);
        status = search_all(&t, index, x, keys, places);
    }
    if (status == DOME_OK) {
        dvec__complete(index);
        if (index->local > 0)
            memcpy(index->data, places, (size_t)(index->local * sizeof *places));
        dvec__overwritten(index);
    }
    dome__storage_free(keys);
    dome__storage_free(places);
    close_table(&t);
    return dome__end(&op, status);
}
