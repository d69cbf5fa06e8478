/* Running sums, products, smallest and largest values along an axis: each row is brought to one task, and its results back. */
#include "arrays/rows.h"
#include "core/type_private.h"
#include "kernels/along.h"
#include "kernels/kernels_reduce.h"
#include "transport/agree.h"

#include <dome/arrays.h>
#include <string.h>

typedef struct scan {
    dvec_rows rows;
    dvec_axis_operation operation;
    dome_type type; /* of x */
    dvec *z;
} scan;

static bool is_integer(dome_type type)
{
    return dome_type_kind_of(type) <= DOME_KIND_U64;
}

static bool is_complex(dome_type type)
{
    return dome_type_kind_of(type) == DOME_KIND_C64 || dome_type_kind_of(type) == DOME_KIND_C128;
}

/* ---- one row ---- */

/* Floating-point values, of one or two parts, in double precision. */
#define FLOATING(t, T)                                                                                                           \
    static void scan_##t(bool product, bool complex, const void *from, uint64_t count, void *to)                                 \
    {                                                                                                                            \
        const T *x = from;                                                                                                       \
        T *z = to;                                                                                                               \
        const uint64_t each = complex ? 2 : 1;                                                                                   \
        double result[2] = {product, 0};                                                                                         \
        for (uint64_t j = 0; j < count; j++, x += each, z += each) {                                                             \
            double value[2] = {0};                                                                                               \
            for (uint64_t k = 0; k < each; k++)                                                                                  \
                value[k] = (double)x[k];                                                                                         \
            if (product)                                                                                                         \
                dome__multiply(complex, result, value);                                                                          \
            for (uint64_t k = 0; k < each; k++) {                                                                                \
                if (!product)                                                                                                    \
                    result[k] += value[k];                                                                                       \
                z[k] = (T)result[k];                                                                                             \
            }                                                                                                                    \
        }                                                                                                                        \
    }
FLOATING(f32, float)
FLOATING(f64, double)

/* Integers and extremes: each result is the one before with one value more. */
static void scan_by_kernel(const scan *s, dome_along what, const char *from, uint64_t count, char *to)
{
    const dome_along_kernel next = dome__along_rows(what, s->type);
    const size_t size = dome_type_size(s->type), result = dome_type_size(s->z->type);
    for (uint64_t j = 0; j < count; j++) {
        const dome_along_state state = {.first = to + j * result};
        if (j == 0)
            dome__along_begin(what, s->type, &state, 1);
        else
            memcpy(state.first, to + (j - 1) * result, result);
        next(&state, 0, from + j * size, 1, 0);
    }
}

static void scan_row(const scan *s, const char *from, uint64_t count, char *to)
{
    const bool product = s->operation == DVEC_PROD_ALONG, narrow = s->type == DOME_F32 || s->type == DOME_C64;
    if (s->operation == DVEC_MIN_ALONG || s->operation == DVEC_MAX_ALONG)
        scan_by_kernel(s, s->operation == DVEC_MIN_ALONG ? DOME_ALONG_LEAST : DOME_ALONG_MOST, from, count, to);
    else if (is_integer(s->type))
        scan_by_kernel(s, product ? DOME_ALONG_PRODUCT : DOME_ALONG_COUNT, from, count, to);
    else if (narrow)
        scan_f32(product, is_complex(s->type), from, count, to);
    else
        scan_f64(product, is_complex(s->type), from, count, to);
}

/* ---- all rows ---- */

static int scan_rows(const scan *s)
{
    dome_span *shares = dvec__share_rows(&s->rows);
    const dome_span *own = shares + 2 * s->z->env->rank;
    const uint64_t rows = own[0].count + own[1].count, count = s->rows.count;
    char *values = NULL, *results = dome__storage_raw(rows * count * DVEC_VALUE(s->z), NULL);
    int status = dvec__agree_memory(s->rows.x, results || rows * count == 0, "rows along an axis");
    if (status == DOME_OK)
        status = dvec__gather_rows(&s->rows, shares, &values);
    if (status == DOME_OK) {
        for (uint64_t i = 0; i < rows; i++)
            scan_row(s, values + i * count * DVEC_VALUE(s->rows.x), count, results + i * count * DVEC_VALUE(s->z));
        status = dvec__scatter_rows(s->z, &s->rows, shares, results);
    }
    dome__storage_free(values);
    dome__storage_free(results);
    g_free(shares);
    return status;
}

/* A row alone need not be brought to one task. */
static int scan_all(const scan *s)
{
    int status = dvec_convert(s->z, s->rows.x);
    if (status == DOME_OK)
        status = s->operation == DVEC_SUM_ALONG ? (int)dvec_scan(s->z, s->z) : (int)dvec_cumprod(s->z, s->z);
    return status;
}

/* The type of the result; NULL: there is none for x's type. */
static dome_type result_type(dome_type type, dvec_axis_operation operation)
{
    if (dome_type_kind_of(type) == DOME_KIND_STRUCT)
        return NULL;
    if (operation == DVEC_MIN_ALONG || operation == DVEC_MAX_ALONG)
        return is_complex(type) ? NULL : type;
    if (is_integer(type))
        return dome_type_kind_of(type) <= DOME_KIND_I64 ? DOME_I64 : DOME_U64;
    return type;
}

static int check_scan(const dvec *x, const dvec_view *v, dvec_axis_operation operation, int axis)
{
    if (axis < 0 || axis >= v->ndim)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "axis %d of %d", axis, v->ndim);
    if (operation != DVEC_SUM_ALONG && operation != DVEC_PROD_ALONG && operation != DVEC_MIN_ALONG && operation != DVEC_MAX_ALONG)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "operation number %d has no running results", (int)operation);
    if (!result_type(x->type, operation))
        return dome__fail(x->env, DOME_ERR_TYPE, "not defined for elements of type %s", dome_type_name(x->type));
    return dvec__settle(x, NULL);
}

/* Makes the result; x has been checked. */
static int scan_view(scan *s, const dvec *x, const dvec_view *v, int axis, const char *name)
{
    dvec *copy = NULL;
    s->rows = (dvec_rows){x, 1, v->extent[axis], 1};
    for (int d = 0; d < v->ndim; d++)
        if (d != axis)
            *(d < axis ? &s->rows.outer : &s->rows.inner) *= v->extent[d];
    const bool sums = s->operation == DVEC_SUM_ALONG || s->operation == DVEC_PROD_ALONG;
    const bool alone = s->rows.outer * s->rows.inner == 1 && sums && !is_complex(x->type);
    int status = DOME_OK;
    if (alone || !dvec__is_plain(x, v)) {
        s->rows.x = copy = dvec__new_array(x, x->type, v->ndim, v->extent, NULL);
        status = copy ? dvec__fill_from_view(copy, x, v) : (int)dome_error_status(x->env);
    }
    if (status == DOME_OK) {
        s->z = dvec__new_array(x, result_type(x->type, s->operation), v->ndim, v->extent, name);
        status = s->z ? DOME_OK : (int)dome_error_status(x->env);
    }
    if (s->z) {
        status = alone ? scan_all(s) : scan_rows(s);
        if (!alone)
            dvec__overwritten(s->z);
    }
    dvec_free(copy);
    return status;
}

dvec *dvec_scan_view(const dvec *x, const dvec_view *view, dvec_axis_operation operation, int axis, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec_view v;
    scan s = {.operation = operation, .type = x->type};
    dome__begin_with(&op, x->env, DOME_OP_DVEC_SCAN_VIEW, x->object,
                     (uint64_t[]){dome__text_word(x->env, name), dvec__view_word(view), (uint64_t)operation, (uint64_t)axis}, 4);
    int status = dvec__take_view(x, view, &v);
    if (status == DOME_OK)
        status = check_scan(x, &v, operation, axis);
    if (status == DOME_OK)
        status = scan_view(&s, x, &v, axis, name);
    if (status != DOME_OK && s.z)
        dvec_free(s.z);
    dome__end(&op, status);
    return status == DOME_OK ? s.z : NULL;
}
