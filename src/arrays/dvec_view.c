/* Values of views: taken, written, joined and rolled. */
#include "arrays/boxes.h"

#include "core/type_private.h"
#include "transport/agree.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

uint64_t dvec__view_word(const dvec_view *view)
{
    if (!view || view->ndim < 0 || view->ndim > DVEC_MAX_AXES)
        return 0;
    uint64_t hash = dome__hash(dome__hash(0, (uint64_t)view->ndim), view->offset);
    for (int d = 0; d < view->ndim; d++)
        hash = dome__hash(dome__hash(hash, view->extent[d]), (uint64_t)view->stride[d]);
    return hash;
}

static uint64_t values_of(const dvec *x)
{
    return x->length * x->width;
}

/* The least and the largest number of a view that is not empty; false if they are beyond 63 bits. */
static bool reach(const dvec_view *v, int64_t *least, int64_t *most)
{
    if (v->offset > INT64_MAX)
        return false;
    *least = *most = (int64_t)v->offset;
    for (int d = 0; d < v->ndim; d++) {
        int64_t far, *end = v->stride[d] < 0 ? least : most;
        if (v->extent[d] - 1 > INT64_MAX || __builtin_mul_overflow(v->stride[d], (int64_t)(v->extent[d] - 1), &far) ||
            __builtin_add_overflow(*end, far, end))
            return false;
    }
    return true;
}

static int check_view(const dvec *x, const dvec_view *v)
{
    if (v->ndim < 0 || v->ndim > DVEC_MAX_AXES)
        return dome__fail(x->env, DOME_ERR_ARGUMENT, "%d dimensions: 0 to %d are possible", v->ndim, DVEC_MAX_AXES);
    const uint64_t count = dvec_view_count(v);
    if (count == UINT64_MAX)
        return dome__fail(x->env, DOME_ERR_RANGE, "a view of '%s' has more than 2^63 - 1 values", dvec_name(x));
    int64_t least, most;
    if (count > 0 && (!reach(v, &least, &most) || least < 0 || (uint64_t)most >= values_of(x)))
        return dome__fail(x->env, DOME_ERR_RANGE,
                          "a view of '%s' has values beyond its %" G_GUINT64_FORMAT " (offset %" G_GUINT64_FORMAT ")",
                          dvec_name(x), values_of(x), v->offset);
    return DOME_OK;
}

int dvec__take_view(const dvec *x, const dvec_view *given, dvec_view *view)
{
    if (given) {
        *view = *given;
        return check_view(x, view);
    }
    uint64_t shape[DOME_MAX_DIMENSIONS];
    dvec_view_array(view, dvec__shape(x, shape), shape);
    return DOME_OK;
}

bool dvec__is_plain(const dvec *x, const dvec_view *view)
{
    uint64_t next = 1;
    if (view->offset != 0 || dvec_view_count(view) != values_of(x))
        return false;
    for (int d = view->ndim; d-- > 0; next *= view->extent[d])
        if (view->extent[d] > 1 && (uint64_t)view->stride[d] != next)
            return false;
    return true;
}

dvec_box dvec__box_from(const dvec_view *view, uint64_t to)
{
    dvec_box b = {.ndim = view->ndim, .to = (int64_t)to, .from = (int64_t)view->offset};
    int64_t next = 1;
    for (int d = view->ndim; d-- > 0; next *= (int64_t)view->extent[d]) {
        b.extent[d] = view->extent[d];
        b.to_stride[d] = next;
        b.from_stride[d] = view->stride[d];
    }
    return b;
}

/* ---- moving ---- */

dvec *dvec__new_array(const dvec *x, dome_type type, int ndim, const uint64_t extent[], const char *name)
{
    dvec_view array;
    if (!dvec_view_array(&array, ndim, extent)) {
        dome__fail(x->env, DOME_ERR_RANGE, "the result has more than 2^63 - 1 values");
        return NULL;
    }
    dvec *z = dvec_new_with(x->env, name, type, dvec_view_count(&array), DVEC_OPTIONS(.distribution = x->distribution));
    if (!z)
        return NULL;
    dvec__complete(z);
    if (ndim >= 1 && ndim <= DOME_MAX_DIMENSIONS)
        dvec__take_shape(z, ndim, extent);
    return z;
}

/* Moves one box from x to z. from: x's values on this task, or all of them. */
static int move_box(dvec *z, const dvec *x, dvec_box *box, const char *from, bool every_value)
{
    dvec__join_axes(box);
    for (int d = 0; d < box->ndim; d++)
        if (box->extent[d] == 0)
            return DOME_OK;
    dome_span *parts = dvec__parts_of(z, 1);
    const dvec_box_move move = {
        .x = x, .from = from, .every_value = every_value, .to = z->data, .parts = parts, .box = box, .nboxes = 1};
    const int status = dvec__move_boxes(&move);
    g_free(parts);
    return status;
}

/* The number of values of x that a view names, if it repeats each as often as there are tasks or more; else 0. *once: the view
 * without repetitions. */
static uint64_t repeated_values(const dvec *x, const dvec_view *view, dvec_view *once)
{
    uint64_t times = 1;
    *once = (dvec_view){.offset = view->offset};
    for (int d = 0; d < view->ndim; d++) {
        if (view->stride[d] == 0) {
            times *= view->extent[d];
            continue;
        }
        once->extent[once->ndim] = view->extent[d];
        once->stride[once->ndim++] = view->stride[d];
    }
    return times >= (uint64_t)MAX(x->env->size, 2) ? dvec_view_count(once) : 0;
}

/* Brings the values that a view repeats to every task, and fills z from there. */
static int fill_repeated(dvec *z, const dvec *x, const dvec_view *view, const dvec_view *once)
{
    dvec *values = NULL;
    dvec_view v = *view;
    if (!dvec__is_plain(x, once)) {
        values = dvec__new_array(x, x->type, once->ndim, once->extent, NULL);
        int status = values ? dvec__fill_from_view(values, x, once) : (int)dome_error_status(x->env);
        if (status != DOME_OK) {
            dvec_free(values);
            return status;
        }
        dvec_view array;
        dvec_view_array(&array, once->ndim, once->extent);
        v.offset = 0;
        for (int d = 0, k = 0; d < v.ndim; d++)
            if (v.stride[d] != 0)
                v.stride[d] = array.stride[k++];
    }
    const void *all = dvec_allgather(values ? values : x);
    dvec_box box = dvec__box_from(&v, 0);
    const int status = all ? move_box(z, values ? values : x, &box, all, true) : (int)dome_error_status(x->env);
    dvec_free(values);
    return status;
}

int dvec__fill_from_view(dvec *z, const dvec *x, const dvec_view *view)
{
    dvec_view once;
    int status;
    if (x->env->size > 1 && x->distribution != DOME_WHOLE && repeated_values(x, view, &once) > 0) {
        status = fill_repeated(z, x, view, &once);
    } else {
        dvec_box box = dvec__box_from(view, 0);
        status = move_box(z, x, &box, x->data, false);
    }
    dvec__overwritten(z);
    return status;
}

dvec *dvec_take_view(const dvec *x, const dvec_view *view, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dvec_view v;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_TAKE_VIEW, x->object,
                     (uint64_t[]){dome__text_word(x->env, name), dvec__view_word(view)}, 2);
    int status = dvec__take_view(x, view, &v);
    const bool plain = status == DOME_OK && x->width == 1 && dvec__is_plain(x, &v);
    if (status == DOME_OK && !plain)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        z = dvec__new_array(x, x->type, v.ndim, v.extent, name);
        status = z ? DOME_OK : (int)dome_error_status(x->env);
    }
    if (z) {
        status = plain ? (int)dvec_copy(z, x) : dvec__fill_from_view(z, x, &v);
        if (status != DOME_OK)
            dvec_free(z);
    }
    dome__end(&op, status);
    return status == DOME_OK ? z : NULL;
}

/* ---- writing into a view ---- */

typedef struct axis {
    uint64_t distance, extent;
} axis;

static int by_distance(const void *a, const void *b)
{
    const axis *s = a, *t = b;
    return (s->distance > t->distance) - (s->distance < t->distance);
}

/* Whether it follows from the strides that no two values of a view are the same. */
static bool is_unique(const dvec_view *v)
{
    axis axes[DVEC_MAX_AXES];
    size_t n = 0;
    uint64_t span = 0;
    if (dvec_view_count(v) == 0)
        return true;
    for (int d = 0; d < v->ndim; d++)
        if (v->extent[d] > 1)
            axes[n++] = (axis){v->stride[d] < 0 ? -(uint64_t)v->stride[d] : (uint64_t)v->stride[d], v->extent[d]};
    qsort(axes, n, sizeof *axes, by_distance);
    for (size_t k = 0; k < n; span += axes[k].distance * (axes[k].extent - 1), k++)
        if (axes[k].distance <= span)
            return false;
    return true;
}

static bool same_extents(const dvec_view *a, const dvec_view *b)
{
    return a->ndim == b->ndim && memcmp(a->extent, b->extent, (size_t)a->ndim * sizeof *a->extent) == 0;
}

/* Sets the views of both vectors; one that is NULL is the whole vector in the order of the other. */
static int take_both(const dvec *z, const dvec_view *z_view, const dvec *x, const dvec_view *x_view, dvec_view both[2])
{
    const dvec *vectors[2] = {z, x};
    const dvec_view *views[2] = {z_view, x_view};
    const uint64_t all[2] = {values_of(z), values_of(x)};
    int status = DOME_OK;
    for (int k = 0; k < 2 && status == DOME_OK; k++) {
        if (views[k]) {
            both[k] = *views[k];
            status = check_view(vectors[k], &both[k]);
        } else if (!views[1 - k]) {
            dvec_view_array(&both[k], 1, &all[k]);
        }
    }
    for (int k = 0; k < 2 && status == DOME_OK; k++)
        if (!views[k] && views[1 - k]) {
            dvec_view_array(&both[k], both[1 - k].ndim, both[1 - k].extent);
            if (dvec_view_count(&both[k]) != all[k])
                return dome__fail(z->env, DOME_ERR_SHAPE,
                                  "'%s' has %" G_GUINT64_FORMAT " values, but the view of '%s' %" G_GUINT64_FORMAT,
                                  dvec_name(vectors[k]), all[k], dvec_name(vectors[1 - k]), dvec_view_count(&both[k]));
        }
    if (status == DOME_OK && !same_extents(&both[0], &both[1]))
        status =
            dome__fail(z->env, DOME_ERR_SHAPE, "the views of '%s' and '%s' have different extents", dvec_name(z), dvec_name(x));
    return status;
}

static int check_copy(const dvec *z, const dvec *x, const dvec_view both[2])
{
    if (x->env != z->env)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x));
    if (!dome_type_equal(x->type, z->type))
        return dome__fail(z->env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x), dome_type_name(x->type),
                          dvec_name(z), dome_type_name(z->type));
    if (!is_unique(&both[0]))
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "the view of '%s' may have a value twice", dvec_name(z));
    const int status = dvec__settle(x, NULL);
    if (status != DOME_OK || dvec_view_count(&both[0]) != values_of(z))
        return status != DOME_OK ? status : dvec__settle(z, NULL);
    dvec__complete(z);
    return DOME_OK;
}

/* Moves the values; both views have been checked. */
static int copy_values(dvec *z, const dvec *x, const dvec_view both[2])
{
    char *copy = NULL;
    int status = DOME_OK;
    if (z == x) {
        copy = dome__storage_raw(x->local * DVEC_ELEMENT(x), NULL);
        status = dvec__agree_memory(x, copy || x->local == 0, "the values from before");
        if (copy && status == DOME_OK)
            memcpy(copy, x->data, (size_t)(x->local * DVEC_ELEMENT(x)));
    }
    if (status == DOME_OK) {
        dvec_box box = dvec__box_from(&both[1], 0);
        box.to = (int64_t)both[0].offset;
        memcpy(box.to_stride, both[0].stride, sizeof box.to_stride);
        const bool all = dvec_view_count(&both[0]) == values_of(z);
        if (!all)
            dvec__written(z);
        status = move_box(z, x, &box, z == x ? copy : x->data, false);
        if (all)
            dvec__overwritten(z);
    }
    dome__storage_free(copy);
    return status;
}

dome_status dvec_copy_view(dvec *z, const dvec_view *z_view, const dvec *x, const dvec_view *x_view)
{
    DOME_NEEDS(z && x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dvec_view both[2];
    dome__begin_with(&op, z->env, DOME_OP_DVEC_COPY_VIEW, z->object,
                     (uint64_t[]){dvec__id(x), dvec__view_word(z_view), dvec__view_word(x_view)}, 3);
    int status = take_both(z, z_view, x, x_view, both);
    if (status == DOME_OK)
        status = check_copy(z, x, both);
    if (status == DOME_OK)
        status = copy_values(z, x, both);
    return dome__end(&op, status);
}

/* ---- joining and rolling ---- */

/* The views of all vectors, and the extents of the result. */
static int check_join(size_t n, const dvec *const x[], const dvec_view views[], int axis, dvec_view *result)
{
    dome_env *env = x[0]->env;
    for (size_t k = 0; k < n; k++) {
        dvec_view v;
        int status = x[k] ? dvec__take_view(x[k], views ? &views[k] : NULL, &v)
                          : (int)dome__fail(env, DOME_ERR_ARGUMENT, "vector number %zu is NULL", k);
        if (status == DOME_OK && x[k]->env != env)
            status = dome__fail(env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x[k]));
        if (status == DOME_OK && !dome_type_equal(x[k]->type, x[0]->type))
            status = dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x[k]), dome_type_name(x[k]->type),
                                dvec_name(x[0]), dome_type_name(x[0]->type));
        if (status == DOME_OK && (axis < 0 || axis >= v.ndim))
            status = dome__fail(env, DOME_ERR_ARGUMENT, "axis %d of %d", axis, v.ndim);
        if (status == DOME_OK)
            status = dvec__settle(x[k], NULL);
        if (status != DOME_OK)
            return status;
        const uint64_t along = v.extent[axis];
        if (k == 0) {
            *result = v;
            continue;
        }
        v.extent[axis] = result->extent[axis];
        if (!same_extents(&v, result))
            return dome__fail(env, DOME_ERR_SHAPE, "array number %zu differs in extents along another axis than %d", k, axis);
        if (__builtin_add_overflow(result->extent[axis], along, &result->extent[axis]))
            return dome__fail(env, DOME_ERR_RANGE, "the result has more than 2^63 - 1 values");
    }
    return DOME_OK;
}

/* Fills the indices from `begin` on of an axis of z with a view of x. */
static int fill_along(dvec *z, const dvec_view *array, int axis, uint64_t begin, const dvec *x, const dvec_view *view)
{
    dvec_box box = dvec__box_from(view, begin * (uint64_t)array->stride[axis]);
    memcpy(box.to_stride, array->stride, sizeof box.to_stride);
    return move_box(z, x, &box, x->data, false);
}

dvec *dvec_join_views(size_t n, const dvec *const x[], const dvec_view views[], int axis, const char *name)
{
    DOME_NEEDS(n > 0 && x ? x[0] : NULL, "the vector", NULL);
    dome_env *env = x[0]->env;
    if (n > DVEC_LIST_MOST)
        return dvec__refuse_list(env, DOME_OP_DVEC_JOIN_VIEWS, NULL, n), NULL;
    dome_operation op;
    dvec_view result = {0}, array;
    dvec *z = NULL;
    uint64_t *words = g_new(uint64_t, n + 3), begin = 0;
    words[0] = dome__text_word(env, name);
    words[1] = (uint64_t)axis;
    words[2] = 0;
    for (size_t k = 0; k < n; k++) {
        words[2] = dome__hash(words[2], views ? dvec__view_word(&views[k]) : 0);
        words[3 + k] = dvec__id(x[k]);
    }
    dome__begin_with(&op, env, DOME_OP_DVEC_JOIN_VIEWS, NULL, words, n + 3);
    g_free(words);
    int status = check_join(n, x, views, axis, &result);
    if (status == DOME_OK) {
        z = dvec__new_array(x[0], x[0]->type, result.ndim, result.extent, name);
        status = z ? DOME_OK : (int)dome_error_status(env);
    }
    if (z) {
        dvec_view_array(&array, result.ndim, result.extent);
        for (size_t k = 0; k < n && status == DOME_OK; k++) {
            dvec_view v;
            dvec__take_view(x[k], views ? &views[k] : NULL, &v);
            status = fill_along(z, &array, axis, begin, x[k], &v);
            begin += v.extent[axis];
        }
        dvec__overwritten(z);
        if (status != DOME_OK)
            dvec_free(z);
    }
    dome__end(&op, status);
    return status == DOME_OK ? z : NULL;
}

/* Fills z with a view of x, of which index i of an axis becomes index i + distance. */
static int fill_rolled(dvec *z, const dvec *x, const dvec_view *view, int axis, uint64_t distance)
{
    const uint64_t extent = view->extent[axis];
    dvec_view array, part = *view;
    dvec_view_array(&array, view->ndim, view->extent);
    dvec_view_slice(&part, axis, 0, extent - distance, 1);
    int status = fill_along(z, &array, axis, distance, x, &part);
    part = *view;
    if (status == DOME_OK && distance > 0 && dvec_view_slice(&part, axis, extent - distance, distance, 1))
        status = fill_along(z, &array, axis, 0, x, &part);
    return status;
}

dvec *dvec_roll_view(const dvec *x, const dvec_view *view, int axis, int64_t k, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dome_operation op;
    dvec *z = NULL;
    dvec_view v;
    dome__begin_with(&op, x->env, DOME_OP_DVEC_ROLL_VIEW, x->object,
                     (uint64_t[]){dome__text_word(x->env, name), dvec__view_word(view), (uint64_t)axis, (uint64_t)k}, 4);
    int status = dvec__take_view(x, view, &v);
    if (status == DOME_OK && (axis < 0 || axis >= v.ndim))
        status = dome__fail(x->env, DOME_ERR_ARGUMENT, "axis %d of %d", axis, v.ndim);
    if (status == DOME_OK)
        status = dvec__settle(x, NULL);
    if (status == DOME_OK) {
        z = dvec__new_array(x, x->type, v.ndim, v.extent, name);
        status = z ? DOME_OK : (int)dome_error_status(x->env);
    }
    if (z) {
        const uint64_t extent = v.extent[axis], back = k < 0 && extent ? -(uint64_t)k % extent : 0;
        if (extent > 0)
            status = fill_rolled(z, x, &v, axis, k < 0 ? (extent - back) % extent : (uint64_t)k % extent);
        dvec__overwritten(z);
        if (status != DOME_OK)
            dvec_free(z);
    }
    dome__end(&op, status);
    return status == DOME_OK ? z : NULL;
}
