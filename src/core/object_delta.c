/* Blocks written since a mark, also of objects whose tables are from before there were several marks. */
#include "core/layout.h"
#include "core/marks.h"
#include "core/object_private.h"
#include "core/slot.h"
#include "system/unconst.h"

static bool is_written(const dome_marked *m, uint64_t block)
{
    return m->written(m->object, m->mark, block);
}

dome_status dome__marked_visit(const dome_marked *m, dome_delta_visit visit, void *ctx)
{
    dome_span runs[2];
    const int count = dome__layout_block_ranges(m->layout, m->rank, runs);
    dome_status status = DOME_OK;
    for (int r = 0; r < count; r++) {
        const uint64_t last = runs[r].first + runs[r].count;
        for (uint64_t b = runs[r].first, end; b < last && status == DOME_OK; b = end + 1) {
            for (end = b; end < last && is_written(m, end);)
                end++;
            if (end > b)
                status = visit(ctx, b, end - b);
        }
    }
    return status;
}

/* The blocks of this task. */
static int own_runs(const dome_object *object, dome_span runs[2])
{
    dome_object_info info = {.size = sizeof info};
    if (dome_object_describe(object, &info) != DOME_OK)
        return 0;
    if (info.distribution != DOME_WHOLE)
        return dome__layout_block_ranges(info.layout, object->env->rank, runs);
    runs[0] = (dome_span){0, info.layout ? dome_layout_blocks(info.layout) : 1};
    return runs[0].count > 0;
}

/* The runs of changed blocks in a run, by the older slot. */
static dome_status visit_changed(const dome_object *object, dome_span run, dome_delta_visit visit, void *ctx)
{
    bool *changed = g_new(bool, run.count);
    dome_status status = object->ops->changed(object, run.first, run.count, changed);
    for (uint64_t k = 0, end; k < run.count && status == DOME_OK; k = end) {
        for (end = k + 1; end < run.count && changed[end] == changed[k];)
            end++;
        if (changed[k])
            status = visit(ctx, run.first + k, end - k);
    }
    g_free(changed);
    return status;
}

static dome_status visit_older(const dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    const bool knows = mark == DOME_MARK_CHECKPOINT && SLOT(object, changed);
    dome_span runs[2];
    const int count = own_runs(object, runs);
    dome_status status = DOME_OK;
    for (int r = 0; r < count && status == DOME_OK; r++)
        status = knows ? visit_changed(object, runs[r], visit, ctx) : visit(ctx, runs[r].first, runs[r].count);
    return status;
}

dome_status dome_object_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    if (mark >= DOME_MARKS)
        return DOME_ERR_ARGUMENT;
    if (SLOT(object, delta))
        return object->ops->delta(object, mark, visit, ctx);
    if (visit)
        return visit_older(object, mark, visit, ctx);
    return mark == DOME_MARK_CHECKPOINT && SLOT(object, mark_saved) ? object->ops->mark_saved(object) : DOME_OK;
}

typedef struct answers {
    uint64_t first, count;
    bool *changed;
} answers;

static dome_status note(void *ctx, uint64_t first, uint64_t count)
{
    const answers *a = ctx;
    for (uint64_t b = MAX(first, a->first); b < MIN(first + count, a->first + a->count); b++)
        a->changed[b - a->first] = true;
    return DOME_OK;
}

/* Whether the blocks are this task's. */
static bool owns(const dome_object *object, uint64_t first, uint64_t count)
{
    dome_span runs[2];
    const int n = own_runs(object, runs);
    for (int r = 0; r < n; r++)
        if (first >= runs[r].first && first - runs[r].first < runs[r].count && count <= runs[r].count - (first - runs[r].first))
            return true;
    return count == 0;
}

dome_status dome_object_changed(const dome_object *object, uint64_t first, uint64_t count, bool *changed)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    DOME_NEEDS(changed || count == 0, "the place for the answers", DOME_ERR_ARGUMENT);
    if (!SLOT(object, delta) && SLOT(object, changed))
        return object->ops->changed(object, first, count, changed);
    if (SLOT(object, delta) && !owns(object, first, count))
        return DOME_ERR_ARGUMENT;
    for (uint64_t k = 0; k < count; k++)
        changed[k] = !SLOT(object, delta);
    answers asked = {first, count, changed};
    /* A visit changes nothing of the object. */
    return SLOT(object, delta) ? object->ops->delta(dome__unconst(object), DOME_MARK_CHECKPOINT, note, &asked) : DOME_OK;
}

dome_status dome_object_mark_saved(dome_object *object)
{
    DOME_NEEDS(object, "the object", DOME_ERR_ARGUMENT);
    return dome_object_delta(object, DOME_MARK_CHECKPOINT, NULL, NULL);
}
