/* Views as descriptions: functions that change one. */
#include "core/operation.h"

#include <dome/ndim.h>
#include <glib.h>
#include <string.h>

static bool has_axis(const dvec_view *v, int axis)
{
    return axis >= 0 && axis < v->ndim && v->ndim <= DVEC_MAX_AXES;
}

bool dvec_view_array(dvec_view *view, int ndim, const uint64_t extent[])
{
    DOME_NEEDS(view, "the view", false);
    if (ndim < 0 || ndim > DVEC_MAX_AXES || (ndim > 0 && !extent))
        return false;
    dvec_view v = {.ndim = ndim};
    uint64_t count = 1;
    bool empty = false;
    for (int d = ndim; d-- > 0;) {
        v.extent[d] = extent[d];
        v.stride[d] = (int64_t)count;
        empty = empty || extent[d] == 0;
        if (extent[d] > 0 && (__builtin_mul_overflow(count, extent[d], &count) || count > INT64_MAX))
            return false;
    }
    for (int d = 0; d < ndim && empty; d++) /* no value has a place */
        v.stride[d] = 0;
    *view = v;
    return true;
}

bool dvec_view_transpose(dvec_view *view, const int axes[])
{
    DOME_NEEDS(view, "the view", false);
    dvec_view v = *view;
    uint64_t seen = 0;
    if (v.ndim < 0 || v.ndim > DVEC_MAX_AXES)
        return false;
    for (int d = 0; d < v.ndim; d++) {
        const int from = axes ? axes[d] : v.ndim - 1 - d;
        if (!has_axis(view, from) || (seen >> from & 1))
            return false;
        seen |= UINT64_C(1) << from;
        v.extent[d] = view->extent[from];
        v.stride[d] = view->stride[from];
    }
    *view = v;
    return true;
}

bool dvec_view_slice(dvec_view *view, int axis, uint64_t first, uint64_t count, int64_t step)
{
    DOME_NEEDS(view, "the view", false);
    if (!has_axis(view, axis) || step == 0)
        return false;
    const uint64_t extent = view->extent[axis], distance = step < 0 ? -(uint64_t)step : (uint64_t)step;
    if (count > 0) {
        if (first >= extent || (count - 1) > (step < 0 ? first : extent - 1 - first) / distance)
            return false;
        view->offset += first * (uint64_t)view->stride[axis];
    }
    view->extent[axis] = count;
    if (count > 1) /* a step beyond the end has no meaning, and its product may be too large */
        view->stride[axis] *= step;
    return true;
}

static void drop_axis(dvec_view *view, int axis)
{
    const size_t behind = (size_t)(--view->ndim - axis);
    memmove(view->extent + axis, view->extent + axis + 1, behind * sizeof *view->extent);
    memmove(view->stride + axis, view->stride + axis + 1, behind * sizeof *view->stride);
}

bool dvec_view_index(dvec_view *view, int axis, uint64_t index)
{
    DOME_NEEDS(view, "the view", false);
    if (!dvec_view_slice(view, axis, index, 1, 1))
        return false;
    drop_axis(view, axis);
    return true;
}

bool dvec_view_flip(dvec_view *view, int axis)
{
    DOME_NEEDS(view, "the view", false);
    if (!has_axis(view, axis))
        return false;
    const uint64_t extent = view->extent[axis];
    return extent == 0 || dvec_view_slice(view, axis, extent - 1, extent, -1);
}

bool dvec_view_insert(dvec_view *view, int axis)
{
    DOME_NEEDS(view, "the view", false);
    if (axis < 0 || axis > view->ndim || view->ndim < 0 || view->ndim >= DVEC_MAX_AXES)
        return false;
    const size_t behind = (size_t)(view->ndim++ - axis);
    memmove(view->extent + axis + 1, view->extent + axis, behind * sizeof *view->extent);
    memmove(view->stride + axis + 1, view->stride + axis, behind * sizeof *view->stride);
    view->extent[axis] = 1;
    view->stride[axis] = 0;
    return true;
}

/* The product of some extents; UINT64_MAX if it is above INT64_MAX. */
static uint64_t product(int ndim, const uint64_t extent[])
{
    uint64_t count = 1;
    bool large = false;
    for (int d = 0; d < ndim; d++) {
        if (extent[d] == 0)
            return 0;
        large = large || __builtin_mul_overflow(count, extent[d], &count) || count > INT64_MAX;
    }
    return large ? UINT64_MAX : count;
}

bool dvec_view_broadcast(dvec_view *view, int ndim, const uint64_t extent[])
{
    DOME_NEEDS(view, "the view", false);
    if (ndim < view->ndim || view->ndim < 0 || ndim > DVEC_MAX_AXES || (ndim > 0 && !extent) ||
        product(ndim, extent) == UINT64_MAX)
        return false;
    dvec_view v = {.ndim = ndim, .offset = view->offset};
    const int added = ndim - view->ndim;
    for (int d = 0; d < ndim; d++) {
        v.extent[d] = extent[d];
        if (d < added)
            continue;
        if (view->extent[d - added] == extent[d])
            v.stride[d] = view->stride[d - added];
        else if (view->extent[d - added] != 1)
            return false;
    }
    *view = v;
    return true;
}

uint64_t dvec_view_count(const dvec_view *view)
{
    DOME_NEEDS(view, "the view", 0);
    return view->ndim < 0 || view->ndim > DVEC_MAX_AXES ? 0 : product(view->ndim, view->extent);
}
