#include "ckpt/snapshot.h"

#include "system/huge_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A child process does not get the buffer: else each page that the thread then writes would be copied first. The rule is that of
 * whole pages, which must have it no more when they are freed. */
static void give_to_children(char *buffer, uint64_t bytes, bool gives)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes >= DOME_HUGE_PAGE) /* begins with a page; without this it is slower, not wrong */
        madvise(buffer, (size_t)bytes / page * page, gives ? MADV_DOFORK : MADV_DONTFORK);
}

static void free_buffer(dome_ckpt_snapshot *snapshot)
{
    if (snapshot->buffer)
        give_to_children(snapshot->buffer, snapshot->room, true);
    free(snapshot->buffer);
}

/* Uses huge pages if the system has them: otherwise most of the copying time is spent on address translation. */
static void *new_buffer(uint64_t bytes)
{
    enum { ALIGNMENT = 64 };
    void *buffer = NULL;
    if (posix_memalign(&buffer, bytes >= DOME_HUGE_PAGE ? DOME_HUGE_PAGE : ALIGNMENT, (size_t)bytes) != 0)
        return NULL;
    dome__huge_pages(buffer, (size_t)bytes);
    give_to_children(buffer, bytes, false);
    return buffer;
}

void dome__ckpt_snapshot_init(dome_ckpt_snapshot *snapshot)
{
    *snapshot = (dome_ckpt_snapshot){0};
    snapshot->runs = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_run));
    snapshot->blocks = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_block));
    snapshot->later = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_later));
    snapshot->frozen.line = -1;
}

void dome__ckpt_snapshot_empty(dome_ckpt_snapshot *snapshot)
{
    snapshot->used = 0;
    g_array_set_size(snapshot->runs, 0);
    g_array_set_size(snapshot->blocks, 0);
    g_array_set_size(snapshot->later, 0);
    dome__frozen_end(&snapshot->frozen);
    g_clear_pointer(&snapshot->problem, g_free);
}

void dome__ckpt_snapshot_free(dome_ckpt_snapshot *snapshot)
{
    dome__ckpt_snapshot_empty(snapshot);
    g_array_unref(snapshot->runs);
    g_array_unref(snapshot->blocks);
    g_array_unref(snapshot->later);
    free_buffer(snapshot);
}

/* Room at this place, which is not before the end of what is there. */
static void *room_at(dome_ckpt_snapshot *snapshot, uint64_t at, uint64_t bytes)
{
    uint64_t end;
    if (__builtin_add_overflow(at, bytes, &end) || end > G_MAXSIZE / 2)
        return NULL;
    if (end > snapshot->room) {
        uint64_t room = MAX(end, MIN(end + end / 4, G_MAXSIZE / 2));
        char *buffer = new_buffer(room);
        if (!buffer)
            return NULL;
        if (snapshot->used > 0)
            memcpy(buffer, snapshot->buffer, (size_t)snapshot->used);
        free_buffer(snapshot);
        snapshot->buffer = buffer;
        snapshot->room = room;
    }
    snapshot->used = end;
    return snapshot->buffer + at;
}

void *dome__ckpt_snapshot_room(dome_ckpt_snapshot *snapshot, uint64_t bytes)
{
    enum { ALIGNMENT = 16 };
    return room_at(snapshot, (snapshot->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes);
}

void *dome__ckpt_snapshot_append(dome_ckpt_snapshot *snapshot, uint64_t bytes)
{
    return room_at(snapshot, snapshot->used, bytes);
}

void dome__ckpt_snapshot_reserve(dome_ckpt_snapshot *snapshot, uint64_t bytes)
{
    enum { PAGE = 4096 };
    if (bytes <= snapshot->room || !dome__ckpt_snapshot_room(snapshot, bytes))
        return;
    snapshot->used = 0;
    for (uint64_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)snapshot->buffer)[at] = 0;
}

/* ---- values that are copied later ---- */

void dome__ckpt_snapshot_later(dome_ckpt_snapshot *snapshot, void *room, const void *from, uint64_t bytes)
{
    const dome_ckpt_later later = {from, (uint64_t)((char *)room - snapshot->buffer), bytes};
    g_array_append_val(snapshot->later, later);
}

bool dome__ckpt_snapshot_freeze(dome_ckpt_snapshot *snapshot, const char **why)
{
    *why = snapshot->unreadable;
    if (snapshot->later->len == 0 || (!*why && dome__frozen_begin(&snapshot->frozen, why)))
        return true;
    for (guint i = 0; i < snapshot->later->len; i++) {
        const dome_ckpt_later *l = &g_array_index(snapshot->later, dome_ckpt_later, i);
        memcpy(snapshot->buffer + l->at, l->from, (size_t)l->bytes);
    }
    g_array_set_size(snapshot->later, 0);
    return false;
}

void dome__ckpt_snapshot_fetch(dome_ckpt_snapshot *snapshot)
{
    const char *why = NULL;
    for (guint i = 0; i < snapshot->later->len && !why; i++) {
        const dome_ckpt_later *l = &g_array_index(snapshot->later, dome_ckpt_later, i);
        dome__frozen_read(&snapshot->frozen, snapshot->buffer + l->at, l->from, l->bytes, &why);
    }
    if (why)
        snapshot->unreadable = why;
    if (why && !snapshot->problem)
        snapshot->problem = g_strdup_printf("the memory of the loop boundary cannot be read: %s", why);
    g_array_set_size(snapshot->later, 0);
    dome__frozen_end(&snapshot->frozen);
}

/* ---- conversion ---- */

static dome_ckpt_block *block_of(const dome_ckpt_snapshot *snapshot, const dome_ckpt_run *run, uint64_t k)
{
    return &g_array_index(snapshot->blocks, dome_ckpt_block, run->blocks + k);
}

uint64_t dome__ckpt_snapshot_portable_bytes(const dome_ckpt_snapshot *snapshot, const dome_ckpt_run *run, uint64_t k)
{
    uint64_t bytes = block_of(snapshot, run, k)->bytes;
    return run->type ? bytes / dome_type_size(run->type) * dome_type_portable_size(run->type) : bytes;
}

/* Converts the values of a block in memory to portable form, stored before the next block's values. Returns its end. */
static char *convert_block(const dome_ckpt_snapshot *snapshot, dome_type type, dome_ckpt_block *b, char *to, char *scratch,
                           size_t room)
{
    const size_t size = dome_type_size(type), portable = dome_type_portable_size(type);
    const char *from = snapshot->buffer + b->at;
    uint64_t values = b->bytes / size;
    b->at = (uint64_t)(to - snapshot->buffer);
    b->bytes = values * portable;
    for (uint64_t done = 0, n; done < values; done += n) {
        n = MIN(values - done, room / portable);
        dome_type_pack(type, DOME_PORTABLE, scratch, from, (size_t)n);
        memcpy(to, scratch, (size_t)n * portable);
        from += n * size;
        to += n * portable;
    }
    return to;
}

void dome__ckpt_snapshot_convert(dome_ckpt_snapshot *snapshot, void (*converted)(void *ctx, dome_ckpt_block *block), void *ctx)
{
    enum { CHUNK = 1 << 13 };
    char *scratch = NULL;
    size_t room = 0;
    for (guint i = 0; i < snapshot->runs->len; i++) {
        const dome_ckpt_run *run = &g_array_index(snapshot->runs, dome_ckpt_run, i);
        if (run->type && room < dome_type_portable_size(run->type)) {
            g_free(scratch);
            room = MAX(CHUNK, dome_type_portable_size(run->type));
            scratch = g_malloc(room);
        }
        char *to = run->count > 0 ? snapshot->buffer + block_of(snapshot, run, 0)->at : NULL;
        for (uint64_t k = 0; k < run->count; k++) {
            dome_ckpt_block *b = block_of(snapshot, run, k);
            if (run->type)
                to = convert_block(snapshot, run->type, b, to, scratch, room);
            b->sum = dome__checksum(snapshot->buffer + b->at, (size_t)b->bytes);
            if (converted)
                converted(ctx, b);
        }
    }
    g_free(scratch);
}
