/* Transposed products: the way that was chosen, and what it keeps. */
#include "sparse/dsparse_transposed_product.h"

#include "core/layout.h"

struct dsparse_transposed_product {
    dsparse_way way;
    uint64_t served; /* products */
    dsparse_note *note;

    /* what it was chosen for */
    dome_layout *rows, *columns; /* own references */
    dome_distribution distribution;
    uint64_t width;

    /* what the way keeps; the others are NULL */
    dsparse_by_entries *entries;
    dsparse_by_sums *sums;
    dsparse *transpose;
};

/* ---- the transpose ---- */

static void transpose_free(dsparse *t)
{
    dsparse__forget(t);
    dsparse__blocks_free(t->block, t->blocks);
    dome__storage_free(t->store);
    dome_layout_unref(t->layout);
    g_free(t);
}

/* The transpose of a, whose rows lie as the elements of y do. A lack of memory is not reported. */
static dome_status transpose_new(const dsparse *a, const dvec *y, dsparse **made)
{
    dsparse *t = g_new0(dsparse, 1);
    t->of = a;
    t->env = a->env;
    t->type = a->type;
    t->kind = a->kind;
    t->parts = a->parts;
    t->rows = a->columns;
    t->columns = a->rows;
    t->layout = dome_layout_ref(y->layout);
    t->blocks = dome_layout_run(t->layout, t->env->rank, NULL);
    t->block = dsparse__blocks_new(t);
    dome_status status = dsparse__worst(a, t->block ? DOME_OK : DOME_ERR_MEMORY);
    if (status == DOME_OK)
        status = dsparse__transpose(t, a, true);
    if (status == DOME_OK)
        *made = t;
    else
        transpose_free(t);
    return status;
}

/* ---- what a matrix keeps ---- */

static void transposed_free(dsparse_transposed_product *transposed)
{
    if (transposed->entries)
        dsparse__by_entries_free(transposed->entries);
    if (transposed->sums)
        dsparse__by_sums_free(transposed->sums);
    if (transposed->transpose)
        transpose_free(transposed->transpose);
    dome_layout_unref(transposed->rows);
    dome_layout_unref(transposed->columns);
    g_free(transposed);
}

static void forget(dsparse *a)
{
    if (a->transposed)
        a->expected = a->transposed->served;
    g_clear_pointer(&a->transposed, transposed_free);
}

/* Whether what was chosen holds for this product; the same on all tasks. Only what goes by entries depends on the width. */
static bool holds(const dsparse_transposed_product *transposed, const dsparse *a, const dvec *y)
{
    return transposed && transposed->distribution == y->distribution && (transposed->width == y->width || !transposed->entries) &&
           dsparse__same_layout(transposed->columns, y->layout) && dsparse__same_layout(transposed->rows, a->layout);
}

static dome_status make_way(dsparse_transposed_product *transposed, dsparse *a, const dvec *y, const dsparse_choice *choice)
{
    if (choice->way == DSPARSE_BY_SUMS)
        return dsparse__by_sums_new(a, choice->bound, choice->chunks, &transposed->sums);
    if (choice->way == DSPARSE_BY_TRANSPOSE)
        return transpose_new(a, y, &transposed->transpose);
    return dsparse__by_entries_new(a, y, &transposed->entries);
}

/* Chooses a way, and makes what it needs. If that fails, products go by entries. */
static dome_status choose(dsparse *a, const dvec *y)
{
    dsparse_choice choice;
    forget(a);
    dome_status status = dsparse__choose(a, y, &choice);
    if (status != DOME_OK)
        return status;
    dsparse_transposed_product *transposed = g_new0(dsparse_transposed_product, 1);
    *transposed = (dsparse_transposed_product){.rows = dome_layout_ref(a->layout),
                                               .columns = dome_layout_ref(y->layout),
                                               .distribution = y->distribution,
                                               .width = y->width};
    status = make_way(transposed, a, y, &choice);
    if ((status == DOME_ERR_MEMORY || status == DOME_ERR_RANGE) && choice.way != DSPARSE_BY_ENTRIES) {
        choice.way = DSPARSE_BY_ENTRIES;
        status = make_way(transposed, a, y, &choice);
    }
    transposed->way = choice.way;
    transposed->note = dsparse__note(a, &choice);
    if (status != DOME_OK) {
        transposed_free(transposed);
        return status;
    }
    a->transposed = transposed;
    a->copied = !transposed->entries;
    a->forget_transposed = forget;
    return DOME_OK;
}

dsparse_way dsparse__way(const dsparse *a)
{
    return a->transposed ? a->transposed->way : DSPARSE_BY_ANY;
}

/* ---- the product ---- */

static dome_status multiply(dvec *y, dsparse *a, const dvec *x)
{
    dome_status status = holds(a->transposed, a, y) ? DOME_OK : choose(a, y);
    if (status != DOME_OK)
        return status;
    a->transposed->served++;
    dsparse__note_product(a->transposed->note);
    if (a->transposed->transpose)
        return dsparse__multiply(y, a->transposed->transpose, x);
    dvec__complete(y);
    status = a->transposed->sums ? dsparse__by_sums(a->transposed->sums, y, a, x)
                                 : dsparse__by_entries(a->transposed->entries, y, a, x);
    dvec__overwritten(y);
    return status;
}

/* y is DOME_WHOLE: each task computes a part, and gets those of the others. */
static dome_status multiply_whole(dvec *y, dsparse *a, const dvec *x)
{
    dvec *part = dvec_new_with(a->env, NULL, y->type, y->length, DVEC_OPTIONS(.width = y->width));
    dome_status status = part ? multiply(part, a, x) : dome_error_status(a->env);
    if (status == DOME_OK)
        status = dvec__redistribute(y, part);
    dvec_free(part);
    return status;
}

static void multiply_alone(dvec *y, const dsparse *a, const dvec *x)
{
    dvec__complete(y);
    dsparse__turn_alone(y, a, x);
    dvec__overwritten(y);
}

dome_status dsparse_multiply_transposed(dvec *y, dsparse *a, const dvec *x)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_MULTIPLY_TRANSPOSED, a->object, (uint64_t[]){dvec__id(y), dvec__id(x)}, 2);
    dome_status status = dsparse__check_product(y, a, x, x, y);
    if (status == DOME_OK)
        status = dvec__settle_read(x);
    if (status == DOME_OK && a->env->size == 1 && dsparse__all_here(x) && dsparse__all_here(y))
        multiply_alone(y, a, x);
    else if (status == DOME_OK)
        status = y->distribution == DOME_WHOLE ? multiply_whole(y, a, x) : multiply(y, a, x);
    return dome__end(&op, status);
}
