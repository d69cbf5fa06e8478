/* Transposes of sparse matrices. Each task divides its entries by the blocks of the transpose's rows that they belong to, and
 * sends them to the owners of these blocks, who then make block after block in the cache. A task visits its rows in ascending
 * order, and an owner takes the parts of the tasks in the order of their rows, so the entries of each new row come in ascending
 * order of columns: nothing is sorted. */
#include "sparse/dsparse_transpose.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

static void close_transposition(transposition *p)
{
    dome__storage_free(p->next);
    g_free(p->odd_sent.entry);
    g_free(p->odd_come.entry);
    g_free(p->odd_from);
    g_free(p->first_slot);
    g_free(p->slot);
    g_free(p->counts);
    g_free(p->in_counts);
    g_free(p->sent);
    g_free(p->taken);
    dome__storage_free(p->mine.place);
    dome__storage_free(p->mine.value);
    dome__storage_free(p->come.place);
    dome__storage_free(p->come.value);
}

/* size: of a value; 0: without values. */
static bool entries_room(entries *e, uint64_t total, size_t size)
{
    e->total = total;
    if (total > PTRDIFF_MAX / 32)
        return false;
    e->place = dome__storage_raw(2 * total * sizeof *e->place, NULL);
    e->value = dome__storage_raw(total * size, NULL);
    return total == 0 || (e->place && (e->value || size == 0));
}

/* ---- dividing this task's entries ---- */

static bool find_slots(transposition *p)
{
    const dome_layout *layout = p->t->layout;
    const int size = p->a->env->size, rank = p->a->env->rank;
    const uint64_t blocks = dome_layout_blocks(layout);
    uint64_t next = 0;
    p->first_slot = g_new0(uint64_t, (gsize)size);
    p->sent = g_new0(uint64_t, (gsize)size);
    p->taken = g_new0(uint64_t, (gsize)size);
    p->slot = dvec__try_array(blocks, sizeof *p->slot);
    p->counts = g_try_malloc0_n((gsize)blocks + 1, SPANS * sizeof *p->counts);
    p->in_counts = dvec__try_array(p->t->blocks, (uint64_t)size * SPANS * sizeof *p->in_counts);
    p->near = p->uniform || dsparse__transpose_is_near(p->a);
    p->next = p->near ? dome__storage((dome_layout_local(layout, rank) + 1) * sizeof *p->next) : NULL;
    if (!p->slot || !p->counts || !p->in_counts || (p->near && !p->next))
        return false;
    for (int k = 1; k <= size; k++) {
        const int r = k == size ? rank : k - 1 < rank ? k - 1 : k;
        p->first_slot[r] = next;
        for (uint64_t b = 0, run = dome_layout_run(layout, r, NULL); b < run; b++)
            p->slot[dome__layout_block_at(layout, r, b)] = (uint32_t)next++;
    }
    return true;
}

/* The span of this task's rows that a block belongs to. */
static int span_of(const dsparse *a, uint64_t block)
{
    dome_span ranges[SPANS];
    dome__layout_block_ranges(a->layout, a->env->rank, ranges);
    return block >= ranges[0].count;
}

/* A row's block is the row without so many low bits. */
static unsigned shift_of(const dsparse *t)
{
    return (unsigned)__builtin_ctzll(dome_layout_block_size(t->layout));
}

static void count_entries(transposition *p)
{
    const unsigned shift = shift_of(p->t);
    if (p->near) {
        dsparse__transpose_count_near(p);
        return;
    }
    for (uint64_t b = 0; b < p->a->blocks; b++) {
        const dsparse_block *from = &p->a->block[b];
        const int span = span_of(p->a, b);
        for (uint64_t k = 0, end = dsparse__block_entries(from); k < end; k++)
            p->counts[SPANS * p->slot[from->column[k] >> shift] + (uint64_t)span]++;
    }
}

/* The slots before this one are divided: of near entries, those of the others. */
static uint64_t slots_divided(const transposition *p)
{
    return p->near ? p->first_slot[p->a->env->rank] : dome_layout_blocks(p->t->layout);
}

FOR_EACH_SIZE void divide_block(transposition *p, const dsparse_block *from, uint64_t first, int span, uint64_t *at, size_t size)
{
    const unsigned shift = shift_of(p->t);
    const uint32_t *const slot = p->slot, below = (UINT32_C(1) << shift) - 1;
    const uint64_t end = slots_divided(p);
    uint32_t *const place = p->mine.place;
    char *const value = p->mine.value;
    for (uint32_t i = 0; i < from->rows; i++)
        for (uint32_t k = from->start[i]; k < from->start[i + 1]; k++) {
            const uint32_t column = from->column[k];
            if (slot[column >> shift] >= end)
                continue;
            const uint64_t to = at[SPANS * slot[column >> shift] + (uint64_t)span]++;
            place[2 * to] = column & below;
            place[2 * to + 1] = (uint32_t)(first + i);
            const char *here = from->uniform ? from->same : (const char *)from->value + k * size;
            if (!p->uniform)
                memcpy(value + to * size, here, size);
            else if (p->any_odd && memcmp(here, p->same, size) != 0)
                dsparse__transpose_note_odd(&p->odd_sent, p, to, here);
        }
}

/* Divides the entries by slots, and by spans within these. at: room for a number for each. */
static void divide(transposition *p, uint64_t *at)
{
    uint64_t next = 0;
    for (uint64_t k = 0; k < SPANS * slots_divided(p); k++) {
        at[k] = next;
        next += p->counts[k];
    }
    if (next == 0)
        return;
    for (uint64_t b = 0; b < p->a->blocks; b++) {
        const dsparse_block *from = &p->a->block[b];
        const uint64_t first = dome_layout_block(p->a->layout, dome__layout_block_at(p->a->layout, p->a->env->rank, b)).first;
        if (from->start)
            BY_SIZE(divide_block, p->size, p, from, first, span_of(p->a, b), at);
    }
}

/* ---- the exchange ---- */

static uint64_t sum(const uint64_t *numbers, uint64_t count)
{
    uint64_t total = 0;
    for (uint64_t k = 0; k < count; k++)
        total += numbers[k];
    return total;
}

/* Entries that come from a rank, by block and span; from this rank, those that it keeps. */
static const uint64_t *counts_from(const transposition *p, int r)
{
    const int rank = p->a->env->rank;
    if (r == rank)
        return p->counts + SPANS * p->first_slot[rank];
    return p->in_counts + SPANS * p->t->blocks * (uint64_t)(r - (r > rank));
}

static int exchange_counts(transposition *p)
{
    dome_transport *transport = p->a->env->transport;
    for (int r = 0; r < transport->group.size; r++) {
        p->sent[r] = r == transport->group.rank ? 0 : SPANS * dome_layout_run(p->t->layout, r, NULL);
        p->taken[r] = r == transport->group.rank ? 0 : SPANS * p->t->blocks;
    }
    return dome__alltoallv(transport, DOME_U64, p->counts, p->sent, p->in_counts, p->taken);
}

static int exchange_entries(transposition *p, dome_type type, uint64_t words, const void *send, void *recv)
{
    dome_transport *transport = p->a->env->transport;
    for (int r = 0; r < transport->group.size; r++) {
        const bool other = r != transport->group.rank;
        const uint64_t run = dome_layout_run(p->t->layout, r, NULL);
        p->sent[r] = other ? words * sum(p->counts + SPANS * p->first_slot[r], SPANS * run) : 0;
        p->taken[r] = other ? words * sum(counts_from(p, r), SPANS * p->t->blocks) : 0;
    }
    return dome__alltoallv(transport, type, send, p->sent, recv, p->taken);
}

/* ---- making the blocks ---- */

static int by_row(const void *x, const void *y)
{
    const turn *a = x, *b = y;
    return (a->row > b->row) - (a->row < b->row);
}

static int find_turns(const transposition *p, source *sources, turn *turns)
{
    const int size = p->a->env->size, rank = p->a->env->rank;
    uint64_t at = 0;
    int count = 0;
    for (int r = 0; r < size; r++) {
        dome_span spans[SPANS];
        const int nspans = dome_layout_spans(p->a->layout, r, spans);
        const uint64_t *counts = counts_from(p, r), before = sum(p->counts, SPANS * p->first_slot[rank]);
        if (r == rank && p->near) {
            sources[r] = (source){.counts = counts};
        } else if (r == rank) {
            sources[r] = (source){counts, p->mine.place + 2 * before, p->mine.value + before * p->size, {0}};
        } else {
            sources[r] = (source){counts, p->come.place + 2 * at, p->uniform ? NULL : p->come.value + at * p->size, {0}};
            if (p->any_odd)
                sources[r].odd = (odd_entries){p->odd_from[r + 1] - p->odd_from[r], p->odd_come.entry + p->odd_from[r]};
            at += sum(counts, SPANS * p->t->blocks);
        }
        for (int s = 0; s < nspans; s++)
            turns[count++] = (turn){spans[s].first, r, &sources[r], s};
    }
    qsort(turns, (size_t)count, sizeof *turns, by_row);
    return count;
}

/* Entries of the next block that lie before those of a turn. */
static inline uint64_t before_turn(const turn *t)
{
    return t->span > 0 ? t->from->counts[0] : 0;
}

FOR_EACH_SIZE void fill_block(dsparse_block *b, const turn *turns, int nturns, uint32_t *next, size_t size)
{
    memset(b->start, 0, (b->rows + (size_t)1) * sizeof *b->start);
    for (const turn *t = turns; t < turns + nturns; t++) {
        const uint32_t *place = t->from->place + 2 * before_turn(t);
        for (uint64_t k = 0; k < t->from->counts[t->span]; k++)
            b->start[place[2 * k] + 1]++;
    }
    for (uint32_t i = 0; i < b->rows; i++) {
        next[i] = b->start[i];
        b->start[i + 1] += b->start[i];
    }
    for (const turn *t = turns; t < turns + nturns; t++) {
        const uint32_t *place = t->from->place + 2 * before_turn(t);
        const char *value = t->from->value ? t->from->value + before_turn(t) * size : NULL;
        for (uint64_t k = 0; k < t->from->counts[t->span]; k++) {
            const uint32_t to = next[place[2 * k]]++;
            b->column[to] = place[2 * k + 1];
            memcpy((char *)b->value + to * size, value + k * size, size);
        }
    }
}

static void fill_blocks(const transposition *p, dsparse_block *block, source *sources, const turn *turns, int nturns,
                        uint32_t *next)
{
    for (uint64_t k = 0; k < p->t->blocks; k++) {
        if (block[k].start) {
            BY_SIZE(fill_block, p->size, &block[k], turns, nturns, next);
            dsparse__block_ready(p->t, &block[k]);
        }
        for (int r = 0; r < p->a->env->size; r++) {
            const uint64_t done = sum(sources[r].counts, SPANS);
            sources[r].counts += SPANS;
            sources[r].place += 2 * done;
            sources[r].value += done * p->size;
        }
    }
}

/* Blocks of this task's new rows. *text: set where a failure needs one. */
static dome_status make_blocks(const transposition *p, dsparse_block **made, void **store, char **text)
{
    const int size = p->a->env->size;
    odd_entries odd = {.entry = dvec__try_array(p->any_odd ? p->own_odd + p->odd_come.count : 0, sizeof *odd.entry)};
    uint64_t *total = dvec__try_array(p->t->blocks, sizeof *total), in_all = 0;
    uint32_t *next = dvec__try_array(dome_layout_block_size(p->t->layout), sizeof *next);
    source *sources = g_new(source, (gsize)size);
    turn *turns = g_new(turn, SPANS * (gsize)size);
    dsparse_block *block = *made = dsparse__blocks_new(p->t);
    dome_status status = total && next && block && odd.entry ? DOME_OK : DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < p->t->blocks && status == DOME_OK; k++) {
        total[k] = 0;
        for (int r = 0; r < size; r++)
            total[k] += sum(counts_from(p, r) + SPANS * k, SPANS);
        in_all += total[k];
        if (total[k] > UINT32_MAX) {
            status = DOME_ERR_RANGE;
            *text = dsparse__too_many(p->t, k);
        }
    }
    if (status == DOME_OK && in_all > 0) {
        *store = dsparse__place_blocks(p->t, block, total);
        status = *store ? DOME_OK : DOME_ERR_MEMORY;
    }
    if (status == DOME_OK && in_all > 0) {
        const int nturns = find_turns(p, sources, turns);
        if (p->near)
            dsparse__transpose_fill_near(p, &(new_blocks){block, *store, in_all, &odd}, turns, nturns);
        else
            fill_blocks(p, block, sources, turns, nturns, next);
    }
    g_free(odd.entry);
    g_free(total);
    g_free(next);
    g_free(sources);
    g_free(turns);
    return status;
}

/* ---- public functions ---- */

static dome_status check_transpose(const dsparse *t, const dsparse *a)
{
    if (!a)
        return dome__fail(t->env, DOME_ERR_ARGUMENT, "the matrix to transpose is NULL");
    if (a->env != t->env)
        return dome__fail(t->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dsparse_name(a));
    if (t->type != a->type)
        return dome__fail(t->env, DOME_ERR_TYPE, "it has values of type %s, but '%s' %s", dome_type_name(t->type),
                          dsparse_name(a), dome_type_name(a->type));
    if (t->rows != a->columns || t->columns != a->rows)
        return dome__fail(t->env, DOME_ERR_SHAPE,
                          "it has %" G_GUINT64_FORMAT " rows and %" G_GUINT64_FORMAT " columns, but '%s' %" G_GUINT64_FORMAT
                          " and %" G_GUINT64_FORMAT,
                          t->rows, t->columns, dsparse_name(a), a->rows, a->columns);
    return DOME_OK;
}

static dome_status agree_memory(const transposition *p, bool have)
{
    return p->quiet ? dsparse__worst(p->a, have ? DOME_OK : DOME_ERR_MEMORY) : dsparse__agree_memory(p->a, have);
}

/* Divides the entries, and exchanges them with the other tasks. */
static dome_status divide_and_exchange(transposition *p)
{
    const dsparse *a = p->a;
    uint64_t *at = NULL, total = 0;
    int failed = dsparse__transpose_find_uniform(p);
    if (failed)
        return dome__fail_transport(a->env, failed);
    dome_status status = agree_memory(p, find_slots(p) && dsparse__transpose_odd_room(p));
    if (status != DOME_OK)
        return status;
    count_entries(p);
    failed = exchange_counts(p);
    if (failed)
        return dome__fail_transport(a->env, failed);
    total = sum(p->counts, SPANS * slots_divided(p));
    at = dvec__try_array(dome_layout_blocks(p->t->layout), SPANS * sizeof *at);
    const size_t size = p->uniform ? 0 : p->size;
    bool have = at && entries_room(&p->mine, total, size);
    have = have && entries_room(&p->come, sum(p->in_counts, SPANS * p->t->blocks * (uint64_t)(a->env->size - 1)), size);
    status = agree_memory(p, have);
    if (status == DOME_OK) {
        divide(p, at);
        failed = exchange_entries(p, DOME_U32, 2, p->mine.place, p->come.place);
        if (!failed && p->any_odd)
            failed = dsparse__transpose_odd_exchange(p);
        if (!failed && !p->uniform)
            failed = exchange_entries(p, a->type, 1, p->mine.value, p->come.value);
        status = failed ? dome__fail_transport(a->env, failed) : DOME_OK;
    }
    g_free(at);
    return status;
}

/* Gives t the blocks, if all tasks have made theirs. */
static dome_status take_blocks(const transposition *p, dsparse_block *block, void *store, dome_status status, char *text)
{
    if (!p->quiet)
        return dsparse__take(p->t, block, store, status, text);
    g_free(text);
    status = dsparse__worst(p->a, status);
    if (status == DOME_OK) {
        dsparse__replace(p->t, block, store);
    } else {
        dsparse__blocks_free(block, block ? p->t->blocks : 0);
        dome__storage_free(store);
    }
    return status;
}

dome_status dsparse__transpose(dsparse *t, const dsparse *a, bool quiet)
{
    transposition p = {.t = t, .a = a, .size = dome_type_size(a->type), .quiet = quiet};
    dsparse_block *block = NULL;
    void *store = NULL;
    char *text = NULL;
    dome_status status = divide_and_exchange(&p);
    if (status == DOME_OK) {
        status = make_blocks(&p, &block, &store, &text);
        status = take_blocks(&p, block, store, status, text);
    }
    close_transposition(&p);
    return status;
}

dome_status dsparse_transpose(dsparse *t, const dsparse *a)
{
    DOME_NEEDS(t, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, t->env, DOME_OP_DSPARSE_TRANSPOSE, t->object, dsparse__id(a));
    dome_status status = check_transpose(t, a);
    if (status == DOME_OK)
        status = dsparse__transpose(t, a, false);
    return dome__end(&op, status);
}

/* Whether two rows have equal values; a missing entry is 0. */
static bool equal_rows(const dsparse *a, const dsparse_block *p, const dsparse_block *q, uint32_t row)
{
    const dsparse_number zero = {.integer = 0};
    uint32_t i = p->start ? p->start[row] : 0, i_end = p->start ? p->start[row + 1] : 0;
    uint32_t j = q->start ? q->start[row] : 0, j_end = q->start ? q->start[row + 1] : 0;
    while (i < i_end || j < j_end) {
        bool here = i < i_end && (j == j_end || p->column[i] <= q->column[j]);
        bool there = j < j_end && (i == i_end || q->column[j] <= p->column[i]);
        const dsparse_number x = here ? dsparse__entry(a, p, i++) : zero, y = there ? dsparse__entry(a, q, j++) : zero;
        if (dsparse__integer(a) ? x.integer != y.integer : !(x.re == y.re && x.im == y.im))
            return false;
    }
    return true;
}

static bool equal_blocks(const dsparse *a, const dsparse *b)
{
    for (uint64_t k = 0; k < a->blocks; k++)
        for (uint32_t i = 0; i < a->block[k].rows; i++)
            if (!equal_rows(a, &a->block[k], &b->block[k], i))
                return false;
    return true;
}

bool dsparse_is_symmetric(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", false);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_IS_SYMMETRIC, a->object, NULL, 0);
    dome_status status = DOME_OK;
    bool symmetric = a->rows == a->columns;
    if (symmetric) {
        dsparse *t = dsparse_new_of(a->env, NULL, a->type, a->rows, a->columns);
        status = t ? dsparse_transpose(t, a) : dome_error_status(a->env);
        uint64_t differs = status == DOME_OK && !equal_blocks(a, t);
        if (status == DOME_OK) {
            int failed = dome__allreduce(a->env->transport, DOME_U64, &differs, 1, dome__combine_max_u64, NULL);
            status = failed ? (dome_status)dome__fail_transport(a->env, failed) : DOME_OK;
        }
        symmetric = status == DOME_OK && !differs;
        if (t)
            dome_object_free(t->object);
    }
    dome__end(&op, status);
    return symmetric;
}
