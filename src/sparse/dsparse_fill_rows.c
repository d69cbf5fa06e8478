/* Entries of sparse matrices from a program's function for a row. */
#include "arrays/dvec_exchange.h"
#include "sparse/dsparse_entries.h"

#include "core/layout.h"
#include "core/storage.h"

#include <string.h>

char *dsparse__does_not_fit(const dsparse *a, uint64_t row, int64_t value)
{
    return g_strdup_printf("row %" G_GUINT64_FORMAT " has the value %" G_GINT64_FORMAT ", but '%s' has values of type %s", row,
                           value, dsparse_name(a), dome_type_name(a->type));
}

static void refuse(dsparse_row *row, const char *what)
{
    if (row->status != DOME_OK)
        return;
    row->status = DOME_ERR_TYPE;
    row->text = g_strdup_printf("row %" G_GUINT64_FORMAT " has %s, but '%s' has values of type %s", row->index, what,
                                dsparse_name(row->a), dome_type_name(row->a->type));
}

void dsparse_row_add(dsparse_row *row, uint64_t column, double value)
{
    DOME_NEEDS(row, "the row");
    if (row->in == IN_INTEGERS) {
        refuse(row, "an entry that is not an integer");
        return;
    }
    word *e = dsparse__new_entry(row, column);
    if (e)
        dsparse__put_words(e + 1, (dsparse_number){.re = value}, row->words - 1, row->in);
}

void dsparse_row_add_i64(dsparse_row *row, uint64_t column, int64_t value)
{
    DOME_NEEDS(row, "the row");
    if (row->in != IN_INTEGERS)
        refuse(row, "an integer entry");
    if (row->status == DOME_OK && !dsparse__fits(row->a, value)) {
        row->status = DOME_ERR_RANGE;
        row->text = dsparse__does_not_fit(row->a, row->index, value);
    }
    word *e = dsparse__new_entry(row, column);
    if (e)
        e[1].number = (uint64_t)value;
}

void dsparse_row_add_c128(dsparse_row *row, uint64_t column, const double value[2])
{
    DOME_NEEDS(row, "the row");
    DOME_NEEDS(value, "the value");
    if (row->a->parts < 2)
        refuse(row, "a complex entry");
    word *e = dsparse__new_entry(row, column);
    if (e)
        dsparse__put_words(e + 1, (dsparse_number){.re = value[0], .im = value[1]}, 2, row->in);
}

/* The matrix's arrays while its blocks are filled one after the other: they have room for so many entries. */
typedef struct filling {
    void *store;
    uint64_t room, entries; /* entries: so far */
    uint64_t starts, rows;  /* numbers in `start`, rows done */
    uint64_t alike, unlike; /* entries of uniform blocks, and of others */
    bool differ;            /* a block is not uniform: there are values in the store */
} filling;

static char *values_of(const filling *f)
{
    return f->store;
}

static uint32_t *columns_of(const filling *f, const dsparse *a)
{
    return (uint32_t *)(void *)(values_of(f) + f->room * dome_type_size(a->type));
}

static uint32_t *starts_of(const filling *f, const dsparse *a)
{
    return columns_of(f, a) + f->room;
}

/* Moves the arrays to a store with room for so many entries. */
static bool move_arrays(filling *f, const dsparse *a, uint64_t room)
{
    const uint64_t starts = dome_layout_local(a->layout, a->env->rank) + a->blocks, size = dome_type_size(a->type);
    filling to = *f;
    to.room = room;
    to.store = room < PTRDIFF_MAX / 32 ? dome__storage_raw(dsparse__block_bytes(a, starts, room), NULL) : NULL;
    if (!to.store)
        return false;
    if (f->store) {
        if (f->differ)
            memcpy(values_of(&to), values_of(f), (size_t)(f->entries * size));
        memcpy(columns_of(&to, a), columns_of(f, a), (size_t)f->entries * sizeof(uint32_t));
        memcpy(starts_of(&to, a), starts_of(f, a), (size_t)f->starts * sizeof(uint32_t));
    }
    dome__storage_free(f->store);
    *f = to;
    return true;
}

/* Makes room for a block's entries, and for those of the rows to come: as many for each as the rows so far have, but not much
 * more than there are. Pages that stay unused cost nothing. */
static bool make_room(filling *f, const dsparse *a, const dsparse_block *b, uint64_t count)
{
    enum { MOST = 32 };
    const uint64_t needed = f->entries + count;
    if (needed <= f->room)
        return true;
    const double per_row = (double)needed / (double)(f->rows + b->rows);
    const double likely = 1.1 * per_row * (double)dome_layout_local(a->layout, a->env->rank);
    const uint64_t room = MAX(needed, (uint64_t)MIN(likely, MOST * (double)needed));
    return move_arrays(f, a, room) || move_arrays(f, a, needed);
}

/* The program's function, what it gets, and room for a number for each row of a block (start: and one more). */
typedef struct row_source {
    dsparse_row_function function;
    void *ctx;
    dsparse_row *row;
    uint64_t *start;
    uint32_t *kept;
} row_source;

/* Calls the program's function for each row of a block and appends the entries. *total: the number of entries so far. */
static void fill_rows_of(const row_source *from, filling *f, uint64_t position, dsparse_block *b, uint64_t *total)
{
    dsparse_row *row = from->row;
    uint64_t *start = from->start;
    uint32_t *kept = from->kept;
    const dsparse *a = row->a;
    const uint64_t first = dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, position)).first;
    row->count = 0;
    start[0] = 0;
    for (uint32_t i = 0; i < b->rows && row->status == DOME_OK; i++) {
        row->index = first + i;
        from->function(from->ctx, row->index, row);
        start[i + 1] = row->count;
    }
    if (row->status != DOME_OK)
        return;
    *total = dsparse__compress_block(a, b, start, row->entries, kept);
    if (*total > UINT32_MAX) {
        row->status = DOME_ERR_RANGE;
        row->text = dsparse__too_many(a, position);
    } else if (!make_room(f, a, b, *total)) {
        row->status = DOME_ERR_MEMORY;
    } else if (*total > 0) {
        b->value = values_of(f) + f->entries * dome_type_size(a->type);
        b->column = columns_of(f, a) + f->entries;
        b->start = starts_of(f, a) + f->starts;
        b->stored = true;
        b->uniform = dsparse__all_alike(b, start, row->entries, kept, row->words);
        *(b->uniform ? &f->alike : &f->unlike) += *total;
        if (!b->uniform && f->alike > 2 * f->unlike)
            dsparse__block_separate(a, b, *total);
        dsparse__fill_block(a, b, start, row->entries, kept);
        f->differ = f->differ || !(b->uniform || b->separate);
        f->entries += *total;
        f->starts += b->rows + UINT64_C(1);
    }
    f->rows += b->rows;
}

/* Calls the function for all rows of this task, block by block, and makes blocks of their entries. */
static void call_for_rows(row_source *from, filling *f, dsparse_block *block)
{
    dsparse_row *row = from->row;
    const dsparse *a = row->a;
    const uint64_t most = dome_layout_block_size(a->layout);
    uint64_t *total = dvec__try_array(a->blocks, sizeof *total);
    from->start = dvec__try_array(most + 1, sizeof *from->start);
    from->kept = dvec__try_array(most, sizeof *from->kept);
    if (!from->start || !total || !from->kept || !block)
        row->status = DOME_ERR_MEMORY;
    for (uint64_t k = 0; k < a->blocks && row->status == DOME_OK; k++)
        fill_rows_of(from, f, k, &block[k], &total[k]);
    if (row->status == DOME_OK && f->room - f->entries > f->entries / 4 && !move_arrays(f, a, f->entries))
        row->status = DOME_ERR_MEMORY;
    if (row->status == DOME_OK && f->store)
        dsparse__place_arrays(a, block, total, values_of(f), columns_of(f, a), starts_of(f, a));
    g_free(from->start);
    g_free(total);
    g_free(from->kept);
}

dome_status dsparse__fill_by_rows(dsparse *a, dsparse_row_function function, void *ctx, dome_operation *op)
{
    dsparse_row row = {.a = a, .words = 1 + a->parts, .in = dsparse__arithmetic_of(a)};
    dsparse_block *block = dsparse__blocks_new(a);
    filling f = {0};
    row_source from = {.function = function, .ctx = ctx, .row = &row};
    if (op)
        op->program = true;
    call_for_rows(&from, &f, block);
    if (op)
        op->program = false;
    dome_status status = dsparse__take(a, block, f.store, row.status, row.text);
    g_free(row.entries);
    return status;
}

dome_status dsparse_fill_rows(dsparse *a, dsparse_row_function function, void *ctx)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(function, "the function", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_FILL_ROWS, a->object, NULL, 0);
    return dome__end(&op, dsparse__fill_by_rows(a, function, ctx, &op));
}
