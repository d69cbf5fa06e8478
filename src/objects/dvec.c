#include "core/layout.h"
#include "core/object_private.h"
#include "core/type_private.h"
#include "eval/eval.h"
#include "objects/dvec_help.h"
#include "objects/dvec_mapped.h"
#include "objects/dvec_private.h"
#include "system/checksum.h"
#include "system/sized.h"
#include "transport/agree.h"
#include "transport/ahead.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void forget_sums(dvec *x)
{
    for (unsigned mark = 0; mark < DOME_MARKS; mark++)
        g_clear_pointer(&x->sums[mark], g_free);
}

void dvec__replace(dvec *x, void *data)
{
    if (x->lent) /* the program could write to it until now */
        dvec__written(x);
    x->lent = false;
    forget_sums(x);
    dome__storage_retire(x->data, dvec_name(x));
    x->data = data;
}

/* The storage of vectors whose data may move is larger by this fraction of its size. That is address space only: unused pages
 * take no memory. */
#define GROWTH_PART 4

/* Alignment of storage. */
#define ALIGNED 64

/* ---- state ---- */

int dvec__agree(dome_env *env, int status, const char *text)
{
    if (dome__errors_returned(env))
        return dome__agree(env, status, text);
    return status == DOME_OK ? DOME_OK : dome__fail(env, status, "%s", text ? text : dome_status_text(status));
}

/* A caller that asks for values in memory reads them, even if they were there already. */
static void note_read(const dvec *x)
{
    x->lazy->unread = false;
}

void dvec__complete(const dvec *x)
{
    note_read(x);
    if (x->lazy->pending > 0)
        dome__eval_run(x->env, x);
}

void dvec__renew(dvec *x)
{
    note_read(x);
    if (x->lazy->pending > 0)
        dome__eval_forget(x->env, x);
}

/* Reports the failure of values that all tasks need. */
static int report(dome_env *env, dome_failure *failure)
{
    return dome__errors_returned(env) ? dome__failure_agree(env, failure) : dome__failure_report(env, failure);
}

int dvec__settle(const dvec *x, const dvec *y)
{
    dvec__complete(x);
    if (y)
        dvec__complete(y);
    return report(x->env, dome__failure_first(x->lazy->failure, y ? y->lazy->failure : NULL));
}

int dvec__settle_read(const dvec *x)
{
    note_read(x);
    if (x->lazy->pending > 0)
        dome__eval_read(x->env, x);
    return report(x->env, x->lazy->failure);
}

int dvec__agree_memory(const dvec *x, bool have, const char *what)
{
    char *text = have ? NULL : g_strdup_printf("no memory for %s of '%s'", what, dvec_name(x));
    int status = dvec__agree(x->env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    return status;
}

void dvec__overwritten(dvec *x)
{
    dvec__written(x);
    dome__eval_set_failure(x, NULL);
}

void dvec__written_in_part(dvec *x)
{
    x->version++;
}

void dvec__written_block(dvec *x, uint64_t block)
{
    x->version++;
    if (x->dirty)
        x->dirty[dome__layout_position_of(x->layout, x->layout_rank, block)] = DOME_WRITTEN;
}

void dvec__lend(dvec *x)
{
    dvec__written(x);
    x->lazy->pointed = true;
    x->lent = x->distribution != DOME_DYNAMIC; /* the program cannot keep pointers to data that moves */
}

void dvec__no_spans(dvec_span spans[2])
{
    static _Alignas(ALIGNED) char nothing[ALIGNED];
    spans[0] = spans[1] = (dvec_span){nothing, 0, 0};
}

int dvec__spans(const dvec *x, dvec_span spans[2])
{
    dome_span ranges[2];
    int count = dome_layout_spans(x->layout, x->layout_rank, ranges);
    char *data = x->data;
    dvec__no_spans(spans);
    for (int s = 0; s < count; s++) {
        spans[s] = (dvec_span){data, ranges[s].first, ranges[s].count};
        data += ranges[s].count * DVEC_ELEMENT(x);
    }
    return count;
}

int dvec__conforms(const dvec *z, const dvec *x, bool same_type, bool same_width)
{
    dome_env *env = z->env;

    if (!x)
        return dome__fail(env, DOME_ERR_ARGUMENT, "an operand is NULL");
    if (x == z)
        return DOME_OK;
    if (x->env != env)
        return dome__fail(env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x));
    if (same_type && x->type != z->type && !dome_type_equal(x->type, z->type))
        return dome__fail(env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x), x->type->name, dvec_name(z),
                          z->type->name);
    if (x->length != z->length)
        return dome__fail(env, DOME_ERR_SHAPE, "'%s' has %" G_GUINT64_FORMAT " elements, but '%s' %" G_GUINT64_FORMAT,
                          dvec_name(x), x->length, dvec_name(z), z->length);
    if (same_width && x->width != z->width)
        return dome__fail(env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT, dvec_name(x),
                          x->width, dvec_name(z), z->width);
    uint64_t xblock = 0, zblock = 0;
    if (x->layout != z->layout) {
        xblock = dome_layout_block_size(x->layout);
        zblock = dome_layout_block_size(z->layout);
    }
    if (xblock != zblock)
        return dome__fail(env, DOME_ERR_SHAPE,
                          "'%s' has blocks of %" G_GUINT64_FORMAT " elements, but '%s' of %" G_GUINT64_FORMAT, dvec_name(x),
                          xblock, dvec_name(z), zblock);
    if (x->distribution != z->distribution && x->distribution != DOME_WHOLE)
        return dome__fail(env, DOME_ERR_LAYOUT, "'%s' is %s, but '%s' %s", dvec_name(x), dome__distribution_name(x->distribution),
                          dvec_name(z), dome__distribution_name(z->distribution));
    return DOME_OK;
}

/* One element for all of z's. */
static int conforms_alone(const dvec *z, const dvec *x, bool same_type, bool same_width)
{
    if (x->env != z->env)
        return dome__fail(z->env, DOME_ERR_ARGUMENT, "'%s' belongs to another environment", dvec_name(x));
    if (x->distribution != DOME_WHOLE)
        return dome__fail(z->env, DOME_ERR_SHAPE,
                          "'%s' has 1 element, but '%s' %" G_GUINT64_FORMAT " (one element is repeated if it is DOME_WHOLE)",
                          dvec_name(x), dvec_name(z), z->length);
    if (same_width && x->width != 1 && x->width != z->width)
        return dome__fail(z->env, DOME_ERR_SHAPE, "'%s' has width %" G_GUINT64_FORMAT ", but '%s' %" G_GUINT64_FORMAT,
                          dvec_name(x), x->width, dvec_name(z), z->width);
    if (same_type && !dome_type_equal(x->type, z->type))
        return dome__fail(z->env, DOME_ERR_TYPE, "'%s' has type %s, but '%s' %s", dvec_name(x), x->type->name, dvec_name(z),
                          z->type->name);
    return DOME_OK;
}

int dvec__conforms_repeated(const dvec *z, const dvec *x, bool same_type, bool same_width)
{
    if (x && dvec__alone(z, x))
        return conforms_alone(z, x, same_type, same_width);
    return dvec__conforms(z, x, same_type, same_width && !(x && x->width == 1));
}

/* ---- operation table ---- */

static dvec *self(const dome_object *object)
{
    return dome_object_content(object);
}

static dome_status vec_describe(const dome_object *object, dome_object_info *info)
{
    const dvec *x = self(object);
    *info = (dome_object_info){.type = x->type,
                               .length = x->length,
                               .width = x->width,
                               .distribution = x->distribution,
                               .layout = x->layout,
                               .ndim = x->ndim,
                               .shape = x->shape};
    return DOME_OK;
}

static dome_status vec_reshape(dome_object *object, int ndim, const uint64_t shape[])
{
    dvec *x = self(object);
    if (!dvec__shape_fits(x, ndim, shape))
        return DOME_ERR_SHAPE;
    dvec__take_shape(x, ndim, shape);
    return DOME_OK;
}

/* As dvec__complete, but for a use of the whole vector that does not count as reading its values. */
static void run_recorded(const dvec *x)
{
    if (x->lazy->pending > 0)
        dome__eval_run(x->env, x);
}

static dome_status vec_sync(dome_object *object)
{
    run_recorded(self(object));
    return self(object)->lazy->failure ? DOME_ERR_RANGE : DOME_OK;
}

/* A run of blocks as elements; false unless this task owns them all. local: their position in memory. */
static bool owned(const dvec *x, uint64_t first, uint64_t count, dome_span *elements, uint64_t *local)
{
    uint64_t blocks = dome_layout_blocks(x->layout);
    *elements = (dome_span){0, 0};
    *local = 0;
    if (first > blocks || count > blocks - first)
        return false;
    if (count == 0)
        return true;
    dome_span begin = dome_layout_block(x->layout, first), end = dome_layout_block(x->layout, first + count - 1);
    *elements = (dome_span){begin.first, end.first + end.count - begin.first};
    *local = dome_layout_position(x->layout, x->layout_rank, begin.first);
    uint64_t last = dome_layout_position(x->layout, x->layout_rank, end.first + end.count - 1);
    return *local != UINT64_MAX && last != UINT64_MAX && last - *local == elements->count - 1;
}

static dome_status vec_packed_bytes(const dome_object *object, uint64_t first, uint64_t count, dome_format format,
                                    uint64_t *bytes)
{
    const dvec *x = self(object);
    dome_span elements;
    uint64_t local;
    if (!owned(x, first, count, &elements, &local))
        return DOME_ERR_ARGUMENT;
    *bytes = elements.count * x->width * dome_type_bytes(x->type, format);
    return DOME_OK;
}

static dome_status vec_pack(const dome_object *object, uint64_t first, uint64_t count, dome_format format, void *buffer,
                            uint64_t bytes)
{
    const dvec *x = self(object);
    dome_span elements;
    uint64_t local;
    if (!owned(x, first, count, &elements, &local) || bytes != elements.count * x->width * dome_type_bytes(x->type, format))
        return DOME_ERR_ARGUMENT;
    run_recorded(x);
    if (elements.count > 0)
        dome_type_pack(x->type, format, buffer, x->data + local * DVEC_ELEMENT(x), (size_t)(elements.count * x->width));
    return DOME_OK;
}

static dome_status vec_unpack(dome_object *object, uint64_t first, uint64_t count, dome_format format, const void *buffer,
                              uint64_t bytes)
{
    dvec *x = self(object);
    dome_span elements;
    uint64_t local;
    if (!owned(x, first, count, &elements, &local))
        return DOME_ERR_ARGUMENT;
    if (bytes != elements.count * x->width * dome_type_bytes(x->type, format))
        return DOME_ERR_FORMAT;
    run_recorded(x);
    if (elements.count == 0)
        return DOME_OK;
    dome_type_unpack(x->type, format, x->data + local * DVEC_ELEMENT(x), buffer, (size_t)(elements.count * x->width));
    x->version++;
    if (x->dirty)
        for (uint64_t k = 0; k < count; k++)
            x->dirty[dome__layout_position_of(x->layout, x->layout_rank, first + k)] = DOME_WRITTEN;
    return DOME_OK;
}

/* The flags of the blocks under a new layout: gained blocks count as changed, since only the old owner knew. */
static uint8_t *adopted_dirty(const dvec *x, const dome_layout *layout)
{
    uint64_t count = dome_layout_run(layout, x->layout_rank, NULL), was = dome_layout_run(x->layout, x->layout_rank, NULL);
    uint8_t *dirty = x->dirty && count > 0 ? g_try_malloc((gsize)count) : NULL;

    for (uint64_t k = 0; dirty && k < count; k++) {
        uint64_t block = dome__layout_block_at(layout, x->layout_rank, k);
        uint64_t at = dome__layout_position_of(x->layout, x->layout_rank, block);
        dirty[k] = at < was ? x->dirty[at] : DOME_WRITTEN;
    }
    return dirty;
}

/* The elements of a task in its memory. */
typedef struct own_spans {
    dome_span span[2];
    int count;
} own_spans;

static own_spans own_spans_of(const dvec *x, const dome_layout *layout)
{
    own_spans own = {.count = 0};
    own.count = dome_layout_spans(layout, x->layout_rank, own.span);
    return own;
}

/* Copies the elements that the task keeps from the old spans to the new ones. */
static void copy_kept(char *to, const own_spans *becomes, const char *from, const own_spans *was, uint64_t element)
{
    for (int i = 0; i < becomes->count; i++) {
        const dome_span next = becomes->span[i];
        const char *source = from;
        for (int j = 0; j < was->count; j++) {
            const dome_span old = was->span[j];
            uint64_t begin = MAX(old.first, next.first), end = MIN(old.first + old.count, next.first + next.count);
            char *there = to + (begin - next.first) * element;
            const char *here = source + (begin - old.first) * element;
            if (begin < end && there != here)
                memmove(there, here, (size_t)((end - begin) * element));
            source += old.count * element;
        }
        to += next.count * element;
    }
}

static char *storage_for(const dvec *x, const dome_layout *layout)
{
    uint64_t local = dome_layout_local(layout, x->layout_rank), bytes;
    if (__builtin_mul_overflow(local, (uint64_t)DVEC_ELEMENT(x), &bytes))
        return NULL;
    return dome__storage_raw(bytes + bytes / GROWTH_PART, NULL);
}

/* Chooses the memory for the values under a new layout before they arrive: x's present storage, if it has room at the end at
 * which the run grows. */
static void find_next(dvec *x, const dome_layout *layout)
{
    x->next_here = true;
    dome_span was[2], becomes[2];
    int nwas = dome_layout_spans(x->layout, x->layout_rank, was);
    if (nwas == 1 && dome_layout_spans(layout, x->layout_rank, becomes) == 1 && !x->env->options.check_pointers) {
        uint64_t element = DVEC_ELEMENT(x), end = was->first + was->count, gained = was->first - becomes->first;
        if (becomes->first == was->first && becomes->count > was->count &&
            becomes->count <= dome__storage_capacity(x->data) / element)
            x->next = x->data;
        else if (becomes->first < was->first && becomes->first + becomes->count == end && gained * element % ALIGNED == 0 &&
                 gained <= dome__storage_before(x->data) / element)
            x->next = dome__storage_slide(x->data, -(int64_t)(gained * element));
    }
    if (!x->next) {
        x->next = storage_for(x, layout);
        x->next_here = false;
    }
}

/* The position of x's values under a new layout within the present storage, or NULL if they need other storage. */
static char *place_within(const dvec *x, const dome_span *was, const dome_span *becomes, uint64_t bytes)
{
    uint64_t offset = (becomes->first - was->first) * DVEC_ELEMENT(x);
    bool shrinks = becomes->first >= was->first && becomes->first + becomes->count <= was->first + was->count;
    if (shrinks && becomes->count && offset % ALIGNED == 0)
        return dome__storage_slide(x->data, (int64_t)offset);
    return bytes <= dome__storage_capacity(x->data) ? x->data : NULL;
}

/* Makes x's storage fit another layout. Memory that has been in use is faster than fresh pages: a contiguous run that fits stays
 * where it is, and new storage has some room to grow. */
static int take_layout(dvec *x, const dome_layout *layout)
{
    const own_spans was = own_spans_of(x, x->layout), becomes = own_spans_of(x, layout);
    bool stays = was.count == becomes.count;
    for (int s = 0; s < was.count && stays; s++)
        stays = was.span[s].first == becomes.span[s].first && was.span[s].count == becomes.span[s].count;
    bool fresh = x->env->options.check_pointers;
    if (stays && !fresh)
        return DOME_OK;

    uint64_t local = dome_layout_local(layout, x->layout_rank), element = DVEC_ELEMENT(x), bytes;
    if (__builtin_mul_overflow(local, element, &bytes))
        return DOME_ERR_MEMORY;
    char *data = x->next;
    bool here = data && x->next_here;
    if (!data && !fresh && was.count == 1 && becomes.count == 1)
        here = (data = place_within(x, was.span, becomes.span, bytes)) != NULL;
    if (!data)
        data = storage_for(x, layout);
    if (bytes > 0 && !data)
        return DOME_ERR_MEMORY;
    copy_kept(data, &becomes, x->data, &was, element);
    if (here)
        x->data = data;
    else
        dvec__replace(x, data);
    x->next = NULL;
    x->local = local;
    return DOME_OK;
}

static dome_status vec_adopt(dome_object *object, const dome_layout *layout)
{
    dvec *x = self(object);
    if (x->distribution != DOME_DYNAMIC && !dome_layout_equal(layout, x->layout))
        return DOME_ERR_STATE;
    if (!layout || dome_layout_length(layout) != x->length ||
        dome_layout_block_size(layout) != dome_layout_block_size(x->layout) ||
        dome_layout_tasks(layout) != dome_layout_tasks(x->layout))
        return DOME_ERR_ARGUMENT;
    run_recorded(x);
    int status = take_layout(x, layout);
    if (status != DOME_OK)
        return status;
    x->version++;
    uint8_t *dirty = adopted_dirty(x, layout);
    g_free(x->dirty);
    x->dirty = dirty;
    forget_sums(x); /* block positions have changed */
    dome_layout *old = x->layout;
    x->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    return DOME_OK;
}

/* What is kept of the values, or for this layout. */
static void forget_kept(dvec *x)
{
    dvec_lazy *lazy = x->lazy;
    dome__storage_retire(g_steal_pointer(&lazy->whole), dvec_name(x));
    dome__storage_retire(g_steal_pointer(&lazy->halo), dvec_name(x));
    dome_layout_unref(g_steal_pointer(&lazy->halo_layout));
    g_clear_pointer(&lazy->exchange_counts, g_free);
    lazy->exchange_steady = false;
    g_clear_pointer(&lazy->text, g_free);
    g_clear_pointer(&lazy->mapped, g_free);
    g_clear_pointer(&x->dirty, g_free);
}

static dome_status vec_enter(dome_object *object, const dome_layout *layout)
{
    dvec *x = self(object);
    const int rank = x->distribution == DOME_WHOLE ? 0 : x->env->rank;
    const uint64_t local = dome_layout_local(layout, rank);
    uint64_t bytes;
    if (__builtin_mul_overflow(local, (uint64_t)DVEC_ELEMENT(x), &bytes))
        return DOME_ERR_MEMORY;
    char *data = bytes > 0 ? dome__storage(bytes) : NULL;
    if (bytes > 0 && !data)
        return DOME_ERR_MEMORY;
    dome__eval_forget(x->env, x);
    forget_kept(x);
    dvec__replace(x, data);
    dome_layout *old = x->layout;
    x->layout = dome_layout_ref(layout);
    dome_layout_unref(old);
    x->layout_rank = rank;
    x->local = local;
    x->next = NULL;
    x->version++;
    return DOME_OK;
}

/* The checksum by which changes of lent blocks are found. */
static uint64_t block_sum(const dvec *x, uint64_t block)
{
    dome_span elements;
    uint64_t local;
    owned(x, block, 1, &elements, &local);
    return dome__checksum64(x->data + local * DVEC_ELEMENT(x), (size_t)(elements.count * DVEC_ELEMENT(x)));
}

static bool is_written(const void *vector, unsigned mark, uint64_t block)
{
    const dvec *x = vector;
    if (!x->dirty)
        return true;
    const uint64_t at = dome__layout_position_of(x->layout, x->layout_rank, block), *sums = x->sums[mark];
    if (x->dirty[at] & DOME_MARK_BIT(mark) || (x->lent && dome__mark_estimates(x->env, mark)))
        return true;
    return x->lent && !(sums && sums[at] == block_sum(x, block));
}

/* The checksums of this task's blocks, in the order of its run; NULL when memory is out. */
static uint64_t *block_sums(const dvec *x, uint64_t blocks)
{
    uint64_t *sums = g_try_new(uint64_t, (gsize)blocks);
    for (uint64_t k = 0; sums && k < blocks; k++)
        sums[k] = block_sum(x, dome__layout_block_at(x->layout, x->layout_rank, k));
    return sums;
}

/* Without memory for flags or checksums all blocks count as written, which is safe. */
static void set_mark(dvec *x, unsigned mark)
{
    const uint64_t blocks = dome_layout_run(x->layout, x->layout_rank, NULL);
    if (!x->dirty && blocks > 0 && (x->dirty = g_try_malloc((gsize)blocks)))
        memset(x->dirty, DOME_WRITTEN, (size_t)blocks);
    for (uint64_t k = 0; x->dirty && k < blocks; k++)
        x->dirty[k] &= (uint8_t)~DOME_MARK_BIT(mark);
    g_free(x->sums[mark]);
    x->sums[mark] = x->lent && blocks > 0 && !dome__mark_estimates(x->env, mark) ? block_sums(x, blocks) : NULL;
}

static dome_status vec_delta(dome_object *object, unsigned mark, dome_delta_visit visit, void *ctx)
{
    dvec *x = self(object);
    run_recorded(x);
    if (!visit)
        return set_mark(x, mark), DOME_OK;
    return dome__marked_visit(&(dome_marked){x->layout, x->layout_rank, is_written, x, mark}, visit, ctx);
}

/* The memory for blocks that arrive under a new layout. */
static char *place_in_next(dvec *x, const dome_layout *layout, uint64_t first)
{
    uint64_t at = dome_layout_position(layout, x->layout_rank, dome_layout_block(layout, first).first);
    if (!x->next)
        find_next(x, layout);
    return x->next && at != UINT64_MAX ? x->next + at * DVEC_ELEMENT(x) : NULL;
}

static void *vec_place(dome_object *object, const dome_layout *layout, uint64_t first, uint64_t count)
{
    dvec *x = self(object);
    dome_span elements;
    uint64_t local;
    if (layout)
        return place_in_next(x, layout, first);
    if (!owned(x, first, count, &elements, &local))
        return NULL;
    return x->data + local * DVEC_ELEMENT(x);
}

static const void *vec_values(const dome_object *object, uint64_t first, uint64_t count)
{
    const dvec *x = self(object);
    dome_span elements;
    uint64_t local;
    if (!owned(x, first, count, &elements, &local) || elements.count == 0)
        return NULL;
    return x->data + local * DVEC_ELEMENT(x);
}

static void vec_destroy(dome_object *object)
{
    dvec *x = self(object);
    dome__eval_forget(x->env, x);
    dome__storage_retire(x->data, dvec_name(x));
    dome_layout_unref(x->layout);
    forget_sums(x);
    forget_kept(x);
    dome__bury(x->env, x);
}

static const dome_object_ops vec_ops = {
    .size = sizeof(dome_object_ops),
    .kind = "dvec",
    .describe = vec_describe,
    .sync = vec_sync,
    .packed_bytes = vec_packed_bytes,
    .pack = vec_pack,
    .unpack = vec_unpack,
    .adopt = vec_adopt,
    .destroy = vec_destroy,
    .values = vec_values,
    .place = vec_place,
    .reshape = vec_reshape,
    .delta = vec_delta,
    .enter = vec_enter,
};

bool dvec__is(const dome_object *object)
{
    return dome_object_operations(object) == &vec_ops;
}

/* ---- life ---- */

static dvec *vec_alloc(dome_env *env, dome_type type, uint64_t n, const dvec_options *options)
{
    struct {
        dvec x;
        dvec_lazy lazy;
    } *both = g_malloc0(sizeof *both);
    dvec *x = &both->x;
    x->lazy = &both->lazy;
    x->env = env;
    x->type = type;
    x->length = n;
    x->width = options && options->width ? options->width : 1;
    x->distribution = options ? options->distribution : DOME_DYNAMIC;
    uint64_t block = options && options->block ? options->block : dome_block_size(n);

    switch (x->distribution) {
    case DOME_DYNAMIC:
        x->layout = dome_layout_ref(dome_env_layout(env, n, block));
        break;
    case DOME_BLOCK:
        x->layout = dome_layout_even(n, block, env->size);
        break;
    case DOME_WHOLE:
        x->layout = dome_layout_even(n, block, 1);
        break;
    }
    x->layout_rank = x->distribution == DOME_WHOLE ? 0 : env->rank;
    return x;
}

static int check_new(dome_env *env, const char *name, dome_type type, uint64_t n, const dvec_options *options)
{
    uint64_t positions;
    if (!name || !*name)
        name = "the vector";
    if (!type)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s has no type", name);
    if (n > INT64_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s cannot have a length of %" PRIu64 " (%" PRId64 " as a signed number)", name,
                          n, (int64_t)n);
    if (!options)
        return DOME_OK;
    if (options->width > PTRDIFF_MAX)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s cannot have a width of %zu (%td as a signed number)", name, options->width,
                          (ptrdiff_t)options->width);
    if ((unsigned)options->distribution > DOME_WHOLE)
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: %d is not a distribution", name, (int)options->distribution);
    if (options->block & (options->block - 1))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: block size %" G_GUINT64_FORMAT " is not a power of two", name,
                          options->block);
    if (__builtin_mul_overflow(n, (uint64_t)options->width, &positions))
        return dome__fail(env, DOME_ERR_ARGUMENT, "%s: %" G_GUINT64_FORMAT " elements of %zu values are more than can be counted",
                          name, n, options->width);
    return DOME_OK;
}

/* Fresh memory is 0 already. Memory that has been in use is zeroed only when it is read, which is never if it is written first.
 */
static void make_zero(dvec *x)
{
    dome_eval_op work = {.code = DOME_OP_DVEC_FILL, .out = x};
    if (dome_type_kind_of(x->type) == DOME_KIND_STRUCT)
        work.value = g_malloc0(DVEC_VALUE(x));
    dome__eval_record(x->env, &work);
}

static const char *why_failed(const dome_object *object)
{
    const dvec *x = dome_object_content(object);
    return x->lazy->failure ? x->lazy->failure->text : NULL;
}

bool dvec__options(const dvec_options **options, dvec_options *copy)
{
    const dvec_options *given = *options;
    if (!given)
        return true;
    *options = copy;
    bool known = dome__sized_copy(copy, sizeof *copy, given, given->size, sizeof(dvec_options));
    copy->size = known ? sizeof *copy : given->size;
    return known;
}

dome_status dvec__unknown_options(dome_env *env, const dvec_options *options)
{
    return dome__fail(env, DOME_ERR_ARGUMENT,
                      "the options have size %zu instead of %zu, or one that this library does not know: use DVEC_OPTIONS",
                      options->size, sizeof *options);
}

/* like: NULL, or a vector whose shape the new one gets, unless a checkpoint has another one for it. */
static dvec *new_vector(dome_env *env, const char *name, dome_type type, uint64_t n, const dvec_options *options,
                        const dvec *like)
{
    dvec_options copy;
    const bool known = dvec__options(&options, &copy);
    dome_operation op;
    uint64_t words[6] = {dome__text_word(env, name), n, dome__type_word(env, type)};
    if (options)
        memcpy(&words[3], (uint64_t[]){options->distribution, options->width, options->block}, 3 * sizeof *words);
    const dome_operation_code code = like ? DOME_OP_DVEC_NEW_LIKE : options ? DOME_OP_DVEC_NEW_WITH : DOME_OP_DVEC_NEW;
    dome__begin_with(&op, env, code, NULL, words, options ? 6 : 3);

    int status = known ? check_new(env, name, type, n, options) : (int)dvec__unknown_options(env, options);
    if (status != DOME_OK)
        return dome__end(&op, status), NULL;

    dvec *x = vec_alloc(env, type, n, options);
    if (like)
        dvec__take_shape(x, like->ndim, like->shape);
    uint64_t element, bytes = 0;
    bool zero = true;
    bool have = x->layout && !__builtin_mul_overflow(x->width, (uint64_t)type->size, &element);
    if (have) {
        x->local = dome_layout_local(x->layout, x->layout_rank);
        have = !__builtin_mul_overflow(x->local, element, &bytes);
    }
    if (have && bytes > 0) {
        bool grows = x->distribution == DOME_DYNAMIC && env->size > 1;
        x->data = dome__storage_raw(bytes + (grows ? bytes / GROWTH_PART : 0), &zero);
        have = x->data != NULL;
        if (have && !zero && dome_is_restarting(env)) { /* a restart may read its values from a file next */
            memset(x->data, 0, (size_t)bytes);
            zero = true;
        }
    }
    char *text =
        have ? NULL
             : g_strdup_printf("no memory for %" G_GUINT64_FORMAT " elements of %" G_GUINT64_FORMAT " values of type %s of '%s'",
                               x->local, x->width, type->name, name ? name : "");
    status = dvec__agree(env, have ? DOME_OK : DOME_ERR_MEMORY, text);
    g_free(text);
    if (status == DOME_OK) {
        x->object = dome_object_new(env, name, &vec_ops, x);
        if (!x->object)
            status = dome_error_status(env) ? dome_error_status(env) : DOME_ERR_NAME;
        else if (!zero)
            make_zero(x);
        if (x->object)
            dome__object_defers(x->object, why_failed);
    }
    if (status != DOME_OK) {
        dome__storage_free(x->data);
        dome_layout_unref(x->layout);
        g_free(x);
        x = NULL;
    }
    dome__end(&op, status);
    return x;
}

dvec *dvec_new_with(dome_env *env, const char *name, dome_type type, uint64_t n, const dvec_options *options)
{
    DOME_NEEDS(env, "the environment", NULL);
    return new_vector(env, name, type, n, options ? options : &(const dvec_options){.size = sizeof *options}, NULL);
}

dvec *dvec_new(dome_env *env, const char *name, dome_type type, uint64_t n)
{
    DOME_NEEDS(env, "the environment", NULL);
    return new_vector(env, name, type, n, NULL, NULL);
}

dvec *dvec_new_like(const dvec *x, const char *name)
{
    DOME_NEEDS(x, "the vector", NULL);
    dvec__id(x); /* refuses a freed vector */
    return new_vector(
        x->env, name, x->type, x->length,
        DVEC_OPTIONS(.distribution = x->distribution, .width = x->width, .block = dome_layout_block_size(x->layout)), x);
}

void dvec_free(dvec *x)
{
    if (!x)
        return;
    dome_operation op;
    dome_env *env = x->env;
    dome__begin(&op, env, DOME_OP_DVEC_FREE, x->object, 0);
    dome__eval_forget(env, x);
    op.object = NULL;
    dome_object_free(x->object);
    dome__end(&op, DOME_OK);
}

void dvec_discard(dvec *x)
{
    if (!x)
        return;
    dome_operation op;
    dome__enter_alone(&op, x->env, DOME_OP_DVEC_DISCARD);
    dvec__id(x); /* refuses a freed vector */
    dome__eval_discard(x->env, x);
    dome__end(&op, DOME_OK);
}

dome_env *dvec_env(const dvec *x)
{
    DOME_NEEDS(x, "the vector", NULL);
    return x->env;
}

const char *dvec_name(const dvec *x)
{
    DOME_NEEDS(x, "the vector", NULL);
    return dome_object_name(x->object);
}

dome_type dvec_type(const dvec *x)
{
    DOME_NEEDS(x, "the vector", NULL);
    return x->type;
}

uint64_t dvec_length(const dvec *x)
{
    DOME_NEEDS(x, "the vector", 0);
    return x->length;
}

size_t dvec_width(const dvec *x)
{
    DOME_NEEDS(x, "the vector", 0);
    return (size_t)x->width;
}

dome_distribution dvec_distribution(const dvec *x)
{
    DOME_NEEDS(x, "the vector", DOME_DYNAMIC);
    return x->distribution;
}

dome_object *dvec_object(const dvec *x)
{
    DOME_NEEDS(x, "the vector", NULL);
    return x->object;
}

/* ---- the local part ---- */

dome_status dvec_local_spans(dvec *x, dvec_span spans[2])
{
    DOME_NEEDS(spans, "the place for the spans", DOME_ERR_ARGUMENT);
    dvec__no_spans(spans);
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_LOCAL, x->object, 0);
    int status = dvec__settle(x, NULL);
    if (dome__end(&op, status) != DOME_OK)
        return status;
    dvec__lend(x);
    dvec__spans(x, spans);
    return DOME_OK;
}

dome_status dvec_local_spans_const(const dvec *x, dvec_span spans[2])
{
    DOME_NEEDS(spans, "the place for the spans", DOME_ERR_ARGUMENT);
    dvec__no_spans(spans);
    DOME_NEEDS(x, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, x->env, DOME_OP_DVEC_LOCAL_CONST, x->object, 0);
    int status = dvec__settle_read(x);
    if (dome__end(&op, status) == DOME_OK)
        dvec__spans(x, spans);
    return status;
}

static int map_check(dvec *out, dvec_kernel kernel, int nin, dvec *const in[])
{
    if (!kernel)
        return dome__fail(out->env, DOME_ERR_ARGUMENT, "there is no kernel");
    if (nin < 0 || nin > DVEC_MAP_MAX || (nin > 0 && !in))
        return dome__fail(out->env, DOME_ERR_ARGUMENT, "%d inputs: 0 to %d are possible", nin, DVEC_MAP_MAX);
    for (int i = 0; i < nin; i++) {
        int status = dvec__conforms(out, in[i], false, false);
        if (status == DOME_OK)
            status = dvec__settle_read(in[i]);
        if (status != DOME_OK)
            return status;
    }
    dvec__complete(out);
    return DOME_OK;
}

/* Calls the kernel once for every block. how: once for each span; what it has computed is then added up. */
enum { MAP_RUNS = 1, MAP_SUMS = 2 };

static void map_spans(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[], unsigned how)
{
    const bool runs = how & MAP_RUNS, sums = how & MAP_SUMS;
    dvec_span spans[2];
    uint64_t position = 0, most = runs ? UINT64_MAX : dome_layout_block_size(out->layout);
    int nspans = dvec__spans(out, spans);
    dome_block_clock clock;
    dome__block_clock_start(&clock, out->env, out->distribution == DOME_DYNAMIC && !runs ? out->layout : NULL);
    for (int s = 0; s < nspans; s++) {
        for (uint64_t done = 0, count; done < spans[s].count; done += count) {
            uint64_t first = spans[s].first + done;
            count = MIN(most, spans[s].count - done);
            const void *pointers[DVEC_MAP_MAX];
            for (int i = 0; i < nin; i++) {
                uint64_t at = in[i]->distribution == out->distribution ? position + done : first;
                pointers[i] = in[i]->data + at * DVEC_ELEMENT(in[i]);
            }
            kernel(ctx, first, (size_t)count, out->data + (position + done) * DVEC_ELEMENT(out), pointers);
            dome__block_clock_tick(&clock, first, count);
            if (sums)
                dvec__mapped_add(out, out->data + (position + done) * DVEC_ELEMENT(out), count);
            dome__ahead_poll(out->env->transport);
        }
        position += spans[s].count;
    }
    dome__block_clock_stop(&clock);
}

static uint64_t map_bytes(const dvec *out, int nin, dvec *const in[])
{
    uint64_t element = DVEC_ELEMENT(out);
    for (int i = 0; i < nin; i++)
        element += DVEC_ELEMENT(in[i]);
    return out->local * element;
}

size_t dvec__map_words(uint64_t words[1 + DVEC_MAP_MAX], int nin, dvec *const in[])
{
    size_t count = 0;
    words[count++] = (uint64_t)nin;
    for (int k = 0; in && k < nin && k < DVEC_MAP_MAX; k++)
        words[count++] = dvec__id(in[k]);
    return count;
}

dome_status dvec__refuse_list(dome_env *env, dome_operation_code code, const dome_object *object, size_t n)
{
    dome_operation op;
    dome__begin(&op, env, code, object, n);
    return dome__end(&op, dome__fail(env, DOME_ERR_ARGUMENT, "%zu vectors are more than a call takes, %d", n, DVEC_LIST_MOST));
}

/* Whether blocks can be computed by tasks that do not own them. */
static bool can_help(const dvec *out)
{
    return out->distribution != DOME_WHOLE && out->env->size > 1 && (out->env->transport->provider.can & DOME_TRANSPORT_PROBE);
}

/* code: the way of calling the kernel. */
static int map(dome_operation_code code, dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[])
{
    if (!out)
        return dvec__null(code, "a vector");
    dome_operation op;
    uint64_t words[1 + DVEC_MAP_MAX];
    dome__begin_with(&op, out->env, code, out->object, words, dvec__map_words(words, nin, in));

    int status = map_check(out, kernel, nin, in);
    if (status != DOME_OK)
        return dome__end(&op, status);
    const bool sums = code == DOME_OP_DVEC_MAP && dvec__mapped_begin(out);
    op.program = true;
    if (code == DOME_OP_DVEC_MAP_ANYWHERE && can_help(out))
        status = dvec__map_anywhere(out, kernel, ctx, nin, in);
    else
        map_spans(out, kernel, ctx, nin, in, (code == DOME_OP_DVEC_MAP_RUNS ? MAP_RUNS : 0) | (sums ? MAP_SUMS : 0));
    op.program = false;
    dvec__overwritten(out);
    if (code == DOME_OP_DVEC_MAP)
        dvec__mapped_end(out, sums);
    dome__count_bytes(&op, map_bytes(out, nin, in));
    return dome__end(&op, status);
}

dome_status dvec_map(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[])
{
    return map(DOME_OP_DVEC_MAP, out, kernel, ctx, nin, in);
}

dome_status dvec_map_runs(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[])
{
    return map(DOME_OP_DVEC_MAP_RUNS, out, kernel, ctx, nin, in);
}

dome_status dvec_map_anywhere(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[])
{
    return map(DOME_OP_DVEC_MAP_ANYWHERE, out, kernel, ctx, nin, in);
}
