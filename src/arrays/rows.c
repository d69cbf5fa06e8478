#include "arrays/rows.h"

#include <string.h>

static uint64_t rows_before(uint64_t value, uint64_t values, uint64_t inner)
{
    return (value / values + (value % values != 0)) * inner;
}

dome_span *dvec__share_rows(const dvec_rows *rows)
{
    enum { ENOUGH = 4 }; /* planes for each task: then rows stay where they begin */
    const dvec *x = rows->x;
    const uint64_t size = (uint64_t)x->env->size, all = rows->outer * rows->inner, plane = rows->count * rows->inner;
    dome_span *shares = g_new0(dome_span, 2 * (gsize)size);
    dome_span *parts = dvec__parts_of(x, 1);
    for (uint64_t r = 0; r < size; r++) {
        if (x->distribution == DOME_WHOLE)
            shares[2 * r] = (dome_span){0, all};
        else if (rows->outer >= ENOUGH * size && plane > 0)
            for (uint64_t k = 2 * r; k < 2 * r + 2; k++) {
                const uint64_t first = rows_before(parts[k].first, plane, rows->inner);
                shares[k] = (dome_span){first, rows_before(parts[k].first + parts[k].count, plane, rows->inner) - first};
            }
        else
            shares[2 * r] = (dome_span){all / size * r + MIN(r, all % size), all / size + (r < all % size)};
    }
    g_free(parts);
    return shares;
}

/* The rows as a box: from their places in the array to their places one after the other. */
static dvec_box box_of(const dvec_rows *rows)
{
    const int64_t count = (int64_t)rows->count, inner = (int64_t)rows->inner;
    return (dvec_box){.ndim = 3,
                      .extent = {rows->outer, rows->inner, rows->count},
                      .to_stride = {inner * count, count, 1},
                      .from_stride = {inner * count, 1, inner}};
}

/* The parts of rows in values. */
static dome_span *values_of(const dvec_rows *rows, const dome_span *shares)
{
    const int n = 2 * rows->x->env->size;
    dome_span *parts = g_new(dome_span, n);
    for (int k = 0; k < n; k++)
        parts[k] = (dome_span){shares[k].first * rows->count, shares[k].count * rows->count};
    return parts;
}

static bool is_empty(const dvec_rows *rows)
{
    return rows->outer == 0 || rows->count == 0 || rows->inner == 0;
}

int dvec__gather_rows(const dvec_rows *rows, const dome_span *shares, char **values)
{
    const dvec *x = rows->x;
    const dome_span *own = shares + 2 * x->env->rank;
    const uint64_t count = (own[0].count + own[1].count) * rows->count;
    *values = dome__storage_raw(count * DVEC_VALUE(x), NULL);
    int status = dvec__agree_memory(x, *values || count == 0, "rows along an axis");
    if (status != DOME_OK || is_empty(rows))
        return status;
    dvec_box box = box_of(rows);
    dome_span *parts = values_of(rows, shares);
    dvec__join_axes(&box);
    status = dvec__move_boxes(&(dvec_box_move){.x = x, .from = x->data, .to = *values, .parts = parts, .box = &box, .nboxes = 1});
    g_free(parts);
    return status;
}

int dvec__scatter_rows(dvec *z, const dvec_rows *rows, const dome_span *shares, const char *values)
{
    if (is_empty(rows))
        return DOME_OK;
    const dvec_box from = box_of(rows);
    dvec_box box = from;
    memcpy(box.to_stride, from.from_stride, sizeof box.to_stride);
    memcpy(box.from_stride, from.to_stride, sizeof box.from_stride);
    dvec__join_axes(&box);
    dome_span *parts = dvec__parts_of(z, 1), *sources = values_of(rows, shares);
    const int status = dvec__move_boxes(
        &(dvec_box_move){.x = z, .from = values, .sources = sources, .to = z->data, .parts = parts, .box = &box, .nboxes = 1});
    g_free(parts);
    g_free(sources);
    return status;
}
