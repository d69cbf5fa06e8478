#include "ckpt/state.h"

#include "core/layout.h"
#include "core/object_private.h"
#include "store/store.h"
#include "transport/agree.h"
#include "transport/collective.h"

static char *cannot(const char *object, const char *why)
{
    return g_strdup_printf("'%s' cannot be saved: %s", object, why);
}

char *dome__state_cannot(const char *object, int status)
{
    return cannot(object, dome_status_text((dome_status)status));
}

int dome__state_meet(dome_env *env)
{
    bool waits;
    int status = dome__objects_meet(env, true, &waits);
    if (status != DOME_OK || !waits)
        return status;
    status = dome__barrier(env->transport);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

char *dome__state_settle(dome_env *env)
{
    dome__env_settle(env); /* failures are found below, object by object */
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        char *problem = dome__object_is_named(o) ? dome__object_settle(o) : NULL;
        char *why = problem ? cannot(dome_object_name(o), problem) : NULL;
        g_free(problem);
        if (why)
            return why;
    }
    return NULL;
}

bool dome__state_is_fixed(const dome_object *object, const dome_object_info *info)
{
    return info->type && !dome__object_has_write(object);
}

int dome__state_blocks(const dome_env *env, int rank, dome_state_share share, const dome_object_info *info, dome_span runs[2])
{
    if (info->distribution != DOME_WHOLE)
        return dome__layout_block_ranges(info->layout, rank, runs);
    const uint64_t blocks = info->layout ? dome_layout_blocks(info->layout) : 1;
    const uint64_t size = (uint64_t)env->size, most = blocks / size, left = blocks % size, r = (uint64_t)rank;
    runs[0] = share == DOME_STATE_COMPLETE ? (dome_span){0, blocks} : (dome_span){r * most + MIN(r, left), most + (r < left)};
    return runs[0].count > 0;
}

/* ---- walking ---- */

static char *give_run(const dome_state_walk *w, const dome_state_item *item, dome_span run)
{
    char *why = NULL;
    if (w->sink->run)
        return w->sink->run(w->ctx, item, run);
    for (uint64_t b = run.first; !why && w->sink->block && b < run.first + run.count; b++)
        why = w->sink->block(w->ctx, item, b);
    return why;
}

/* The blocks of a run that this task writes. */
static char *give_own(const dome_state_walk *w, const dome_state_item *item, uint64_t first, uint64_t count)
{
    char *why = NULL;
    for (int r = 0; !why && r < item->nruns; r++) {
        const dome_span own = item->runs[r];
        const uint64_t begin = MAX(first, own.first), end = MIN(first + count, own.first + own.count);
        if (begin < end)
            why = give_run(w, item, (dome_span){begin, end - begin});
    }
    return why;
}

typedef struct visiting {
    const dome_state_walk *w;
    const dome_state_item *item;
    char *why;
} visiting;

static dome_status visit_run(void *ctx, uint64_t first, uint64_t count)
{
    visiting *v = ctx;
    v->why = give_own(v->w, v->item, first, count);
    return v->why ? DOME_ERR_STATE : DOME_OK;
}

static char *give_blocks(const dome_state_walk *w, const dome_state_item *item)
{
    if (!w->changed) {
        char *why = NULL;
        for (int r = 0; !why && r < item->nruns; r++)
            why = give_run(w, item, item->runs[r]);
        return why;
    }
    visiting v = {w, item, NULL};
    const dome_status status = dome_object_delta(item->object, w->mark, visit_run, &v);
    return v.why || status == DOME_OK ? v.why : dome__state_cannot(dome_object_name(item->object), status);
}

static char *give_object(const dome_state_walk *w, dome_object *object, uint64_t index)
{
    dome_state_item item = {.object = object, .info.size = sizeof item.info, .index = index};
    const dome_status status = dome_object_describe(object, &item.info);
    if (status != DOME_OK)
        return dome__state_cannot(dome_object_name(object), status);
    item.fixed = dome__state_is_fixed(object, &item.info);
    item.there = w->ckpt ? dome__ckpt_object(w->ckpt, index) : NULL;
    item.nruns = dome__state_blocks(w->env, w->env->rank, w->share, &item.info, item.runs);
    char *why = w->sink->begin ? w->sink->begin(w->ctx, &item) : NULL;
    if (!why && (w->sink->run || w->sink->block))
        why = give_blocks(w, &item);
    return !why && w->sink->end ? w->sink->end(w->ctx, &item) : why;
}

char *dome__state_walk(const dome_state_walk *w)
{
    char *why = NULL;
    uint64_t index = 0;
    for (dome_object *o = NULL; !why && (o = dome_object_next(w->env, o));)
        if (dome__object_is_named(o))
            why = give_object(w, o, index++);
    return why;
}

/* ---- describing ---- */

typedef struct describing {
    dome_ckpt *ckpt;
    bool binds; /* some object needs the present number of tasks */
} describing;

static char *describe(void *ctx, const dome_state_item *item)
{
    describing *d = ctx;
    const dome_object_info *info = &item->info;
    const dome_ckpt_description description = {.name = dome_object_name(item->object),
                                               .kind = dome_object_operations(item->object)->kind,
                                               .type = info->type,
                                               .length = info->length,
                                               .width = info->width,
                                               .distribution = info->distribution,
                                               .block_size = info->layout ? dome_layout_block_size(info->layout) : 0,
                                               .fixed = item->fixed,
                                               .ndim = info->ndim,
                                               .shape = info->shape};
    char *why = NULL;
    d->binds |= dome__object_is_binding(item->object);
    dome__ckpt_add_object(d->ckpt, &description, &why);
    return why;
}

dome_ckpt *dome__state_describe(const dome_env *env, const char *program, uint64_t number, uint64_t loop, char **why)
{
    static const dome_state_sink sink = {.begin = describe};
    describing d = {.ckpt = dome__ckpt_new(program, number, loop)};
    if (!*why)
        *why = dome__state_walk(&(dome_state_walk){.env = env, .sink = &sink, .ctx = &d});
    if (d.binds && !*why)
        dome__ckpt_add_counter(d.ckpt, DOME_CKPT_TASKS, (uint64_t)env->size, why);
    return d.ckpt;
}

/* ---- blocks ---- */

int dome__state_block(const dome_object *object, uint64_t block, void *to, uint64_t bytes, dome_checksum *sum)
{
    const int status = bytes > 0 ? dome_object_write(object, block, 1, to, bytes) : DOME_OK;
    *sum = dome__checksum(to, (size_t)bytes);
    return status;
}

bool dome__state_file_flush(dome_state_file *f, char **why)
{
    const bool good = f->used == 0 || dome__store_write(f->fd, f->buffer, f->used, f->offset, why);
    f->used = 0;
    return good;
}

char *dome__state_file_place(dome_state_file *f, const dome_ckpt_entry *e, char **why)
{
    if ((f->offset + f->used != e->offset || f->used + e->length > f->room) && !dome__state_file_flush(f, why))
        return NULL;
    if (f->used == 0)
        f->offset = e->offset;
    f->used += e->length;
    return f->buffer + f->used - e->length;
}

/* ---- a piece of one task ---- */

static void walk(dome_state_piece *p, const dome_env *env, const dome_state_sink *sink)
{
    if (!p->why)
        p->why = dome__state_walk(
            &(dome_state_walk){.env = env, .ckpt = p->ckpt, .share = DOME_STATE_COMPLETE, .sink = sink, .ctx = p});
}

static char *note_block(void *ctx, const dome_state_item *item, uint64_t block)
{
    dome_state_piece *p = ctx;
    dome_ckpt_entry *e = dome__ckpt_entry(p->ckpt, item->there, block);
    const int status = item->fixed ? DOME_OK : dome_object_write_bytes(item->object, block, 1, &e->length);
    e->source = p->ckpt->number;
    p->file.room = MAX(p->file.room, e->length);
    return status == DOME_OK ? NULL : dome__state_cannot(item->there->name, status);
}

static char *write_block(void *ctx, const dome_state_item *item, uint64_t block)
{
    dome_state_piece *p = ctx;
    dome_ckpt_entry *e = dome__ckpt_entry(p->ckpt, item->there, block);
    char *why = NULL, *to = dome__state_file_place(&p->file, e, &why);
    const int status = to ? dome__state_block(item->object, block, to, e->length, &e->sum) : DOME_OK;
    return status == DOME_OK ? why : dome__state_cannot(item->there->name, status);
}

void dome__state_piece_describe(dome_state_piece *p, dome_env *env, const char *program, uint64_t number, uint64_t loop)
{
    p->why = dome__state_settle(env);
    p->ckpt = dome__state_describe(env, program, number, loop, &p->why);
    p->ckpt->piece = (uint32_t)env->rank + 1;
    p->ckpt->pieces = (uint32_t)env->size;
    p->file.room = DOME_STATE_WRITE;
}

void dome__state_piece_plan(dome_state_piece *p, const dome_env *env)
{
    dome__ckpt_make_table(p->ckpt);
    walk(p, env, &(dome_state_sink){.block = note_block});
    if (!p->why)
        dome__ckpt_plan(p->ckpt, NULL, &p->why);
}

void dome__state_piece_room(dome_state_piece *p)
{
    if (!p->why && !(p->file.buffer = p->file.room <= G_MAXSIZE ? g_try_malloc((gsize)p->file.room) : NULL))
        p->why = g_strdup("there is no memory for a block");
}

void dome__state_piece_write(dome_state_piece *p, const dome_env *env)
{
    walk(p, env, &(dome_state_sink){.block = write_block});
    if (!p->why)
        dome__state_file_flush(&p->file, &p->why);
}
