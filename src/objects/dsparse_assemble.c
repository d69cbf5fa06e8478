/* Entries of sparse matrices: from triplets that any task gives, and from a program's function for a row. */
#include "objects/dsparse_private.h"
#include "objects/dvec_mail.h"

#include "core/layout.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

/* ---- from entries to blocks ---- */

/* A number that ascends with the value: -NaN, ..., -0, +0, ..., NaN. */
static uint64_t order_of(double value)
{
    uint64_t bits, sign = UINT64_C(1) << 63;
    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static int compare(const void *x, const void *y)
{
    const dsparse_entry *a = x, *b = y;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    uint64_t p = order_of(a->value), q = order_of(b->value);
    return (p > q) - (p < q);
}

static void sort(dsparse_entry *entries, uint64_t count)
{
    enum { FEW = 24 };
    uint64_t ready = 1;
    while (ready < count && compare(&entries[ready - 1], &entries[ready]) <= 0)
        ready++;
    if (ready >= count)
        return;
    if (count > FEW) {
        qsort(entries, (size_t)count, sizeof *entries, compare);
        return;
    }
    for (uint64_t k = ready; k < count; k++) {
        dsparse_entry e = entries[k];
        uint64_t to = k;
        for (; to > 0 && compare(&entries[to - 1], &e) > 0; to--)
            entries[to] = entries[to - 1];
        entries[to] = e;
    }
}

/* Sorts a row and adds what belongs to one place. Returns the number of entries that are left. */
static uint64_t compress(dsparse_entry *entries, uint64_t count)
{
    uint64_t last = 0;
    if (count == 0)
        return 0;
    sort(entries, count);
    for (uint64_t k = 1; k < count; k++)
        if (entries[k].column == entries[last].column)
            entries[last].value += entries[k].value;
        else
            entries[++last] = entries[k];
    return last + 1;
}

/* Fills one block from the entries of its rows. Returns a status; DOME_ERR_RANGE: there are too many. */
static dome_status take_block(dsparse_block *b, const uint64_t *start, dsparse_entry *entries)
{
    uint64_t total = 0;
    uint32_t *kept = g_try_new(uint32_t, b->rows + 1);
    dome_status status = kept ? DOME_OK : DOME_ERR_MEMORY;
    for (uint32_t i = 0; i < b->rows && status == DOME_OK; i++) {
        uint64_t count = compress(entries + start[i], start[i + 1] - start[i]);
        total += count;
        kept[i] = (uint32_t)count;
        if (total > UINT32_MAX)
            status = DOME_ERR_RANGE;
    }
    if (status == DOME_OK && total > 0) {
        if (!dsparse__block_alloc(b, b->rows, (uint32_t)total))
            status = DOME_ERR_MEMORY;
        uint32_t at = 0;
        for (uint32_t i = 0; i < b->rows && status == DOME_OK; i++) {
            b->start[i] = at;
            for (uint32_t k = 0; k < kept[i]; k++, at++) {
                b->column[at] = (uint32_t)entries[start[i] + k].column;
                b->value[at] = entries[start[i] + k].value;
            }
        }
        if (status == DOME_OK)
            b->start[b->rows] = at;
    }
    g_free(kept);
    return status;
}

static char *no_memory(const dsparse *a)
{
    return g_strdup_printf("no memory for the entries of '%s'", dsparse_name(a));
}

dome_status dsparse__take(dsparse *a, const uint64_t *start, dsparse_entry *entries, dome_status status, char *text)
{
    uint64_t row = 0;
    dsparse_block *block = status == DOME_OK ? dsparse__blocks_new(a) : NULL;
    if (status == DOME_OK && !block)
        status = DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < a->blocks && status == DOME_OK; row += block[k++].rows) {
        status = take_block(&block[k], start + row, entries);
        if (status == DOME_ERR_RANGE) {
            dome_span rows = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, k));
            text =
                g_strdup_printf("rows %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", a block, have more than 2^32 - 1 entries",
                                rows.first, rows.first + rows.count - 1);
        }
    }
    if (status == DOME_ERR_MEMORY && !text)
        text = no_memory(a);
    status = dvec__agree(a->env, status, text);
    g_free(text);
    if (status == DOME_OK)
        dsparse__replace(a, block);
    else
        dsparse__blocks_free(block, block ? a->blocks : 0);
    return status;
}

/* ---- triplets ---- */

/* Triplets on their way to the tasks that own their rows. */
typedef struct parcel {
    uint64_t *counts, *in_counts; /* by rank: triplets to send and to receive; doubled for the places */
    uint64_t *place, *in_place;   /* row and column of each */
    double *value, *in_value;
    uint64_t in_total;
    uint64_t *start; /* by local row */
    dsparse_entry *entries;
} parcel;

static void parcel_clear(parcel *p)
{
    g_free(p->counts);
    g_free(p->in_counts);
    g_free(p->place);
    g_free(p->in_place);
    g_free(p->value);
    g_free(p->in_value);
    g_free(p->start);
    g_free(p->entries);
}

static int owner_of(const dsparse *a, uint64_t row)
{
    return dome_layout_owner(a->layout, row / dome_layout_block_size(a->layout));
}

/* All tasks agree on whether all triplets lie in the matrix. */
static dome_status check_triplets(const dsparse *a, size_t n, const dsparse_triplet triplets[])
{
    char *text = NULL;
    dome_status status = DOME_OK;
    if (n > 0 && !triplets) {
        status = DOME_ERR_ARGUMENT;
        text = g_strdup_printf("there are no triplets, but %zu are to be taken", n);
    }
    for (size_t k = 0; k < n && status == DOME_OK; k++) {
        bool row = triplets[k].row >= a->rows;
        if (row || triplets[k].column >= a->columns) {
            status = DOME_ERR_RANGE;
            text = g_strdup_printf("triplet %zu is in %s %" G_GUINT64_FORMAT ", but '%s' has %" G_GUINT64_FORMAT " %s", k,
                                   row ? "row" : "column", row ? triplets[k].row : triplets[k].column, dsparse_name(a),
                                   row ? a->rows : a->columns, row ? "rows" : "columns");
        }
    }
    status = dvec__agree(a->env, status, text);
    g_free(text);
    return status;
}

static dome_status agree_memory(const dsparse *a, bool have)
{
    char *text = have ? NULL : no_memory(a);
    dome_status status = dvec__agree(a->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

/* Puts the triplets in the order of the tasks that own their rows. */
static dome_status sort_by_owner(parcel *p, const dsparse *a, size_t n, const dsparse_triplet triplets[])
{
    gsize size = (gsize)a->env->size;
    p->counts = g_new0(uint64_t, size);
    p->in_counts = g_new0(uint64_t, size);
    p->place = g_try_new(uint64_t, 2 * n + 1);
    p->value = g_try_new(double, n + 1);
    dome_status status = agree_memory(a, p->place && p->value);
    if (status != DOME_OK)
        return status;
    uint64_t *at = g_new0(uint64_t, size);
    for (size_t k = 0; k < n; k++)
        p->counts[owner_of(a, triplets[k].row)]++;
    for (gsize r = 1; r < size; r++)
        at[r] = at[r - 1] + p->counts[r - 1];
    for (size_t k = 0; k < n; k++) {
        uint64_t to = at[owner_of(a, triplets[k].row)]++;
        p->place[2 * to] = triplets[k].row;
        p->place[2 * to + 1] = triplets[k].column;
        p->value[to] = triplets[k].value;
    }
    g_free(at);
    return DOME_OK;
}

static dome_status send_triplets(parcel *p, const dsparse *a)
{
    dome_transport *t = a->env->transport;
    int failed = dome__alltoall(t, DOME_U64, p->counts, 1, p->in_counts);
    for (int r = 0; r < t->size; r++)
        p->in_total += p->in_counts[r];
    p->in_place = dvec__try_array(p->in_total, 2 * sizeof *p->in_place);
    p->in_value = dvec__try_array(p->in_total, sizeof *p->in_value);
    dome_status status = failed ? DOME_OK : agree_memory(a, p->in_place && p->in_value);
    if (status != DOME_OK)
        return status;
    if (!failed)
        failed = dome__alltoallv(t, DOME_F64, p->value, p->counts, p->in_value, p->in_counts);
    for (int r = 0; r < t->size; r++) {
        p->counts[r] *= 2;
        p->in_counts[r] *= 2;
    }
    if (!failed)
        failed = dome__alltoallv(t, DOME_U64, p->place, p->counts, p->in_place, p->in_counts);
    return failed ? dome__fail_transport(a->env, failed) : DOME_OK;
}

/* Puts the triplets received in the order of the local rows. */
static dome_status sort_by_row(parcel *p, const dsparse *a)
{
    uint64_t local = dome_layout_local(a->layout, a->env->rank);
    g_clear_pointer(&p->place, g_free);
    g_clear_pointer(&p->value, g_free);
    p->start = dvec__try_array(local + 1, sizeof *p->start);
    p->entries = dvec__try_array(p->in_total, sizeof *p->entries);
    if (!p->start || !p->entries)
        return DOME_ERR_MEMORY;
    memset(p->start, 0, (size_t)(local + 1) * sizeof *p->start);
    for (uint64_t k = 0; k < p->in_total; k++) {
        uint64_t row = dome_layout_position(a->layout, a->env->rank, p->in_place[2 * k]);
        p->in_place[2 * k] = row;
        p->start[row + 1]++;
    }
    for (uint64_t i = 0; i < local; i++)
        p->start[i + 1] += p->start[i];
    for (uint64_t k = 0; k < p->in_total; k++)
        p->entries[p->start[p->in_place[2 * k]]++] = (dsparse_entry){p->in_place[2 * k + 1], p->in_value[k]};
    memmove(p->start + 1, p->start, (size_t)local * sizeof *p->start); /* placing has moved each to the end of its row */
    p->start[0] = 0;
    return DOME_OK;
}

dome_status dsparse_assemble(dsparse *a, size_t n, const dsparse_triplet triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE, a->object, NULL, 0);
    parcel p = {0};
    dome_status status = check_triplets(a, n, triplets);
    if (status == DOME_OK)
        status = sort_by_owner(&p, a, n, triplets);
    if (status == DOME_OK)
        status = send_triplets(&p, a);
    if (status == DOME_OK)
        status = dsparse__take(a, p.start, p.entries, sort_by_row(&p, a), NULL);
    parcel_clear(&p);
    return dome__end(&op, status);
}

/* ---- rows by a function ---- */

struct dsparse_row {
    const dsparse *a;
    uint64_t index;
    uint64_t count, room; /* entries of all rows so far */
    dsparse_entry *entries;
    dome_status status;
    char *text;
};

void dsparse_row_add(dsparse_row *row, uint64_t column, double value)
{
    DOME_NEEDS(row, "the row");
    if (row->status != DOME_OK)
        return;
    if (column >= row->a->columns) {
        row->status = DOME_ERR_RANGE;
        row->text = g_strdup_printf("row %" G_GUINT64_FORMAT " has an entry in column %" G_GUINT64_FORMAT
                                    ", but '%s' has %" G_GUINT64_FORMAT " columns",
                                    row->index, column, dsparse_name(row->a), row->a->columns);
        return;
    }
    if (row->count == row->room) {
        uint64_t room = row->room > 0 ? 2 * row->room : 1024;
        dsparse_entry *more = g_try_realloc_n(row->entries, (gsize)room, sizeof *more);
        if (!more) {
            row->status = DOME_ERR_MEMORY;
            return;
        }
        row->entries = more;
        row->room = room;
    }
    row->entries[row->count++] = (dsparse_entry){column, value};
}

/* Calls the function for this task's rows, and sets where the entries of each begin. */
static void call_for_rows(dsparse_row *row, dsparse_row_function function, void *ctx, uint64_t *start)
{
    dome_span spans[2];
    int nspans = dome_layout_spans(row->a->layout, row->a->env->rank, spans);
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = 0; i < spans[s].count && row->status == DOME_OK; i++) {
            row->index = spans[s].first + i;
            function(ctx, row->index, row);
            *++start = row->count;
        }
}

dome_status dsparse_fill_rows(dsparse *a, dsparse_row_function function, void *ctx)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_FILL_ROWS, a->object, NULL, 0);
    dsparse_row row = {.a = a};
    uint64_t *start = dvec__try_array(dome_layout_local(a->layout, a->env->rank) + 1, sizeof *start);
    if (start) {
        start[0] = 0;
        op.program = true;
        call_for_rows(&row, function, ctx, start);
        op.program = false;
    } else {
        row.status = DOME_ERR_MEMORY;
    }
    dome_status status = dsparse__take(a, start, row.entries, row.status, row.text);
    g_free(start);
    g_free(row.entries);
    return dome__end(&op, status);
}
