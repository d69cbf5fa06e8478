#include "heap/own_layouts.h"

#include <dome/capture.h>
#include <glib.h>

static GArray *held; /* dome_capture_own_layout */

dome_capture_own_layout *dome__capture_own_layout(size_t k)
{
    return held && k < held->len ? &g_array_index(held, dome_capture_own_layout, k) : NULL;
}

/* SIZE_MAX: it is not held. They are few. */
static size_t find(const dome_layout *layout)
{
    for (size_t k = 0; held && k < held->len; k++)
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
    const dome_capture_own_layout one = {.layout = layout, .references = references};
    if (!held)
        held = g_array_new(FALSE, FALSE, sizeof one);
    g_array_append_val(held, one);
    for (uint64_t k = 1; k < references; k++)
        dome_layout_ref(layout);
}

void dome__capture_own_layouts_drop(size_t count)
{
    for (size_t k = MIN(count, held ? held->len : 0); k-- > 0;) {
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
    const size_t k = layout ? find(layout) : SIZE_MAX;
    if (k != SIZE_MAX && --dome__capture_own_layout(k)->references == 0)
        g_array_remove_index(held, (guint)k);
    dome_layout_unref(layout);
}
