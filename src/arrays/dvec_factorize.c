/* Labels of keys: the number of each element's key among the different ones.
 *
 * A key becomes some words in the order of its values. Each task finds the different keys of its own elements in a hash table,
 * and sends each with its first position to the task that its hash says, which tells the lowest position of all tasks back. So
 * every element knows where its key appears first. The elements that are the first of their keys, numbered in order, number the
 * keys; for sorted keys these numbers are exchanged for those of the sorted keys. These steps are operations on vectors. */
#include "arrays/dvec_exchange.h"
#include "arrays/dvec_sort.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* ---- keys ---- */

/* How the values of an element become words: several narrow ones share a word, the first one in its highest bits. */
typedef struct packing {
    dome_type type;
    uint64_t width, words; /* of an element: values, words */
    unsigned bits;         /* of a value in a word; 128: two words each */
} packing;

static packing packing_of(const dvec *keys)
{
    packing p = {.type = keys->type, .width = keys->width, .bits = (unsigned)(8 * DVEC_VALUE(keys))};
    p.words = p.bits > 64 ? 2 * p.width : (p.width + 64 / p.bits - 1) / (64 / p.bits);
    return p;
}

/* Packs one element, whose values' keys are given. */
static void pack(const packing *p, const uint64_t *keys, uint64_t *to)
{
    const unsigned each = 64 / MIN(p->bits, 64);
    if (each == 1) {
        memcpy(to, keys, (size_t)p->words * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)p->words * sizeof *to);
    for (uint64_t v = 0; v < p->width; v++)
        to[v / each] |= (keys[v] & (UINT64_MAX >> (64 - p->bits))) << (64 - p->bits * (v % each + 1));
}

/* Strings: bytes in order. */
static void pack_bytes(const packing *p, const char *values, uint64_t count, uint64_t *to)
{
    memset(to, 0, (size_t)(count * p->words) * sizeof *to);
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * p->words, values + i * p->width, (size_t)p->width);
    for (uint64_t w = 0; w < count * p->words; w++)
        to[w] = GUINT64_FROM_BE(to[w]);
}

/* The words of `count` elements; keys has room for those of one element. */
static void pack_all(const packing *p, const char *values, uint64_t count, uint64_t *keys, uint64_t *to)
{
    const size_t element = (size_t)p->width * dome_type_size(p->type);
    if (p->width == 1) {
        dome__to_keys(p->type, values, count, DOME_KEYS_EQUAL, to, (int)p->words);
        return;
    }
    if (p->type == DOME_U8) {
        pack_bytes(p, values, count, to);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        dome__to_keys(p->type, values + i * element, p->width, DOME_KEYS_EQUAL, keys, p->bits > 64 ? 2 : 1);
        pack(p, keys, to + i * p->words);
    }
}

static uint64_t hash_of(const uint64_t *key, uint64_t words)
{
    uint64_t hash = 0;
    for (uint64_t w = 0; w < words; w++)
        hash = dome__hash(hash, key[w]);
    return hash;
}

/* ---- a table of different keys ---- */

/* Entries are numbered as they come; each leads to one of the keys that it was made of. The table grows with them. */
typedef struct table {
    uint64_t words, stride; /* of a key, and of what stands from one key to the next */
    const uint64_t *keys;
    uint64_t *slots, mask; /* numbers of entries, and one; 0: free */
    uint64_t *entry;       /* by entry: the number of its key */
    uint64_t count, room;
    bool failed; /* there was no memory for an entry */
} table;

static table table_new(const uint64_t *keys, uint64_t words, uint64_t stride)
{
    return (table){.words = words, .stride = stride, .keys = keys};
}

static void table_clear(table *t)
{
    g_free(t->slots);
    g_free(t->entry);
}

static const uint64_t *key_of(const table *t, uint64_t entry)
{
    return t->keys + t->entry[entry] * t->stride;
}

/* The slot of a key, or the free one where it belongs. */
static uint64_t slot_of(const table *t, const uint64_t *key)
{
    uint64_t at = hash_of(key, t->words) & t->mask;
    while (t->slots[at] && memcmp(key_of(t, t->slots[at] - 1), key, (size_t)t->words * sizeof *key) != 0)
        at = (at + 1) & t->mask;
    return at;
}

/* Twice as much room, of which half is in use. */
static bool table_grow(table *t)
{
    const uint64_t room = t->room ? 2 * t->room : 1024;
    uint64_t *slots = room < SIZE_MAX / 2 ? g_try_new0(uint64_t, 2 * room) : NULL;
    uint64_t *entry = slots ? g_try_renew(uint64_t, t->entry, room) : NULL;
    if (!entry) {
        g_free(slots);
        return false;
    }
    g_free(t->slots);
    t->slots = slots;
    t->entry = entry;
    t->room = room;
    t->mask = 2 * room - 1;
    for (uint64_t e = 0; e < t->count; e++)
        t->slots[slot_of(t, key_of(t, e))] = e + 1;
    return true;
}

/* The entry of key number k, which is made if it is new. Without memory for it any entry. */
static uint64_t table_find(table *t, uint64_t k)
{
    t->failed = t->failed || (t->count == t->room && !table_grow(t));
    if (t->failed)
        return 0;
    const uint64_t at = slot_of(t, t->keys + k * t->stride);
    if (!t->slots[at]) {
        t->entry[t->count] = k;
        t->slots[at] = ++t->count;
    }
    return t->slots[at] - 1;
}

/* ---- first positions ---- */

/* This task's elements, and where their keys appear first. */
typedef struct firsts {
    const dvec *keys;
    packing packing;
    uint64_t *packed; /* by element: the words of its key */
    uint64_t *which;  /* by element: its entry; in the end the position where its key appears first */
    uint64_t *first;  /* by entry: that position */
    table table;
} firsts;

/* Elements are taken in order of their positions, so an entry's key is the first one of this task. */
static void find_own(firsts *f)
{
    dvec_span spans[2];
    dvec__spans(f->keys, spans);
    for (int s = 1; s >= 0; s--) /* a second span begins at element 0 */
        for (uint64_t i = 0, at = s ? spans[0].count : 0; i < spans[s].count && !f->table.failed; i++, at++) {
            const uint64_t before = f->table.count;
            f->which[at] = table_find(&f->table, at);
            if (f->table.count > before)
                f->first[before] = spans[s].first + i;
        }
}

/* The task that compares the first positions of a key. The table uses the lower bits of the hash. */
static int judge_of(const uint64_t *key, uint64_t words, int size)
{
    return (int)((hash_of(key, words) >> 32) % (uint64_t)size);
}

/* The entries of this task's table, as they are sent: the words of the key, and the position. */
typedef struct records {
    uint64_t words;                        /* of a record */
    uint64_t *counts, *in_counts, *places; /* by rank: records */
    uint64_t *scaled, *in_scaled;          /* by rank: words */
    uint64_t *out, *in, total, in_total;
} records;

static void records_free(records *l)
{
    g_free(l->counts);
    dome__storage_free(l->out);
    dome__storage_free(l->in);
}

static int transfer(dome_env *env, int failed)
{
    return failed == DOME_OK ? DOME_OK : dome__fail_transport(env, failed);
}

/* Counts the records to each task, and tells it. */
static int count_records(records *l, const firsts *f)
{
    dome_transport *t = f->keys->env->transport;
    const uint64_t size = (uint64_t)t->group.size, words = f->packing.words;
    l->words = words + 1;
    l->counts = g_new0(uint64_t, 5 * size);
    l->in_counts = l->counts + size;
    l->places = l->in_counts + size;
    l->scaled = l->places + size;
    l->in_scaled = l->scaled + size;
    for (uint64_t e = 0; e < f->table.count; e++)
        l->counts[judge_of(f->packed + f->table.entry[e] * words, words, t->group.size)]++;
    int status = dome__alltoall(t, DOME_U64, l->counts, 1, l->in_counts);
    for (uint64_t r = 0; r < size && status == DOME_OK; r++) {
        l->places[r] = l->total;
        l->total += l->counts[r];
        l->in_total += l->in_counts[r];
        l->scaled[r] = l->counts[r] * l->words;
        l->in_scaled[r] = l->in_counts[r] * l->words;
    }
    return transfer(f->keys->env, status);
}

static void write_records(records *l, const firsts *f)
{
    const uint64_t words = f->packing.words;
    for (uint64_t e = 0; e < f->table.count; e++) {
        const uint64_t *key = f->packed + f->table.entry[e] * words;
        uint64_t *to = l->out + l->words * l->places[judge_of(key, words, f->keys->env->size)]++;
        memcpy(to, key, (size_t)words * sizeof *to);
        to[words] = f->first[e];
    }
}

/* In each record that has come the position becomes the lowest one of its key. False if there is no memory. */
static bool judge(const records *l, uint64_t key_words)
{
    table t = table_new(l->in, key_words, l->words);
    for (uint64_t k = 0; k < l->in_total && !t.failed; k++) {
        const uint64_t entry = table_find(&t, k);
        uint64_t *lowest = t.failed ? NULL : l->in + l->words * t.entry[entry] + key_words;
        if (lowest)
            *lowest = MIN(*lowest, l->in[l->words * k + key_words]);
    }
    for (uint64_t k = 0; k < l->in_total && !t.failed; k++)
        l->in[l->words * k + key_words] = l->in[l->words * t.entry[table_find(&t, k)] + key_words];
    table_clear(&t);
    return !t.failed;
}

/* The answers stand in the order in which the records were written. */
static void read_records(const records *l, firsts *f)
{
    const uint64_t words = f->packing.words;
    uint64_t *next = l->places, at = 0;
    for (int r = 0; r < f->keys->env->size; at += l->counts[r++])
        next[r] = at;
    for (uint64_t e = 0; e < f->table.count; e++) {
        const int judge = judge_of(f->packed + f->table.entry[e] * words, words, f->keys->env->size);
        f->first[e] = l->out[l->words * next[judge]++ + words];
    }
}

/* The lowest positions of all tasks for this task's entries. */
static int compare_firsts(firsts *f)
{
    const dvec *x = f->keys;
    dome_transport *t = x->env->transport;
    records l = {0};
    int status = count_records(&l, f);
    if (status == DOME_OK) {
        const uint64_t bytes = l.words * sizeof *l.out;
        l.out = dome__storage_raw(MAX(l.total, 1) * bytes, NULL);
        l.in = dome__storage_raw(MAX(l.in_total, 1) * bytes, NULL);
        status = dvec__agree_memory(x, l.out && l.in, "the different keys");
    }
    if (status == DOME_OK) {
        write_records(&l, f);
        status = transfer(x->env, dome__alltoallv(t, DOME_U64, l.out, l.scaled, l.in, l.in_scaled));
    }
    if (status == DOME_OK)
        status = dvec__agree_memory(x, judge(&l, f->packing.words), "the different keys");
    if (status == DOME_OK)
        status = transfer(x->env, dome__alltoallv(t, DOME_U64, l.in, l.in_scaled, l.out, l.scaled));
    if (status == DOME_OK)
        read_records(&l, f);
    records_free(&l);
    return status;
}

static void firsts_close(firsts *f)
{
    dome__storage_free(f->packed);
    dome__storage_free(f->which);
    dome__storage_free(f->first);
    table_clear(&f->table);
}

/* Sets f->which to the position, for each of this task's elements, where its key appears first. */
static int find_firsts(firsts *f, const dvec *keys)
{
    *f = (firsts){.keys = keys, .packing = packing_of(keys)};
    const packing *p = &f->packing;
    const uint64_t n = keys->local, bytes = p->words * sizeof *f->packed;
    uint64_t *values = g_try_new(uint64_t, p->bits > 64 ? 2 * p->width : p->width);
    f->packed = n < SIZE_MAX / bytes ? dome__storage_raw(MAX(n, 1) * bytes, NULL) : NULL;
    f->which = dome__storage_raw(MAX(n, 1) * sizeof *f->which, NULL);
    f->first = dome__storage_raw(MAX(n, 1) * sizeof *f->first, NULL);
    f->table = table_new(f->packed, p->words, p->words);
    int status = dvec__agree_memory(keys, values && f->packed && f->which && f->first, "the keys");
    if (status == DOME_OK) {
        pack_all(p, keys->data, n, values, f->packed);
        find_own(f);
        status = dvec__agree_memory(keys, !f->table.failed, "the different keys");
    }
    if (status == DOME_OK && keys->distribution != DOME_WHOLE && keys->env->size > 1)
        status = compare_firsts(f);
    for (uint64_t i = 0; i < n && status == DOME_OK; i++)
        f->which[i] = f->first[f->which[i]];
    g_free(values);
    return status;
}

/* ---- numbers ---- */

static dvec *like(const dvec *x, dome_type type)
{
    return dvec_new_with(x->env, NULL, type, x->length,
                         DVEC_OPTIONS(.distribution = x->distribution, .block = dome_layout_block_size(x->layout)));
}

/* Sets mask to 1 where an element is the first of its key, and ranks to how many of these stand before each element. */
static void mark_firsts(const dvec *keys, const uint64_t *first, dvec *mask, dvec *ranks)
{
    dvec_span spans[2];
    uint64_t at = 0;
    dvec__complete(mask);
    dvec__spans(keys, spans);
    for (int s = 0; s < 2; s++)
        for (uint64_t i = 0; i < spans[s].count; i++, at++)
            ((uint8_t *)mask->data)[at] = first[at] == spans[s].first + i;
    dvec__overwritten(mask);
    dvec_convert(ranks, mask);
    dvec_exscan(ranks, ranks);
}

/* Sets codes to ranks[first]. */
static int look_up(dvec *codes, const dvec *ranks, const uint64_t *first)
{
    dvec__complete(codes);
    int status = dvec__settle(ranks, NULL);
    if (status == DOME_OK)
        status = dvec__gather_at(codes, ranks, first, codes->data);
    dvec__overwritten(codes);
    return status;
}

/* The different keys in the order in which they appear, and each element's number. */
static dvec *number_keys(const dvec *keys, dvec *codes, const char *name)
{
    firsts f = {0};
    dvec *distinct = NULL, *mask = like(keys, DOME_U8), *ranks = like(keys, DOME_I64);
    int status = mask && ranks ? find_firsts(&f, keys) : DOME_ERR_MEMORY;
    if (status == DOME_OK) {
        mark_firsts(keys, f.which, mask, ranks);
        status = look_up(codes, ranks, f.which);
    }
    if (status == DOME_OK)
        distinct = dvec_compress(keys, mask, name);
    firsts_close(&f);
    dvec_free(mask);
    dvec_free(ranks);
    return distinct;
}

/* ---- sorted keys ---- */

/* Word number w of the packed elements of x. */
static int set_word(dvec *to, const dvec *x, const packing *p, uint64_t w)
{
    uint64_t *values = g_try_new(uint64_t, p->bits > 64 ? 2 * p->width : p->width), *packed = g_try_new(uint64_t, p->words);
    int status = dvec__agree_memory(x, values && packed, "a key");
    if (status == DOME_OK) {
        dvec__complete(to);
        for (uint64_t i = 0; i < x->local; i++) {
            pack_all(p, x->data + i * DVEC_ELEMENT(x), 1, values, packed);
            ((uint64_t *)(void *)to->data)[i] = packed[w];
        }
        dvec__overwritten(to);
    }
    g_free(values);
    g_free(packed);
    return status;
}

/* order = the positions of x's elements in ascending order: a stable sort by each word, from the last to the first. */
static int sort_elements(const dvec *x, dvec *order)
{
    const packing p = packing_of(x);
    dvec *word = like(x, DOME_U64), *arranged = like(x, DOME_U64), *index = like(x, DOME_I64), *next = like(x, DOME_I64);
    int status = word && arranged && index && next ? DOME_OK : DOME_ERR_MEMORY;
    if (status == DOME_OK)
        status = (int)dvec_iota(order);
    for (uint64_t w = p.words; w-- > 0 && status == DOME_OK;) {
        status = set_word(word, x, &p, w);
        if (status == DOME_OK)
            status = (int)dvec_gather(arranged, word, order);
        if (status == DOME_OK)
            status = (int)dvec_argsort(index, arranged);
        if (status == DOME_OK)
            status = (int)dvec_gather(next, order, index);
        if (status == DOME_OK)
            status = (int)dvec_copy(order, next);
    }
    dvec_free(word);
    dvec_free(arranged);
    dvec_free(index);
    dvec_free(next);
    return status;
}

/* The same keys in ascending order; codes become the new numbers. Frees `distinct`. */
static dvec *sort_keys(dvec *distinct, dvec *codes, const char *name)
{
    dvec *order = like(distinct, DOME_I64), *place = like(distinct, DOME_I64), *number = like(distinct, DOME_I64);
    dvec *new_codes = dvec_new_like(codes, NULL), *sorted = NULL;
    int status = order && place && number && new_codes ? (int)dvec__settle(distinct, NULL) : DOME_ERR_MEMORY;
    if (status == DOME_OK)
        status = sort_elements(distinct, order);
    if (status == DOME_OK) {
        dvec_iota(number);
        status = (int)dvec_scatter(place, number, order);
    }
    if (status == DOME_OK)
        status = (int)dvec_gather(new_codes, place, codes);
    if (status == DOME_OK)
        status = (int)dvec_copy(codes, new_codes);
    if (status == DOME_OK)
        sorted = dvec_new_like(distinct, name);
    if (sorted && dvec_gather(sorted, distinct, order) != DOME_OK) {
        dvec_free(sorted);
        sorted = NULL;
    }
    dvec_free(order);
    dvec_free(place);
    dvec_free(number);
    dvec_free(new_codes);
    dvec_free(distinct);
    return sorted;
}

/* ---- the operation ---- */

static int check(const dvec *labels, const dvec *keys)
{
    dome_env *env = labels->env;
    int status = dvec__conforms(labels, keys, false, false);
    if (status == DOME_OK)
        status = dvec__check_positions(labels);
    if (status == DOME_OK && labels->width != 1)
        status = dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but labels must have width 1",
                            dvec_name(labels), labels->width);
    if (status == DOME_OK && labels == keys)
        status = dome__fail(env, DOME_ERR_ARGUMENT, "the labels are to replace the keys");
    if (status == DOME_OK && !dome__has_order(keys->type))
        status = dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, whose values have no order", dvec_name(keys),
                            dome_type_name(keys->type));
    return status == DOME_OK ? dvec__settle(keys, NULL) : status;
}

dvec *dvec_factorize(dvec *labels, const dvec *keys, bool sort, const char *name)
{
    DOME_NEEDS(labels, "the vector of labels", NULL);
    dome_operation op;
    dvec *distinct = NULL, *codes = NULL;
    dome__begin_with(&op, labels->env, DOME_OP_DVEC_FACTORIZE, labels->object,
                     (uint64_t[]){dome__text_word(labels->env, name), dvec__id(keys), sort}, 3);
    int status = check(labels, keys);
    if (status == DOME_OK)
        codes = like(keys, DOME_I64);
    if (codes)
        distinct = number_keys(keys, codes, sort ? NULL : name);
    if (distinct && sort)
        distinct = sort_keys(distinct, codes, name);
    if (distinct)
        status = (int)dvec_convert(labels, codes);
    else if (status == DOME_OK)
        status = dome_error_status(labels->env);
    dvec_free(codes);
    dome__end(&op, status);
    return distinct;
}
