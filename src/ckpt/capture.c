#include "ckpt/capture.h"

#include "system/huge_pages.h"

#include <stdlib.h>
#include <string.h>

/* Uses huge pages if the system has them: otherwise most of the copying time is spent on address translation. */
static void *new_buffer(uint64_t bytes)
{
    enum { ALIGNMENT = 64 };
    void *buffer = NULL;
    if (posix_memalign(&buffer, bytes >= DOME_HUGE_PAGE ? DOME_HUGE_PAGE : ALIGNMENT, (size_t)bytes) != 0)
        return NULL;
    dome__huge_pages(buffer, (size_t)bytes);
    return buffer;
}

void dome__ckpt_capture_init(dome_ckpt_capture *capture)
{
    *capture = (dome_ckpt_capture){0};
    capture->runs = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_run));
    capture->blocks = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_block));
}

void dome__ckpt_capture_empty(dome_ckpt_capture *capture)
{
    capture->used = 0;
    g_array_set_size(capture->runs, 0);
    g_array_set_size(capture->blocks, 0);
    g_clear_pointer(&capture->problem, g_free);
}

void dome__ckpt_capture_free(dome_ckpt_capture *capture)
{
    dome__ckpt_capture_empty(capture);
    g_array_unref(capture->runs);
    g_array_unref(capture->blocks);
    free(capture->buffer);
}

void *dome__ckpt_capture_room(dome_ckpt_capture *capture, uint64_t bytes)
{
    enum { ALIGNMENT = 16 };
    uint64_t at = (capture->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, end;
    if (__builtin_add_overflow(at, bytes, &end) || end > G_MAXSIZE / 2)
        return NULL;
    if (end > capture->room) {
        uint64_t room = MAX(end, MIN(end + end / 4, G_MAXSIZE / 2));
        char *buffer = new_buffer(room);
        if (!buffer)
            return NULL;
        if (capture->used > 0)
            memcpy(buffer, capture->buffer, (size_t)capture->used);
        free(capture->buffer);
        capture->buffer = buffer;
        capture->room = room;
    }
    capture->used = end;
    return capture->buffer + at;
}

void dome__ckpt_capture_reserve(dome_ckpt_capture *capture, uint64_t bytes)
{
    enum { PAGE = 4096 };
    if (bytes <= capture->room || !dome__ckpt_capture_room(capture, bytes))
        return;
    capture->used = 0;
    for (uint64_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)capture->buffer)[at] = 0;
}

static dome_ckpt_block *block_of(const dome_ckpt_capture *capture, const dome_ckpt_run *run, uint64_t k)
{
    return &g_array_index(capture->blocks, dome_ckpt_block, run->blocks + k);
}

uint64_t dome__ckpt_capture_portable_bytes(const dome_ckpt_capture *capture, const dome_ckpt_run *run, uint64_t k)
{
    uint64_t bytes = block_of(capture, run, k)->bytes;
    return run->type ? bytes / dome_type_size(run->type) * dome_type_portable_size(run->type) : bytes;
}

/* Converts the values of a block in memory to portable form, stored before the next block's values. Returns its end. */
static char *convert_block(const dome_ckpt_capture *capture, dome_type type, dome_ckpt_block *b, char *to, char *scratch,
                           size_t room)
{
    const size_t size = dome_type_size(type), portable = dome_type_portable_size(type);
    const char *from = capture->buffer + b->at;
    uint64_t values = b->bytes / size;
    b->at = (uint64_t)(to - capture->buffer);
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

void dome__ckpt_capture_convert(dome_ckpt_capture *capture, void (*converted)(void *ctx, dome_ckpt_block *block), void *ctx)
{
    enum { CHUNK = 1 << 13 };
    char *scratch = NULL;
    size_t room = 0;
    for (guint i = 0; i < capture->runs->len; i++) {
        const dome_ckpt_run *run = &g_array_index(capture->runs, dome_ckpt_run, i);
        if (run->type && room < dome_type_portable_size(run->type)) {
            g_free(scratch);
            room = MAX(CHUNK, dome_type_portable_size(run->type));
            scratch = g_malloc(room);
        }
        char *to = run->count > 0 ? capture->buffer + block_of(capture, run, 0)->at : NULL;
        for (uint64_t k = 0; k < run->count; k++) {
            dome_ckpt_block *b = block_of(capture, run, k);
            if (run->type)
                to = convert_block(capture, run->type, b, to, scratch, room);
            b->sum = dome__checksum(capture->buffer + b->at, (size_t)b->bytes);
            if (converted)
                converted(ctx, b);
        }
    }
    g_free(scratch);
}
