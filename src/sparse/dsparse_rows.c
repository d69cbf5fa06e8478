/* Matrices of some rows of another one: a range of them, or those that an index vector names. Each task turns its entries into
 * triplets of the new matrix. */
#include "sparse/dsparse_private.h"

#include "arrays/dvec_exchange.h"
#include "core/layout.h"
#include "transport/agree.h"
#include "transport/transport.h"

/* Entries of the new matrix. */
typedef struct chosen {
    dsparse_entry *entries, *end;
} chosen;

static uint64_t entries_of(const dsparse_block *b, uint32_t row)
{
    return b->start ? b->start[row + 1] - b->start[row] : 0;
}

/* Adds the entries of a row as those of row `to`. */
static void add_row(chosen *c, const dsparse *a, const dsparse_block *b, uint32_t row, uint64_t to)
{
    for (uint32_t k = b->start ? b->start[row] : 0, end = b->start ? b->start[row + 1] : 0; k < end; k++)
        *c->end++ = (dsparse_entry){.row = to, .column = b->column[k], .value = dsparse__entry(a, b, k)};
}

static dome_status chosen_room(chosen *c, const dsparse *a, uint64_t count)
{
    c->entries = c->end = dvec__try_array(count, sizeof *c->entries);
    return dsparse__agree_memory(a, c->entries != NULL);
}

/* The new matrix, made of what all tasks have chosen. NULL after a failure, with its status. */
static dsparse *assemble(const dsparse *a, const char *name, uint64_t rows, const chosen *c, dome_status *status)
{
    dsparse *z = dsparse_new_of(a->env, name, a->type, rows, a->columns);
    *status = z ? dsparse__assemble(z, (size_t)(c->end - c->entries), c->entries) : dome_error_status(a->env);
    if (z && *status != DOME_OK) {
        dome_object_free(z->object);
        z = NULL;
    }
    return z;
}

/* ---- a range ---- */

/* Rows first, first + distance, ... or first - distance, ... */
typedef struct range {
    uint64_t first, count, distance;
    bool downwards;
    uint64_t entries;
    chosen chosen;
} range;

/* The number of a row among those of the range, or `count`, if it is none of them. */
static uint64_t number_in(const range *r, uint64_t row)
{
    const uint64_t way = r->downwards ? r->first - row : row - r->first; /* huge on the other side */
    return way % r->distance == 0 ? MIN(way / r->distance, r->count) : r->count;
}

static void count_in_range(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    range *r = ctx;
    (void)a, (void)local;
    if ((r->downwards ? index <= r->first : index >= r->first) && number_in(r, index) < r->count)
        r->entries += entries_of(b, row);
}

static void add_in_range(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    range *r = ctx;
    (void)local;
    if ((r->downwards ? index <= r->first : index >= r->first) && number_in(r, index) < r->count)
        add_row(&r->chosen, a, b, row, number_in(r, index));
}

static dome_status check_range(const dsparse *a, const range *r)
{
    if (r->distance == 0)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "a step of 0");
    const uint64_t way = r->downwards ? r->first : a->rows - 1 - r->first;
    if (r->count > 0 && (r->first >= a->rows || (r->count - 1) > way / r->distance))
        return dome__fail(a->env, DOME_ERR_RANGE,
                          "%" G_GUINT64_FORMAT " rows from %" G_GUINT64_FORMAT " on, %s%" G_GUINT64_FORMAT
                          " apart, do not lie in its %" G_GUINT64_FORMAT " rows",
                          r->count, r->first, r->downwards ? "-" : "", r->distance, a->rows);
    return DOME_OK;
}

dsparse *dsparse_slice(const dsparse *a, uint64_t first, uint64_t count, int64_t step, const char *name)
{
    DOME_NEEDS(a, "the matrix", NULL);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_SLICE, a->object,
                     (uint64_t[]){dome__text_word(a->env, name), first, count, (uint64_t)step}, 4);
    range r = {.first = first, .count = count, .distance = step < 0 ? -(uint64_t)step : (uint64_t)step, .downwards = step < 0};
    dsparse *z = NULL;
    dome_status status = check_range(a, &r);
    if (status == DOME_OK) {
        dsparse__visit_rows(a, count_in_range, &r);
        status = chosen_room(&r.chosen, a, r.entries);
    }
    if (status == DOME_OK) {
        dsparse__visit_rows(a, add_in_range, &r);
        z = assemble(a, name, count, &r.chosen, &status);
    }
    g_free(r.chosen.entries);
    dome__end(&op, status);
    return z;
}

/* ---- rows by number ---- */

static dome_status check_numbers(const dsparse *a, const dvec *rows)
{
    if (rows->env != a->env)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(rows));
    if (dome_type_kind_of(rows->type) > DOME_KIND_U64)
        return dome__fail(a->env, DOME_ERR_TYPE, "'%s' has type %s, but numbers of rows must be of integer type", dvec_name(rows),
                          dome_type_name(rows->type));
    if (rows->width != 1)
        return dome__fail(a->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT " instead of 1", dvec_name(rows),
                          rows->width);
    const uint64_t block = dome_layout_block_size(rows->layout), wanted = dome_block_size(rows->length);
    if (rows->distribution == DOME_BLOCK)
        return dome__fail(a->env, DOME_ERR_LAYOUT, "'%s' is DOME_BLOCK, but rows are DOME_DYNAMIC", dvec_name(rows));
    if (rows->distribution == DOME_DYNAMIC && block != wanted)
        return dome__fail(a->env, DOME_ERR_SHAPE,
                          "'%s' has blocks of %" G_GUINT64_FORMAT " elements, but so many rows have blocks of %" G_GUINT64_FORMAT,
                          dvec_name(rows), block, wanted);
    return DOME_OK;
}

/* The rows that this task's rows of the new matrix are copies of, each with the number of the new one. All tasks fail if one of
 * them names a row that does not exist. */
static dome_status pairs_of(const dsparse *a, const dvec *rows, const dvec *numbers, uint64_t **pairs)
{
    const int64_t *number = (const int64_t *)(const void *)numbers->data;
    dome_span spans[2];
    char *text = NULL;
    dome_status status;
    uint64_t at = 0;
    *pairs = dvec__try_array(numbers->local, 2 * sizeof **pairs);
    status = dsparse__agree_memory(a, *pairs != NULL);
    if (status != DOME_OK)
        return status;
    int nspans = dvec__spans_of(numbers, a->env->rank, spans);
    for (int s = 0; s < nspans; s++)
        for (uint64_t i = 0; i < spans[s].count; i++, at++) {
            (*pairs)[2 * at] = (uint64_t)number[at];
            (*pairs)[2 * at + 1] = spans[s].first + i;
            if (!text && (uint64_t)number[at] >= a->rows)
                text = g_strdup_printf("row %" G_GINT64_FORMAT " at position %" G_GUINT64_FORMAT
                                       " of '%s' is outside the %" G_GUINT64_FORMAT " rows of '%s'",
                                       number[at], spans[s].first + i, dvec_name(rows), a->rows, dsparse_name(a));
        }
    status = dvec__agree(a->env, text ? DOME_ERR_RANGE : DOME_OK, text);
    g_free(text);
    return status;
}

/* Adds the rows of this task that the tasks have named. */
static dome_status choose(chosen *c, const dsparse *a, uint64_t count, const uint64_t *pairs)
{
    const uint64_t rows = dome_layout_block_size(a->layout);
    uint64_t entries = 0;
    for (uint64_t k = 0; k < count; k++)
        entries += entries_of(dsparse__block(a, pairs[2 * k] / rows), (uint32_t)(pairs[2 * k] % rows));
    dome_status status = chosen_room(c, a, entries);
    for (uint64_t k = 0; k < count && status == DOME_OK; k++)
        add_row(c, a, dsparse__block(a, pairs[2 * k] / rows), (uint32_t)(pairs[2 * k] % rows), pairs[2 * k + 1]);
    return status;
}

dsparse *dsparse_submatrix(const dsparse *a, const dvec *rows, const char *name)
{
    DOME_NEEDS(a, "the matrix", NULL);
    DOME_NEEDS(rows, "the vector of rows", NULL);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_SUBMATRIX, a->object,
                     (uint64_t[]){dome__text_word(a->env, name), dvec__id(rows)}, 2);
    dsparse *z = NULL;
    dvec *numbers = NULL;
    uint64_t *pairs = NULL, *asked = NULL, count = 0;
    chosen c = {0};
    dome_status status = check_numbers(a, rows);
    if (status == DOME_OK) {
        numbers = dvec_new(a->env, NULL, DOME_I64, rows->length);
        status = numbers ? dvec_convert(numbers, rows) : dome_error_status(a->env);
    }
    if (status == DOME_OK)
        status = dvec__settle(numbers, NULL);
    if (status == DOME_OK)
        status = pairs_of(a, rows, numbers, &pairs);
    if (status == DOME_OK)
        status = dsparse__send_to_owners(a, numbers->local, pairs, &count, &asked);
    if (status == DOME_OK)
        status = choose(&c, a, count, asked);
    if (status == DOME_OK)
        z = assemble(a, name, rows->length, &c, &status);
    dvec_free(numbers);
    g_free(pairs);
    dome__storage_free(asked);
    g_free(c.entries);
    dome__end(&op, status);
    return z;
}
