/* Taking the image: one pass over the heap works out the blocks, whose bytes are packed as they are written. */
#include "capture/contents.h"
#include "capture/frames.h"
#include "capture/hidden.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"
#include "capture/zeros.h"
#include "heap/descriptions.h"
#include "system/bytes.h"

#include <stdlib.h>

enum { RUN_FIELDS = 4 };

/* ---- the heap ---- */

static uint64_t block_bytes(const dome_capture_block *b)
{
    const dome_capture_layout *l = b->layout;
    if (b->bytes == l->size && !l->tail)
        return l->portable;
    return dome__capture_block_elements(b) * l->portable + (l->tail ? dome__capture_block_tail(b) * l->tail->portable : 0);
}

/* Whether a block continues the run of the one before it. */
static bool continues(const dome_capture_block *before, const dome_capture_block *b)
{
    return before->serial + 1 == b->serial && before->layout == b->layout && before->bytes == b->bytes;
}

/* ---- what tells of blocks ----
 *
 * Runs of blocks are described by LEB128 numbers, run := gap count type elements. gap: from the end of the run before to the
 * first serial; count: blocks; elements: of a block, or, if the type has a flexible last member, of that member. */

static uint8_t *put_run(uint8_t *to, uint64_t after, const dome_capture_block *b, uint64_t count)
{
    to = dome__put_leb128(to, b->serial - after);
    to = dome__put_leb128(to, count);
    to = dome__put_leb128(to, b->layout->number);
    return dome__put_leb128(to, b->layout->tail ? dome__capture_block_tail(b) : dome__capture_block_elements(b));
}

static uint64_t run_bytes(uint64_t after, const dome_capture_block *b, uint64_t count)
{
    uint8_t bytes[RUN_FIELDS * DOME_LEB128_MOST];
    return (uint64_t)(put_run(bytes, after, b, count) - bytes);
}

static void cut_parts(GArray *segments, dome_capture_block *b)
{
    const uint64_t all = dome__capture_block_elements(b);
    for (uint64_t first = 0, count; first < all; first += count) {
        count = dome__capture_image_part_elements(b->layout->portable, all - first);
        segment part = {.kind = first == 0 ? SEGMENT_BLOCK_PART : SEGMENT_BLOCK_MORE,
                        .block = b,
                        .first = first,
                        .elements = count,
                        .head = KIND_BYTES + (first == 0 ? run_bytes(0, b, 1) : 0)};
        part.bytes = part.head + count * b->layout->portable;
        g_array_append_val(segments, part);
    }
}

static void number_layout(GPtrArray *types, const dome_capture_layout *layout)
{
    dome_capture_layout *l = (dome_capture_layout *)(uintptr_t)layout;
    if (l->used)
        return;
    l->used = true;
    l->number = types->len;
    g_ptr_array_add(types, l);
}

static void end_group(GArray *segments, segment *group, uint64_t after, const dome_capture_block *run,
                      const dome_capture_block *end)
{
    if (group->count == 0)
        return;
    group->runs++;
    group->head += run_bytes(after, run, (uint64_t)(end - run)) + KIND_BYTES + dome__leb128_bytes(group->runs);
    group->bytes += group->head;
    g_array_append_vals(segments, group, 1);
    group->count = 0;
}

static uint64_t blocks_saved(void)
{
    return MIN(dome__capture_heap.count, dome__capture_heap.saved);
}

static void cut_heap(GArray *segments, GPtrArray *types)
{
    segment group = {.kind = SEGMENT_BLOCKS};
    const dome_capture_block *run = NULL, *end = dome__capture_heap.blocks + blocks_saved();
    uint64_t after = 0; /* the serial behind the run before that */
    for (dome_capture_block *b = dome__capture_heap.blocks; b < end; b++) {
        const uint64_t bytes = block_bytes(b);
        const bool parts = bytes > SMALL_BYTES && !b->layout->tail;
        number_layout(types, b->layout);
        if (parts || (group.count > 0 && group.block->serial >> GROUP_BITS != b->serial >> GROUP_BITS))
            end_group(segments, &group, after, run, b);
        if (parts) {
            cut_parts(segments, b);
            continue;
        }
        if (group.count == 0) {
            group = (segment){.kind = SEGMENT_BLOCKS, .block = b};
            run = b;
            after = 0;
        } else if (!continues(b - 1, b)) {
            group.runs++;
            group.head += run_bytes(after, run, (uint64_t)(b - run));
            after = run->serial + (uint64_t)(b - run);
            run = b;
        }
        group.count++;
        group.bytes += bytes;
    }
    end_group(segments, &group, after, run, end);
}

/* ---- the head ---- */

static void put_types(dome_capture_descriptions *d, const GPtrArray *types, GByteArray *head)
{
    dome__append_leb128(head, types->len);
    for (guint k = 0; k < types->len; k++)
        dome__append_leb128(head, dome__capture_describe_type(d, ((const dome_capture_layout *)types->pdata[k])->type));
}

static void put_globals(dome_capture_descriptions *d, GByteArray *head)
{
    dome__append_leb128(head, dome__capture_global_count());
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        dome__append_leb128(head, dome__capture_describe_name(d, g->global->name));
        dome__append_leb128(head, dome__capture_describe_type(d, g->layout->type));
        dome__append_leb128(head, g->elements);
        dome__append_leb128(head, g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT);
    }
    dome__append_leb128(head, dome__capture_code_count());
    for (size_t k = 0; k < dome__capture_code_count(); k++)
        dome__append_leb128(head, dome__capture_describe_name(d, dome__capture_code(k)->name));
}

/* The functions that are active, numbered from the outermost on, and the points at which they were captured. */
typedef struct active {
    GPtrArray *functions; /* const dome_capture_function */
    GArray *points;       /* dome_capture_record: each function and point once, if it is known where it is */
} active;

static active find_active(void)
{
    active a = {g_ptr_array_new(), g_array_new(FALSE, FALSE, sizeof(dome_capture_record))};
    GPtrArray *seen = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref); /* of each function: points + 1 */
    const size_t records = dome__capture_record_count();
    for (size_t k = 0; k < records; k++)
        dome__capture_frame_layout(dome__capture_record(k)->function)->used = false;
    for (size_t k = records; k-- > 0;) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_function *f = r->function;
        dome_capture_frame_layout *l = f->known;
        if (!l->used) {
            l->used = true;
            l->number = a.functions->len;
            g_ptr_array_add(a.functions, r->function);
            g_ptr_array_add(seen, g_hash_table_new(NULL, NULL));
        }
        if ((size_t)r->point < f->npoints && f->points[r->point] &&
            g_hash_table_add(seen->pdata[l->number], GINT_TO_POINTER(r->point + 1)))
            g_array_append_vals(a.points, r, 1);
    }
    g_ptr_array_unref(seen);
    return a;
}

static void put_active(dome_capture_descriptions *d, const active *a, GByteArray *head)
{
    dome__append_leb128(head, a->functions->len);
    for (guint k = 0; k < a->functions->len; k++) {
        const dome_capture_function *f = a->functions->pdata[k];
        const dome_capture_frame_layout *l = f->known;
        dome__append_leb128(head, dome__capture_describe_name(d, f->name));
        dome__append_u64(head, f->version);
        dome__append_leb128(head, l->saved ? 1 + dome__capture_describe_type(d, l->saved->type) : 0);
        dome__append_leb128(head, l->memory ? 1 + dome__capture_describe_type(d, l->memory->type) : 0);
    }
    dome__append_leb128(head, a->points->len);
    for (guint k = 0; k < a->points->len; k++) {
        const dome_capture_record *r = &g_array_index(a->points, dome_capture_record, k);
        dome__append_leb128(head, ((const dome_capture_frame_layout *)r->function->known)->number);
        dome__append_leb128(head, (uint64_t)r->point);
        dome__append_leb128(head, dome__capture_describe_name(d, r->function->points[r->point]));
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names with the paths of the program's files come first, in their order, so that each path is there once. */
static void describe_names(dome_capture_descriptions *d, const active *a)
{
    GPtrArray *names = g_ptr_array_new();
    for (size_t k = 0; k < dome__capture_global_count(); k++)
        g_ptr_array_add(names, (void *)(uintptr_t)dome__capture_global(k)->global->name);
    for (size_t k = 0; k < dome__capture_code_count(); k++)
        g_ptr_array_add(names, (void *)(uintptr_t)dome__capture_code(k)->name);
    for (guint k = 0; k < a->functions->len; k++)
        g_ptr_array_add(names, (void *)(uintptr_t)((const dome_capture_function *)a->functions->pdata[k])->name);
    for (guint k = 0; k < a->points->len; k++) {
        const dome_capture_record *r = &g_array_index(a->points, dome_capture_record, k);
        g_ptr_array_add(names, (void *)(uintptr_t)r->function->points[r->point]);
    }
    if (names->len > 0)
        qsort(names->pdata, names->len, sizeof *names->pdata, by_text);
    for (guint k = 0; k < names->len; k++)
        dome__capture_describe_name(d, names->pdata[k]);
    g_ptr_array_unref(names);
}

static void put_sources(dome_capture_descriptions *d, GByteArray *head)
{
    dome__append_leb128(head, dome__capture_source_count());
    for (size_t k = 0; k < dome__capture_source_count(); k++) {
        dome__append_leb128(head, dome__capture_describe_name(d, dome__capture_source(k)->name));
        dome__append_u32(head, dome__capture_source(k)->hash);
    }
}

/* NULL, or why there is no image. */
static char *put_head(dome_capture_image *image)
{
    const dome_capture_counts counts = dome__capture_counts();
    const uint64_t numbers[] = {counts.polls,
                                counts.request_at,
                                counts.counting,
                                MIN(dome__capture_heap.serial, dome__capture_heap.saved),
                                blocks_saved(),
                                dome__capture_record_count(),
                                dome__capture_memory_count()};
    dome_capture_descriptions *d = dome__capture_descriptions_new();
    GByteArray *rest = g_byte_array_new(); /* stands behind the descriptions to which it refers */
    const active a = find_active();
    describe_names(d, &a);
    put_types(d, image->types, rest);
    put_globals(d, rest);
    put_active(d, &a, rest);
    put_sources(d, rest);
    char *problem = dome__capture_streams_save(rest, !image->env);
    if (!problem && image->env)
        problem = dome__capture_handles_save(rest);
    dome__append_u32(image->head, image->env ? IMAGE_VERSION_HANDLES : IMAGE_VERSION);
    for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++)
        dome__append_leb128(image->head, numbers[k]);
    dome__capture_descriptions_append(d, image->head);
    dome__append_bytes(image->head, rest->data, rest->len);
    g_ptr_array_unref(a.functions);
    g_array_unref(a.points);
    g_byte_array_unref(rest);
    dome__capture_descriptions_free(d);
    return problem;
}

/* ---- the active functions ---- */

static void put_values(dome_capture_image *image, const dome_capture_layout *layout, const void *values)
{
    if (!layout)
        return;
    guint at = image->frames->len;
    g_byte_array_set_size(image->frames, at + (guint)layout->portable);
    dome__capture_pack(layout, image->frames->data + at, values, 1, &image->coder);
}

static void put_frames(dome_capture_image *image)
{
    g_byte_array_set_size(image->frames, 0);
    dome__append_leb128(image->frames, SEGMENT_FRAMES);
    for (size_t k = dome__capture_record_count(); k-- > 0;) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_frame_layout *l = r->function->known;
        dome__append_leb128(image->frames, l->number);
        dome__append_leb128(image->frames, (uint64_t)r->point);
        put_values(image, l->saved, dome__capture_record_data(r));
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above) {
        const dome_capture_frame_layout *l = m->function->known;
        dome__append_leb128(image->frames, l->number);
        put_values(image, l->memory, dome__capture_memory_of(m));
    }
}

/* At most: what is too large for an array of GLib's. */
static uint64_t frame_bytes(void)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < dome__capture_record_count(); k++) {
        const dome_capture_frame_layout *l = dome__capture_frame_layout(dome__capture_record(k)->function);
        bytes += 2 * DOME_LEB128_MOST + (l->saved ? l->saved->portable : 0);
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above)
        bytes += DOME_LEB128_MOST + dome__capture_frame_layout(m->function)->memory->portable;
    return bytes;
}

/* ---- packing ---- */

static uint8_t *put_runs(uint8_t *to, const segment *s)
{
    const dome_capture_block *run = s->block, *end = run + s->count;
    uint64_t after = 0;
    for (const dome_capture_block *b = run + 1; b <= end; b++) {
        if (b < end && continues(b - 1, b))
            continue;
        const uint64_t count = (uint64_t)(b - run);
        to = put_run(to, after, run, count);
        after = run->serial + count;
        run = b;
    }
    return to;
}

/* The pointers of an element, but for those in arrays of structs and in unions. */
static void look_ahead(const dome_capture_block *b, int step)
{
    enum { MOST = 16 };
    for (size_t k = 0; k < b->layout->nsteps; k++) {
        const dome_capture_step *s = &b->layout->steps[k];
        if (s->kind != DOME_CAPTURE_STEP_POINTERS || s->offset + s->size * s->count > b->bytes)
            continue;
        const char *const *at = (const char *const *)(const void *)((const char *)dome__capture_block_memory(b) + s->offset);
        for (uint64_t n = 0; n < MIN(s->count, MOST); n++)
            dome__capture_serial_soon(at[n], step);
    }
}

/* The targets of the pointers of several blocks are fetched together: one by one, most of the time would be spent waiting. */
static void look_ahead_at(const dome_capture_block *first, uint64_t count)
{
    for (int step = 0; step < 2; step++) {
        const dome_capture_block *b = first;
        for (uint64_t k = 0; k < count; k++, b++)
            if (b->layout->pointers)
                look_ahead(b, step);
    }
}

static void pack_blocks(const dome_capture_image *image, const segment *s, uint8_t *to)
{
    enum { TOGETHER = 16 };
    dome_capture_coder coder = image->coder;
    to = dome__put_leb128(to, SEGMENT_BLOCKS);
    to = put_runs(dome__put_leb128(to, s->runs), s);
    const dome_capture_block *b = s->block;
    for (uint64_t k = 0; k < s->count; k++, b++) {
        const dome_capture_layout *l = b->layout;
        const char *memory = dome__capture_block_memory(b);
        const uint64_t elements = dome__capture_block_elements(b), tail = dome__capture_block_tail(b);
        if (k % TOGETHER == 0)
            look_ahead_at(b, MIN(TOGETHER, s->count - k));
        dome__capture_pack(l, to, memory, elements, &coder);
        to += elements * l->portable;
        if (tail > 0) {
            dome__capture_pack(l->tail, to, memory + l->tail_offset, tail, &coder);
            to += tail * l->tail->portable;
        }
    }
}

static void pack_segment(const dome_capture_image *image, const segment *s, uint8_t *to)
{
    dome_capture_coder coder = image->coder;
    if (s->ready) {
        memcpy(to, s->ready, (size_t)s->bytes);
        return;
    }
    switch (s->kind) {
    case SEGMENT_HEAD:
        memcpy(to, image->head->data, image->head->len);
        return;
    case SEGMENT_FRAMES:
        if (image->frames->len > 0)
            memcpy(to, image->frames->data, image->frames->len);
        return;
    case SEGMENT_GLOBALS:
        to = dome__put_leb128(to, SEGMENT_GLOBALS);
        for (size_t k = s->global; k < s->global + s->count; k++) {
            const dome_capture_known_global *g = dome__capture_global(k);
            if (g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT)
                continue;
            dome__capture_pack(g->layout, to, g->global->address, g->elements, &coder);
            to += g->elements * g->layout->portable;
        }
        return;
    case SEGMENT_GLOBAL_PART: {
        const dome_capture_known_global *g = dome__capture_global(s->global);
        dome__capture_pack(g->layout, to, (const char *)g->global->address + s->first * g->layout->size, s->elements, &coder);
        return;
    }
    case SEGMENT_BLOCKS:
        pack_blocks(image, s, to);
        return;
    case SEGMENT_BLOCK_PART:
    case SEGMENT_BLOCK_MORE:
        to = dome__put_leb128(to, s->kind);
        if (s->kind == SEGMENT_BLOCK_PART)
            to = put_run(to, 0, s->block, 1);
        dome__capture_pack(s->block->layout, to,
                           (const char *)dome__capture_block_memory(s->block) + s->first * s->block->layout->size, s->elements,
                           &coder);
        return;
    case SEGMENT_WITHOUT_ZEROS:
        g_assert_not_reached();
    }
}

/* ---- all together ---- */

/* Short blocks are packed at once: how long they are is known only then. The head begins with the version, and a part of a
 * global is no short block. */
static void leave_out_zeros(dome_capture_image *image)
{
    uint8_t bytes[DOME_CAPTURE_ZEROS_MOST];
    GByteArray *shorter = g_byte_array_sized_new(sizeof bytes);
    for (guint k = SEGMENT_FRAMES; k < image->segments->len; k++) {
        segment *s = image_segment(image, k);
        if (s->bytes > sizeof bytes || s->kind == SEGMENT_GLOBAL_PART)
            continue;
        pack_segment(image, s, bytes);
        g_byte_array_set_size(shorter, 0);
        dome__capture_zeros_leave_out(shorter, SEGMENT_WITHOUT_ZEROS, bytes, s->bytes);
        const bool gain = shorter->len < s->bytes;
        s->bytes = gain ? shorter->len : s->bytes;
        s->ready = g_memdup2(gain ? shorter->data : bytes, (gsize)s->bytes);
    }
    g_byte_array_unref(shorter);
}

char *dome__capture_image_take(dome_capture_image *image)
{
    segment head = {.kind = SEGMENT_HEAD}, frames = {.kind = SEGMENT_FRAMES, .head = KIND_BYTES};
    if (frame_bytes() > G_MAXINT32)
        return g_strdup("the variables of the active functions take more than 2 GiB");
    g_array_set_size(image->segments, 0);
    g_byte_array_set_size(image->head, 0);
    g_ptr_array_set_size(image->types, 0);
    g_array_append_val(image->segments, head);
    g_array_append_val(image->segments, frames);
    dome__capture_layouts_begin();
    dome__capture_handles_begin(image->env);
    char *problem = NULL;
    if ((image->env && !dome__capture_contents_set_apart(&problem)) || !dome__capture_pointers_begin())
        return problem ? problem : g_strdup("no memory");
    /* Behind any operation of Dome, variables may lead to what has just been freed. */
    for (bool copied = true; copied && !problem;) {
        problem = dome__capture_hidden_find(!image->env, &copied);
        if (copied && !dome__capture_pointers_begin())
            return g_strdup("no memory");
    }
    if (problem)
        return problem;
    dome__capture_image_cut_globals(image->segments, false);
    cut_heap(image->segments, image->types);
    problem = put_head(image);
    if (problem)
        return problem;
    put_frames(image);
    image_segment(image, SEGMENT_HEAD)->bytes = image->head->len;
    image_segment(image, SEGMENT_FRAMES)->bytes = image->frames->len;
    leave_out_zeros(image);
    image->length = image->segments->len;
    return NULL;
}

void dome__capture_image_write_block(const dome_capture_image *image, uint64_t block, void *buffer)
{
    pack_segment(image, image_segment(image, (guint)block), buffer);
}
