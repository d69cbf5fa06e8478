/* The nearest of some rows, for each element: what steps of k-means and quantization need. Points are looked at some at a time,
 * column by column, so that their distances stay in registers. */
#include "core/storage.h"
#include "core/type_private.h"
#include "kernels/kernels.h"
#include "kernels/kernels_nearest.h"
#include "objects/dvec_private.h"
#include "system/unconst.h"

#include <dome/arrays.h>

enum { POINTS = DOME_NEAREST_POINTS };

typedef struct nearest {
    dome_type type, label_type;
    uint64_t width, k;
    double *rows;    /* k of them */
    double *columns; /* of POINTS points */
} nearest;

static int check_nearest(const dvec *z, const dvec *x, const dvec *rows)
{
    dome_env *env = z->env;
    if (!x || !rows)
        return dome__fail(env, DOME_ERR_ARGUMENT, "an operand is NULL");
    int status = dvec__conforms(z, x, false, false);
    if (status == DOME_OK && x->type != DOME_F32 && x->type != DOME_F64)
        status = dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but points are of type f32 or f64", dvec_name(x),
                            dome_type_name(x->type));
    if (status == DOME_OK && rows->type != x->type)
        status = dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(rows), dome_type_name(rows->type),
                            dvec_name(x), dome_type_name(x->type));
    if (status == DOME_OK && (dome_type_kind_of(z->type) > DOME_KIND_U64 || z->width != 1))
        status = dome__fail(env, z->width == 1 ? DOME_ERR_TYPE : DOME_ERR_SHAPE,
                            "'%s' must have an integer type and width 1, for numbers of rows", dvec_name(z));
    if (status == DOME_OK && rows->width != x->width)
        status = dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                            dvec_name(x), x->width, dvec_name(rows), rows->width);
    const unsigned bits = 8 * (unsigned)dome_type_size(z->type) - (dome_type_kind_of(z->type) <= DOME_KIND_I64);
    if (status == DOME_OK && (rows->length == 0 || (bits < 64 && rows->length > (uint64_t)1 << bits)))
        status =
            dome__fail(env, DOME_ERR_RANGE, "'%s' has %" G_GUINT64_FORMAT " rows, of which type %s of '%s' cannot number one",
                       dvec_name(rows), rows->length, dome_type_name(z->type), dvec_name(z));
    return status == DOME_OK ? dvec__settle(x, rows) : status;
}

/* One of POINTS points may be missing: then the values of the last one stand for it. */
static void load_columns(const nearest *f, const void *points, uint64_t count)
{
    for (uint64_t i = 0; i < POINTS; i++) {
        const uint64_t at = MIN(i, count - 1) * f->width;
        for (uint64_t d = 0; d < f->width; d++)
            f->columns[d * POINTS + i] = f->type == DOME_F64 ? ((const double *)points)[at + d] : ((const float *)points)[at + d];
    }
}

static void label_points(void *ctx, uint64_t first, size_t count, void *out, const void *const in[])
{
    const nearest *f = ctx;
    const uint64_t step = f->width * dome_type_size(f->type), wide = dome_type_size(f->label_type);
    const dome_kernel convert = dome__kernel(DOME_OP_DVEC_CONVERT, f->label_type, DOME_F64);
    int64_t number[POINTS];
    double label[POINTS];
    (void)first;
    for (uint64_t done = 0, n; done < count; done += n) {
        n = MIN(count - done, POINTS);
        load_columns(f, (const char *)in[0] + done * step, n);
        dome__find_nearest(f->columns, f->rows, f->width, f->k, number);
        for (int i = 0; i < POINTS; i++)
            label[i] = (double)number[i];
        convert(&(dome_kernel_args){.out = (char *)out + done * wide, .in = {label}, .width = 1, .bytes = wide}, n);
    }
}

/* The rows as doubles, and room for columns. */
static int prepare(nearest *f, const dvec *rows)
{
    const uint64_t values = rows->length * rows->width;
    const void *all = dvec_allgather(rows);
    if (!all)
        return (int)dome_error_status(rows->env);
    f->rows = dome__storage_raw((values + POINTS * f->width) * sizeof *f->rows, NULL);
    if (!f->rows)
        return DOME_OK;
    f->columns = f->rows + values;
    for (uint64_t i = 0; i < values; i++)
        f->rows[i] = f->type == DOME_F64 ? ((const double *)all)[i] : ((const float *)all)[i];
    return DOME_OK;
}

dome_status dvec_nearest(dvec *z, const dvec *x, const dvec *rows)
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, z->env, DOME_OP_DVEC_NEAREST, z->object, (uint64_t[]){dvec__id(x), dvec__id(rows)}, 2);
    int status = check_nearest(z, x, rows);
    nearest f = {.label_type = z->type};
    if (status == DOME_OK) {
        f.type = x->type;
        f.width = x->width;
        f.k = rows->length;
        status = prepare(&f, rows);
    }
    if (status == DOME_OK)
        status = dvec__agree_memory(z, f.rows, "the rows");
    if (status == DOME_OK) {
        dvec__renew(z);
        status = dvec_map(z, label_points, &f, 1, (dvec *const[]){dome__unconst(x)}); /* which only reads it */
    }
    dome__storage_free(f.rows);
    return dome__end(&op, status);
}
