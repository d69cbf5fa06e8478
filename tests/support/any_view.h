/* For test programs: random views of a model's values, beside arrays that have the number of each value written out. */
#ifndef DOME_TESTS_ANY_VIEW_H
#define DOME_TESTS_ANY_VIEW_H

#include "models.h"

enum { MOST = 40000, AXES = 6 };

/* An array whose values are numbers of a vector's values, in C order. */
typedef struct numbers {
    int ndim;
    uint64_t extent[DVEC_MAX_AXES];
    uint64_t count, *number;
} numbers;

static inline uint64_t count_of(int ndim, const uint64_t extent[])
{
    uint64_t count = 1;
    for (int d = 0; d < ndim; d++)
        count *= extent[d];
    return count;
}

/* The indices of value number k of an array. */
static inline void indices(const numbers *a, uint64_t k, uint64_t index[])
{
    for (int d = a->ndim; d-- > 0; k /= a->extent[d])
        index[d] = k % a->extent[d];
}

static inline uint64_t at(const numbers *a, const uint64_t index[])
{
    uint64_t k = 0;
    for (int d = 0; d < a->ndim; d++)
        k = k * a->extent[d] + index[d];
    return a->number[k];
}

/* What becomes of an index of the result in the array before. */
typedef struct change {
    int kind, axis, axes[DVEC_MAX_AXES];
    uint64_t first;
    int64_t step;
} change;

enum { TRANSPOSE, SLICE, FLIP, INDEX, INSERT, BROADCAST, KINDS };

static inline void source_index(const change *c, const numbers *before, const numbers *after, const uint64_t now[],
                                uint64_t then[])
{
    for (int d = 0; d < before->ndim; d++)
        then[d] = d < after->ndim ? now[d] : 0;
    if (c->kind == TRANSPOSE)
        for (int d = 0; d < after->ndim; d++)
            then[c->axes[d]] = now[d];
    else if (c->kind == SLICE)
        then[c->axis] = (uint64_t)((int64_t)c->first + (int64_t)now[c->axis] * c->step);
    else if (c->kind == FLIP)
        then[c->axis] = before->extent[c->axis] - 1 - now[c->axis];
    else if (c->kind == INDEX)
        for (int d = c->axis; d < before->ndim; d++)
            then[d] = d == c->axis ? c->first : now[d - 1];
    else if (c->kind == INSERT)
        for (int d = c->axis; d < before->ndim; d++)
            then[d] = now[d + 1];
    else
        for (int d = 0; d < before->ndim; d++) {
            const uint64_t k = now[d + after->ndim - before->ndim];
            then[d] = before->extent[d] == 1 ? 0 : k;
        }
}

static inline void apply(const change *c, numbers *a, int ndim, const uint64_t extent[])
{
    numbers b = {.ndim = ndim, .count = count_of(ndim, extent)};
    memcpy(b.extent, extent, sizeof b.extent);
    b.number = malloc((b.count + 1) * sizeof *b.number);
    for (uint64_t k = 0; k < b.count; k++) {
        uint64_t now[DVEC_MAX_AXES], then[DVEC_MAX_AXES];
        indices(&b, k, now);
        source_index(c, a, &b, now, then);
        b.number[k] = at(a, then);
    }
    free(a->number);
    *a = b;
}

/* Makes one random change to a view and to its model. */
static inline void change_both(dvec_view *v, numbers *a)
{
    change c = {.kind = (int)draw(KINDS), .axis = a->ndim ? (int)draw((uint64_t)a->ndim) : 0, .step = 1};
    uint64_t extent[DVEC_MAX_AXES];
    int ndim = a->ndim;
    bool done = false;
    memcpy(extent, a->extent, sizeof extent);
    const uint64_t along = ndim ? extent[c.axis] : 0;
    if (c.kind == TRANSPOSE) {
        for (int d = 0; d < ndim; d++)
            c.axes[d] = d;
        for (int d = ndim - 1; d > 0; d--) {
            const int other = (int)draw((uint64_t)d + 1), kept = c.axes[d];
            c.axes[d] = c.axes[other];
            c.axes[other] = kept;
        }
        for (int d = 0; d < ndim; d++)
            extent[d] = a->extent[c.axes[d]];
        done = dvec_view_transpose(v, c.axes);
    } else if (c.kind == SLICE && along > 0) {
        c.step = (int64_t)draw(7) - 3;
        c.step = c.step ? c.step : 1;
        c.first = draw(along);
        const uint64_t most = 1 + (c.step > 0 ? along - 1 - c.first : c.first) / (uint64_t)(c.step > 0 ? c.step : -c.step);
        extent[c.axis] = draw(4) ? most : draw(most + 1);
        EXPECT(!dvec_view_slice(v, c.axis, c.first, most + 1, c.step), "a slice that is too long");
        done = dvec_view_slice(v, c.axis, c.first, extent[c.axis], c.step);
    } else if (c.kind == FLIP && ndim > 0) {
        done = dvec_view_flip(v, c.axis);
    } else if (c.kind == INDEX && along > 0 && draw(3) == 0) {
        c.first = draw(along);
        memmove(extent + c.axis, extent + c.axis + 1, (size_t)(--ndim - c.axis) * sizeof *extent);
        done = dvec_view_index(v, c.axis, c.first);
    } else if (c.kind == INSERT && ndim < AXES) {
        c.axis = (int)draw((uint64_t)ndim + 1);
        memmove(extent + c.axis + 1, extent + c.axis, (size_t)(ndim++ - c.axis) * sizeof *extent);
        extent[c.axis] = 1;
        done = dvec_view_insert(v, c.axis);
    } else if (c.kind == BROADCAST && ndim < AXES) {
        const int added = (int)draw(2);
        memmove(extent + added, extent, (size_t)ndim * sizeof *extent);
        ndim += added;
        for (int d = 0; d < ndim; d++)
            if (d < added || extent[d] == 1)
                extent[d] = draw(5);
        if (count_of(ndim, extent) > MOST)
            return;
        done = dvec_view_broadcast(v, ndim, extent);
    } else {
        return;
    }
    EXPECT(done, "change %d is refused", c.kind);
    apply(&c, a, ndim, extent);
    EXPECT(v->ndim == ndim && memcmp(v->extent, extent, (size_t)ndim * sizeof *extent) == 0 && dvec_view_count(v) == a->count,
           "other extents after change %d", c.kind);
}

/* A shape for so many values. */
static inline int any_shape(uint64_t values, uint64_t extent[])
{
    int ndim = 0;
    for (uint64_t left = values; ndim < 4 && left > 1; ndim++) {
        uint64_t k = ndim == 3 ? left : 1 + draw(left < 30 ? left : 30);
        while (left % k)
            k--;
        extent[ndim] = k;
        left /= k;
        if (ndim == 3 && left > 1)
            extent[ndim] *= left;
    }
    uint64_t count = count_of(ndim, extent);
    if (count != values)
        extent[ndim++] = count ? values / count : 0;
    return ndim;
}

static inline void begin(const model *x, dvec_view *v, numbers *a)
{
    uint64_t extent[DVEC_MAX_AXES] = {0}, values = x->n * x->width;
    const int ndim = any_shape(values, extent);
    EXPECT(dvec_view_array(v, ndim, extent), "no view");
    *a = (numbers){.ndim = ndim, .count = values, .number = malloc((values + 1) * sizeof *a->number)};
    memcpy(a->extent, extent, sizeof extent);
    for (uint64_t k = 0; k < values; k++)
        a->number[k] = k;
}

static inline void any_view(const model *x, dvec_view *v, numbers *a)
{
    begin(x, v, a);
    for (int k = (int)draw(6); k > 0; k--)
        change_both(v, a);
}

#endif
