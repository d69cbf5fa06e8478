/* Which value of a block of the image is another one on another task. */
#include "capture/frames.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "system/bytes.h"

#include <inttypes.h>
#include <string.h>

static uint64_t bytes_of(dome_capture_type *type)
{
    uint64_t count;
    const dome_capture_layout *l = dome__capture_layout(type, &count);
    return l->portable * count;
}

/* The number or pointer in which a place of a value lies, with the way there appended; *at: where it begins. NULL: none. */
static const dome_capture_type *leaf_at(dome_capture_type *type, uint64_t place, GString *way, uint64_t *at)
{
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
    case DOME_CAPTURE_KIND_POINTER:
        *at -= place;
        return type;
    case DOME_CAPTURE_KIND_ARRAY: {
        const uint64_t each = bytes_of(type->element);
        g_string_append_printf(way, "[%" PRIu64 "]", place / each);
        return leaf_at(type->element, place % each, way, at);
    }
    case DOME_CAPTURE_KIND_STRUCT:
        for (size_t k = 0; k < type->count; k++) {
            const uint64_t bytes = bytes_of(type->members[k].type);
            if (place < bytes) {
                g_string_append_printf(way, "%s%s", way->len ? "." : "", type->members[k].name);
                return leaf_at(type->members[k].type, place, way, at);
            }
            place -= bytes;
        }
        return NULL;
    default:
        return NULL;
    }
}

static void append_number(GString *to, const dome_capture_type *type, const uint8_t *bytes)
{
    const uint64_t size = bytes_of((dome_capture_type *)(uintptr_t)type);
    uint64_t raw = 0;
    for (uint64_t k = 0; k < MIN(size, sizeof raw); k++)
        raw = raw << 8 | bytes[k];
    switch (type->scalar) {
    case DOME_KIND_I8:
        g_string_append_printf(to, "%d", (int8_t)raw);
        return;
    case DOME_KIND_I16:
        g_string_append_printf(to, "%d", (int16_t)raw);
        return;
    case DOME_KIND_I32:
        g_string_append_printf(to, "%" PRId32, (int32_t)raw);
        return;
    case DOME_KIND_I64:
        g_string_append_printf(to, "%" PRId64, (int64_t)raw);
        return;
    case DOME_KIND_F32: {
        const uint32_t half = (uint32_t)raw;
        float value;
        memcpy(&value, &half, sizeof value);
        g_string_append_printf(to, "%.9g", (double)value);
        return;
    }
    case DOME_KIND_F64: {
        double value;
        memcpy(&value, &raw, sizeof value);
        g_string_append_printf(to, "%.17g", value);
        return;
    }
    default:
        g_string_append_printf(to, "%" PRIu64, raw);
    }
}

/* Both sides of a comparison: this task's bytes and those of the other. */
typedef struct sides {
    const uint8_t *own, *other;
    uint64_t length; /* of the shorter */
    int own_rank, other_rank;
} sides;

/* "what: way is 1 on task 0 and 2 on task 1": for a difference in values of a layout that begin at `begin`; of a part of a large
 * array, where the array would begin: modulo 2^64. */
static char *say_value(const sides *s, const char *what, const dome_capture_layout *layout, uint64_t begin, uint64_t place)
{
    GString *text = g_string_new(NULL), *way = g_string_new(NULL);
    const uint64_t element = (place - begin) / layout->portable, rest = (place - begin) % layout->portable;
    uint64_t at = place;
    const dome_capture_type *leaf = leaf_at((dome_capture_type *)(uintptr_t)layout->type, rest, way, &at);
    const bool array = layout->type->kind != DOME_CAPTURE_KIND_STRUCT || element > 0;
    g_string_append(text, what);
    if (array && element > 0)
        g_string_append_printf(text, "[%" PRIu64 "]", element);
    if (way->len)
        g_string_append_printf(text, "%s%s", way->str[0] == '[' ? "" : ": ", way->str);
    const bool swap = s->own_rank > s->other_rank;
    const uint8_t *first = swap ? s->other : s->own, *second = swap ? s->own : s->other;
    const int low = MIN(s->own_rank, s->other_rank), high = MAX(s->own_rank, s->other_rank);
    if (leaf && leaf->kind == DOME_CAPTURE_KIND_SCALAR && at + bytes_of((dome_capture_type *)(uintptr_t)leaf) <= s->length) {
        g_string_append(text, " is ");
        append_number(text, leaf, first + at);
        g_string_append_printf(text, " on task %d and ", low);
        append_number(text, leaf, second + at);
        g_string_append_printf(text, " on task %d", high);
    } else {
        g_string_append_printf(text, " %s on tasks %d and %d", leaf ? "leads to different places" : "has different values", low,
                               high);
    }
    g_string_free(way, TRUE);
    return g_string_free(text, FALSE);
}

static char *say_frames(const sides *s, uint64_t place)
{
    uint64_t at = KIND_BYTES;
    for (size_t k = dome__capture_record_count(); k-- > 0;) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_frame_layout *l = r->function->known;
        const size_t head = dome__leb128_bytes(l->number) + dome__leb128_bytes((uint64_t)r->point);
        if (place < at + head)
            return g_strdup_printf("function '%s' is active on task %d, and another one, or at another place, on task %d",
                                   r->function->name, s->own_rank, s->other_rank);
        at += head;
        if (l->saved && place < at + l->saved->portable) {
            char *what = g_strdup_printf("function '%s'", r->function->name), *text = say_value(s, what, l->saved, at, place);
            g_free(what);
            return text;
        }
        at += l->saved ? l->saved->portable : 0;
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above) {
        const dome_capture_frame_layout *l = m->function->known;
        at += dome__leb128_bytes(l->number);
        if (place < at + l->memory->portable && place >= at) {
            char *what = g_strdup_printf("function '%s'", m->function->name), *text = say_value(s, what, l->memory, at, place);
            g_free(what);
            return text;
        }
        at += l->memory->portable;
    }
    return g_strdup("other functions are active");
}

static char *say_global(const sides *s, size_t number, uint64_t begin, uint64_t place)
{
    const dome_capture_known_global *g = dome__capture_global(number);
    char *what = g_strdup_printf("global '%s'", g->global->name), *text = say_value(s, what, g->layout, begin, place);
    g_free(what);
    return text;
}

static char *say_globals(const sides *s, const segment *of, uint64_t place)
{
    uint64_t at = of->head;
    for (size_t k = of->global; k < of->global + of->count; k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        const uint64_t bytes = g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT ? 0 : g->elements * g->layout->portable;
        if (place < at + bytes)
            return say_global(s, k, at, place);
        at += bytes;
    }
    return g_strdup("globals");
}

static char *say_block(const sides *s, const dome_capture_block *b, uint64_t begin, uint64_t place)
{
    char *what = g_strdup_printf("block %" PRIu64 " of the heap, of type '%s'", b->serial, b->layout->name),
         *text = place < begin + dome__capture_block_elements(b) * b->layout->portable
                     ? say_value(s, what, b->layout, begin, place)
                     : g_strdup_printf("%s, in its last member", what);
    g_free(what);
    return text;
}

static char *say_blocks(const sides *s, const segment *of, uint64_t place)
{
    uint64_t at = of->head;
    if (place < at)
        return g_strdup_printf("the blocks of the heap from block %" PRIu64 " on have other types or sizes on tasks %d and %d",
                               of->block->serial, MIN(s->own_rank, s->other_rank), MAX(s->own_rank, s->other_rank));
    const dome_capture_block *b = of->block;
    for (uint64_t k = 0; k < of->count; k++, b++) {
        const dome_capture_layout *l = b->layout;
        const uint64_t bytes =
            dome__capture_block_elements(b) * l->portable + (l->tail ? dome__capture_block_tail(b) * l->tail->portable : 0);
        if (place < at + bytes)
            return say_block(s, b, at, place);
        at += bytes;
    }
    return g_strdup("blocks of the heap");
}

char *dome__capture_image_say_difference(const dome_capture_image *image, uint64_t block, int own, const void *other_bytes,
                                         uint64_t other_length, int other)
{
    if (block >= image->segments->len)
        return g_strdup_printf("the heap has fewer blocks on task %d than on task %d", own, other);
    const segment *of = image_segment(image, (guint)block);
    uint64_t own_length = of->bytes;
    uint8_t *bytes = g_malloc((gsize)of->bytes + 1), *whole[2] = {NULL, NULL};
    dome__capture_image_write_block(image, block, bytes);
    sides s = {.own = bytes, .other = other_bytes, .own_rank = own, .other_rank = other};
    if (of->kind != SEGMENT_HEAD && of->kind != SEGMENT_GLOBAL_PART &&
        !(dome__capture_image_whole_block(&s.own, &own_length, &whole[0]) &&
          dome__capture_image_whole_block(&s.other, &other_length, &whole[1])))
        own_length = 0; /* which no task sends */
    s.length = MIN(own_length, other_length);
    uint64_t place = 0;
    while (place < s.length && s.own[place] == s.other[place])
        place++;
    char *text;
    switch (of->kind) {
    case SEGMENT_HEAD:
        text = g_strdup_printf("the heap has other blocks, or other files are open, on task %d than on task %d", MIN(own, other),
                               MAX(own, other));
        break;
    case SEGMENT_FRAMES:
        text = say_frames(&s, place);
        break;
    case SEGMENT_GLOBALS:
        text = say_globals(&s, of, place);
        break;
    case SEGMENT_GLOBAL_PART:
        text = say_global(&s, of->global, -(of->first * dome__capture_global(of->global)->layout->portable), place);
        break;
    case SEGMENT_BLOCKS:
        text = say_blocks(&s, of, place);
        break;
    default:
        text = place < of->head ? g_strdup_printf("block %" PRIu64 " of the heap has other types or sizes on tasks %d and %d",
                                                  of->block->serial, MIN(own, other), MAX(own, other))
                                : say_block(&s, of->block, of->head - of->first * of->block->layout->portable, place);
    }
    g_free(whole[0]);
    g_free(whole[1]);
    g_free(bytes);
    return text;
}
