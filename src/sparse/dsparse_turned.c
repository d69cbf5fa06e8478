/* Transposed products: the way that was chosen, and what it keeps. */
#include "sparse/dsparse_turned.h"

#include "core/layout.h"

struct dsparse_turned {
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

static void turned_free(dsparse_turned *turned)
{
    if (turned->entries)
        dsparse__by_entries_free(turned->entries);
    if (turned->sums)
        dsparse__by_sums_free(turned->sums);
    if (turned->transpose)
        transpose_free(turned->transpose);
    dome_layout_unref(turned->rows);
    dome_layout_unref(turned->columns);
    g_free(turned);
}

static void forget(dsparse *a)
{
    if (a->turned)
        a->expected = a->turned->served;
    g_clear_pointer(&a->turned, turned_free);
}

/* Whether what was chosen holds for this product; the same on all tasks. Only what goes by entries depends on the width. */
static bool holds(const dsparse_turned *turned, const dsparse *a, const dvec *y)
{
    return turned && turned->distribution == y->distribution && (turned->width == y->width || !turned->entries) &&
           dsparse__same_layout(turned->columns, y->layout) && dsparse__same_layout(turned->rows, a->layout);
}

static dome_status make_way(dsparse_turned *turned, dsparse *a, const dvec *y, const dsparse_choice *choice)
{
    if (choice->way == DSPARSE_BY_SUMS)
        return dsparse__by_sums_new(a, choice->bound, choice->chunks, &turned->sums);
    if (choice->way == DSPARSE_BY_TRANSPOSE)
        return transpose_new(a, y, &turned->transpose);
    return dsparse__by_entries_new(a, y, &turned->entries);
}

/* Chooses a way, and makes what it needs. If that fails, products go by entries. */
static dome_status choose(dsparse *a, const dvec *y)
{
    dsparse_choice choice;
    forget(a);
    dome_status status = dsparse__choose(a, y, &choice);
    if (status != DOME_OK)
        return status;
    dsparse_turned *turned = g_new0(dsparse_turned, 1);
    *turned = (dsparse_turned){.rows = dome_layout_ref(a->layout),
                               .columns = dome_layout_ref(y->layout),
                               .distribution = y->distribution,
                               .width = y->width};
    status = make_way(turned, a, y, &choice);
    if ((status == DOME_ERR_MEMORY || status == DOME_ERR_RANGE) && choice.way != DSPARSE_BY_ENTRIES) {
        choice.way = DSPARSE_BY_ENTRIES;
        status = make_way(turned, a, y, &choice);
    }
    turned->way = choice.way;
    turned->note = dsparse__note(a, &choice);
    if (status != DOME_OK) {
        turned_free(turned);
        return status;
    }
    a->turned = turned;
    a->copied = !turned->entries;
    a->forget_turned = forget;
    return DOME_OK;
}

dsparse_way dsparse__way(const dsparse *a)
{
    return a->turned ? a->turned->way : DSPARSE_BY_ANY;
}

/* ---- the product ---- */

static dome_status multiply(dvec *y, dsparse *a, const dvec *x)
{
    dome_status status = holds(a->turned, a, y) ? DOME_OK : choose(a, y);
    if (status != DOME_OK)
        return status;
    a->turned->served++;
    dsparse__note_product(a->turned->note);
    if (a->turned->transpose)
        return dsparse__multiply(y, a->turned->transpose, x);
    dvec__complete(y);
    status = a->turned->sums ? dsparse__by_sums(a->turned->sums, y, a, x) : dsparse__by_entries(a->turned->entries, y, a, x);
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
