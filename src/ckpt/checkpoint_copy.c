/* The state of the program: copying what has changed, and describing it. */
#include "ckpt/checkpoint_private.h"
#include "core/layout.h"
#include "core/object_private.h"
#include "transport/transport.h"

#include <stdio.h>
#include <string.h>

/* Room for the alignment of what is copied. */
enum { ROOM_FOR_RUN = 64 };

int dome__checkpoint_own_blocks(const dome_env *env, const dome_object_info *info, dome_span runs[2])
{
    int rank = env->rank;
    if (info->distribution == DOME_WHOLE) {
        uint64_t blocks = info->layout ? dome_layout_blocks(info->layout) : 1;
        uint64_t size = (uint64_t)env->size, most = blocks / size, left = blocks % size, r = (uint64_t)rank;
        runs[0] = (dome_span){r * most + MIN(r, left), most + (r < left)};
        return runs[0].count > 0;
    }
    return dome__layout_block_ranges(info->layout, rank, runs);
}

bool dome__checkpoint_is_fixed(const dome_object *object, const dome_object_info *info)
{
    return info->type && !dome__object_has_write(object);
}

static uint64_t block_elements(const dome_object_info *info, uint64_t block)
{
    return info->layout ? dome_layout_block(info->layout, block).count : info->length;
}

static char *because(const dome_object *object, const char *why)
{
    return g_strdup_printf("'%s' cannot be saved: %s", dome_object_name(object), why);
}

static char *cannot(const dome_object *object, int status)
{
    return because(object, dome_status_text(status));
}

/* A run of contiguous values is copied as it is, and converted later. */
static char *copy_values(dome_ckpt_snapshot *snapshot, const dome_object *object, const dome_object_info *info,
                         const void *values, dome_ckpt_run *run)
{
    uint64_t size = info->width * dome_type_size(info->type), bytes = 0;
    for (uint64_t k = 0; k < run->count; k++)
        bytes += block_elements(info, run->first + k) * size;
    char *to = dome__ckpt_snapshot_room(snapshot, bytes);
    if (!to)
        return cannot(object, DOME_ERR_MEMORY);
    memcpy(to, values, (size_t)bytes);
    run->type = info->type;
    uint64_t at = (uint64_t)(to - snapshot->buffer);
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block b = {.at = at, .bytes = block_elements(info, run->first + k) * size};
        at += b.bytes;
        g_array_append_val(snapshot->blocks, b);
    }
    return NULL;
}

static char *copy_written(dome_ckpt_snapshot *snapshot, const dome_object *object, const dome_ckpt_run *run)
{
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block b = {0};
        int status = dome_object_write_bytes(object, run->first + k, 1, &b.bytes);
        char *to = status == DOME_OK ? dome__ckpt_snapshot_room(snapshot, b.bytes) : NULL;
        if (status == DOME_OK && b.bytes > 0)
            status = to ? dome_object_write(object, run->first + k, 1, to, b.bytes) : DOME_ERR_MEMORY;
        if (status != DOME_OK)
            return cannot(object, status);
        b.at = to ? (uint64_t)(to - snapshot->buffer) : 0;
        g_array_append_val(snapshot->blocks, b);
    }
    return NULL;
}

static char *copy_run(dome_ckpt_snapshot *snapshot, const dome_object *object, const dome_object_info *info, uint64_t index,
                      dome_span blocks)
{
    dome_ckpt_run run = {.object = index, .first = blocks.first, .count = blocks.count, .blocks = snapshot->blocks->len};
    const void *values = dome__checkpoint_is_fixed(object, info) ? dome_object_values(object, blocks.first, blocks.count) : NULL;
    char *problem = values ? copy_values(snapshot, object, info, values, &run) : copy_written(snapshot, object, &run);
    g_array_append_val(snapshot->runs, run);
    return problem;
}

/* Copies the changed blocks of an object, or all of them. */
static char *copy_object(dome_env *env, dome_object *object, uint64_t index, bool full)
{
    dome_ckpt_snapshot *snapshot = &env->checkpoints->snapshot;
    dome_object_info info = {.size = sizeof info};
    dome_span runs[2];
    char *problem = NULL, *why = dome__object_settle(object);
    if (why) {
        problem = because(object, why);
        g_free(why);
        return problem;
    }
    int status = dome_object_describe(object, &info);
    int count = status == DOME_OK ? dome__checkpoint_own_blocks(env, &info, runs) : 0;
    for (int r = 0; r < count && status == DOME_OK && !problem; r++) {
        if (full) {
            problem = copy_run(snapshot, object, &info, index, runs[r]);
            continue;
        }
        bool *changed = g_new(bool, runs[r].count);
        status = dome_object_changed(object, runs[r].first, runs[r].count, changed);
        for (uint64_t k = 0, end; k < runs[r].count && status == DOME_OK && !problem; k = end) {
            end = k + 1;
            while (end < runs[r].count && changed[end] == changed[k])
                end++;
            if (changed[k])
                problem = copy_run(snapshot, object, &info, index, (dome_span){runs[r].first + k, end - k});
        }
        g_free(changed);
    }
    if (status == DOME_OK && !problem)
        status = dome_object_mark_saved(object);
    return problem || status == DOME_OK ? problem : cannot(object, status);
}

void dome__checkpoint_copy(dome_env *env, bool full)
{
    dome_ckpt_snapshot *snapshot = &env->checkpoints->snapshot;
    uint64_t index = 0;
    fflush(stdout); /* output printed before the checkpoint must not be printed again after a restart */
    dome__ckpt_snapshot_empty(snapshot);
    dome__env_settle(env); /* failures are found below, object by object */
    for (dome_object *o = NULL; !snapshot->problem && (o = dome_object_next(env, o));)
        if (dome__object_is_named(o))
            snapshot->problem = copy_object(env, o, index++, full);
    if (snapshot->problem) {
        char *text = g_strdup_printf("%s (task %d on host %s)", snapshot->problem, env->rank, env->hosts[env->rank]);
        g_free(snapshot->problem);
        snapshot->problem = text;
    }
}

dome_ckpt *dome__checkpoint_describe(dome_env *env, const char *program, uint64_t number, uint64_t loop, char **message)
{
    dome_ckpt *ckpt = dome__ckpt_new(program, number, loop);
    dome_object_info info = {.size = sizeof info};
    bool binds = false;
    for (dome_object *o = NULL; !*message && (o = dome_object_next(env, o));) {
        if (!dome__object_is_named(o) || dome_object_describe(o, &info) != DOME_OK)
            continue;
        binds |= dome__object_is_binding(o);
        const dome_ckpt_description description = {.name = dome_object_name(o),
                                                   .kind = dome_object_operations(o)->kind,
                                                   .type = info.type,
                                                   .length = info.length,
                                                   .width = info.width,
                                                   .distribution = info.distribution,
                                                   .block_size = info.layout ? dome_layout_block_size(info.layout) : 0,
                                                   .fixed = dome__checkpoint_is_fixed(o, &info),
                                                   .ndim = info.ndim,
                                                   .shape = info.shape};
        dome__ckpt_add_object(ckpt, &description, message);
    }
    if (binds && !*message)
        dome__ckpt_add_counter(ckpt, DOME_CKPT_TASKS, (uint64_t)env->size, message);
    return ckpt;
}

uint64_t dome__checkpoint_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome__object_is_named(o) && dome_object_describe(o, &info) == DOME_OK && info.type)
            bytes += info.length * info.width * dome_type_portable_size(info.type);
    return bytes;
}

uint64_t dome__checkpoint_own_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    dome_object_info info = {.size = sizeof info};
    dome_span runs[2];
    for (dome_object *o = NULL; (o = dome_object_next(env, o));) {
        if (!dome__object_is_named(o) || dome_object_describe(o, &info) != DOME_OK || !info.type)
            continue;
        int count = dome__checkpoint_own_blocks(env, &info, runs);
        for (int r = 0; r < count; r++) {
            dome_span last =
                info.layout ? dome_layout_block(info.layout, runs[r].first + runs[r].count - 1) : (dome_span){0, info.length};
            uint64_t first = info.layout ? dome_layout_block(info.layout, runs[r].first).first : 0;
            bytes += (last.first + last.count - first) * info.width * dome_type_size(info.type) + ROOM_FOR_RUN;
        }
    }
    return bytes;
}

bool dome__checkpoint_has_untyped(const dome_env *env)
{
    dome_object_info info = {.size = sizeof info};
    for (dome_object *o = NULL; (o = dome_object_next(env, o));)
        if (dome__object_is_named(o) && (dome_object_describe(o, &info) != DOME_OK || !info.type))
            return true;
    return false;
}
