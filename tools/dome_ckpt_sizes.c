/* dome ckpt show --sizes: of how many bytes each part of a captured program's image is. */
#include "commands.h"
#include "dome_ckpt_image.h"
#include "store/format.h"

#include <inttypes.h>
#include <string.h>

enum { FRAMES_FIRST = 8, FRAMES_LAST = 24, GLOBALS_SHOWN = 24 };

/* A part with a name: of the head, or a global. */
typedef struct part {
    const char *name;
    uint64_t bytes;
} part;

typedef struct sizes {
    const dome_ckpt_image *image;
    uint64_t bytes, blocks;           /* of the image */
    uint64_t left_out;                /* zeros, of which it is shorter than its parts */
    uint64_t frames, globals, values; /* values: of the heap's blocks */
    GArray *of_globals;               /* part */
    GPtrArray *kinds;
} sizes;

static gint by_bytes(gconstpointer a, gconstpointer b)
{
    const part *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : strcmp(x->name, y->name);
}

static uint64_t frame_bytes(const dome_capture_shown_frame *f)
{
    return (f->saved ? f->function->saved->bytes : 0) + (f->memory ? f->function->memory->bytes : 0);
}

/* Reads all blocks. False: *message. */
static bool measure(sizes *s, dome_ckpt_image *image, char **message)
{
    dome_capture_piece p;
    *s = (sizes){.image = image, .blocks = image->inspection->blocks, .of_globals = g_array_new(FALSE, FALSE, sizeof(part))};
    *message = NULL;
    while (dome__ckpt_image_next(image, &p, message)) {
        if (!p.global) {
            s->values += p.length;
            continue;
        }
        s->globals += p.length;
        part g = {p.global->name, p.length};
        if (p.first > 0)
            g_array_index(s->of_globals, part, s->of_globals->len - 1).bytes += p.length;
        else
            g_array_append_val(s->of_globals, g);
    }
    s->bytes = image->bytes_read;
    s->left_out = image->inspection->left_out;
    s->kinds = dome__ckpt_image_kinds(image->inspection);
    g_array_sort(s->of_globals, by_bytes);
    for (guint k = 0; k < image->inspection->frames->len; k++)
        s->frames += frame_bytes(&g_array_index(image->inspection->frames, dome_capture_shown_frame, k));
    return !*message;
}

static void clear(sizes *s)
{
    g_array_unref(s->of_globals);
    g_ptr_array_unref(s->kinds);
}

/* Of the head: all, and each part. */
enum { PARTS = 8 };

static uint64_t head_parts(const sizes *s, part parts[PARTS])
{
    const dome_capture_head_bytes *h = &s->image->inspection->head_bytes;
    const part all[PARTS] = {{"numbers", h->numbers},       {"names", h->names},     {"types", h->types},
                             {"heap types", h->heap_types}, {"globals", h->globals}, {"functions", h->functions},
                             {"streams", h->streams},       {"handles", h->handles}};
    uint64_t bytes = 0;
    memcpy(parts, all, sizeof all);
    for (size_t k = 0; k < PARTS; k++)
        bytes += parts[k].bytes;
    return bytes;
}

/* Bytes that belong neither to the head nor to a value: numbers about active functions and blocks of the heap. */
static uint64_t telling(const sizes *s, uint64_t head)
{
    return s->bytes + s->left_out - head - s->frames - s->globals - s->values;
}

/* ---- as text ---- */

static void print_variables(const dome_capture_shown_type *type, unsigned *printed)
{
    for (uint64_t k = 0; type && k < type->count; k++) {
        char *name = dome__ckpt_plain(type->members[k].name);
        printf("%s%s %" PRIu64, (*printed)++ ? ", " : ": ", name, type->members[k].type->bytes);
        g_free(name);
    }
}

static void print_frames(const sizes *s, bool all)
{
    const GArray *frames = s->image->inspection->frames;
    const guint left_out = !all && frames->len > FRAMES_FIRST + FRAMES_LAST ? frames->len - FRAMES_FIRST - FRAMES_LAST : 0;
    printf("    variables of active functions: %" PRIu64 " bytes\n", s->frames);
    for (guint k = 0; k < frames->len; k++) {
        const dome_capture_shown_frame *f = &g_array_index(frames, dome_capture_shown_frame, k);
        unsigned printed = 0;
        if (left_out > 0 && k == FRAMES_FIRST) {
            printf("        ... %u more: --all shows them\n", left_out);
            k += left_out - 1;
            continue;
        }
        char *name = dome__ckpt_plain(f->function->name);
        printf("        #%u %s: %" PRIu64 " bytes", k, name, frame_bytes(f));
        print_variables(f->function->saved, &printed);
        print_variables(f->function->memory, &printed);
        putchar('\n');
        g_free(name);
    }
}

static void print_text(const sizes *s, bool all)
{
    part parts[PARTS];
    const uint64_t head = head_parts(s, parts);
    unsigned printed = 0;
    printf("    image: %" PRIu64 " bytes in %" PRIu64 " blocks, which have %" PRIu64 " in the file's table\n", s->bytes,
           s->blocks, s->blocks * DOME_CKPT_ENTRY);
    printf("    head: %" PRIu64 " bytes", head);
    for (size_t k = 0; k < PARTS; k++)
        if (parts[k].bytes > 0)
            printf("%s%s %" PRIu64, printed++ ? ", " : ": ", parts[k].name, parts[k].bytes);
    putchar('\n');
    print_frames(s, all);
    printf("    globals: %" PRIu64 " bytes\n", s->globals);
    for (guint k = 0; k < s->of_globals->len; k++) {
        const part *g = &g_array_index(s->of_globals, part, k);
        if (!all && k == GLOBALS_SHOWN) {
            printf("        ... %u more: --all shows them\n", s->of_globals->len - k);
            break;
        }
        char *name = dome__ckpt_plain(g->name);
        printf("        %s: %" PRIu64 " bytes\n", name, g->bytes);
        g_free(name);
    }
    printf("    heap: %" PRIu64 " bytes\n", s->values);
    for (guint k = 0; k < s->kinds->len; k++) {
        const dome_ckpt_image_kind *kind = s->kinds->pdata[k];
        char *name = dome__ckpt_plain(kind->type->name);
        printf("        %s: %" PRIu64 " bytes, %" PRIu64 " blocks, %" PRIu64 " elements\n", name, kind->bytes, kind->blocks,
               kind->elements);
        g_free(name);
    }
    printf("    what tells of functions and blocks: %" PRIu64 " bytes\n", telling(s, head));
    printf("    zeros of short blocks, which the image has not: %" PRIu64 " bytes\n", s->left_out);
}

/* ---- as JSON ---- */

static void json_bytes(const char *name, uint64_t bytes, bool first)
{
    printf("%s", first ? "" : ", ");
    dome__json_string(stdout, name);
    printf(": %" PRIu64, bytes);
}

static void json_variables(const dome_capture_shown_type *type, unsigned *printed)
{
    for (uint64_t k = 0; type && k < type->count; k++)
        json_bytes(type->members[k].name, type->members[k].type->bytes, (*printed)++ == 0);
}

static void print_json(const sizes *s)
{
    part parts[PARTS];
    const uint64_t head = head_parts(s, parts);
    const GArray *frames = s->image->inspection->frames;
    printf(",\n     \"sizes\": {\"bytes\": %" PRIu64 ", \"blocks\": %" PRIu64 ", \"table\": %" PRIu64 ",\n      \"head\": {",
           s->bytes, s->blocks, s->blocks * DOME_CKPT_ENTRY);
    for (size_t k = 0; k < PARTS; k++)
        json_bytes(parts[k].name, parts[k].bytes, k == 0);
    printf("},\n      \"frames\": [");
    for (guint k = 0; k < frames->len; k++) {
        const dome_capture_shown_frame *f = &g_array_index(frames, dome_capture_shown_frame, k);
        unsigned printed = 0;
        printf("%s\n        {\"function\": ", k ? "," : "");
        dome__json_string(stdout, f->function->name);
        printf(", \"bytes\": %" PRIu64 ", \"variables\": {", frame_bytes(f));
        json_variables(f->function->saved, &printed);
        json_variables(f->function->memory, &printed);
        printf("}}");
    }
    printf("],\n      \"globals\": [");
    for (guint k = 0; k < s->of_globals->len; k++) {
        const part *g = &g_array_index(s->of_globals, part, k);
        printf("%s\n        {\"name\": ", k ? "," : "");
        dome__json_string(stdout, g->name);
        printf(", \"bytes\": %" PRIu64 "}", g->bytes);
    }
    printf("],\n      \"heap\": [");
    dome__ckpt_image_json_kinds(s->kinds);
    printf("],\n      \"telling\": %" PRIu64 ", \"left out\": %" PRIu64 "}", telling(s, head), s->left_out);
}

int dome__ckpt_image_sizes(dome_ckpt_file *file, const dome_ckpt_object *object, bool json, bool all)
{
    dome_ckpt_image image;
    sizes s;
    char *message = NULL;
    bool good = dome__ckpt_image_open(&image, file, object, &message);
    if (good) {
        good = measure(&s, &image, &message);
        if (good && json)
            print_json(&s);
        else if (good)
            print_text(&s, all);
        clear(&s);
    }
    dome__ckpt_image_close(&image);
    return good ? 0 : dome__ckpt_complain(1, message);
}
