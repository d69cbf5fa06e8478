#include "capture/image_inspect.h"

#include "capture/image_private.h"
#include "capture/streams.h"
#include "system/bytes.h"

#include <inttypes.h>
#include <stdarg.h>

enum { DEPTH_MOST = 64 };
#define PLACE_PAST   (1ull << 63)
#define PLACE_INSIDE (1ull << 62) /* with the byte of a number in the bits from 56 on, and the order of bytes in bit 61 */
#define PLACE_BYTES  56

static bool refuse(char **problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char **problem, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!*problem)
        *problem = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return false;
}

static bool damaged(char **problem, const char *what)
{
    return refuse(problem, "the image is not what it should be: %s", what);
}

/* ---- freeing ---- */

static void free_function(void *one)
{
    dome_capture_shown_function *f = one;
    g_hash_table_unref(f->points);
    g_free(f);
}

static void clear_handle(void *one)
{
    dome_capture_shown_handle *h = one;
    g_free(h->kind);
    g_free(h->name);
}

static void clear_stream(void *one)
{
    dome_capture_shown_stream *s = one;
    g_free(s->path);
    g_free(s->mode);
}

void dome__capture_inspection_free(dome_capture_inspection *i)
{
    if (!i)
        return;
    dome__capture_described_clear(&i->described);
    g_ptr_array_unref(i->block_types);
    g_ptr_array_unref(i->globals);
    g_ptr_array_unref(i->codes);
    g_ptr_array_unref(i->functions);
    g_array_unref(i->frames);
    g_array_unref(i->memories);
    g_array_unref(i->streams);
    g_ptr_array_unref(i->struct_types);
    g_array_unref(i->handles);
    g_array_unref(i->layouts);
    g_array_unref(i->runs);
    g_free(i->reading.frame_bytes);
    g_free(i->reading.whole);
    g_free(i);
}

/* ---- the head ---- */

static bool is_empty(const dome_capture_shown_type *type)
{
    return type->bytes == 0 && !type->tail;
}

static void read_types(dome_capture_inspection *i, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        const dome_capture_shown_type *t = dome__capture_described_type(&i->described, from);
        from->bad |= !t || is_empty(t);
        g_ptr_array_add(i->block_types, (void *)(uintptr_t)t);
    }
}

static void read_globals_of_head(dome_capture_inspection *i, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome_capture_shown_global *g = g_new0(dome_capture_shown_global, 1);
        g_ptr_array_add(i->globals, g);
        g->name = dome__capture_described_name(&i->described, from);
        g->type = dome__capture_described_type(&i->described, from);
        g->elements = dome__read_leb128(from);
        g->constant = dome__read_leb128(from) & DOME_CAPTURE_GLOBAL_CONSTANT;
        from->bad |= !g->type || g->type->bytes == 0 || g->type->tail || g->elements == 0;
    }
    const uint64_t codes = dome__read_leb128(from);
    for (uint64_t k = 0; k < codes && !from->bad; k++)
        g_ptr_array_add(i->codes, (void *)(uintptr_t)dome__capture_described_name(&i->described, from));
}

/* Variables of a function: members, if there are several. */
static bool is_frame(const dome_capture_shown_type *type)
{
    return !type || (type->kind != DOME_CAPTURE_KIND_ARRAY && !type->tail);
}

static void read_functions(dome_capture_inspection *i, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome_capture_shown_function *f = g_new0(dome_capture_shown_function, 1);
        g_ptr_array_add(i->functions, f);
        f->points = g_hash_table_new(NULL, NULL);
        f->name = dome__capture_described_name(&i->described, from);
        dome__read_u64(from);
        f->saved = dome__capture_described_type_or_none(&i->described, from);
        f->memory = dome__capture_described_type_or_none(&i->described, from);
        from->bad |= !is_frame(f->saved) || !is_frame(f->memory);
    }
    const uint64_t places = dome__read_leb128(from);
    for (uint64_t k = 0; k < places && !from->bad; k++) {
        const uint64_t number = dome__read_leb128(from), point = dome__read_leb128(from);
        const char *text = dome__capture_described_name(&i->described, from);
        from->bad |= number >= i->functions->len || point > INT32_MAX;
        if (from->bad)
            return;
        const dome_capture_shown_function *f = i->functions->pdata[number];
        g_hash_table_replace(f->points, GUINT_TO_POINTER((guint)point), (void *)(uintptr_t)text);
    }
}

static void read_sources(dome_capture_inspection *i, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome__capture_described_name(&i->described, from);
        dome__read_u32(from);
    }
}

static void read_streams(dome_capture_inspection *i, dome_bytes *from)
{
    dome_capture_stream_record r;
    dome__read_leb128(from);
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        dome__capture_stream_record_read(&r, from);
        const dome_capture_shown_stream s = {
            .number = r.number, .path = r.path, .mode = r.mode, .position = r.position, .length = r.length};
        g_array_append_val(i->streams, s);
    }
}

/* A struct type of Dome: its name. */
static char *read_struct_type(dome_bytes *from)
{
    char *name = dome__read_text(from);
    const uint32_t fields = dome__read_u32(from);
    for (uint32_t k = 0; k < fields && !from->bad; k++) {
        g_free(dome__read_text(from));
        dome__read_bytes(from, sizeof(uint32_t) + sizeof(uint64_t));
    }
    const uint32_t ops = dome__read_u32(from);
    for (uint32_t k = 0; k < ops && !from->bad; k++)
        g_free(dome__read_text(from));
    return name;
}

static void read_handles(dome_capture_inspection *i, dome_bytes *from)
{
    enum { NUMBERS = 2 * sizeof(uint32_t) + 4 * sizeof(uint64_t) };
    dome__read_u64(from);
    dome__read_u32(from);
    const uint32_t types = dome__read_u32(from);
    for (uint32_t k = 0; k < types && !from->bad; k++)
        g_ptr_array_add(i->struct_types, read_struct_type(from));
    const uint32_t count = dome__read_u32(from);
    for (uint32_t k = 0; k < count && !from->bad; k++) {
        dome_capture_shown_handle h = {.kind = dome__read_text(from)};
        h.name = dome__read_text(from);
        dome__read_bytes(from, NUMBERS);
        g_free(dome__read_text(from)); /* what makes a structure of the program's own, and its parameters */
        dome__read_bytes(from, dome__read_u32(from));
        g_array_append_val(i->handles, h);
    }
    dome__read_u32(from);
    const uint32_t operations = dome__read_u32(from);
    for (uint32_t k = 0; k < operations && !from->bad; k++) {
        g_free(dome__read_text(from));
        g_free(dome__read_text(from));
        dome__read_u32(from);
    }
    const uint32_t layouts = dome__read_u32(from);
    for (uint32_t k = 0; k < layouts && !from->bad; k++) {
        dome__read_u64(from);
        dome_capture_shown_layout l = {.length = dome__read_u64(from)};
        dome__read_bytes(from, 2 * sizeof(uint64_t));
        l.tasks = dome__read_u32(from);
        dome__read_bytes(from, (uint64_t)l.tasks * sizeof(uint64_t));
        g_array_append_val(i->layouts, l);
    }
    const uint32_t views = dome__read_u32(from);
    for (uint32_t k = 0; k < views && !from->bad; k++) {
        g_free(dome__read_text(from));
        dome__read_bytes(from, DOME_CAPTURE_POINTER_BYTES);
    }
}

void dome__capture_shown_handle_text(GString *to, const dome_capture_inspection *i, uint64_t number, uint64_t place)
{
    if (number == 0)
        g_string_append(to, "the environment");
    else if (number >> 32 == 1 && (uint32_t)number < DOME_KIND_STRUCT)
        g_string_append_printf(to, "type %s", dome_type_name(dome_type_basic((dome_type_kind)(uint32_t)number)));
    else if (number >> 32 == 1 && (uint32_t)number - DOME_KIND_STRUCT < i->struct_types->len)
        g_string_append_printf(to, "type %s", (const char *)i->struct_types->pdata[(uint32_t)number - DOME_KIND_STRUCT]);
    else if (number >> 32 == 2 && (uint32_t)number < i->layouts->len)
        g_string_append_printf(to, "layout of %" PRIu64 " elements over %" PRIu32 " tasks",
                               g_array_index(i->layouts, dome_capture_shown_layout, (uint32_t)number).length,
                               g_array_index(i->layouts, dome_capture_shown_layout, (uint32_t)number).tasks);
    else if (number <= i->handles->len)
        g_string_append_printf(to, "%s%s %s", place ? "object of " : "",
                               g_array_index(i->handles, dome_capture_shown_handle, number - 1).kind,
                               g_array_index(i->handles, dome_capture_shown_handle, number - 1).name);
    else
        g_string_append(to, "no handle");
}

/* ---- the index of a Dome program's image ---- */

bool dome__capture_inspect_is_index(const uint8_t *bytes, uint64_t length)
{
    return length >= sizeof(uint32_t) && image_form_of(dome__get_u32(bytes)).handles;
}

bool dome__capture_inspect_index(dome_capture_shown_index *index, const uint8_t *bytes, uint64_t length, char **problem)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)length);
    dome__read_u32(&from);
    *index = (dome_capture_shown_index){.tasks = dome__read_u32(&from), .differing = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    index->why = dome__read_text(&from);
    index->blocks = dome__read_u64(&from);
    for (uint32_t r = 1; r < index->tasks && !from.bad; r++)
        dome__read_u64(&from);
    const uint64_t count = dome__read_u64(&from);
    for (uint64_t k = 0; k < count && !from.bad; k++) {
        const uint64_t block = dome__read_u64(&from);
        g_array_append_val(index->differing, block);
    }
    return dome__read_all(&from) || damaged(problem, "its index");
}

void dome__capture_inspect_index_clear(dome_capture_shown_index *index)
{
    g_free(index->why);
    if (index->differing)
        g_array_unref(index->differing);
    *index = (dome_capture_shown_index){0};
}

/* Reads a part of the head, and returns its bytes. */
static uint64_t bytes_read(dome_capture_inspection *i, dome_bytes *from,
                           void (*part)(dome_capture_inspection *inspection, dome_bytes *from))
{
    const uint8_t *const begin = from->at;
    part(i, from);
    return (uint64_t)(from->at - begin);
}

static bool read_head(dome_capture_inspection *i, const uint8_t *bytes, uint64_t length, uint64_t *records, uint64_t *memories,
                      char **problem)
{
    dome_bytes from = dome__bytes_of(bytes, (size_t)length);
    const uint32_t version = dome__read_u32(&from);
    const image_form form = image_form_of(version);
    i->bare = form.bare;
    if (!form.known)
        return refuse(problem, "the image has version %" PRIu32 ", which this version of dome does not know", version);
    i->polls = dome__read_leb128(&from);
    i->request_at = dome__read_leb128(&from);
    i->counting = dome__read_leb128(&from) != 0;
    dome__read_leb128(&from);
    i->heap_blocks = dome__read_leb128(&from);
    *records = dome__read_leb128(&from);
    *memories = dome__read_leb128(&from);
    i->head_bytes.numbers = (uint64_t)(from.at - bytes);
    dome__capture_described_read(&i->described, &from);
    i->head_bytes.names = i->described.name_bytes;
    i->head_bytes.types = i->described.type_bytes;
    i->head_bytes.heap_types = bytes_read(i, &from, read_types);
    i->head_bytes.globals = bytes_read(i, &from, read_globals_of_head);
    i->head_bytes.functions = bytes_read(i, &from, read_functions);
    if (form.sources)
        i->head_bytes.functions += bytes_read(i, &from, read_sources);
    i->head_bytes.streams = bytes_read(i, &from, read_streams);
    if (form.handles)
        i->head_bytes.handles = bytes_read(i, &from, read_handles);
    return dome__read_all(&from) || damaged(problem, "its head");
}

/* Reads a block behind the head, as it was before its zeros were left out. */
static bool read_whole(dome_capture_inspection *i, uint64_t block, const uint8_t **bytes, uint64_t *length, char **problem)
{
    dome_capture_reading *r = &i->reading;
    g_clear_pointer(&r->whole, g_free);
    if (!r->reader(r->ctx, block, bytes, length, problem))
        return false;
    if (i->bare)
        return true;
    const uint64_t shorter = *length;
    if (!dome__capture_image_whole_block(bytes, length, &r->whole))
        return damaged(problem, "the zeros of a block");
    i->left_out += *length - shorter;
    return true;
}

/* The kind with which a block of active functions or of globals begins. */
static bool take_kind(const dome_capture_inspection *i, segment_kind kind, const uint8_t **bytes, uint64_t *length,
                      char **problem)
{
    if (i->bare)
        return true;
    if (*length == 0 || **bytes != kind)
        return damaged(problem, "the kind of a block");
    *bytes += KIND_BYTES;
    *length -= KIND_BYTES;
    return true;
}

/* ---- the active functions ---- */

static const dome_capture_shown_function *read_function(const dome_capture_inspection *i, dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    return !from->bad && number < i->functions->len ? i->functions->pdata[number] : NULL;
}

static bool read_frames(dome_capture_inspection *i, dome_bytes from, uint64_t records, uint64_t memories)
{
    for (uint64_t k = 0; k < records; k++) {
        dome_capture_shown_frame frame = {.function = read_function(i, &from)};
        const uint64_t point = dome__read_leb128(&from);
        frame.point = (uint32_t)point;
        if (!frame.function || from.bad || point > INT32_MAX)
            return false;
        if (frame.function->saved && !(frame.saved = dome__read_bytes(&from, frame.function->saved->bytes)))
            return false;
        g_array_append_val(i->frames, frame);
    }
    guint at = 0;
    for (uint64_t k = 0; k < memories; k++, at++) {
        const dome_capture_shown_function *f = read_function(i, &from);
        while (at < i->frames->len && !g_array_index(i->frames, dome_capture_shown_frame, at).function->memory)
            at++;
        dome_capture_shown_frame *frame = at < i->frames->len ? &g_array_index(i->frames, dome_capture_shown_frame, at) : NULL;
        if (!f || !frame || frame->function != f || !(frame->memory = dome__read_bytes(&from, f->memory->bytes)))
            return false;
        g_array_append_val(i->memories, at);
    }
    return dome__read_all(&from);
}

/* ---- all ---- */

dome_capture_inspection *dome__capture_inspect(dome_capture_block_reader reader, void *ctx, uint64_t blocks, char **problem)
{
    dome_capture_inspection *i = g_new0(dome_capture_inspection, 1);
    const uint8_t *bytes;
    uint64_t length, records = 0, memories = 0;
    *problem = NULL;
    i->block_types = g_ptr_array_new();
    i->globals = g_ptr_array_new_with_free_func(g_free);
    i->codes = g_ptr_array_new();
    i->functions = g_ptr_array_new_with_free_func(free_function);
    i->frames = g_array_new(FALSE, TRUE, sizeof(dome_capture_shown_frame));
    i->memories = g_array_new(FALSE, TRUE, sizeof(guint));
    i->streams = g_array_new(FALSE, TRUE, sizeof(dome_capture_shown_stream));
    g_array_set_clear_func(i->streams, clear_stream);
    i->struct_types = g_ptr_array_new_with_free_func(g_free);
    i->layouts = g_array_new(FALSE, FALSE, sizeof(dome_capture_shown_layout));
    i->handles = g_array_new(FALSE, TRUE, sizeof(dome_capture_shown_handle));
    g_array_set_clear_func(i->handles, clear_handle);
    i->runs = g_array_new(FALSE, TRUE, sizeof(dome_capture_shown_run));
    i->reading.reader = reader;
    i->reading.ctx = ctx;
    i->blocks = blocks;
    bool good = blocks > SEGMENT_FRAMES || damaged(problem, "it has too few blocks");
    good =
        good && reader(ctx, SEGMENT_HEAD, &bytes, &length, problem) && read_head(i, bytes, length, &records, &memories, problem);
    good =
        good && read_whole(i, SEGMENT_FRAMES, &bytes, &length, problem) && take_kind(i, SEGMENT_FRAMES, &bytes, &length, problem);
    if (good) {
        i->reading.frame_bytes = g_memdup2(bytes, (gsize)length);
        good = read_frames(i, dome__bytes_of(i->reading.frame_bytes, (size_t)length), records, memories) ||
               damaged(problem, "the active functions");
    }
    dome__capture_inspect_rewind(i);
    if (!good) {
        dome__capture_inspection_free(i);
        i = NULL;
    }
    return i;
}

void dome__capture_inspect_rewind(dome_capture_inspection *i)
{
    dome_capture_reading *r = &i->reading;
    r->next = SEGMENT_FRAMES + 1;
    r->global = r->first = r->left = 0;
    r->at = r->end = NULL;
    r->run = (dome_bytes){0};
    r->current = (dome_capture_shown_run){0};
    if (!r->all_runs)
        g_array_set_size(i->runs, 0);
}

/* ---- globals ---- */

static uint64_t global_bytes(const dome_capture_shown_global *g)
{
    uint64_t bytes;
    return g->constant ? 0 : __builtin_mul_overflow(g->elements, g->type->bytes, &bytes) ? UINT64_MAX : bytes;
}

/* How many globals from the next one on share a block; 0: it is a large one. As dome__capture_image_cut_globals: no constant ends
 * a block, but in an image of earlier builds. */
static uint64_t count_group(const dome_capture_inspection *i, uint64_t *bytes)
{
    uint64_t count = 0;
    *bytes = 0;
    for (uint64_t k = i->reading.global; k < i->globals->len; k++) {
        const dome_capture_shown_global *g = i->globals->pdata[k];
        const uint64_t more = global_bytes(g);
        if (g->constant && !i->bare)
            continue;
        if (more > SMALL_BYTES || (count > 0 && *bytes + more > PART_BYTES))
            break;
        *bytes += more;
        count = k - i->reading.global + 1;
    }
    return count;
}

/* Reads the next block of the image, which has globals: how many of them. False: there are none any more, or *problem. */
static bool read_globals(dome_capture_inspection *i, char **problem)
{
    dome_capture_reading *r = &i->reading;
    uint64_t length, bytes;
    while (!i->bare && r->global < i->globals->len && ((const dome_capture_shown_global *)i->globals->pdata[r->global])->constant)
        r->global++;
    if (r->global == i->globals->len)
        return false;
    if (r->next >= i->blocks)
        return damaged(problem, "blocks are missing");
    r->left = count_group(i, &bytes);
    if (!(r->left > 0
              ? read_whole(i, r->next, &r->at, &length, problem) && take_kind(i, SEGMENT_GLOBALS, &r->at, &length, problem)
              : r->reader(r->ctx, r->next, &r->at, &length, problem)))
        return false;
    r->next++;
    r->end = r->at + length;
    if (r->left > 0)
        return bytes == length || damaged(problem, "the size of a block of globals");
    const dome_capture_shown_global *g = i->globals->pdata[r->global];
    const uint64_t count = dome__capture_image_part_elements(g->type->bytes, g->elements - r->first);
    return count * g->type->bytes == length || damaged(problem, "the size of a block of globals");
}

static bool next_global(dome_capture_inspection *i, dome_capture_piece *piece, char **problem)
{
    dome_capture_reading *r = &i->reading;
    for (;;) {
        if (r->left == 0 && !read_globals(i, problem))
            return false;
        const dome_capture_shown_global *g = i->globals->pdata[r->global];
        *piece = (dome_capture_piece){
            .global = g, .type = g->type, .elements = g->elements, .first = r->first, .bytes = r->at, .count = g->elements};
        if (r->left == 0) { /* a part of a large one */
            piece->count = (uint64_t)(r->end - r->at) / g->type->bytes;
            r->first += piece->count;
            if (r->first == g->elements) {
                r->global++;
                r->first = 0;
            }
            piece->length = piece->count * g->type->bytes;
            return true;
        }
        r->global++;
        r->left--;
        piece->length = global_bytes(g);
        r->at += piece->length;
        if (!g->constant)
            return true;
        if (r->global == i->globals->len)
            return false;
    }
}

/* ---- the heap ---- */

/* The next run of the block that was read. */
static bool get_run(dome_capture_inspection *i)
{
    dome_capture_reading *r = &i->reading;
    const uint64_t before = r->current.serial + r->current.count, distance = dome__read_leb128(&r->run),
                   count = dome__read_leb128(&r->run);
    const uint64_t type = dome__read_leb128(&r->run), size = dome__read_leb128(&r->run), most = 1u << GROUP_BITS;
    if (r->run.bad || type >= i->block_types->len || count == 0 || count > most || distance >> DOME_CAPTURE_SPACE_SHIFT)
        return false;
    const dome_capture_shown_type *t = i->block_types->pdata[type];
    const dome_capture_shown_run run = {
        .serial = r->after + distance, .count = count, .elements = t->tail ? 1 : size, .tail = t->tail ? size : 0, .type = t};
    if (run.serial < before || run.serial >> DOME_CAPTURE_SPACE_SHIFT ||
        (run.serial + count - 1) >> GROUP_BITS != run.serial >> GROUP_BITS)
        return false;
    r->after = run.serial + count;
    r->current = run;
    if (!r->all_runs)
        g_array_append_val(i->runs, run);
    return true;
}

static bool block_length(const dome_capture_shown_run *run, uint64_t *length)
{
    uint64_t tail = 0;
    return !__builtin_mul_overflow(run->elements, run->type->bytes, length) &&
           !(run->type->tail && __builtin_mul_overflow(run->tail, run->type->tail->bytes, &tail)) &&
           !__builtin_add_overflow(*length, tail, length);
}

/* The descriptions of a block's runs, behind which the values begin. */
static bool begin_runs(dome_capture_inspection *i, dome_bytes *from, uint64_t count)
{
    dome_capture_reading *r = &i->reading;
    enum { FIELDS = 4 };
    r->run = *from;
    r->after = 0;
    for (uint64_t k = 0; k < count * FIELDS; k++)
        dome__read_leb128(from);
    r->run.end = from->at;
    return !from->bad;
}

static bool begin_heap_block(dome_capture_inspection *i, bool *part, char **problem)
{
    dome_capture_reading *r = &i->reading;
    uint64_t length;
    if (!read_whole(i, r->next++, &r->at, &length, problem))
        return false;
    dome_bytes from = dome__bytes_of(r->at, (size_t)length);
    const uint64_t kind = dome__read_leb128(&from), count = kind == SEGMENT_BLOCKS ? dome__read_leb128(&from) : 1;
    *part = kind != SEGMENT_BLOCKS;
    bool good = kind == (r->first > 0 ? SEGMENT_BLOCK_MORE
                         : *part      ? SEGMENT_BLOCK_PART
                                      : SEGMENT_BLOCKS) &&
                count > 0 && count <= 1u << GROUP_BITS;
    good = good && (kind == SEGMENT_BLOCK_MORE || begin_runs(i, &from, count));
    if (!good || from.bad)
        return damaged(problem, "a block of the heap");
    r->at = from.at;
    r->end = from.end;
    return true;
}

static bool next_part(dome_capture_inspection *i, dome_capture_piece *piece, char **problem)
{
    dome_capture_reading *r = &i->reading;
    const dome_capture_shown_run *last = &r->current;
    uint64_t all;
    if (r->first == 0 &&
        (!get_run(i) || last->count != 1 || last->type->tail || !block_length(last, &all) || last->elements == 0))
        return damaged(problem, "a part of a block of the heap");
    const uint64_t count = dome__capture_image_part_elements(last->type->bytes, last->elements - r->first),
                   length = (uint64_t)(r->end - r->at);
    if (count > length / last->type->bytes || count * last->type->bytes != length)
        return damaged(problem, "the size of a part of a block of the heap");
    *piece = (dome_capture_piece){.serial = last->serial,
                                  .type = last->type,
                                  .elements = last->elements,
                                  .first = r->first,
                                  .count = count,
                                  .bytes = r->at,
                                  .length = length};
    r->first = r->first + count == last->elements ? 0 : r->first + count;
    return true;
}

static bool next_block(dome_capture_inspection *i, dome_capture_piece *piece, char **problem)
{
    dome_capture_reading *r = &i->reading;
    bool part = false;
    if (r->left == 0 && r->run.at == r->run.end) {
        if (r->at != r->end)
            return damaged(problem, "the size of a block of the heap");
        if (r->next == i->blocks) {
            r->all_runs = r->first == 0;
            return r->first > 0 && damaged(problem, "blocks are missing");
        }
        if (!begin_heap_block(i, &part, problem))
            return false;
        if (part) {
            const bool good = next_part(i, piece, problem);
            r->at = r->end;
            return good;
        }
    }
    if (r->left == 0) {
        if (!get_run(i))
            return damaged(problem, "a run of blocks of the heap");
        r->left = r->current.count;
    }
    const dome_capture_shown_run *run = &r->current;
    uint64_t length;
    if (!block_length(run, &length) || length > (uint64_t)(r->end - r->at))
        return damaged(problem, "the size of a block of the heap");
    *piece = (dome_capture_piece){.serial = run->serial + (run->count - r->left),
                                  .type = run->type,
                                  .elements = run->elements,
                                  .tail = run->tail,
                                  .count = run->elements,
                                  .bytes = r->at,
                                  .length = length};
    r->at += length;
    r->left--;
    return true;
}

bool dome__capture_inspect_next(dome_capture_inspection *i, dome_capture_piece *piece, char **problem)
{
    dome_capture_reading *r = &i->reading;
    *problem = NULL;
    if (r->global < i->globals->len) {
        if (next_global(i, piece, problem))
            return true;
        if (*problem)
            return false;
    }
    if (!r->run.at && r->global == i->globals->len && r->left == 0 && r->first == 0)
        r->at = r->end = NULL; /* what was read last were globals, or a part */
    return next_block(i, piece, problem);
}

const dome_capture_shown_run *dome__capture_inspect_run(const dome_capture_inspection *i, uint64_t serial)
{
    guint low = 0, high = i->runs->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(i->runs, dome_capture_shown_run, middle).serial <= serial)
            low = middle + 1;
        else
            high = middle;
    }
    const dome_capture_shown_run *run = low > 0 ? &g_array_index(i->runs, dome_capture_shown_run, low - 1) : NULL;
    return run && serial - run->serial < run->count ? run : NULL;
}

/* ---- pointers ---- */

dome_capture_space dome__capture_shown_pointer(const uint8_t *bytes, uint64_t *number, uint64_t *place, bool *past)
{
    const uint64_t word = dome__get_u64(bytes);
    *number = word & ((1ull << DOME_CAPTURE_SPACE_SHIFT) - 1);
    *place = dome__get_u64(bytes + 8);
    *past = false;
    const dome_capture_space space = (dome_capture_space)(word >> DOME_CAPTURE_SPACE_SHIFT);
    if (space != DOME_CAPTURE_SPACE_VALUE) {
        *past = *place & PLACE_PAST;
        *place &= ~PLACE_PAST; /* what is inside of a number stays: dome__capture_shown_path */
    }
    return space;
}

/* In one value. */
static void add_path(GString *to, const dome_capture_shown_type *type, uint64_t place, bool past)
{
    while (place > 0) {
        if (type->kind == DOME_CAPTURE_KIND_ARRAY && type->element->bytes > 0) {
            const uint64_t k = (place - past) / type->element->bytes;
            g_string_append_printf(to, "[%" PRIu64 "]", k);
            place -= k * type->element->bytes;
            type = type->element;
            continue;
        }
        const dome_capture_shown_member *found = NULL;
        for (uint64_t k = 0; type->members && k < type->count && type->kind == DOME_CAPTURE_KIND_STRUCT; k++)
            if (place - past >= type->members[k].at && place >= type->members[k].at)
                found = &type->members[k];
        if (!found)
            break;
        g_string_append_printf(to, ".%s", found->name);
        place -= found->at;
        type = found->type;
    }
}

void dome__capture_shown_path(GString *to, const dome_capture_shown_type *type, uint64_t elements, uint64_t place, bool past)
{
    if (place & PLACE_INSIDE) {
        dome__capture_shown_path(to, type, elements, place & ((1ull << PLACE_BYTES) - 1), past);
        g_string_append_printf(to, " + %d bytes", (int)(place >> PLACE_BYTES & 15));
        return;
    }
    if (type->tail && (past ? place > type->bytes : place >= type->bytes)) {
        const uint64_t k = type->tail->bytes > 0 ? (place - type->bytes - past) / type->tail->bytes : 0;
        g_string_append_printf(to, ".%s[%" PRIu64 "]", type->members[type->count - 1].name, k);
        add_path(to, type->tail, place - type->bytes - k * type->tail->bytes, past);
        return;
    }
    const uint64_t k = type->bytes > 0 ? (place - (past && place > 0)) / type->bytes : 0;
    if (k > 0 || (elements > 1 && place > 0))
        g_string_append_printf(to, "[%" PRIu64 "]", k);
    add_path(to, type, place - k * type->bytes, past);
}

const dome_capture_shown_member *dome__capture_shown_in_use(const dome_capture_shown_type *type, const uint8_t *bytes)
{
    const uint32_t which = dome__get_u32(bytes);
    return which < type->count ? &type->members[which] : NULL;
}

bool dome__capture_shown_types_equal(const dome_capture_shown_type *a, const dome_capture_shown_type *b)
{
    if (!a || !b)
        return a == b;
    /* Not part by part: types that have others twice, and those others twice, would take forever. */
    return a->kind == b->kind && a->shape == b->shape && a->bytes == b->bytes && strcmp(a->name, b->name) == 0;
}
