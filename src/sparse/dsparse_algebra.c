/* Diagonals, scaling and norms of sparse matrices. */
#include "sparse/dsparse_private.h"

#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

static void changed(dsparse *a)
{
    dsparse__forget_values(a);
    for (uint64_t k = 0; k < a->blocks; k++)
        a->block[k].written = DOME_WRITTEN;
}

/* Whether v has one value for each row. */
static dome_status check_values(const dsparse *a, const dvec *v)
{
    if (!v)
        return dome__fail(a->env, DOME_ERR_ARGUMENT, "the vector is NULL");
    dome_status status = dsparse__check_by_row(a, v);
    if (status == DOME_OK && v->width != 1)
        status = dome__fail(a->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT " instead of 1", dvec_name(v), v->width);
    return status;
}

/* Makes v's values known to be overwritten, all 0. */
static void *zeros(dvec *v)
{
    dvec__complete(v);
    if (v->local > 0)
        memset(v->data, 0, (size_t)(v->local * DVEC_ELEMENT(v)));
    dvec__overwritten(v);
    return v->data;
}

/* ---- diagonal and scaling ---- */

static void take_diagonal(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    for (uint32_t k = b->start[row]; k < b->start[row + 1]; k++)
        if (b->column[k] == index)
            dsparse__set_value(a, ctx, local, dsparse__entry(a, b, k));
}

dome_status dsparse_diagonal(dvec *d, const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, a->env, DOME_OP_DSPARSE_DIAGONAL, a->object, dvec__id(d));
    dome_status status = check_values(a, d);
    if (status == DOME_OK)
        dsparse__visit_rows(a, take_diagonal, zeros(d));
    return dome__end(&op, status);
}

/* x y in the arithmetic of a type whose parts are `single` or double. */
static dsparse_number times(dsparse_number x, dsparse_number y, bool single)
{
    if (single) {
        const float a = (float)x.re, b = (float)x.im, c = (float)y.re, d = (float)y.im;
        return (dsparse_number){.re = DOME_ROUNDED(a * c) - DOME_ROUNDED(b * d), .im = DOME_ROUNDED(a * d) + DOME_ROUNDED(b * c)};
    }
    return (dsparse_number){.re = DOME_ROUNDED(x.re * y.re) - DOME_ROUNDED(x.im * y.im),
                            .im = DOME_ROUNDED(x.re * y.im) + DOME_ROUNDED(x.im * y.re)};
}

/* Multiplies values from ... end - 1 by another one, which is real unless `complex`. */
static void scale(const dsparse *a, void *values, uint64_t from, uint64_t end, dsparse_number factor, bool complex)
{
    const bool single = dsparse__single(a);
    if (a->kind == DOME_KIND_F64) {
        for (uint64_t k = from; k < end; k++)
            ((double *)values)[k] *= factor.re;
        return;
    }
    for (uint64_t k = from; k < end; k++) {
        const dsparse_number v = dsparse__value(a, values, k);
        dsparse_number scaled;
        if (dsparse__integer(a))
            scaled = (dsparse_number){.integer = (int64_t)((uint64_t)v.integer * (uint64_t)factor.integer)};
        else if (complex)
            scaled = times(v, factor, single);
        else if (single)
            scaled = (dsparse_number){.re = (float)v.re * (float)factor.re, .im = (float)v.im * (float)factor.re};
        else
            scaled = (dsparse_number){.re = v.re * factor.re, .im = v.im * factor.re};
        dsparse__set_value(a, values, k, scaled);
    }
}

static void scale_all(dsparse *a, dsparse_number factor, bool complex)
{
    for (uint64_t k = 0; k < a->blocks; k++) {
        dsparse_block *b = &a->block[k];
        if (b->uniform)
            scale(a, b->same, 0, 1, factor, complex);
        else
            scale(a, b->value, 0, dsparse__block_entries(b), factor, complex);
    }
    changed(a);
}

dome_status dsparse_scale(dsparse *a, double factor)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, a->env, DOME_OP_DSPARSE_SCALE, a->object, dome__double_word(factor));
    dome_status status = dsparse__check_not_integer(a, "dsparse_scale_i64");
    if (status == DOME_OK)
        scale_all(a, (dsparse_number){.re = factor}, false);
    return dome__end(&op, status);
}

dome_status dsparse_scale_i64(dsparse *a, int64_t factor)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, a->env, DOME_OP_DSPARSE_SCALE_I64, a->object, (uint64_t)factor);
    dome_status status = dsparse__check_integer(a);
    if (status == DOME_OK)
        scale_all(a, (dsparse_number){.integer = factor}, false);
    return dome__end(&op, status);
}

dome_status dsparse_scale_c128(dsparse *a, const double factor[2])
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    DOME_NEEDS(factor, "the factor", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_SCALE_C128, a->object,
                     (uint64_t[]){dome__double_word(factor[0]), dome__double_word(factor[1])}, 2);
    dome_status status = dsparse__check_complex(a);
    if (status == DOME_OK)
        scale_all(a, (dsparse_number){.re = factor[0], .im = factor[1]}, true);
    return dome__end(&op, status);
}

static void scale_row(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    (void)index;
    dsparse__block_spread(a, b);
    scale(a, b->value, b->start[row], b->start[row + 1], dsparse__value(a, ctx, local), a->parts > 1);
}

dome_status dsparse_scale_rows(dsparse *a, const dvec *d)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, a->env, DOME_OP_DSPARSE_SCALE_ROWS, a->object, dvec__id(d));
    dome_status status = check_values(a, d);
    if (status == DOME_OK)
        status = dvec__settle_read(d);
    if (status == DOME_OK) {
        dsparse__visit_rows(a, scale_row, d->data);
        changed(a);
    }
    return dome__end(&op, status);
}

/* ---- norms ---- */

/* An entry as a complex number of doubles. */
static dsparse_c128 in_double(const dsparse *a, const dsparse_block *b, uint32_t k)
{
    const dsparse_number v = dsparse__entry(a, b, k);
    return dsparse__integer(a) ? (dsparse_c128){(double)v.integer, 0} : (dsparse_c128){v.re, v.im};
}

static void add_squares(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    double *sum = ctx;
    (void)index;
    for (uint32_t k = b->start[row]; k < b->start[row + 1]; k++) {
        const dsparse_c128 v = in_double(a, b, k);
        sum[local] += a->parts > 1 ? v.re * v.re + v.im * v.im : v.re * v.re;
    }
}

static void add_magnitudes(void *ctx, const dsparse *a, dsparse_block *b, uint32_t row, uint64_t index, uint64_t local)
{
    double *sum = ctx;
    (void)index;
    for (uint32_t k = b->start[row]; k < b->start[row + 1]; k++) {
        const dsparse_c128 v = in_double(a, b, k);
        sum[local] += a->parts > 1 ? hypot(v.re, v.im) : fabs(v.re);
    }
}

/* A number made of one number for each row. NaN after a failure. */
static double of_rows(const dsparse *a, dsparse_visitor visit, double (*combine)(const dvec *x))
{
    double result = NAN;
    dvec *v = dvec_new(a->env, NULL, DOME_F64, a->rows);
    if (v) {
        dsparse__visit_rows(a, visit, zeros(v));
        result = combine(v);
    }
    dvec_free(v);
    return result;
}

double dsparse_norm_frobenius(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NAN);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_NORM_FROBENIUS, a->object, NULL, 0);
    double norm = sqrt(of_rows(a, add_squares, dvec_sum));
    dome__end(&op, DOME_OK);
    return norm;
}

double dsparse_norm_inf(const dsparse *a)
{
    DOME_NEEDS(a, "the matrix", NAN);
    dome_operation op;
    dome__begin_with(&op, a->env, DOME_OP_DSPARSE_NORM_INF, a->object, NULL, 0);
    double norm = a->rows > 0 ? of_rows(a, add_magnitudes, dvec_max_value) : 0;
    dome__end(&op, DOME_OK);
    return norm;
}
