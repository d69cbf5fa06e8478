/* From entries to blocks: sorts and adds the entries of each row, and fills blocks with them. */
#include "sparse/dsparse_entries.h"
#include "arrays/dvec_exchange.h"

#include "core/layout.h"
#include "core/storage.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* A number that ascends with the value: -NaN, ..., -0, +0, ..., NaN. */
static uint64_t order_of(word w)
{
    const uint64_t sign = UINT64_C(1) << 63;
    return w.number & sign ? ~w.number : w.number | sign;
}

FOR_EACH_WIDTH int compare(const word *a, const word *b, unsigned words)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    for (unsigned k = 1; k < words; k++) {
        uint64_t p = order_of(a[k]), q = order_of(b[k]);
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static int compare_real(const void *x, const void *y)
{
    return compare(x, y, 2);
}

static int compare_complex(const void *x, const void *y)
{
    return compare(x, y, 3);
}

FOR_EACH_WIDTH void copy(word *to, const word *from, unsigned words)
{
    for (unsigned k = 0; k < words; k++)
        to[k] = from[k];
}

/* Sorts a few entries by columns alone, without a branch that could not be predicted: counts for each how many come before it. */
enum { VERY_FEW = 12 };

FOR_EACH_WIDTH void sort_by_column(word *entries, uint64_t count, unsigned words)
{
    uint32_t rank[VERY_FEW] = {0};
    word sorted[VERY_FEW * 3];
    for (uint64_t k = 1; k < count; k++)
        for (uint64_t j = 0; j < k; j++) {
            const bool after = entries[j * words].number > entries[k * words].number;
            rank[j] += after;
            rank[k] += !after;
        }
    for (uint64_t k = 0; k < count; k++)
        copy(sorted + rank[k] * words, entries + k * words, words);
    memcpy(entries, sorted, (size_t)count * words * sizeof *entries);
}

FOR_EACH_WIDTH void sort(word *entries, uint64_t count, unsigned words)
{
    enum { FEW = 24 };
    uint64_t ready = 1;
    if (count <= VERY_FEW)
        sort_by_column(entries, count, words);
    while (ready < count && compare(entries + (ready - 1) * words, entries + ready * words, words) <= 0)
        ready++;
    if (ready >= count)
        return;
    if (count > FEW) {
        qsort(entries, (size_t)count, words * sizeof *entries, words == 2 ? compare_real : compare_complex);
        return;
    }
    for (uint64_t k = ready; k < count; k++) {
        word e[3];
        uint64_t to = k;
        copy(e, entries + k * words, words);
        for (; to > 0 && compare(entries + (to - 1) * words, e, words) > 0; to--)
            copy(entries + to * words, entries + (to - 1) * words, words);
        copy(entries + to * words, e, words);
    }
}

/* Sorts a row and adds what belongs to one place; a sum of two floats in double, rounded, is their sum in float. Returns the
 * number of entries that are left. */
FOR_EACH_WIDTH uint64_t compress(word *entries, uint64_t count, unsigned words, arithmetic in)
{
    word *last = entries;
    if (count == 0)
        return 0;
    sort(entries, count, words);
    for (uint64_t k = 1; k < count; k++) {
        const word *e = entries + k * words;
        if (e->number != last->number) {
            last += words;
            copy(last, e, words);
        } else if (in == IN_INTEGERS) {
            last[1].number += e[1].number;
        } else {
            for (unsigned part = 1; part < words; part++)
                last[part].value = dsparse__rounded(last[part].value + e[part].value, in == IN_FLOAT);
        }
    }
    return (uint64_t)(last - entries) / words + 1;
}

uint64_t dsparse__compress_block(const dsparse *a, const dsparse_block *b, const uint64_t *start, word *entries, uint32_t *kept)
{
    const unsigned words = 1 + a->parts;
    const arithmetic in = dsparse__arithmetic_of(a);
    uint64_t total = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        word *row = entries + start[i] * words;
        const uint64_t given = start[i + 1] - start[i];
        uint64_t count = words == 2 ? compress(row, given, 2, in) : compress(row, given, 3, in);
        total += count;
        kept[i] = (uint32_t)count;
    }
    return total;
}

bool dsparse__all_alike(const dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept, unsigned words)
{
    const word *first = NULL;
    for (uint32_t i = 0; i < b->rows; i++) {
        const word *e = entries + start[i] * words;
        for (uint32_t k = 0; k < kept[i]; k++, e += words) {
            first = first ? first : e;
            if (e[1].number != first[1].number || (words > 2 && e[2].number != first[2].number))
                return false;
        }
    }
    return first != NULL;
}

void dsparse__fill_block(const dsparse *a, dsparse_block *b, const uint64_t *start, const word *entries, const uint32_t *kept)
{
    const unsigned words = 1 + a->parts;
    const bool integers = dsparse__integer(a);
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->rows; i++) {
        const word *e = entries + start[i] * words;
        b->start[i] = at;
        for (uint32_t k = 0; k < kept[i]; k++, at++, e += words) {
            b->column[at] = (uint32_t)e[0].number;
            if (b->uniform && at > 0)
                continue;
            void *values = b->uniform ? b->same : b->value;
            if (integers)
                dsparse__set_value(a, values, at, (dsparse_number){.integer = (int64_t)e[1].number});
            else
                dsparse__set_value(a, values, at, (dsparse_number){.re = e[1].value, .im = words > 2 ? e[2].value : 0});
        }
    }
    b->start[b->rows] = at;
    dsparse__block_ready(a, b);
}

static char *no_memory(const dsparse *a)
{
    return g_strdup_printf("no memory for the entries of '%s'", dsparse__label(a));
}

dome_status dsparse__agree_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : no_memory(a);
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

dome_status dsparse__worst(const dsparse *a, dome_status status)
{
    uint64_t worst = (uint64_t)status;
    int failed = dome__allreduce(a->env->transport, DOME_U64, &worst, 1, dome__combine_max_u64, NULL);
    return failed ? (dome_status)dome__fail_transport(a->env, failed) : (dome_status)worst;
}

void dsparse__place_arrays(const dsparse *a, dsparse_block *block, const uint64_t *total, char *value, uint32_t *column,
                           uint32_t *start)
{
    for (uint64_t k = 0; k < a->blocks; k++) {
        if (total[k] == 0)
            continue;
        block[k].stored = true;
        if (!block[k].separate)
            block[k].value = value;
        block[k].column = column;
        block[k].start = start;
        value += total[k] * dome_type_size(a->type);
        column += total[k];
        start += block[k].rows + 1;
    }
}

void *dsparse__place_blocks(const dsparse *a, dsparse_block *block, const uint64_t *total)
{
    uint64_t rows = 0, entries = 0;
    for (uint64_t k = 0; k < a->blocks; k++) {
        entries += total[k];
        rows += total[k] > 0 ? block[k].rows + UINT64_C(1) : 0;
    }
    const uint64_t bytes = dsparse__block_bytes(a, rows, entries);
    char *value = bytes <= PTRDIFF_MAX ? dome__storage_raw(bytes, NULL) : NULL;
    if (!value)
        return NULL;
    uint32_t *column = (uint32_t *)(void *)(value + entries * dome_type_size(a->type));
    dsparse__place_arrays(a, block, total, value, column, column + entries);
    return value;
}

char *dsparse__too_many(const dsparse *a, uint64_t position)
{
    const dome_span rows = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, position));
    return g_strdup_printf("rows %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", a block, have more than 2^32 - 1 entries",
                           rows.first, rows.first + rows.count - 1);
}

/* Blocks of this task's rows, in one store. start, entries: by local row, where its entries begin, and the end. *text: set where
 * a failure needs one. */
static dome_status make_blocks(const dsparse *a, const uint64_t *start, word *entries, dsparse_block **made, void **store,
                               char **text)
{
    uint64_t *total = dvec__try_array(a->blocks, sizeof *total), in_all = 0, row = 0;
    uint32_t *kept = dvec__try_array(dome_layout_local(a->layout, a->env->rank), sizeof *kept);
    dsparse_block *block = *made = dsparse__blocks_new(a);
    dome_status status = total && kept && block ? DOME_OK : DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < a->blocks && status == DOME_OK; row += block[k++].rows) {
        total[k] = dsparse__compress_block(a, &block[k], start + row, entries, kept + row);
        in_all += total[k];
        if (total[k] > UINT32_MAX) {
            status = DOME_ERR_RANGE;
            *text = dsparse__too_many(a, k);
        }
    }
    if (status == DOME_OK && in_all > 0) {
        *store = dsparse__place_blocks(a, block, total);
        status = *store ? DOME_OK : DOME_ERR_MEMORY;
        row = 0;
        for (uint64_t k = 0; k < a->blocks && status == DOME_OK; row += block[k++].rows) {
            if (total[k] == 0)
                continue;
            block[k].uniform = dsparse__all_alike(&block[k], start + row, entries, kept + row, 1 + a->parts);
            dsparse__fill_block(a, &block[k], start + row, entries, kept + row);
        }
    }
    g_free(total);
    g_free(kept);
    return status;
}

dome_status dsparse__take(dsparse *a, dsparse_block *block, void *store, dome_status status, char *text)
{
    if (status == DOME_ERR_MEMORY && !text)
        text = no_memory(a);
    status = dvec__agree(a->env, status, text);
    g_free(text);
    if (status == DOME_OK) {
        dsparse__replace(a, block, store);
    } else {
        dsparse__blocks_free(block, block ? a->blocks : 0);
        dome__storage_free(store);
    }
    return status;
}

dome_status dsparse__take_entries(dsparse *a, const uint64_t *start, word *entries, dome_status status)
{
    dsparse_block *block = NULL;
    void *store = NULL;
    char *text = NULL;
    if (status == DOME_OK)
        status = make_blocks(a, start, entries, &block, &store, &text);
    return dsparse__take(a, block, store, status, text);
}
