/* Restoring the image: the blocks come in order. Numbers go to their places at once; what has pointers is kept until all blocks
 * are there. Nothing in the bytes is trusted: an image may be damaged, or of another version of the program. */
#include "capture/frames.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"
#include "heap/descriptions.h"
#include "system/bytes.h"

#include <inttypes.h>
#include <stdarg.h>

static dome_status problem(dome_capture_image *image, dome_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static dome_status problem(dome_capture_image *image, dome_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!image->problem) {
        image->problem = g_strdup_vprintf(format, arguments);
        for (char *c = image->problem; *c; c++) /* names may be damaged */
            if (g_ascii_iscntrl(*c))
                *c = '?';
    }
    va_end(arguments);
    return status;
}

static dome_status damaged(dome_capture_image *image, const char *what)
{
    return problem(image, DOME_ERR_FORMAT, "the image is not what it should be: %s", what);
}

/* A value could not be taken: says which. */
static dome_status refused(dome_capture_image *image)
{
    char *where = dome__capture_say_where(image->coder.where);
    dome_status status =
        problem(image, DOME_ERR_RANGE, "%s: %s", where ? where : "a variable of an active function", image->coder.problem);
    g_free(where);
    return status;
}

/* ---- the head ---- */

static void read_types(dome_capture_image *image, const dome_capture_described *d, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad && !image->problem; k++) {
        const dome_capture_shown_type *t = dome__capture_described_type(d, from);
        const dome_capture_layout *l = t ? dome__capture_layout_find(t->name, t->shape) : NULL;
        if (l)
            g_ptr_array_add(image->types, (void *)(uintptr_t)l);
        else if (t)
            problem(image, DOME_ERR_TYPE,
                    "the image has blocks of type '%s', which this program does not have, or has with other members", t->name);
    }
}

static void read_global(dome_capture_image *image, const dome_capture_described *d, dome_bytes *from, size_t *saved)
{
    const char *name = dome__capture_described_name(d, from);
    const dome_capture_shown_type *type = dome__capture_described_type(d, from);
    const uint64_t elements = dome__read_leb128(from), flags = dome__read_leb128(from);
    size_t k = from->bad ? SIZE_MAX : dome__capture_global_find(name);
    const dome_capture_known_global *g = k != SIZE_MAX ? dome__capture_global(k) : NULL;
    const bool constant = flags & DOME_CAPTURE_GLOBAL_CONSTANT;
    if (!from->bad && !g && !constant)
        problem(image, DOME_ERR_NAME, "the image has a global '%s', which this program does not have", name);
    else if (!from->bad && g &&
             (g->layout->hash != type->shape || g->elements != elements ||
              constant != !!(g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT)))
        problem(image, DOME_ERR_TYPE, "global '%s' has another type in the image than in this program", name);
    g_array_append_val(image->globals, k);
    *saved += !constant;
}

static void read_globals(dome_capture_image *image, const dome_capture_described *d, dome_bytes *from)
{
    uint64_t count = dome__read_leb128(from);
    size_t saved = 0, here = 0;
    for (uint64_t k = 0; k < count && !from->bad && !image->problem; k++)
        read_global(image, d, from, &saved);
    for (size_t k = 0; k < dome__capture_global_count(); k++)
        here += !(dome__capture_global(k)->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT);
    if (!from->bad && saved != here)
        problem(image, DOME_ERR_NAME, "the image has %zu globals, and this program %zu: it is of another version of the program",
                saved, here);
    count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        const dome_capture_code *code = dome__capture_code_find(dome__capture_described_name(d, from));
        void *address = NULL;
        if (code)
            memcpy(&address, &code->address, sizeof address);
        g_ptr_array_add(image->codes, address); /* NULL: nothing may point to it */
    }
}

static bool same_type(const dome_capture_layout *layout, const dome_capture_shown_type *type)
{
    return layout && type ? layout->hash == type->shape : !layout && !type;
}

static void read_functions(dome_capture_image *image, const dome_capture_described *d, dome_bytes *from)
{
    uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad && !image->problem; k++) {
        const char *name = dome__capture_described_name(d, from);
        const uint64_t version = dome__read_u64(from);
        const dome_capture_shown_type *saved = dome__capture_described_type_or_none(d, from),
                                      *memory = dome__capture_described_type_or_none(d, from);
        dome_capture_function *f = from->bad ? NULL : dome__capture_function_find(name);
        const dome_capture_frame_layout *l = f ? f->known : NULL;
        if (!from->bad && !l)
            problem(image, DOME_ERR_NAME, "function '%s' is active in the image, and this program has none of that name", name);
        else if (!from->bad && (!same_type(l->saved, saved) || !same_type(l->memory, memory)))
            problem(image, DOME_ERR_TYPE, "function '%s' has other variables in the image than in this program", name);
        else if (!from->bad && version != f->version)
            problem(image, DOME_ERR_TYPE, "function '%s' is not the one in the image: its source has changed", name);
        g_ptr_array_add(image->functions, f);
    }
    count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) { /* places, which are for people: inspect.h */
        dome__read_leb128(from);
        dome__read_leb128(from);
        dome__capture_described_name(d, from);
    }
}

/* Functions and constants that have another text in this program than they had, or are not there any more. */
static void read_sources(dome_capture_image *image, const dome_capture_described *d, dome_bytes *from)
{
    const uint64_t count = dome__read_leb128(from);
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        const char *name = dome__capture_described_name(d, from);
        const uint32_t hash = dome__read_u32(from);
        const dome_capture_source *now = from->bad ? NULL : dome__capture_source_find(name);
        if (from->bad || (now && now->hash == hash))
            continue;
        if (!image->changed)
            image->changed = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(image->changed, g_strdup(name));
    }
}

/* The part of the image behind the counts. */
static void read_lists(dome_capture_image *image, dome_bytes *from)
{
    dome_capture_described d;
    dome__capture_described_read(&d, from);
    if (!from->bad)
        read_types(image, &d, from);
    if (!from->bad && !image->problem)
        read_globals(image, &d, from);
    if (!from->bad && !image->problem)
        read_functions(image, &d, from);
    if (!from->bad && !image->problem && image->form.sources)
        read_sources(image, &d, from);
    if (!from->bad && !image->problem)
        image->streams = dome__capture_streams_read(from);
    if (!from->bad && !image->problem && image->env)
        image->handles = dome__capture_handles_read(from);
    dome__capture_described_clear(&d);
}

static dome_status read_head(dome_capture_image *image, const void *buffer, uint64_t bytes)
{
    dome_bytes from = dome__bytes_of(buffer, (size_t)bytes);
    uint32_t version = dome__read_u32(&from);
    image->form = image_form_of(version);
    if (!image->form.known || image->form.handles != !!image->env)
        return problem(image, DOME_ERR_FORMAT, "the image has version %" PRIu32 ", which this library does not know", version);
    image->counts.polls = dome__read_leb128(&from);
    image->counts.request_at = dome__read_leb128(&from);
    image->counts.counting = dome__read_leb128(&from) != 0;
    image->serial = dome__read_leb128(&from);
    image->all_blocks = dome__read_leb128(&from);
    image->records = dome__read_leb128(&from);
    image->memories = dome__read_leb128(&from);
    if (from.bad || image->serial >> DOME_CAPTURE_SPACE_SHIFT)
        return damaged(image, "its head");
    read_lists(image, &from);
    if (image->problem)
        return DOME_ERR_TYPE;
    if (!dome__read_all(&from))
        return damaged(image, "its head");
    dome__capture_heap_clear();
    dome__capture_frames_clear();
    g_array_set_size(image->segments, 0);
    segment none[] = {{.kind = SEGMENT_HEAD}, {.kind = SEGMENT_FRAMES}};
    g_array_append_vals(image->segments, none, G_N_ELEMENTS(none));
    dome__capture_image_cut_globals(image->segments, image->form.bare);
    return image->segments->len <= image->length ? DOME_OK : damaged(image, "it has too few blocks");
}

/* ---- the active functions ---- */

/* A copy of `what`, with a copy of its bytes. */
static void keep(dome_capture_image *image, const void *bytes, const kept *what)
{
    kept k = *what;
    k.bytes = g_memdup2(bytes, (gsize)k.length);
    g_array_append_val(image->kept, k);
}

static dome_capture_function *read_function(dome_capture_image *image, dome_bytes *from)
{
    const uint64_t number = dome__read_leb128(from);
    return !from->bad && number < image->functions->len ? image->functions->pdata[number] : NULL;
}

static dome_status read_values(dome_capture_image *image, dome_bytes *from, const dome_capture_layout *layout, void *to)
{
    if (!layout)
        return DOME_OK;
    const uint8_t *bytes = dome__read_bytes(from, layout->portable);
    if (!bytes)
        return damaged(image, "the active functions");
    return dome__capture_unpack_numbers(layout, to, bytes, 1, &image->coder) ? DOME_OK : refused(image);
}

static dome_status read_record(dome_capture_image *image, dome_bytes *from, size_t *memories)
{
    dome_capture_function *f = read_function(image, from);
    const uint64_t point = dome__read_leb128(from);
    if (!f || from->bad || point > INT32_MAX || (f->npoints > 0 && point >= f->npoints))
        return damaged(image, "an active function");
    const dome_capture_frame_layout *l = f->known;
    *memories += l->memory != NULL;
    return read_values(image, from, l->saved, dome__capture_record_restore(f, (int)point));
}

static dome_status read_frames(dome_capture_image *image, const void *buffer, uint64_t bytes)
{
    dome_bytes from = dome__bytes_of(buffer, (size_t)bytes);
    size_t memories = 0;
    dome_status status = DOME_OK;
    if (image->records == 0)
        return damaged(image, "no function is active");
    for (uint64_t k = 0; k < image->records && status == DOME_OK; k++)
        status = read_record(image, &from, &memories);
    for (uint64_t k = 0, r = 0; k < image->memories && status == DOME_OK; k++, r++) {
        dome_capture_function *f = read_function(image, &from);
        if (!f || !f->memory)
            return damaged(image, "the memory of an active function");
        const dome_capture_frame_layout *l = f->known;
        while (r < image->records && !dome__capture_record(r)->function->memory)
            r++;
        if (r >= image->records || dome__capture_record(r)->function != f)
            return damaged(image, "the memory of another function than is active");
        void *memory = dome__capture_memory_restore(f);
        g_ptr_array_add(image->memory, memory);
        g_ptr_array_add(image->memory_layouts, (void *)(uintptr_t)l->memory);
        status = read_values(image, &from, l->memory, memory);
    }
    if (status != DOME_OK)
        return status;
    if (!dome__read_all(&from) || memories != image->memories)
        return damaged(image, "the number of active functions");
    keep(image, buffer, &(kept){.kind = SEGMENT_FRAMES, .length = bytes});
    return DOME_OK;
}

/* ---- globals ---- */

static dome_status read_global_segment(dome_capture_image *image, const segment *s, const uint8_t *from, uint64_t bytes)
{
    bool good = true, pointers = false;
    if (bytes != s->bytes - s->head)
        return damaged(image, "the size of a block of globals");
    if (s->kind == SEGMENT_GLOBAL_PART) {
        const dome_capture_known_global *g = dome__capture_global(s->global);
        char *to = (char *)(uintptr_t)g->global->address + s->first * g->layout->size;
        good = dome__capture_unpack_numbers(g->layout, to, from, s->elements, &image->coder);
        pointers = g->layout->pointers;
    }
    const uint8_t *at = from;
    for (size_t k = s->global; s->kind == SEGMENT_GLOBALS && k < s->global + s->count && good; k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        if (g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT)
            continue;
        good = dome__capture_unpack_numbers(g->layout, (void *)(uintptr_t)g->global->address, at, g->elements, &image->coder);
        pointers |= g->layout->pointers;
        at += g->elements * g->layout->portable;
    }
    if (!good)
        return refused(image);
    if (pointers)
        keep(image, from, &(kept){.kind = s->kind, .length = bytes, .segment = *s});
    return DOME_OK;
}

/* ---- the heap ---- */

static uint64_t last_serial(const dome_capture_image *image)
{
    return image->blocks->len > 0 ? ((const dome_capture_block *)image->blocks->pdata[image->blocks->len - 1])->serial : 0;
}

/* after: the serial behind the run before. */
static bool read_run(const dome_capture_image *image, uint64_t after, dome_bytes *from, block_run *run)
{
    const uint64_t distance = dome__read_leb128(from), count = dome__read_leb128(from), type = dome__read_leb128(from),
                   size = dome__read_leb128(from);
    if (from->bad || type >= image->types->len || count == 0 || distance > image->serial || after > image->serial)
        return false;
    const dome_capture_layout *l = image->types->pdata[type];
    *run = (block_run){
        .serial = after + distance, .count = count, .layout = l, .elements = l->tail ? 1 : size, .tail = l->tail ? size : 0};
    return true;
}

/* The bytes of a block of a run; UINT64_MAX: more than there can be. */
static uint64_t run_block_bytes(const block_run *run)
{
    const dome_capture_layout *l = run->layout;
    uint64_t bytes, tail = 0, all;
    if (__builtin_mul_overflow(run->elements, l->portable, &bytes) ||
        (l->tail && __builtin_mul_overflow(run->tail, l->tail->portable, &tail)) || __builtin_add_overflow(bytes, tail, &all))
        return UINT64_MAX;
    return all;
}

static dome_capture_block *restore_block(dome_capture_image *image, const block_run *run, uint64_t serial)
{
    dome_capture_block *b = dome__capture_block_restore(run->layout, run->elements, run->tail, serial);
    if (b)
        g_ptr_array_add(image->blocks, b);
    return b;
}

static dome_status read_run_blocks(dome_capture_image *image, const block_run *run, const uint8_t **at, const uint8_t *end,
                                   bool *pointers)
{
    const dome_capture_layout *l = run->layout;
    const uint64_t bytes = run_block_bytes(run);
    *pointers |= l->pointers;
    for (uint64_t k = 0; k < run->count; k++) {
        if (bytes > (uint64_t)(end - *at))
            return damaged(image, "a block of the heap is larger than its bytes");
        dome_capture_block *b = restore_block(image, run, run->serial + k);
        if (!b)
            return problem(image, DOME_ERR_MEMORY, "no memory for block %" PRIu64 " of the heap", run->serial + k);
        char *to = dome__capture_block_memory(b);
        bool good = dome__capture_unpack_numbers(l, to, *at, run->elements, &image->coder);
        if (good && run->tail > 0)
            good = dome__capture_unpack_numbers(l->tail, to + l->tail_offset, *at + run->elements * l->portable, run->tail,
                                                &image->coder);
        if (!good)
            return refused(image);
        *at += bytes;
    }
    return DOME_OK;
}

static dome_status read_blocks(dome_capture_image *image, dome_bytes from)
{
    const uint64_t count = dome__read_leb128(&from);
    const size_t first = image->blocks->len;
    dome_bytes runs = from;
    block_run run;
    if (count == 0 || count > 1u << GROUP_BITS)
        return damaged(image, "the number of runs of blocks");
    for (uint64_t k = 0; k < count; k++)
        if (!read_run(image, 0, &from, &run))
            return damaged(image, "a run of blocks of the heap");
    const uint8_t *const values = from.at, *at = values;
    uint64_t window = 0, after = 0;
    bool pointers = false;
    for (uint64_t k = 0; k < count; k++) {
        if (!read_run(image, after, &runs, &run) || run.serial <= last_serial(image) || run.count > 1u << GROUP_BITS)
            return damaged(image, "a run of blocks of the heap");
        if (k == 0)
            window = run.serial >> GROUP_BITS;
        after = run.serial + run.count;
        if (run.serial >> GROUP_BITS != window || (after - 1) >> GROUP_BITS != window)
            return damaged(image, "a run of blocks of the heap");
        dome_status status = read_run_blocks(image, &run, &at, from.end, &pointers);
        if (status != DOME_OK)
            return status;
    }
    if (at != from.end)
        return damaged(image, "the size of a block of the heap");
    if (pointers)
        keep(image, values,
             &(kept){.kind = SEGMENT_BLOCKS,
                     .length = (uint64_t)(from.end - values),
                     .block = first,
                     .count = image->blocks->len - first});
    return DOME_OK;
}

/* The block of which a first part follows. */
static dome_status begin_parts(dome_capture_image *image, dome_bytes *from)
{
    block_run run;
    if (!read_run(image, 0, from, &run) || run.count != 1 || run.layout->tail || run.serial <= last_serial(image))
        return damaged(image, "the first part of a block of the heap");
    const uint64_t most = dome__capture_image_part_elements(run.layout->portable, UINT64_MAX),
                   parts = run.elements / most + (run.elements % most > most / 2);
    if (run_block_bytes(&run) == UINT64_MAX || run.elements == 0 || parts > image->length - image->next)
        return damaged(image, "the first part of a block of the heap");
    if (!restore_block(image, &run, run.serial))
        return problem(image, DOME_ERR_MEMORY,
                       "no memory for block %" PRIu64 " of the heap, of %" PRIu64 " elements of type '%s'", run.serial,
                       run.elements, run.layout->name);
    image->part_left = run.elements;
    return DOME_OK;
}

static dome_status read_part(dome_capture_image *image, dome_bytes from)
{
    const dome_capture_block *b = image->blocks->pdata[image->blocks->len - 1];
    const dome_capture_layout *l = b->layout;
    const uint64_t elements = dome__capture_image_part_elements(l->portable, image->part_left),
                   first = dome__capture_block_elements(b) - image->part_left, length = (uint64_t)(from.end - from.at);
    if (elements > length / l->portable || elements * l->portable != length)
        return damaged(image, "the size of a part of a block of the heap");
    image->part_left -= elements;
    char *to = (char *)dome__capture_block_memory(b) + first * l->size;
    if (!dome__capture_unpack_numbers(l, to, from.at, elements, &image->coder))
        return refused(image);
    if (l->pointers) {
        const segment part = {.kind = SEGMENT_BLOCK_PART, .first = first, .elements = elements};
        keep(image, from.at,
             &(kept){.kind = SEGMENT_BLOCK_PART, .length = length, .segment = part, .block = image->blocks->len - 1, .count = 1});
    }
    return DOME_OK;
}

static dome_status read_heap(dome_capture_image *image, const uint8_t *buffer, uint64_t bytes)
{
    dome_bytes from = dome__bytes_of(buffer, (size_t)bytes);
    const uint64_t kind = dome__read_leb128(&from);
    const bool within = image->part_left > 0; /* a block of which further parts have to come */
    if (kind == SEGMENT_BLOCKS && !within)
        return read_blocks(image, from);
    if (kind != (within ? SEGMENT_BLOCK_MORE : SEGMENT_BLOCK_PART))
        return damaged(image, "a block of the heap");
    const dome_status status = within ? DOME_OK : begin_parts(image, &from);
    return status == DOME_OK ? read_part(image, from) : status;
}

/* ---- all together ---- */

/* A block behind the head. */
static dome_status read_segment(dome_capture_image *image, uint64_t block, const uint8_t *bytes, uint64_t length)
{
    const segment *s = block < image->segments->len ? image_segment(image, (guint)block) : NULL;
    if (s && !image->form.bare && s->kind != SEGMENT_GLOBAL_PART) {
        if (length == 0 || *bytes != s->kind)
            return damaged(image, "the kind of a block");
        bytes += KIND_BYTES;
        length -= KIND_BYTES;
    }
    return !s                          ? read_heap(image, bytes, length)
           : s->kind == SEGMENT_FRAMES ? read_frames(image, bytes, length)
                                       : read_global_segment(image, s, bytes, length);
}

dome_status dome__capture_image_read_block(dome_capture_image *image, uint64_t block, const void *buffer, uint64_t bytes)
{
    const uint8_t *from = buffer;
    uint8_t *own = NULL;
    dome_status status;
    if (image->problem || block != image->next)
        return problem(image, DOME_ERR_FORMAT, "the blocks of the image are not read in their order");
    const bool part = block < image->segments->len && image_segment(image, (guint)block)->kind == SEGMENT_GLOBAL_PART;
    if (block == SEGMENT_HEAD)
        status = read_head(image, buffer, bytes);
    else if (!image->form.bare && !part && !dome__capture_image_whole_block(&from, &bytes, &own))
        status = damaged(image, "the zeros of a block");
    else
        status = read_segment(image, block, from, bytes);
    g_free(own);
    image->next++;
    return status;
}

/* ---- pointers ---- */

static bool point_values(dome_capture_image *image, const dome_capture_layout *layout, void *to, dome_bytes *from)
{
    if (!layout)
        return true;
    const uint8_t *at = dome__read_bytes(from, layout->portable);
    return at && dome__capture_unpack_pointers(layout, to, at, 1, &image->coder);
}

static bool point_frames(dome_capture_image *image, const kept *k)
{
    dome_bytes from = dome__bytes_of(k->bytes, (size_t)k->length);
    bool good = true;
    for (uint64_t r = 0; r < image->records && good; r++) {
        const dome_capture_record *record = dome__capture_record(r);
        const dome_capture_frame_layout *l = record->function->known;
        dome__read_leb128(&from); /* function and point, which read_frames has checked */
        dome__read_leb128(&from);
        good = point_values(image, l->saved, dome__capture_record_data(record), &from);
    }
    for (guint m = 0; m < image->memory->len && good; m++) {
        dome__read_leb128(&from);
        good = point_values(image, image->memory_layouts->pdata[m], image->memory->pdata[m], &from);
    }
    return good;
}

static bool point_globals(dome_capture_image *image, const kept *k)
{
    const segment *s = &k->segment;
    const uint8_t *at = k->bytes;
    if (k->kind == SEGMENT_GLOBAL_PART) {
        const dome_capture_known_global *g = dome__capture_global(s->global);
        char *to = (char *)(uintptr_t)g->global->address + s->first * g->layout->size;
        return dome__capture_unpack_pointers(g->layout, to, at, s->elements, &image->coder);
    }
    bool good = true;
    for (size_t n = s->global; n < s->global + s->count && good; n++) {
        const dome_capture_known_global *g = dome__capture_global(n);
        if (g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT)
            continue;
        good = dome__capture_unpack_pointers(g->layout, (void *)(uintptr_t)g->global->address, at, g->elements, &image->coder);
        at += g->elements * g->layout->portable;
    }
    return good;
}

static bool point_blocks(dome_capture_image *image, const kept *k)
{
    const uint8_t *at = k->bytes;
    if (k->kind == SEGMENT_BLOCK_PART) {
        const dome_capture_block *b = image->blocks->pdata[k->block];
        char *to = (char *)dome__capture_block_memory(b) + k->segment.first * b->layout->size;
        return dome__capture_unpack_pointers(b->layout, to, at, k->segment.elements, &image->coder);
    }
    bool good = true;
    for (uint64_t n = 0; n < k->count && good; n++) {
        const dome_capture_block *b = image->blocks->pdata[k->block + n];
        const dome_capture_layout *l = b->layout;
        const uint64_t elements = dome__capture_block_elements(b), tail = dome__capture_block_tail(b);
        char *to = dome__capture_block_memory(b);
        good = dome__capture_unpack_pointers(l, to, at, elements, &image->coder);
        at += elements * l->portable;
        if (good && tail > 0)
            good = dome__capture_unpack_pointers(l->tail, to + l->tail_offset, at, tail, &image->coder);
        at += l->tail ? tail * l->tail->portable : 0;
    }
    return good;
}

static bool point(dome_capture_image *image, const kept *k)
{
    switch (k->kind) {
    case SEGMENT_FRAMES:
        return point_frames(image, k);
    case SEGMENT_GLOBALS:
    case SEGMENT_GLOBAL_PART:
        return point_globals(image, k);
    default:
        return point_blocks(image, k);
    }
}

const char *dome__capture_image_problem(const dome_capture_image *image)
{
    return image->problem;
}

char *dome__capture_image_say_changed(const dome_capture_image *image)
{
    enum { NAMED = 5 };
    if (!image->changed)
        return NULL;
    GString *text = g_string_new("since the checkpoint, the text has changed of ");
    for (guint k = 0; k < MIN(image->changed->len, NAMED); k++)
        g_string_append_printf(text, "%s%s", k == 0 ? "" : ", ", (const char *)image->changed->pdata[k]);
    if (image->changed->len > NAMED)
        g_string_append_printf(text, " and %u others", image->changed->len - NAMED);
    g_string_append(text, "; the program goes on with what it has now");
    for (char *c = text->str; *c; c++) /* names may be damaged */
        *c = g_ascii_iscntrl(*c) ? '?' : *c;
    return g_string_free(text, FALSE);
}

char *dome__capture_image_restored(dome_capture_image *image)
{
    if (!image->problem && (image->next != image->length || image->part_left > 0 || image->blocks->len != image->all_blocks ||
                            last_serial(image) > image->serial))
        damaged(image, "blocks are missing");
    if (!image->problem) /* before the handles, whose content may be in blocks of the heap */
        dome__capture_heap.serial = image->serial;
    if (!image->problem && image->env)
        image->problem = dome__capture_handles_make(image->env, image->handles);
    if (!image->problem)
        image->problem = dome__capture_streams_open(image->streams);
    dome_capture_places places = {.blocks = (dome_capture_block **)image->blocks->pdata,
                                  .nblocks = image->blocks->len,
                                  .memories = image->memory->pdata,
                                  .memory_layouts = (const dome_capture_layout **)image->memory_layouts->pdata,
                                  .nmemories = image->memory->len,
                                  .globals = (const size_t *)(const void *)image->globals->data,
                                  .nglobals = image->globals->len,
                                  .codes = (const void *const *)image->codes->pdata,
                                  .ncodes = image->codes->len};
    dome__capture_places_index(&places);
    image->coder.ctx = &places;
    for (guint k = 0; k < image->kept->len && !image->problem; k++)
        if (!point(image, &g_array_index(image->kept, kept, k)))
            refused(image);
    if (!image->problem && image->env)
        image->problem = dome__capture_handles_tell(image->env, image->handles, &image->coder);
    image->coder.ctx = NULL;
    g_free(places.direct);
    g_array_set_size(image->kept, 0);
    g_ptr_array_set_size(image->blocks, 0);
    if (!image->problem) {
        dome__capture_frames_restored();
        dome__capture_counts_set(&image->counts);
    }
    return g_steal_pointer(&image->problem);
}
