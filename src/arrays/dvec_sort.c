/* Sorting.
 *
 * Each task sorts its own items. All tasks then find the item at the first position of each task's span, digit by digit: they add
 * up how many items lie below each candidate. So each task knows which of its items belong to which span, one exchange brings
 * them there, and each task merges what it gets. (Exact splitting: P. J. Varman et al., Merging multiple lists on hierarchical-
 * memory multiprocessors, J. Parallel and Distributed Computing 12, 1991. Candidates come from the bits of the key, not from a
 * sample, so the number of rounds has a bound that does not depend on the values.) */
#include "arrays/dvec_sort.h"

#include "arrays/dvec_exchange.h"
#include "arrays/dvec_ranges.h"
#include "core/type_private.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <dome/arrays.h>
#include <string.h>

/* The sorting of one vector. */
typedef struct sorting {
    const dvec *x;
    dome_item form;
    int bits; /* of a key */
    uint64_t *items, *other;
    uint64_t count;
    dome_span spans[2]; /* this task's, of x and of the result */
    dvec_segment *segments;
    uint64_t nsegments;
    uint64_t *cuts; /* by segment, and one more: how many of this task's items lie before it */
} sorting;

int dvec__check_order(const dvec *x)
{
    if (!dome__has_order(x->type))
        return dome__fail(x->env, DOME_ERR_TYPE, "'%s' has type %s, whose values have no order", dvec_name(x),
                          dome_type_name(x->type));
    if (x->width != 1)
        return dome__fail(x->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but must have width 1", dvec_name(x),
                          x->width);
    return DOME_OK;
}

int dvec__check_positions(const dvec *index)
{
    if (index->type != DOME_I64 && index->type != DOME_U64)
        return dome__fail(index->env, DOME_ERR_TYPE, "'%s' has type %s, but positions are i64 or u64", dvec_name(index),
                          dome_type_name(index->type));
    return DOME_OK;
}

void dvec__sorted_clear(dvec_sorted *sorted)
{
    dome__storage_free(sorted->items);
    dome__storage_free(sorted->other);
}

/* ---- this task's items ---- */

/* Makes items of x's values, those of the span that begins at the lower index first. */
static void load_items(sorting *s, dome_keys how)
{
    dvec_span spans[2];
    int nspans = dvec__spans(s->x, spans);
    uint64_t *to = s->items;
    for (int k = nspans - 1; k >= 0; k--) { /* a second span begins at index 0 */
        const uint64_t words = (uint64_t)s->form.words;
        dome__to_keys(s->x->type, spans[k].data, spans[k].count, how, to, s->form.words);
        for (uint64_t i = 0; i < spans[k].count && s->form.words > s->form.key; i++)
            to[words * i + (uint64_t)s->form.key] = spans[k].first + i;
        to += spans[k].count * words;
    }
    s->count = s->x->local;
}

static void sort_items(sorting *s)
{
    uint64_t *sorted = dome__sort_keys(s->items, s->other, s->count, s->form);
    if (sorted != s->items) {
        s->other = s->items;
        s->items = sorted;
    }
}

/* ---- where the spans begin ---- */

/* The search for the key at one position of the sorted vector. */
typedef struct target {
    uint64_t position;
    uint64_t key[2];    /* the highest candidate so far below which lie at most `position` items */
    uint64_t less;      /* how many: of all tasks */
    uint64_t low, high; /* among this task's items: the first one not below the key, the end of the range to search */
} target;

enum { ROUND_BITS = 4, CANDIDATES = (1 << ROUND_BITS) - 1 };

/* Determines ROUND_BITS more bits of the keys of all targets. counts: room for CANDIDATES numbers for each. */
static int next_bits(const sorting *s, target *targets, uint64_t ntargets, int shift, uint64_t *counts)
{
    const int word = s->form.key - 1 - shift / 64;
    shift %= 64;
    for (uint64_t j = 0; j < ntargets; j++) {
        const target *t = &targets[j];
        for (uint64_t c = 0; c < CANDIDATES; c++) {
            uint64_t key[2] = {t->key[0], t->key[1]};
            key[word] += (c + 1) << shift;
            counts[j * CANDIDATES + c] =
                t->low + dome__count_less(s->items + t->low * (uint64_t)s->form.words, t->high - t->low, s->form, key, false);
        }
    }
    uint64_t *mine = counts + ntargets * CANDIDATES;
    memcpy(mine, counts, ntargets * CANDIDATES * sizeof *counts);
    int status = dome__allreduce(s->x->env->transport, DOME_I64, counts, ntargets * CANDIDATES, dome__combine_sum_i64, NULL);
    for (uint64_t j = 0; j < ntargets && status == DOME_OK; j++) {
        target *t = &targets[j];
        uint64_t digit = 0;
        while (digit < CANDIDATES && counts[j * CANDIDATES + digit] <= t->position)
            digit++;
        t->key[word] += digit << shift;
        if (digit < CANDIDATES)
            t->high = mine[j * CANDIDATES + digit];
        if (digit > 0) {
            t->low = mine[j * CANDIDATES + digit - 1];
            t->less = counts[j * CANDIDATES + digit - 1];
        }
    }
    return status;
}

/* The number of this task's items with the key of a target, by span. All keys below bits are determined. */
static void count_equal(const sorting *s, const target *t, uint64_t counts[2])
{
    const uint64_t words = (uint64_t)s->form.words, key = (uint64_t)s->form.key, *from = s->items + t->low * words;
    uint64_t low = 0, count = 0;
    while (t->low + count < s->count && memcmp(from + count * words, t->key, (size_t)key * sizeof *from) == 0) {
        /* indices ascend here, so those of the second span, which begins at 0, come first */
        low += words > key && s->spans[1].count > 0 && from[count * words + key] < s->spans[1].count;
        count++;
    }
    counts[0] = count - low;
    counts[1] = low;
}

/* Items with the key of a target lie on both sides of its position: those of lower indices before it. */
static int divide_equal(const sorting *s, const target *targets, uint64_t ntargets)
{
    dome_transport *t = s->x->env->transport;
    uint64_t *mine = g_new(uint64_t, 2 * ntargets), *all = g_new(uint64_t, 2 * ntargets * (gsize)t->group.size);
    for (uint64_t j = 0; j < ntargets; j++)
        count_equal(s, &targets[j], mine + 2 * j);
    int status = dome__allgather(t, DOME_U64, mine, 2 * ntargets, all);
    for (uint64_t j = 0; j < ntargets && status == DOME_OK; j++) {
        uint64_t left = targets[j].position - targets[j].less;
        for (uint64_t k = 0; k < s->nsegments && left > 0; k++) {
            const dvec_segment *from = &s->segments[k];
            uint64_t taken = MIN(left, all[((uint64_t)from->rank * ntargets + j) * 2 + (uint64_t)from->number]);
            if (from->rank == t->group.rank)
                s->cuts[j + 1] += taken;
            left -= taken;
        }
    }
    g_free(mine);
    g_free(all);
    return status;
}

/* Sets the cuts. */
static int find_cuts(sorting *s)
{
    uint64_t ntargets = s->nsegments - 1;
    target *targets = g_new0(target, ntargets);
    uint64_t *counts = g_new(uint64_t, 2 * CANDIDATES * ntargets);
    bool exact = ntargets == 0;
    int status = DOME_OK;
    for (uint64_t j = 0; j < ntargets; j++) {
        targets[j].position = s->segments[j + 1].first;
        targets[j].high = s->count;
    }
    for (int shift = s->bits - ROUND_BITS; shift >= 0 && !exact && status == DOME_OK; shift -= ROUND_BITS) {
        status = next_bits(s, targets, ntargets, shift, counts);
        exact = true;
        for (uint64_t j = 0; j < ntargets; j++)
            exact = exact && targets[j].less == targets[j].position;
    }
    s->cuts = g_new0(uint64_t, s->nsegments + 1);
    for (uint64_t j = 0; j < ntargets; j++)
        s->cuts[j + 1] = targets[j].low;
    s->cuts[s->nsegments] = s->count;
    if (status == DOME_OK && !exact)
        status = divide_equal(s, targets, ntargets);
    g_free(counts);
    g_free(targets);
    return status;
}

/* ---- exchange and merge ---- */

/* Puts the items in order of the ranks that get them, for each rank those of its first span first. counts: by rank and span. */
static void order_by_rank(sorting *s, uint64_t *counts)
{
    uint64_t at = 0, words = (uint64_t)s->form.words, *places = g_new0(uint64_t, 2 * (gsize)s->x->env->size);
    bool ordered = true;
    for (uint64_t k = 0; k < s->nsegments; k++) {
        const dvec_segment *to = &s->segments[k];
        const uint64_t place = 2 * (uint64_t)to->rank + (uint64_t)to->number;
        counts[place] = s->cuts[k + 1] - s->cuts[k];
        places[place] = k;
        ordered = ordered && to->number == 0 && (k == 0 || to->rank > s->segments[k - 1].rank);
    }
    for (uint64_t p = 0; p < 2 * (uint64_t)s->x->env->size && !ordered; p++) {
        if (counts[p] > 0)
            memcpy(s->other + at * words, s->items + s->cuts[places[p]] * words, (size_t)(counts[p] * words) * sizeof *s->items);
        at += counts[p];
    }
    if (!ordered) {
        uint64_t *items = s->items;
        s->items = s->other;
        s->other = items;
    }
    g_free(places);
}

/* A sorted part of the items that have arrived or been merged. */
typedef struct run {
    const uint64_t *items;
    uint64_t count;
} run;

/* Merges pairs of neighbouring runs into `to`. Returns their number. */
static int merge_pairs(run *runs, int nruns, uint64_t *to, dome_item form)
{
    int merged = 0;
    for (int k = 0; k < nruns; k += 2) {
        const run a = runs[k], b = k + 1 < nruns ? runs[k + 1] : (run){runs[k].items, 0};
        dome__merge_keys(to, a.items, a.count, b.items, b.count, form);
        runs[merged++] = (run){to, a.count + b.count};
        to += (a.count + b.count) * (uint64_t)form.words;
    }
    return merged;
}

/* Merges what has come to `items` from all tasks, span by span. counts: by rank and span. */
static void merge_spans(sorting *s, const uint64_t *counts)
{
    const int size = s->x->env->size;
    run *runs[2] = {g_new(run, size), g_new(run, size)};
    int nruns[2] = {0, 0};
    const uint64_t *from = s->items;
    for (int p = 0; p < 2 * size; p++) {
        if (counts[p] > 0)
            runs[p % 2][nruns[p % 2]++] = (run){from, counts[p]};
        from += counts[p] * (uint64_t)s->form.words;
    }
    bool moved = nruns[1] == 0; /* the items of two spans arrive mixed, so a pass at least puts them in their places */
    while (nruns[0] > 1 || nruns[1] > 1 || !moved) {
        nruns[0] = merge_pairs(runs[0], nruns[0], s->other, s->form);
        nruns[1] = merge_pairs(runs[1], nruns[1], s->other + s->spans[0].count * (uint64_t)s->form.words, s->form);
        uint64_t *items = s->items;
        s->items = s->other;
        s->other = items;
        moved = true;
    }
    g_free(runs[0]);
    g_free(runs[1]);
}

static int exchange(sorting *s)
{
    dome_transport *t = s->x->env->transport;
    const gsize size = (gsize)t->group.size;
    uint64_t *out = g_new0(uint64_t, 2 * size), *in = g_new0(uint64_t, 2 * size), *sent = g_new(uint64_t, size),
             *received = g_new(uint64_t, size);
    order_by_rank(s, out);
    int status = dome__alltoall(t, DOME_U64, out, 2, in);
    for (gsize r = 0; r < size; r++) {
        sent[r] = (out[2 * r] + out[2 * r + 1]) * (uint64_t)s->form.words;
        received[r] = (in[2 * r] + in[2 * r + 1]) * (uint64_t)s->form.words;
    }
    if (status == DOME_OK)
        status = dome__alltoallv(t, DOME_U64, s->items, sent, s->other, received);
    if (status == DOME_OK) {
        uint64_t *items = s->items;
        s->items = s->other;
        s->other = items;
        merge_spans(s, in);
    }
    g_free(out);
    g_free(in);
    g_free(sent);
    g_free(received);
    return status;
}

/* A task that has all items takes those at the positions of z's elements. */
static void take_part(sorting *s, const dvec *z)
{
    dvec_span spans[2];
    int nspans = dvec__spans(z, spans);
    uint64_t at = 0, words = (uint64_t)s->form.words, *items = s->items;
    if (nspans == 0 || (nspans == 1 && spans[0].first == 0))
        return;
    for (int k = 0; k < nspans; at += spans[k++].count)
        memcpy(s->other + at * words, items + spans[k].first * words, (size_t)(spans[k].count * words) * sizeof *items);
    s->items = s->other;
    s->other = items;
}

int dvec__sort(const dvec *x, const dvec *z, dome_keys how, bool indexed, dvec_sorted *sorted)
{
    sorting s = {.x = x, .form = dome__item_of(x->type, indexed), .bits = 8 * (int)DVEC_VALUE(x)};
    const uint64_t bytes = x->local * (uint64_t)s.form.words * sizeof *s.items;
    s.items = dome__storage_raw(bytes, NULL);
    s.other = dome__storage_raw(bytes, NULL);
    int status = dvec__agree_memory(x, (s.items && s.other) || x->local == 0, "sorting");
    if (status == DOME_OK && x->local > 0) {
        load_items(&s, how);
        sort_items(&s);
    }
    if (status == DOME_OK && (x->distribution == DOME_WHOLE || x->env->size == 1)) {
        take_part(&s, z);
    } else if (status == DOME_OK && x->length > 0) {
        dvec__spans_of(x, x->env->rank, s.spans);
        s.segments = dvec__segments(x, &s.nsegments);
        status = find_cuts(&s);
        if (status == DOME_OK)
            status = exchange(&s);
        if (status != DOME_OK)
            status = dome__fail_transport(x->env, status);
    }
    g_free(s.segments);
    g_free(s.cuts);
    *sorted = (dvec_sorted){s.items, s.other};
    return status;
}

/* ---- public functions ---- */

/* Copies the indices of sorted items to `to`. */
static void take_indices(const dvec *x, const uint64_t *items, uint64_t count, uint64_t *to)
{
    const dome_item form = dome__item_of(x->type, true);
    for (uint64_t i = 0; i < count; i++)
        to[i] = items[i * (uint64_t)form.words + (uint64_t)form.key];
}

/* z = x's values in order. Different complex values may have equal keys, so they are fetched by their indices. */
static int sort_complex(dvec *z, const dvec *x)
{
    dvec_sorted sorted = {0};
    int status = dvec__sort(x, z, DOME_KEYS_EQUAL, true, &sorted);
    if (status == DOME_OK) {
        take_indices(x, sorted.items, z->local, sorted.other);
        status = dvec__gather_at(z, x, sorted.other, (char *)sorted.items);
    }
    if (status == DOME_OK) {
        dvec__complete(z);
        if (z->local > 0)
            memcpy(z->data, sorted.items, (size_t)(z->local * DVEC_VALUE(z)));
    }
    dvec__sorted_clear(&sorted);
    return status;
}

static int sort_real(dvec *z, const dvec *x)
{
    dvec_sorted sorted = {0};
    int status = dvec__sort(x, z, DOME_KEYS_EACH, false, &sorted);
    if (status == DOME_OK) {
        dvec__renew(z);
        dome__from_keys(z->type, sorted.items, 1, z->local, z->data);
    }
    dvec__sorted_clear(&sorted);
    return status;
}

dome_status dvec_sort(dvec *z, const dvec *x)
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_SORT, z->object, dvec__id(x));
    int status = dvec__conforms(z, x, true, true);
    if (status == DOME_OK)
        status = dvec__check_order(x);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK)
        status = dome__has_keys(x->type) ? sort_real(z, x) : sort_complex(z, x);
    if (status == DOME_OK) {
        dvec__overwritten(z);
        dome__count_bytes(&op, 2 * x->local * DVEC_VALUE(x));
    }
    return dome__end(&op, status);
}

dome_status dvec_argsort(dvec *index, const dvec *x)
{
    DOME_NEEDS(index, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dvec_sorted sorted = {0};
    dome__begin(&op, index->env, DOME_OP_DVEC_ARGSORT, index->object, dvec__id(x));
    int status = dvec__conforms(index, x, false, true);
    if (status == DOME_OK)
        status = dvec__check_order(x);
    if (status == DOME_OK)
        status = dvec__check_positions(index);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK)
        status = dvec__sort(x, index, DOME_KEYS_EQUAL, true, &sorted);
    if (status == DOME_OK) {
        dvec__renew(index);
        take_indices(x, sorted.items, index->local, (uint64_t *)(void *)index->data);
        dvec__overwritten(index);
        dome__count_bytes(&op, x->local * (DVEC_VALUE(x) + sizeof(uint64_t)));
    }
    dvec__sorted_clear(&sorted);
    return dome__end(&op, status);
}
