/* Entries of sparse matrices from triplets that any task gives, or from vectors. */
#include "sparse/dsparse_triplets.h"

#include "core/layout.h"

/* Triplets in the order of this task's rows, and the next one. */
typedef struct ordered {
    const given *given;
    size_t next;
} ordered;

/* Adds the triplets of a row. */
static void take_row(void *ctx, uint64_t index, dsparse_row *row)
{
    ordered *o = ctx;
    for (; o->next < o->given->count; o->next++) {
        const dsparse_entry given = dsparse__entry_of(o->given, o->next);
        word *e = given.row == index ? dsparse__new_entry(row, given.column) : NULL;
        if (!e)
            return;
        dsparse__put_words(e + 1, given.value, row->words - 1, row->in);
    }
}

/* Makes the matrix of triplets of this task's rows: row by row on all tasks, or on none. */
static dome_status make_rows(dsparse *a, const given *g, parcel *p)
{
    if (dsparse__in_order(a, g)) /* they need not be copied */
        return dsparse__fill_by_rows(a, take_row, &(ordered){.given = g}, NULL);
    const dome_status sorted = dsparse__sort_by_row(p, a, g); /* apart: compilers read arguments in any order */
    return dsparse__take_entries(a, p->start, p->entries, sorted);
}

static dome_status assemble(dsparse *a, const given *g)
{
    parcel p = {0};
    given arrived = *g;
    dome_status status = dsparse__check_triplets(a, g);
    if (status == DOME_OK && a->env->size > 1)
        status = dsparse__exchange_triplets(&p, a, g, &arrived);
    if (status == DOME_OK)
        status = make_rows(a, &arrived, &p);
    dsparse__parcel_clear(&p);
    return status;
}

dome_status dsparse__assemble(dsparse *a, size_t n, const dsparse_entry entries[])
{
    return assemble(a, &(given){.count = n, .entries = entries});
}

dome_status dsparse__assemble_parts(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[])
{
    return assemble(a, &(given){.count = n, .parts = triplets});
}

dome_status dsparse_assemble(dsparse *a, size_t n, const dsparse_triplet triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE, a->object, NULL, 0);
    dome_status status = dsparse__check_not_integer(a, "dsparse_assemble_i64");
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = n, .real = triplets});
    return dome__end(&op, status);
}

dome_status dsparse_assemble_i64(dsparse *a, size_t n, const dsparse_triplet_i64 triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_I64, a->object, NULL, 0);
    dome_status status = dsparse__check_integer(a);
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = n, .integers = triplets});
    return dome__end(&op, status);
}

dome_status dsparse_assemble_c128(dsparse *a, size_t n, const dsparse_triplet_c128 triplets[])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_C128, a->object, NULL, 0);
    dome_status status = dsparse__check_complex(a);
    if (status == DOME_OK)
        status = dsparse__assemble_parts(a, n, triplets);
    return dome__end(&op, status);
}

/* The type of vectors whose values become entries. */
static dome_type values_type(const dsparse *a)
{
    return dsparse__integer(a) ? DOME_I64 : a->parts > 1 ? DOME_C128 : DOME_F64;
}

static dome_status check_vectors(const dsparse *a, const dvec *rows, const dvec *columns, const dvec *values)
{
    const dvec *all[] = {rows, columns, values};
    if (!rows || !columns || !values)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "a vector is NULL");
    for (int k = 0; k < 3; k++) {
        const dvec *v = all[k];
        if (v->length != rows->length || v->width != 1)
            return dome__fail(a->env, DOME_ERR_SHAPE,
                              "'%s' has the length %" G_GUINT64_FORMAT " and the width %" G_GUINT64_FORMAT
                              ", but '%s' has the length %" G_GUINT64_FORMAT "; all have the width 1",
                              dvec_name(v), v->length, v->width, dvec_name(rows), rows->length);
        if (v->distribution == DOME_WHOLE || !dome_layout_equal(v->layout, rows->layout))
            return dome__fail(a->env, DOME_ERR_LAYOUT, "'%s' is whole on each task, or not distributed as '%s' is", dvec_name(v),
                              dvec_name(rows));
        const bool fits = k == 2 ? v->type == values_type(a) : v->type == DOME_I64 || v->type == DOME_U64;
        if (!fits)
            return dome__fail(a->env, DOME_ERR_TYPE, "'%s' has values of type %s instead of %s", dvec_name(v),
                              dome_type_name(v->type), k == 2 ? dome_type_name(values_type(a)) : "i64 or u64");
    }
    return DOME_OK;
}

dome_status dsparse_assemble_vectors(dsparse *a, const dvec *rows, const dvec *columns, const dvec *values)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_ASSEMBLE_VECTORS, a->object,
                     (uint64_t[]){dvec__id(rows), dvec__id(columns), dvec__id(values)}, 3);
    dome_status status = check_vectors(a, rows, columns, values);
    for (int k = 0; k < 3 && status == DOME_OK; k++)
        status = dvec__settle_read((const dvec *[]){rows, columns, values}[k]);
    if (status == DOME_OK)
        status = assemble(a, &(given){.count = rows->local,
                                      .row = (const uint64_t *)(const void *)rows->data,
                                      .column = (const uint64_t *)(const void *)columns->data,
                                      .value = (const word *)(const void *)values->data,
                                      .words = a->parts,
                                      .whole = dsparse__integer(a)});
    return dome__end(&op, status);
}
