#include "capture/image_private.h"

#include "capture/modules.h"
#include "capture/zeros.h"

static void clear_segment(void *one)
{
    g_free(((segment *)one)->ready);
}

static void clear_kept(void *one)
{
    g_free(((kept *)one)->bytes);
}

dome_capture_image *dome__capture_image_new(uint64_t saved)
{
    dome_capture_image *image = g_new0(dome_capture_image, 1);
    image->length = saved ? saved : 1;
    image->segments = g_array_new(FALSE, TRUE, sizeof(segment));
    g_array_set_clear_func(image->segments, clear_segment);
    image->head = g_byte_array_new();
    image->frames = g_byte_array_new();
    image->types = g_ptr_array_new();
    image->functions = g_ptr_array_new();
    image->globals = g_array_new(FALSE, FALSE, sizeof(size_t));
    image->codes = g_ptr_array_new();
    image->blocks = g_ptr_array_new();
    image->memory = g_ptr_array_new();
    image->memory_layouts = g_ptr_array_new();
    image->kept = g_array_new(FALSE, TRUE, sizeof(kept));
    g_array_set_clear_func(image->kept, clear_kept);
    image->coder = (dome_capture_coder){.encode = dome__capture_encode, .decode = dome__capture_decode};
    return image;
}

dome_capture_image *dome__capture_image_new_of(dome_env *env, uint64_t saved)
{
    dome_capture_image *image = dome__capture_image_new(saved);
    image->env = env;
    return image;
}

void dome__capture_image_free(dome_capture_image *image)
{
    if (!image)
        return;
    g_array_unref(image->segments);
    g_byte_array_unref(image->head);
    g_byte_array_unref(image->frames);
    g_ptr_array_unref(image->types);
    g_ptr_array_unref(image->functions);
    g_array_unref(image->globals);
    g_ptr_array_unref(image->codes);
    g_ptr_array_unref(image->blocks);
    g_ptr_array_unref(image->memory);
    g_ptr_array_unref(image->memory_layouts);
    g_array_unref(image->kept);
    dome__capture_streams_free(image->streams);
    dome__capture_handles_free(image->handles);
    g_clear_pointer(&image->changed, g_ptr_array_unref);
    g_free(image->problem);
    g_free(image);
}

uint64_t dome__capture_image_blocks(const dome_capture_image *image)
{
    return image->length;
}

uint64_t dome__capture_image_block_bytes(const dome_capture_image *image, uint64_t block)
{
    return image_segment(image, (guint)block)->bytes;
}

uint64_t dome__capture_image_part_elements(uint64_t portable, uint64_t left)
{
    const uint64_t most = MAX(PART_BYTES / portable, 1);
    return left <= most + most / 2 ? left : most;
}

bool dome__capture_image_whole_block(const uint8_t **bytes, uint64_t *length, uint8_t **own)
{
    *own = NULL;
    if (*length == 0 || **bytes != SEGMENT_WITHOUT_ZEROS)
        return true;
    *own = dome__capture_zeros_put_back(*bytes + KIND_BYTES, *length - KIND_BYTES, length);
    *bytes = *own;
    return *own;
}

/* Constants, of which no value is saved, may be others in the program that reads the image: they begin and end no block, but for
 * images of earlier builds. */
void dome__capture_image_cut_globals(GArray *segments, bool bare)
{
    const uint64_t head = bare ? 0 : KIND_BYTES;
    segment group = {.kind = SEGMENT_GLOBALS, .head = head};
    for (size_t k = 0; k < dome__capture_global_count(); k++) {
        const dome_capture_known_global *g = dome__capture_global(k);
        const bool constant = g->global->flags & DOME_CAPTURE_GLOBAL_CONSTANT;
        const uint64_t bytes = constant ? 0 : g->elements * g->layout->portable;
        if (constant && !bare)
            continue;
        if (group.count > 0 && (bytes > SMALL_BYTES || group.bytes - head + bytes > PART_BYTES)) {
            g_array_append_val(segments, group);
            group.count = 0;
        }
        if (bytes > SMALL_BYTES) {
            for (uint64_t first = 0, count; first < g->elements; first += count) {
                count = dome__capture_image_part_elements(g->layout->portable, g->elements - first);
                segment part = {.kind = SEGMENT_GLOBAL_PART, .global = k, .first = first, .elements = count};
                part.bytes = count * g->layout->portable;
                g_array_append_val(segments, part);
            }
            continue;
        }
        if (group.count == 0) {
            group.global = k;
            group.bytes = head;
        }
        group.count = k - group.global + 1;
        group.bytes += bytes;
    }
    if (group.count > 0)
        g_array_append_val(segments, group);
}
