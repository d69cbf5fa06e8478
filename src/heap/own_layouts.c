#include "heap/own_layouts.h"

#include "heap/heap.h"

#include <dome/capture.h>
#include <glib.h>

dome_capture_own_layout *dome__capture_own_layout(size_t k)
{
    dome_capture_held_layouts *l = &dome__capture_heap.own_layouts;
    return l->held && k < l->held->len ? &g_array_index(l->held, dome_capture_own_layout, k) : NULL;
}

/* SIZE_MAX: it is not held. They are few. */
static size_t find(const dome_layout *layout)
{
    dome_capture_held_layouts *l = &dome__capture_heap.own_layouts;
    for (size_t k = 0; l->held && k < l->held->len; k++)
        if (dome__capture_own_layout(k)->layout == layout)
            return k;
    return SIZE_MAX;
}

static dome_layout *hold(dome_layout *layout)
{
    if (!layout)
        return NULL;
    const size_t k = find(layout);
    if (k == SIZE_MAX)
        dome__capture_own_layout_restore(layout, 1);
    else
        dome__capture_own_layout(k)->references++;
    return layout;
}

void dome__capture_own_layout_restore(dome_layout *layout, uint64_t references)
{
    dome_capture_held_layouts *l = &dome__capture_heap.own_layouts;
    const dome_capture_own_layout one = {.layout = layout, .references = references};
    if (!l->held)
        l->held = g_array_new(FALSE, FALSE, sizeof one);
    g_array_append_val(l->held, one);
    for (uint64_t k = 1; k < references; k++)
        dome_layout_ref(layout);
}

void dome__capture_own_layouts_drop(size_t count)
{
    dome_capture_held_layouts *l = &dome__capture_heap.own_layouts;
    for (size_t k = MIN(count, l->held ? l->held->len : 0); k-- > 0;) {
        const dome_capture_own_layout one = *dome__capture_own_layout(k);
        for (uint64_t n = 0; n < one.references && !one.used; n++)
            dome_capture_layout_unref(one.layout);
    }
}

dome_layout *dome_capture_layout_new(uint64_t n, uint64_t block_size, int ntasks, uint64_t start, const uint64_t *counts)
{
    return hold(dome_layout_new(n, block_size, ntasks, start, counts));
}

dome_layout *dome_capture_layout_even(uint64_t n, uint64_t block_size, int ntasks)
{
    return hold(dome_layout_even(n, block_size, ntasks));
}

dome_layout *dome_capture_layout_ref(const dome_layout *layout)
{
    return hold(dome_layout_ref(layout));
}

void dome_capture_layout_unref(dome_layout *layout)
{
    dome_capture_held_layouts *l = &dome__capture_heap.own_layouts;
    const size_t k = layout ? find(layout) : SIZE_MAX;
    if (k != SIZE_MAX && --dome__capture_own_layout(k)->references == 0)
        g_array_remove_index(l->held, (guint)k);
    dome_layout_unref(layout);
}
