/* Taking the image: one pass over the heap works out the blocks, whose bytes are packed as they are written. */
#include "capture/frames.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"
#include "core/bytes.h"

#include <inttypes.h>

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

static void cut_parts(GArray *segments, dome_capture_block *b)
{
    const uint64_t all = dome__capture_block_elements(b), most = dome__capture_image_part_elements(b->layout->portable);
    for (uint64_t first = 0; first < all; first += most) {
        segment part = {.kind = SEGMENT_BLOCK_PART, .block = b, .first = first, .elements = MIN(most, all - first)};
        part.bytes = GROUP_HEAD + RUN_BYTES + PART_HEAD + part.elements * b->layout->portable;
        g_array_append_val(segments, part);
    }
}

static void cut_heap(GArray *segments)
{
    segment group = {.kind = SEGMENT_BLOCKS};
    const dome_capture_block *before = NULL;
    for (dome_capture_block *b = dome__capture_heap.blocks; b < dome__capture_heap.blocks + dome__capture_heap.count; b++) {
        const uint64_t bytes = block_bytes(b);
        const bool parts = bytes > SMALL_BYTES && !b->layout->tail;
        ((dome_capture_layout *)(uintptr_t)b->layout)->used = true;
        if (group.count > 0 && (parts || group.block->serial >> GROUP_BITS != b->serial >> GROUP_BITS)) {
            g_array_append_val(segments, group);
            group.count = 0;
        }
        if (parts) {
            cut_parts(segments, b);
            continue;
        }
        if (group.count == 0) {
            group = (segment){.kind = SEGMENT_BLOCKS, .block = b, .bytes = GROUP_HEAD};
            before = NULL;
        }
        if (!before || !continues(before, b)) {
            group.runs++;
            group.bytes += RUN_BYTES;
        }
        before = b;
        group.count++;
        group.bytes += bytes;
    }
    if (group.count > 0)
        g_array_append_val(segments, group);
}

/* ---- the head ---- */

enum { TEXT_MOST = 65535 };

typedef struct numbering {
    GByteArray *to;
    uint32_t count;
} numbering;

static void number_type(void *ctx, dome_capture_layout *layout)
{
    numbering *n = ctx;
    if (!layout->used)
        return;
    layout->number = n->count++;
    dome__append_text(n->to, layout->name, TEXT_MOST);
    dome__append_u64(n->to, layout->hash);
    dome__append_u64(n->to, layout->portable);
}

static void put_types(GByteArray *head)
{
    numbering n = {head, 0};
    guint at = head->len;
    dome__append_u32(head, 0);
    dome__capture_layouts_each(number_type, &n);
    dome__put_u32(head->data + at, n.count);
}

static void put_globals(GByteArray *head)
{
    dome__append_u32(head, (uint32_t)dome__capture_global_count());
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        dome__append_text(head, g->global->name, TEXT_MOST);
        dome__append_u64(head, g->layout->hash);
        dome__append_u64(head, g->elements);
        dome__append_u32(head, g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT);
    }
    dome__append_u32(head, (uint32_t)dome__capture_code_count());
    for (size_t k = 0; k < dome__capture_code_count(); k++)
        dome__append_text(head, dome__capture_code(k)->name, TEXT_MOST);
}

/* The functions that are active, numbered from the outermost on. */
static void put_functions(GByteArray *head)
{
    const size_t records = dome__capture_record_count();
    guint at = head->len;
    uint32_t count = 0;
    dome__append_u32(head, 0);
    for (size_t k = 0; k < records; k++)
        dome__capture_frame_layout(dome__capture_record(k)->function)->used = false;
    for (size_t k = records; k-- > 0;) {
        const dome_capture_function *f = dome__capture_record(k)->function;
        dome_capture_frame_layout *l = f->known;
        if (l->used)
            continue;
        l->used = true;
        l->number = count++;
        dome__append_text(head, f->name, TEXT_MOST);
        dome__append_u64(head, f->version);
        dome__append_u64(head, l->saved ? l->saved->hash : 0);
        dome__append_u64(head, l->memory ? l->memory->hash : 0);
    }
    dome__put_u32(head->data + at, count);
}

/* ---- descriptions ----
 *
 * What dome ckpt needs to print values without the program. */

typedef struct descriptions {
    GByteArray *to;
    GHashTable *numbers; /* name and shape of a type -> its number, plus 1 */
    uint32_t count;
} descriptions;

static uint32_t describe_type(descriptions *d, const dome_capture_type *type)
{
    char *key = g_strdup_printf("%s %016" PRIx64 " %d", type->name, dome__capture_shape(type), (int)type->kind);
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(d->numbers, key)), *parts = NULL;
    if (number > 0) {
        g_free(key);
        return number - 1;
    }
    if (type->kind == DOME_CAPTURE_KIND_ARRAY)
        number = describe_type(d, type->element);
    if (type->members) {
        parts = g_new(uint32_t, type->count);
        for (size_t k = 0; k < type->count; k++)
            parts[k] = describe_type(d, type->members[k].type);
    }
    dome__append_text(d->to, type->name, TEXT_MOST);
    dome__append_u32(d->to, type->kind);
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        dome__append_u32(d->to, type->scalar);
        break;
    case DOME_CAPTURE_KIND_POINTER:
        break;
    case DOME_CAPTURE_KIND_ARRAY:
        dome__append_u64(d->to, type->count);
        dome__append_u32(d->to, number);
        break;
    default:
        dome__append_u32(d->to, (uint32_t)type->count);
        for (size_t k = 0; k < type->count; k++) {
            dome__append_text(d->to, type->members[k].name, TEXT_MOST);
            dome__append_u32(d->to, parts[k]);
        }
    }
    g_free(parts);
    g_hash_table_insert(d->numbers, key, GUINT_TO_POINTER(d->count + 1));
    return d->count++;
}

static void describe_used(void *ctx, dome_capture_layout *layout)
{
    GArray *numbers = ((void **)ctx)[1];
    uint32_t number = layout->used ? describe_type(((void **)ctx)[0], layout->type) : 0;
    if (layout->used)
        g_array_append_val(numbers, number);
}

/* Of the functions in the order of their numbers: their types, and where the points are at which they were captured. */
static void describe_functions(descriptions *d, GArray *numbers, GByteArray *points)
{
    const uint32_t none = UINT32_MAX;
    GPtrArray *used = g_ptr_array_new(); /* of each function: its points, as keys */
    for (size_t k = dome__capture_record_count(); k-- > 0;) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_function *f = r->function;
        const dome_capture_frame_layout *l = f->known;
        if (l->number == used->len) {
            const uint32_t saved = l->saved ? describe_type(d, f->saved) : none,
                           memory = l->memory ? describe_type(d, f->memory) : none;
            g_array_append_val(numbers, saved);
            g_array_append_val(numbers, memory);
            g_ptr_array_add(used, g_hash_table_new(NULL, NULL));
        }
        GHashTable *of_function = used->pdata[l->number];
        if ((size_t)r->point >= f->npoints || !f->points[r->point] ||
            !g_hash_table_add(of_function, GINT_TO_POINTER(r->point + 1)))
            continue;
        dome__append_u32(points, l->number);
        dome__append_u32(points, (uint32_t)r->point);
        dome__append_text(points, f->points[r->point], TEXT_MOST);
    }
    for (guint k = 0; k < used->len; k++)
        g_hash_table_unref(used->pdata[k]);
    g_ptr_array_unref(used);
}

static void append_numbers(GByteArray *to, const GArray *numbers)
{
    for (guint k = 0; k < numbers->len; k++)
        dome__append_u32(to, g_array_index(numbers, uint32_t, k));
}

static void put_descriptions(GByteArray *head)
{
    descriptions d = {.to = g_byte_array_new(), .numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GByteArray *points = g_byte_array_new();
    void *ctx[] = {&d, numbers};
    dome__capture_layouts_each(describe_used, ctx);
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const uint32_t number = describe_type(&d, dome__capture_global(k)->layout->type);
        g_array_append_val(numbers, number);
    }
    describe_functions(&d, numbers, points);
    dome__append_u32(head, (uint32_t)(sizeof(uint32_t) * (1 + numbers->len) + d.to->len + points->len));
    dome__append_u32(head, d.count);
    g_byte_array_append(head, d.to->data, d.to->len);
    append_numbers(head, numbers);
    g_byte_array_append(head, points->data, points->len);
    g_byte_array_unref(points);
    g_array_unref(numbers);
    g_hash_table_unref(d.numbers);
    g_byte_array_unref(d.to);
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
    for (size_t k = dome__capture_record_count(); k-- > 0;) {
        const dome_capture_record *r = dome__capture_record(k);
        const dome_capture_frame_layout *l = r->function->known;
        dome__append_u32(image->frames, l->number);
        dome__append_u32(image->frames, (uint32_t)r->point);
        put_values(image, l->saved, dome__capture_record_data(r));
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above) {
        const dome_capture_frame_layout *l = m->function->known;
        dome__append_u32(image->frames, l->number);
        put_values(image, l->memory, dome__capture_memory_of(m));
    }
}

/* What is too large for an array of GLib's. */
static uint64_t frame_bytes(void)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < dome__capture_record_count(); k++) {
        const dome_capture_frame_layout *l = dome__capture_frame_layout(dome__capture_record(k)->function);
        bytes += 2 * sizeof(uint32_t) + (l->saved ? l->saved->portable : 0);
    }
    for (dome_capture_memory *m = dome__capture_memory_first(); m; m = m->above)
        bytes += sizeof(uint32_t) + dome__capture_frame_layout(m->function)->memory->portable;
    return bytes;
}

char *dome__capture_image_take(dome_capture_image *image)
{
    segment head = {.kind = SEGMENT_HEAD}, frames = {.kind = SEGMENT_FRAMES};
    if (frame_bytes() > G_MAXINT32)
        return g_strdup("the variables of the active functions take more than 2 GiB");
    g_array_set_size(image->segments, 0);
    g_byte_array_set_size(image->head, 0);
    g_array_append_val(image->segments, head);
    g_array_append_val(image->segments, frames);
    dome__capture_layouts_begin();
    dome__capture_handles_begin(image->env);
    if ((image->env && !dome__capture_heap_renumber()) || !dome__capture_pointers_begin())
        return g_strdup("no memory");
    dome__capture_image_cut_globals(image->segments);
    cut_heap(image->segments);
    dome__append_u32(image->head, image->env ? IMAGE_VERSION_HANDLES : IMAGE_VERSION);
    const dome_capture_counts counts = dome__capture_counts();
    dome__append_u64(image->head, counts.polls);
    dome__append_u64(image->head, counts.request_at);
    dome__append_u32(image->head, counts.counting);
    dome__append_u64(image->head, dome__capture_heap.serial);
    dome__append_u64(image->head, dome__capture_heap.count);
    dome__append_u64(image->head, dome__capture_record_count());
    dome__append_u64(image->head, dome__capture_memory_count());
    put_types(image->head);
    put_globals(image->head);
    put_functions(image->head);
    char *problem = dome__capture_streams_save(image->head, !image->env);
    if (!problem && image->env)
        problem = dome__capture_handles_save(image->head);
    if (problem)
        return problem;
    put_descriptions(image->head);
    put_frames(image);
    image_segment(image, SEGMENT_HEAD)->bytes = image->head->len;
    image_segment(image, SEGMENT_FRAMES)->bytes = image->frames->len;
    if (image->length != image->segments->len) {
        image->length = image->segments->len;
        dome_layout_unref(image->layout);
        image->layout = dome_layout_new(image->length, 1, 1, 0, &image->length);
    }
    return image->layout ? NULL : g_strdup("no memory");
}

/* ---- packing ---- */

dome_status dome__capture_image_bytes(const dome_object *object, uint64_t first, uint64_t count, uint64_t *bytes)
{
    const dome_capture_image *image = dome_object_content(object);
    *bytes = 0;
    if (first > image->segments->len || count > image->segments->len - first)
        return DOME_ERR_STATE; /* the program is not captured */
    for (uint64_t k = first; k < first + count; k++)
        *bytes += image_segment(image, (guint)k)->bytes;
    return DOME_OK;
}

static uint8_t *put_run(uint8_t *to, const dome_capture_block *b, uint32_t count)
{
    dome__put_u64(to, b->serial);
    dome__put_u32(to + 8, count);
    dome__put_u32(to + 12, b->layout->number);
    dome__put_u64(to + 16, dome__capture_block_elements(b));
    dome__put_u64(to + 24, dome__capture_block_tail(b));
    return to + RUN_BYTES;
}

static uint8_t *put_runs(uint8_t *to, const segment *s)
{
    const dome_capture_block *first = s->block, *b = first;
    uint32_t length = 0;
    for (uint64_t k = 0; k < s->count; k++, b++) {
        if (length > 0 && !continues(b - 1, b)) {
            to = put_run(to, first, length);
            length = 0;
        }
        if (length++ == 0)
            first = b;
    }
    return put_run(to, first, length);
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

/* What the pointers of several blocks lead to is fetched together: one after the other most of the time would go to waiting. */
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
    dome__put_u32(to, SEGMENT_BLOCKS);
    dome__put_u32(to + 4, (uint32_t)s->runs);
    to = put_runs(to + GROUP_HEAD, s);
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
    switch (s->kind) {
    case SEGMENT_HEAD:
        memcpy(to, image->head->data, image->head->len);
        return;
    case SEGMENT_FRAMES:
        if (image->frames->len > 0)
            memcpy(to, image->frames->data, image->frames->len);
        return;
    case SEGMENT_GLOBALS:
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
        dome__put_u32(to, SEGMENT_BLOCK_PART);
        dome__put_u32(to + 4, 1);
        to = put_run(to + GROUP_HEAD, s->block, 1);
        dome__put_u64(to, s->first);
        dome__put_u64(to + 8, s->elements);
        dome__capture_pack(s->block->layout, to + PART_HEAD,
                           (const char *)dome__capture_block_memory(s->block) + s->first * s->block->layout->size, s->elements,
                           &coder);
    }
}

void dome__capture_image_write_block(const dome_capture_image *image, uint64_t block, void *buffer)
{
    pack_segment(image, image_segment(image, (guint)block), buffer);
}

dome_status dome__capture_image_write(const dome_object *object, uint64_t first, uint64_t count, void *buffer, uint64_t bytes)
{
    const dome_capture_image *image = dome_object_content(object);
    uint64_t expected;
    dome_status status = dome__capture_image_bytes(object, first, count, &expected);
    if (status != DOME_OK || expected != bytes)
        return status != DOME_OK ? status : DOME_ERR_ARGUMENT;
    uint8_t *to = buffer;
    for (uint64_t k = first; k < first + count; k++) {
        const segment *s = image_segment(image, (guint)k);
        pack_segment(image, s, to);
        to += s->bytes;
    }
    return DOME_OK;
}
