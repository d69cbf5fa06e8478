/* Copying what has changed of the state, for a checkpoint that is written while the program goes on; and how large the state is.
 */
#include "ckpt/checkpoint_private.h"
#include "ckpt/state.h"
#include "core/object_private.h"
#include "transport/transport.h"

#include <stdio.h>
#include <string.h>

/* Room for the alignment of what is copied. */
enum { ROOM_FOR_RUN = 64 };

static uint64_t block_elements(const dome_object_info *info, uint64_t block)
{
    return info->layout ? dome_layout_block(info->layout, block).count : info->length;
}

static char *cannot(const dome_state_item *item, int status)
{
    return dome__state_cannot(dome_object_name(item->object), status);
}

/* Whether the values can be copied while the program goes on: they are in memory of this process alone. */
static bool later(const dome_state_item *item)
{
    const dome_env *env = dome_object_env(item->object);
    return env->options.checkpoint.copy == DOME_CHECKPOINT_ON_WRITE && !env->checkpoints->writing.unfrozen &&
           !dome__object_shares(item->object, env->rank);
}

/* A run of contiguous values is copied as it is, and converted later. */
static char *copy_values(dome_ckpt_snapshot *snapshot, const dome_state_item *item, const void *values, dome_ckpt_run *run)
{
    const dome_object_info *info = &item->info;
    uint64_t size = info->width * dome_type_size(info->type), bytes = 0;
    for (uint64_t k = 0; k < run->count; k++)
        bytes += block_elements(info, run->first + k) * size;
    char *to = dome__ckpt_snapshot_room(snapshot, bytes);
    if (!to)
        return cannot(item, DOME_ERR_MEMORY);
    if (later(item))
        dome__ckpt_snapshot_later(snapshot, to, values, bytes);
    else
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

static char *copy_written(dome_ckpt_snapshot *snapshot, const dome_state_item *item, const dome_ckpt_run *run)
{
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block b = {0};
        int status = dome_object_write_bytes(item->object, run->first + k, 1, &b.bytes);
        char *to = status == DOME_OK ? dome__ckpt_snapshot_room(snapshot, b.bytes) : NULL;
        if (status == DOME_OK && b.bytes > 0)
            status = to ? dome_object_write(item->object, run->first + k, 1, to, b.bytes) : DOME_ERR_MEMORY;
        if (status != DOME_OK)
            return cannot(item, status);
        b.at = to ? (uint64_t)(to - snapshot->buffer) : 0;
        g_array_append_val(snapshot->blocks, b);
    }
    return NULL;
}

static char *copy_run(void *ctx, const dome_state_item *item, dome_span blocks)
{
    dome_ckpt_snapshot *snapshot = ctx;
    dome_ckpt_run run = {.object = item->index, .first = blocks.first, .count = blocks.count, .blocks = snapshot->blocks->len};
    const void *values = item->fixed ? dome_object_values(item->object, blocks.first, blocks.count) : NULL;
    char *why = values ? copy_values(snapshot, item, values, &run) : copy_written(snapshot, item, &run);
    g_array_append_val(snapshot->runs, run);
    return why;
}

static char *set_mark(void *ctx, const dome_state_item *item)
{
    (void)ctx;
    const dome_status status = dome_object_delta(item->object, DOME_MARK_CHECKPOINT, NULL, NULL);
    return status == DOME_OK ? NULL : cannot(item, status);
}

/* Once this has failed it would do so again. */
static void freeze(dome_env *env)
{
    dome_checkpoints *c = env->checkpoints;
    const char *why;
    if (dome__ckpt_snapshot_freeze(&c->snapshot, &why))
        return;
    c->writing.unfrozen = true;
    dome__checkpoint_say(
        env,
        "--dome-checkpoint-copy=on-write: task %d on host %s copies before it goes on, as with =pre: the memory of "
        "the loop boundary cannot be kept: %s",
        env->rank, env->hosts[env->rank], why);
}

void dome__checkpoint_copy(dome_env *env, bool full)
{
    const bool basic = env->options.checkpoint.mode == DOME_CHECKPOINT_BASIC; /* nobody asks what has been written since */
    const dome_state_sink sink = {.run = copy_run, .end = basic ? NULL : set_mark};
    dome_ckpt_snapshot *snapshot = &env->checkpoints->snapshot;
    fflush(stdout); /* output printed before the checkpoint must not be printed again after a restart */
    dome__ckpt_snapshot_empty(snapshot);
    char *why = dome__state_settle(env);
    if (!why)
        why = dome__state_walk(
            &(dome_state_walk){.env = env, .changed = !full, .mark = DOME_MARK_CHECKPOINT, .sink = &sink, .ctx = snapshot});
    if (why)
        snapshot->problem = g_strdup_printf("%s (task %d on host %s)", why, env->rank, env->hosts[env->rank]);
    g_free(why);
    freeze(env);
}

/* ---- how large it is ---- */

/* Of objects that can be described, which all are. */
static void walk(const dome_env *env, const dome_state_sink *sink, void *ctx)
{
    g_free(dome__state_walk(&(dome_state_walk){.env = env, .sink = sink, .ctx = ctx}));
}

static char *add_portable(void *bytes, const dome_state_item *item)
{
    const dome_object_info *info = &item->info;
    if (info->type)
        *(uint64_t *)bytes += info->length * info->width * dome_type_portable_size(info->type);
    return NULL;
}

uint64_t dome__checkpoint_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    walk(env, &(dome_state_sink){.begin = add_portable}, &bytes);
    return bytes;
}

static char *add_native(void *bytes, const dome_state_item *item, dome_span run)
{
    const dome_object_info *info = &item->info;
    const dome_span whole = {0, info->length}, first = info->layout ? dome_layout_block(info->layout, run.first) : whole,
                    last = info->layout ? dome_layout_block(info->layout, run.first + run.count - 1) : whole;
    if (info->type)
        *(uint64_t *)bytes += (last.first + last.count - first.first) * info->width * dome_type_size(info->type) + ROOM_FOR_RUN;
    return NULL;
}

uint64_t dome__checkpoint_own_bytes(const dome_env *env)
{
    uint64_t bytes = 0;
    walk(env, &(dome_state_sink){.run = add_native}, &bytes);
    return bytes;
}

static char *note_untyped(void *any, const dome_state_item *item)
{
    *(bool *)any |= !item->info.type;
    return NULL;
}

bool dome__checkpoint_has_untyped(const dome_env *env)
{
    bool any = false;
    walk(env, &(dome_state_sink){.begin = note_untyped}, &any);
    return any;
}
