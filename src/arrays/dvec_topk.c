/* The k smallest or largest values. Each task keeps the best k of its own: values come into a list of candidates if they are
 * better than the worst of the k that are known, and when it is full, a sort leaves k of them. So values that are not among the
 * best are looked at once and not stored. The tasks then merge their lists along a tree. */
#include "arrays/dvec_sort.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* Values whose keys are made at a time, and candidates beside the k best, at least. */
enum { PIECE = 1024, MORE_CANDIDATES = 4096 };

/* The k best items known. Keys of the largest values are inverted, so that they are the smallest. */
typedef struct best {
    dome_item form; /* keys with the positions of their elements */
    uint64_t k, invert;
    uint64_t *items, *other; /* `room` items each */
    uint64_t count, room;
    bool full; /* there are k or more, and the first k, sorted, are the best of those before */
} best;

static uint64_t words_of(const best *b)
{
    return (uint64_t)b->form.words;
}

/* Leaves the k best candidates, sorted. Positions ascend among equal keys, because they came in that order. */
static void choose(best *b)
{
    uint64_t *sorted = dome__sort_keys(b->items, b->other, b->count, b->form);
    if (sorted != b->items) {
        b->other = b->items;
        b->items = sorted;
    }
    b->full = b->count >= b->k;
    b->count = MIN(b->count, b->k);
}

/* Whether a key is better than that of the worst of the k best; equal ones have lower positions there. */
static bool is_better(const best *b, const uint64_t *key)
{
    const uint64_t *worst = b->items + (b->k - 1) * words_of(b);
    return key[0] != worst[0] || b->form.key == 1 ? key[0] < worst[0] : key[1] < worst[1];
}

static void add_values(best *b, dome_type type, const char *values, uint64_t first, uint64_t count)
{
    uint64_t keys[2 * PIECE];
    const uint64_t key_words = (uint64_t)b->form.key;
    for (uint64_t done = 0, n; done < count; done += n) {
        n = MIN(count - done, PIECE);
        dome__to_keys(type, values + done * dome_type_size(type), n, DOME_KEYS_EQUAL, keys, b->form.key);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t *key = keys + i * key_words;
            for (uint64_t w = 0; w < key_words; w++)
                key[w] ^= b->invert;
            if (b->full && !is_better(b, key))
                continue;
            uint64_t *item = b->items + b->count++ * words_of(b);
            memcpy(item, key, (size_t)key_words * sizeof *key);
            item[key_words] = first + done + i;
            if (b->count == b->room)
                choose(b);
        }
    }
}

/* The best of this task's elements, and items behind all others in the place of those that it does not have. */
static void find_own(best *b, const dvec *x)
{
    dvec_span spans[2];
    dvec__spans(x, spans);
    for (int s = 1; s >= 0; s--) /* a second span begins at element 0 */
        add_values(b, x->type, spans[s].data, spans[s].first, spans[s].count);
    choose(b);
    memset(b->items + b->count * words_of(b), 0xff, (size_t)((b->k - b->count) * words_of(b)) * sizeof *b->items);
}

static void merge(void *inout, const void *in, uint64_t count, void *ctx)
{
    const best *b = ctx;
    const size_t bytes = (size_t)(b->k * words_of(b)) * sizeof *b->items;
    char *to = inout;
    const char *from = in;
    for (; count > 0; count--, to += bytes, from += bytes) {
        dome__merge_keys(b->other, (const uint64_t *)(const void *)to, b->k, (const uint64_t *)(const void *)from, b->k, b->form);
        memcpy(to, b->other, bytes);
    }
}

/* The best of all tasks: a list is one element, which is not cut into pieces on its way. */
static int find_common(best *b, dome_env *env)
{
    const size_t words = (size_t)(b->k * words_of(b));
    dome_field items = {"items", DOME_U64, 0, words};
    const struct dome_type_desc list = {.name = "items",
                                        .kind = DOME_KIND_STRUCT,
                                        .size = words * sizeof(uint64_t),
                                        .portable = words * sizeof(uint64_t),
                                        .nfields = 1,
                                        .fields = &items};
    int status = dome__allreduce(env->transport, &list, b->items, 1, merge, b);
    return status == DOME_OK ? DOME_OK : dome__fail_transport(env, status);
}

static int check(const dvec *x, uint64_t k)
{
    int status = dvec__check_order(x);
    if (status == DOME_OK && k > x->length)
        status = dome__fail(x->env, DOME_ERR_ARGUMENT, "%" G_GUINT64_FORMAT " values of '%s', which has %" G_GUINT64_FORMAT, k,
                            dvec_name(x), x->length);
    return status == DOME_OK ? dvec__settle(x, NULL) : status;
}

static int get_room(best *b, const dvec *x)
{
    const uint64_t room = b->k + MAX(b->k, MORE_CANDIDATES), bytes = words_of(b) * sizeof *b->items;
    b->room = room;
    b->items = room < SIZE_MAX / bytes ? dome__storage_raw(room * bytes, NULL) : NULL;
    b->other = room < SIZE_MAX / bytes ? dome__storage_raw(room * bytes, NULL) : NULL;
    return dvec__agree_memory(x, b->items && b->other, "the values");
}

static int take(best *b, const dvec *x, void *values, uint64_t positions[])
{
    uint64_t *at = b->other;
    for (uint64_t i = 0; i < b->k; i++)
        at[i] = b->items[i * words_of(b) + (uint64_t)b->form.key];
    if (positions)
        memcpy(positions, at, (size_t)b->k * sizeof *at);
    return values ? (int)dvec_get_many(x, (size_t)b->k, at, values) : DOME_OK;
}

dome_status dvec_topk(const dvec *x, uint64_t k, bool largest, void *values, uint64_t positions[])
{
    DOME_NEEDS(x, "the vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    const uint64_t places = (uint64_t)(values != NULL) + 2 * (uint64_t)(positions != NULL);
    dome__begin_with(&op, x->env, DOME_OP_DVEC_TOPK, x->object, (uint64_t[]){k, largest, places}, 3);
    best b = {.form = dome__item_of(x->type, true), .k = k, .invert = largest ? UINT64_MAX : 0};
    int status = check(x, k);
    if (status == DOME_OK && k > 0) {
        status = get_room(&b, x);
        if (status == DOME_OK)
            find_own(&b, x);
        if (status == DOME_OK && x->distribution != DOME_WHOLE && x->env->size > 1)
            status = find_common(&b, x->env);
        if (status == DOME_OK)
            status = take(&b, x, values, positions);
    }
    dome__storage_free(b.items);
    dome__storage_free(b.other);
    dome__count_bytes(&op, x->local * DVEC_ELEMENT(x));
    return dome__end(&op, status);
}
