/* dome ckpt show of a captured program: active functions, globals, heap, and the graph of its pointers. */
#include "dome_ckpt_image.h"

#include "capture/image_object.h"
#include "commands.h"
#include "store/store_inspect.h"
#include "system/bytes.h"

#include <inttypes.h>
#include <string.h>

enum { ELEMENTS_SHOWN = 16, CHARACTERS_SHOWN = 200, FRAMES_FIRST = 8, FRAMES_LAST = 24, REPEATED = 4 };

bool dome__ckpt_is_image(const dome_ckpt_object *object)
{
    return !object->fixed && strcmp(object->kind, "image") == 0;
}

/* ---- reading ---- */

static bool read_of(dome_ckpt_image *image, const dome_ckpt_object *object, uint64_t block, const uint8_t **bytes,
                    uint64_t *length, char **problem)
{
    if (block >= object->blocks)
        return dome__ckpt_refuse(problem, "the image is not what it should be: it has too few blocks");
    *length = dome__ckpt_entry(dome__ckpt_head(image->file), object, block)->length;
    image->bytes_read += *length;
    if (!dome__ckpt_room(&image->buffer, *length, problem) ||
        !dome__ckpt_read(image->file, object, block, image->buffer.data, problem))
        return false;
    *bytes = image->buffer.data;
    return true;
}

/* Of a Dome program: of task 0's image. */
static bool read_block(void *ctx, uint64_t block, const uint8_t **bytes, uint64_t *length, char **problem)
{
    dome_ckpt_image *image = ctx;
    if (!image->indexed)
        return read_of(image, image->object, block, bytes, length, problem);
    guint before = 0;
    const GArray *differing = image->index.differing;
    while (before < differing->len && g_array_index(differing, uint64_t, before) < block)
        before++;
    if (before == differing->len || g_array_index(differing, uint64_t, before) != block)
        return read_of(image, image->object, 1 + block - before, bytes, length, problem);
    const dome_ckpt_object *of_tasks = dome__ckpt_find(dome__ckpt_head(image->file), DOME_CAPTURE_TASKS_NAME);
    if (!of_tasks)
        return dome__ckpt_refuse(problem, "the image is not what it should be: the blocks of the tasks are missing");
    return read_of(image, of_tasks, before, bytes, length, problem);
}

/* The index of a Dome program's image. */
static bool read_index(dome_ckpt_image *image, char **problem)
{
    const uint8_t *bytes;
    uint64_t length;
    if (image->object->blocks == 0 || !read_of(image, image->object, 0, &bytes, &length, problem))
        return image->object->blocks == 0; /* found by whoever looks for the head */
    image->indexed = dome__capture_inspect_is_index(bytes, length);
    return !image->indexed || dome__capture_inspect_index(&image->index, bytes, length, problem);
}

static bool in_file(const dome_ckpt_image *image, char **message)
{
    char *problem = *message;
    if (!problem)
        return true;
    /* The reader's own messages name the file. */
    if (g_str_has_prefix(problem, "the image ")) {
        char *name = dome__ckpt_shown(image->object->name);
        *message = NULL;
        dome__ckpt_refuse(message, "checkpoint '%s': object %s: %s", dome__ckpt_path(image->file), name, problem);
        g_free(name);
        g_free(problem);
    }
    return false;
}

bool dome__ckpt_image_open(dome_ckpt_image *image, dome_ckpt_file *file, const dome_ckpt_object *object, char **message)
{
    *image = (dome_ckpt_image){.file = file, .object = object};
    const bool good = read_index(image, message);
    image->bytes_read = 0;
    if (good)
        image->inspection =
            dome__capture_inspect(read_block, image, image->indexed ? image->index.blocks : object->blocks, message);
    return in_file(image, message);
}

void dome__ckpt_image_close(dome_ckpt_image *image)
{
    dome__capture_inspection_free(image->inspection);
    dome__capture_inspect_index_clear(&image->index);
    g_free(image->buffer.data);
}

bool dome__ckpt_image_next(dome_ckpt_image *image, dome_capture_piece *piece, char **message)
{
    const bool more = dome__capture_inspect_next(image->inspection, piece, message);
    return in_file(image, message) && more;
}

bool dome__ckpt_image_read_heap(dome_ckpt_image *image, char **message)
{
    dome_capture_piece piece;
    while (dome__capture_inspect_next(image->inspection, &piece, message))
        ;
    return in_file(image, message);
}

/* ---- values as text ---- */

static dome_ckpt_value scalar_value(dome_type_kind kind, const uint8_t *bytes)
{
    union {
        uint8_t bytes[16];
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } v = {{0}};
    dome_type_unpack(dome_type_basic(kind), DOME_PORTABLE, v.bytes, bytes, 1);
    switch (kind) {
    case DOME_KIND_I8:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = v.i8}};
    case DOME_KIND_I16:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = v.i16}};
    case DOME_KIND_I32:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = v.i32}};
    case DOME_KIND_I64:
        return (dome_ckpt_value){DOME_CKPT_SIGNED, {.i = v.i64}};
    case DOME_KIND_U8:
        return (dome_ckpt_value){DOME_CKPT_UNSIGNED, {.u = v.u8}};
    case DOME_KIND_U16:
        return (dome_ckpt_value){DOME_CKPT_UNSIGNED, {.u = v.u16}};
    case DOME_KIND_U32:
        return (dome_ckpt_value){DOME_CKPT_UNSIGNED, {.u = v.u32}};
    case DOME_KIND_U64:
        return (dome_ckpt_value){DOME_CKPT_UNSIGNED, {.u = v.u64}};
    case DOME_KIND_F32:
        return (dome_ckpt_value){DOME_CKPT_FLOAT, {.f = (double)v.f32}};
    default:
        return (dome_ckpt_value){DOME_CKPT_FLOAT, {.f = v.f64}};
    }
}

static bool is_complex(const dome_capture_shown_type *type)
{
    return type->kind == DOME_CAPTURE_KIND_SCALAR && (type->scalar == DOME_KIND_C64 || type->scalar == DOME_KIND_C128);
}

static void scalar_text(char text[DOME_CKPT_TEXT], dome_type_kind kind, const uint8_t *bytes)
{
    dome__ckpt_value_text(scalar_value(kind, bytes), kind, text);
}

static bool is_char(const dome_capture_shown_type *type)
{
    return type->kind == DOME_CAPTURE_KIND_SCALAR && strcmp(type->name, "char") == 0;
}

static void add_character(GString *to, uint8_t c, char quote)
{
    if (c == (uint8_t)quote || c == '\\')
        g_string_append_printf(to, "\\%c", c);
    else if (c == '\n')
        g_string_append(to, "\\n");
    else if (c == '\t')
        g_string_append(to, "\\t");
    else if (c < 0x20 || c >= 0x7f)
        g_string_append_printf(to, "\\%03o", c);
    else
        g_string_append_c(to, (char)c);
}

static void add_scalar(GString *to, const dome_capture_shown_type *type, const uint8_t *bytes)
{
    char text[DOME_CKPT_TEXT];
    if (is_complex(type)) {
        const dome_type_kind part = type->scalar == DOME_KIND_C64 ? DOME_KIND_F32 : DOME_KIND_F64;
        scalar_text(text, part, bytes);
        g_string_append(to, text);
        scalar_text(text, part, bytes + type->bytes / 2);
        g_string_append_printf(to, " %s%si", *text == '-' ? "" : "+", text);
    } else if (is_char(type)) {
        g_string_append_printf(to, "%u '", *bytes);
        add_character(to, *bytes, '\'');
        g_string_append_c(to, '\'');
    } else if (strcmp(type->name, "bool") == 0 && *bytes <= 1) {
        g_string_append(to, *bytes ? "true" : "false");
    } else {
        scalar_text(text, type->scalar, bytes);
        g_string_append(to, text);
    }
}

/* The length of the text in an array of characters: up to the zeros that fill it up. */
static uint64_t text_length(const uint8_t *bytes, uint64_t count)
{
    const uint8_t *end = memchr(bytes, 0, count);
    for (const uint8_t *c = end; c && c < bytes + count; c++)
        if (*c)
            return count;
    return end ? (uint64_t)(end - bytes) : count;
}

void dome__ckpt_image_values(GString *to, const dome_ckpt_image *image, const dome_capture_shown_type *type, uint64_t count,
                             const uint8_t *bytes, uint64_t most)
{
    if (is_char(type) && count > 1) {
        const uint64_t length = text_length(bytes, count), shown = most == UINT64_MAX ? length : MIN(length, CHARACTERS_SHOWN);
        g_string_append_c(to, '"');
        for (uint64_t k = 0; k < shown; k++)
            add_character(to, bytes[k], '"');
        g_string_append(to, shown < length ? "\"..." : "\"");
        return;
    }
    if (count == 1) {
        dome__ckpt_image_value(to, image, type, bytes, most);
        return;
    }
    g_string_append_c(to, '{');
    uint64_t items = 0;
    for (uint64_t k = 0; k < count; items++) {
        if (items == most) {
            g_string_append_printf(to, ", ... (%" PRIu64 " in all)", count);
            break;
        }
        uint64_t same = 1;
        while (k + same < count && memcmp(bytes + k * type->bytes, bytes + (k + same) * type->bytes, type->bytes) == 0)
            same++;
        g_string_append(to, items ? ", " : "");
        dome__ckpt_image_value(to, image, type, bytes + k * type->bytes, most);
        if (same >= REPEATED)
            g_string_append_printf(to, " <%" PRIu64 " times>", same);
        k += same >= REPEATED ? same : 1;
    }
    g_string_append_c(to, '}');
}

void dome__ckpt_image_value(GString *to, const dome_ckpt_image *image, const dome_capture_shown_type *type, const uint8_t *bytes,
                            uint64_t most)
{
    const dome_capture_shown_member *m;
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        add_scalar(to, type, bytes);
        break;
    case DOME_CAPTURE_KIND_POINTER:
        dome__ckpt_image_pointer(to, image, bytes);
        break;
    case DOME_CAPTURE_KIND_ARRAY:
        if (type->count == 1) { /* of one element: an array all the same */
            g_string_append_c(to, '{');
            dome__ckpt_image_value(to, image, type->element, bytes, most);
            g_string_append_c(to, '}');
        } else {
            dome__ckpt_image_values(to, image, type->element, type->count, bytes, most);
        }
        break;
    case DOME_CAPTURE_KIND_UNION:
        m = dome__capture_shown_in_use(type, bytes);
        g_string_append(to, "{");
        if (m) {
            g_string_append_printf(to, "%s = ", m->name);
            dome__ckpt_image_value(to, image, m->type, bytes + m->at, most);
        } else {
            g_string_append(to, "no member in use");
        }
        g_string_append(to, "}");
        break;
    default:
        g_string_append(to, "{");
        for (uint64_t k = 0; k < type->count; k++) {
            m = &type->members[k];
            if (type->tail && k + 1 == type->count)
                break;
            g_string_append_printf(to, "%s%s = ", k ? ", " : "", m->name);
            dome__ckpt_image_value(to, image, m->type, bytes + m->at, most);
        }
        g_string_append(to, "}");
    }
}

void dome__ckpt_image_pointer(GString *to, const dome_ckpt_image *image, const uint8_t *bytes)
{
    const dome_capture_inspection *i = image->inspection;
    uint64_t number, place;
    bool past;
    const dome_capture_space space = dome__capture_shown_pointer(bytes, &number, &place, &past);
    const dome_capture_shown_type *type = NULL;
    uint64_t elements = 1;
    if (past)
        g_string_append(to, "end of ");
    switch (space) {
    case DOME_CAPTURE_SPACE_VALUE:
        if (place == 0)
            g_string_append(to, "NULL");
        else
            g_string_append_printf(to, "(void *) %" PRId64, (int64_t)place);
        return;
    case DOME_CAPTURE_SPACE_HEAP: {
        const dome_capture_shown_run *run = dome__capture_inspect_run(i, number);
        g_string_append_printf(to, "heap %" PRIu64, number);
        type = run ? run->type : NULL;
        elements = run ? run->elements : 1;
        break;
    }
    case DOME_CAPTURE_SPACE_GLOBAL:
        if (number < i->globals->len) {
            const dome_capture_shown_global *g = i->globals->pdata[number];
            g_string_append_printf(to, "global %s", g->name);
            type = g->type;
            elements = g->elements;
        }
        break;
    case DOME_CAPTURE_SPACE_MEMORY:
        if (number < i->memories->len) {
            const guint k = g_array_index(i->memories, guint, number);
            g_string_append_printf(to, "#%u", k);
            type = g_array_index(i->frames, dome_capture_shown_frame, k).function->memory;
            if (place == 0 && type->members) /* a variable has a name, all of them together have none */
                g_string_append_printf(to, ".%s", type->members[0].name);
        }
        break;
    case DOME_CAPTURE_SPACE_CODE:
        if (number < i->codes->len)
            g_string_append_printf(to, "function %s", (const char *)i->codes->pdata[number]);
        return;
    case DOME_CAPTURE_SPACE_STREAM:
        g_string_append_printf(to, "stream %" PRIu64, number);
        return;
    case DOME_CAPTURE_SPACE_HANDLE:
        dome__capture_shown_handle_text(to, i, number, place);
        return;
    default:
        g_string_append(to, "dangling");
        return;
    }
    if (type)
        dome__capture_shown_path(to, type, elements, place, past);
}

char *dome__ckpt_image_place(const dome_capture_shown_frame *frame)
{
    const char *text = g_hash_table_lookup(frame->function->points, GUINT_TO_POINTER(frame->point));
    return text ? dome__ckpt_plain(text) : g_strdup_printf("point %" PRIu32, frame->point);
}

/* ---- the heap by type ---- */

static gint by_bytes(gconstpointer a, gconstpointer b)
{
    const dome_ckpt_image_kind *x = *(const dome_ckpt_image_kind *const *)a, *y = *(const dome_ckpt_image_kind *const *)b;
    return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : strcmp(x->type->name, y->type->name);
}

GPtrArray *dome__ckpt_image_kinds(const dome_capture_inspection *i)
{
    GHashTable *found = g_hash_table_new(NULL, NULL);
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (guint k = 0; k < i->runs->len; k++) {
        const dome_capture_shown_run *run = &g_array_index(i->runs, dome_capture_shown_run, k);
        dome_ckpt_image_kind *kind = g_hash_table_lookup(found, run->type);
        if (!kind) {
            kind = g_new0(dome_ckpt_image_kind, 1);
            kind->type = run->type;
            g_hash_table_insert(found, (void *)(uintptr_t)run->type, kind);
            g_ptr_array_add(all, kind);
        }
        kind->blocks += run->count;
        kind->elements += run->count * run->elements;
        kind->bytes +=
            run->count * (run->elements * run->type->bytes + (run->type->tail ? run->tail * run->type->tail->bytes : 0));
    }
    g_hash_table_unref(found);
    g_ptr_array_sort(all, by_bytes);
    return all;
}

/* ---- as text ---- */

static void print_variables(const dome_ckpt_image *image, const dome_capture_shown_type *type, const uint8_t *bytes,
                            uint64_t most)
{
    for (uint64_t k = 0; type && k < type->count; k++) {
        const dome_capture_shown_member *m = &type->members[k];
        if (most < UINT64_MAX && g_str_has_prefix(m->name, "dome__"))
            continue; /* a temporary of dome-cc */
        GString *text = g_string_new(NULL);
        dome__ckpt_image_value(text, image, m->type, bytes + m->at, most);
        g_string_prepend(text, " = ");
        g_string_prepend(text, m->name);
        dome__ckpt_make_plain(text->str);
        printf("        %s\n", text->str);
        g_string_free(text, TRUE);
    }
}

static void print_frames(const dome_ckpt_image *image, bool all, uint64_t most)
{
    if (image->index.tasks > 0) {
        char *why = g_strescape(image->index.why, NULL);
        printf("    values differ between its %" PRIu32 " tasks (%s); those of task 0:\n", image->index.tasks, why);
        g_free(why);
    }
    const GArray *frames = image->inspection->frames;
    const guint left_out = !all && frames->len > FRAMES_FIRST + FRAMES_LAST ? frames->len - FRAMES_FIRST - FRAMES_LAST : 0;
    puts("    active functions, the outermost first:");
    for (guint k = 0; k < frames->len; k++) {
        const dome_capture_shown_frame *f = &g_array_index(frames, dome_capture_shown_frame, k);
        if (left_out > 0 && k == FRAMES_FIRST) {
            printf("    ... %u more: --all shows them\n", left_out);
            k += left_out - 1;
            continue;
        }
        char *name = dome__ckpt_plain(f->function->name), *place = dome__ckpt_image_place(f);
        printf("    #%u %s at %s\n", k, name, place);
        print_variables(image, f->function->saved, f->saved, most);
        print_variables(image, f->function->memory, f->memory, most);
        g_free(name);
        g_free(place);
    }
}

static const char *stream_name(const dome_capture_inspection *i, uint64_t number)
{
    static const char *const standard[] = {"stdin", "stdout", "stderr"};
    for (guint k = 0; k < i->streams->len; k++) {
        const dome_capture_shown_stream *s = &g_array_index(i->streams, dome_capture_shown_stream, k);
        if (s->number == number && *s->path)
            return s->path;
    }
    return number < G_N_ELEMENTS(standard) ? standard[number] : "a stream";
}

static void print_streams(const dome_capture_inspection *i)
{
    for (guint k = 0; k < i->streams->len; k++) {
        const dome_capture_shown_stream *s = &g_array_index(i->streams, dome_capture_shown_stream, k);
        char *path = dome__ckpt_plain(s->path), *mode = dome__ckpt_plain(s->mode);
        printf("    stream %" PRIu64 ": %s", s->number, *path ? path : stream_name(i, s->number));
        if (*path)
            printf(", mode %s", mode);
        if (s->position != UINT64_MAX)
            printf(", position %" PRIu64, s->position);
        if (s->length != UINT64_MAX)
            printf(", length %" PRIu64, s->length);
        putchar('\n');
        g_free(path);
        g_free(mode);
    }
}

static void print_handles(const dome_capture_inspection *i)
{
    if (i->handles->len > 0)
        puts("    handles, in the order of their creation:");
    for (guint k = 0; k < i->handles->len; k++) {
        const dome_capture_shown_handle *h = &g_array_index(i->handles, dome_capture_shown_handle, k);
        char *kind = dome__ckpt_plain(h->kind), *name = dome__ckpt_plain(h->name);
        printf("        %s %s\n", kind, name);
        g_free(kind);
        g_free(name);
    }
}

static void print_heap(const dome_capture_inspection *i)
{
    GPtrArray *kinds = dome__ckpt_image_kinds(i);
    printf("    heap: %" PRIu64 " blocks\n", i->heap_blocks);
    for (guint k = 0; k < kinds->len; k++) {
        const dome_ckpt_image_kind *kind = kinds->pdata[k];
        char *name = dome__ckpt_plain(kind->type->name);
        printf("        %s: %" PRIu64 " blocks, %" PRIu64 " elements, %" PRIu64 " bytes in the image\n", name, kind->blocks,
               kind->elements, kind->bytes);
        g_free(name);
    }
    g_ptr_array_unref(kinds);
}

/* A piece without its name: the elements, and those of a flexible last member. */
static void piece_text(GString *text, const dome_ckpt_image *image, const dome_capture_piece *p, uint64_t most)
{
    if (p->count > 0)
        dome__ckpt_image_values(text, image, p->type, p->count, p->bytes, most);
    if (p->tail > 0) {
        g_string_append_printf(text, ", %s = ", p->type->members[p->type->count - 1].name);
        dome__ckpt_image_values(text, image, p->type->tail, p->tail, p->bytes + p->type->bytes, most);
    }
}

/* Of a large global or block the first part is enough, unless all is asked for. */
static void print_piece(const dome_ckpt_image *image, const dome_capture_piece *p, uint64_t most)
{
    GString *text = g_string_new(NULL);
    piece_text(text, image, p, most);
    if (p->global) {
        char *name = dome__ckpt_plain(p->global->name);
        printf("        %s", name);
        g_free(name);
    } else {
        char *name = dome__ckpt_plain(p->type->name);
        printf("        heap %" PRIu64 ": %s", p->serial, name);
        if (p->elements != 1)
            printf(" [%" PRIu64 "]", p->elements);
        g_free(name);
    }
    if (p->count < p->elements)
        printf(", elements %" PRIu64 " to %" PRIu64, p->first, p->first + p->count - 1);
    dome__ckpt_make_plain(text->str);
    printf(" = %s\n", text->str);
    g_string_free(text, TRUE);
}

static bool print_pieces(dome_ckpt_image *image, bool all, uint64_t most, char **message)
{
    dome_capture_piece piece;
    bool globals = false, more;
    *message = NULL;
    dome__capture_inspect_rewind(image->inspection);
    while ((more = dome__capture_inspect_next(image->inspection, &piece, message)) && (piece.global || all)) {
        if (!globals && piece.global)
            puts("    globals:");
        if (!piece.global && globals)
            puts("    blocks of the heap:");
        globals = piece.global;
        if (all || piece.first == 0)
            print_piece(image, &piece, most);
    }
    return !*message;
}

/* ---- as JSON ---- */

static void json_value(const dome_ckpt_image *image, const dome_capture_shown_type *type, const uint8_t *bytes, uint64_t most);

static void json_values(const dome_ckpt_image *image, const dome_capture_shown_type *type, uint64_t count, const uint8_t *bytes,
                        uint64_t most)
{
    if (is_char(type)) {
        const uint64_t length = text_length(bytes, count);
        char *text = g_strndup((const char *)bytes, (gsize)(most == UINT64_MAX ? length : MIN(length, CHARACTERS_SHOWN)));
        dome__json_string(stdout, text);
        g_free(text);
        return;
    }
    putchar('[');
    for (uint64_t k = 0; k < MIN(count, most); k++) {
        printf("%s", k ? ", " : "");
        json_value(image, type, bytes + k * type->bytes, most);
    }
    putchar(']');
}

static void json_pointer(const dome_ckpt_image *image, const uint8_t *bytes)
{
    uint64_t number, place;
    bool past;
    if (dome__capture_shown_pointer(bytes, &number, &place, &past) == DOME_CAPTURE_SPACE_VALUE && place == 0) {
        printf("null");
        return;
    }
    GString *text = g_string_new(NULL);
    dome__ckpt_image_pointer(text, image, bytes);
    printf("{\"to\": ");
    dome__json_string(stdout, text->str);
    putchar('}');
    g_string_free(text, TRUE);
}

static void json_scalar(dome_type_kind kind, const uint8_t *bytes)
{
    char text[DOME_CKPT_TEXT];
    scalar_text(text, kind, bytes);
    dome__json_number(stdout, text);
}

static void json_value(const dome_ckpt_image *image, const dome_capture_shown_type *type, const uint8_t *bytes, uint64_t most)
{
    const dome_capture_shown_member *m;
    switch (type->kind) {
    case DOME_CAPTURE_KIND_SCALAR:
        if (is_complex(type)) {
            const dome_type_kind part = type->scalar == DOME_KIND_C64 ? DOME_KIND_F32 : DOME_KIND_F64;
            putchar('[');
            json_scalar(part, bytes);
            printf(", ");
            json_scalar(part, bytes + type->bytes / 2);
            putchar(']');
        } else if (strcmp(type->name, "bool") == 0 && *bytes <= 1) {
            printf(*bytes ? "true" : "false");
        } else {
            json_scalar(type->scalar, bytes);
        }
        break;
    case DOME_CAPTURE_KIND_POINTER:
        json_pointer(image, bytes);
        break;
    case DOME_CAPTURE_KIND_ARRAY:
        json_values(image, type->element, type->count, bytes, most);
        break;
    case DOME_CAPTURE_KIND_UNION:
        m = dome__capture_shown_in_use(type, bytes);
        if (m) {
            putchar('{');
            dome__json_string(stdout, m->name);
            printf(": ");
            json_value(image, m->type, bytes + m->at, most);
            putchar('}');
        } else {
            printf("{}");
        }
        break;
    default:
        putchar('{');
        for (uint64_t k = 0; k < type->count - (type->tail != NULL); k++) {
            m = &type->members[k];
            printf("%s", k ? ", " : "");
            dome__json_string(stdout, m->name);
            printf(": ");
            json_value(image, m->type, bytes + m->at, most);
        }
        putchar('}');
    }
}

static void json_frame(const dome_ckpt_image *image, const dome_capture_shown_frame *f, uint64_t most)
{
    char *place = dome__ckpt_image_place(f);
    unsigned printed = 0;
    printf("{\"function\": ");
    dome__json_string(stdout, f->function->name);
    printf(", \"place\": ");
    dome__json_string(stdout, place);
    printf(", \"variables\": {");
    const struct {
        const dome_capture_shown_type *type;
        const uint8_t *bytes;
    } parts[] = {{f->function->saved, f->saved}, {f->function->memory, f->memory}};
    for (size_t p = 0; p < G_N_ELEMENTS(parts); p++)
        for (uint64_t k = 0; parts[p].type && k < parts[p].type->count; k++) {
            const dome_capture_shown_member *m = &parts[p].type->members[k];
            if (most < UINT64_MAX && g_str_has_prefix(m->name, "dome__"))
                continue;
            printf("%s", printed++ ? ", " : "");
            dome__json_string(stdout, m->name);
            printf(": ");
            json_value(image, m->type, parts[p].bytes + m->at, most);
        }
    printf("}}");
    g_free(place);
}

static void json_streams(const dome_capture_inspection *i)
{
    printf("],\n      \"streams\": [");
    for (guint k = 0; k < i->streams->len; k++) {
        const dome_capture_shown_stream *s = &g_array_index(i->streams, dome_capture_shown_stream, k);
        printf("%s{\"number\": %" PRIu64 ", \"path\": ", k ? ", " : "", s->number);
        dome__json_string(stdout, s->path);
        printf(", \"mode\": ");
        dome__json_string(stdout, s->mode);
        if (s->position != UINT64_MAX)
            printf(", \"position\": %" PRIu64, s->position);
        if (s->length != UINT64_MAX)
            printf(", \"length\": %" PRIu64, s->length);
        putchar('}');
    }
}

static bool json_pieces(dome_ckpt_image *image, bool all, uint64_t most, char **message)
{
    dome_capture_piece p;
    unsigned printed = 0;
    bool blocks = false;
    *message = NULL;
    dome__capture_inspect_rewind(image->inspection);
    while (dome__capture_inspect_next(image->inspection, &p, message) && (p.global || all)) {
        if (!p.global && !blocks) {
            printf("],\n      \"blocks\": [");
            blocks = true;
            printed = 0;
        }
        if (!all && p.first > 0)
            continue;
        printf("%s\n        {", printed++ ? "," : "");
        if (p.global) {
            printf("\"name\": ");
            dome__json_string(stdout, p.global->name);
        } else {
            printf("\"serial\": %" PRIu64, p.serial);
        }
        printf(", \"type\": ");
        dome__json_string(stdout, p.type->name);
        printf(", \"elements\": %" PRIu64 ", \"first\": %" PRIu64 ", \"values\": ", p.elements, p.first);
        json_values(image, p.type, p.count, p.bytes, most);
        if (p.tail > 0) {
            printf(", \"tail\": ");
            json_values(image, p.type->tail, p.tail, p.bytes + p.type->bytes, most);
        }
        putchar('}');
    }
    return !*message;
}

void dome__ckpt_image_json_kinds(const GPtrArray *kinds)
{
    for (guint k = 0; k < kinds->len; k++) {
        const dome_ckpt_image_kind *kind = kinds->pdata[k];
        printf("%s{\"type\": ", k ? ", " : "");
        dome__json_string(stdout, kind->type->name);
        printf(", \"blocks\": %" PRIu64 ", \"elements\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", kind->blocks, kind->elements,
               kind->bytes);
    }
}

static bool print_json(dome_ckpt_image *image, bool all, uint64_t most, char **message)
{
    const dome_capture_inspection *i = image->inspection;
    printf(",\n     \"image\": {\"polls\": %" PRIu64 ", \"frames\": [", i->polls);
    for (guint k = 0; k < i->frames->len; k++) {
        printf("%s\n        ", k ? "," : "");
        json_frame(image, &g_array_index(i->frames, dome_capture_shown_frame, k), most);
    }
    json_streams(i);
    printf("],\n      \"heap\": [");
    GPtrArray *kinds = dome__ckpt_image_kinds(i);
    dome__ckpt_image_json_kinds(kinds);
    g_ptr_array_unref(kinds);
    printf("],\n      \"globals\": [");
    bool good = json_pieces(image, all, most, message);
    printf("]}");
    return good;
}

int dome__ckpt_image_print(dome_ckpt_file *file, const dome_ckpt_object *object, bool json, bool all)
{
    dome_ckpt_image image;
    char *message = NULL;
    const uint64_t most = all ? UINT64_MAX : ELEMENTS_SHOWN;
    bool good = dome__ckpt_image_open(&image, file, object, &message) && dome__ckpt_image_read_heap(&image, &message);
    if (good && json) {
        good = print_json(&image, all, most, &message);
    } else if (good) {
        if (image.inspection->counting)
            printf("    %" PRIu64 " polls counted\n", image.inspection->polls);
        print_frames(&image, all, most);
        print_heap(image.inspection);
        print_streams(image.inspection);
        print_handles(image.inspection);
        good = print_pieces(&image, all, most, &message);
    }
    dome__ckpt_image_close(&image);
    return good ? 0 : dome__ckpt_complain(1, message);
}

/* ---- as a graph ---- */

typedef struct drawing {
    const dome_ckpt_image *image;
    char from[64]; /* the node that has the pointers */
    uint64_t most;
    GHashTable *drawn; /* nodes that are written where a pointer leads to them: functions, streams, globals without values */
} drawing;

static void dot_text(const char *text)
{
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        dome__ckpt_make_plain(*line);
        if (line > lines)
            fputs("\\l", stdout);
        for (const char *c = *line; *c; c++)
            printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    g_strfreev(lines);
}

static void dot_edge(drawing *d, const char *path, const uint8_t *bytes)
{
    const dome_capture_inspection *i = d->image->inspection;
    uint64_t number, place;
    bool past;
    const dome_capture_space space = dome__capture_shown_pointer(bytes, &number, &place, &past);
    char *to = NULL;
    const char *label = NULL;
    switch (space) {
    case DOME_CAPTURE_SPACE_HEAP:
        to = g_strdup_printf("heap_%" PRIu64, number);
        break;
    case DOME_CAPTURE_SPACE_GLOBAL:
        to = g_strdup_printf("global_%" PRIu64, number);
        label = number < i->globals->len ? ((const dome_capture_shown_global *)i->globals->pdata[number])->name : NULL;
        break;
    case DOME_CAPTURE_SPACE_MEMORY:
        to = number < i->memories->len ? g_strdup_printf("frame_%u", g_array_index(i->memories, guint, number)) : NULL;
        break;
    case DOME_CAPTURE_SPACE_CODE:
        to = g_strdup_printf("function_%" PRIu64, number);
        label = number < i->codes->len ? i->codes->pdata[number] : NULL;
        break;
    case DOME_CAPTURE_SPACE_STREAM:
        to = g_strdup_printf("stream_%" PRIu64, number);
        label = stream_name(i, number);
        break;
    default:
        return;
    }
    if (!to)
        return;
    if (label && !g_hash_table_contains(d->drawn, to)) {
        g_hash_table_add(d->drawn, g_strdup(to));
        printf("    %s [shape=%s, label=\"", to, space == DOME_CAPTURE_SPACE_STREAM ? "note" : "ellipse");
        dot_text(label);
        puts("\"];");
    }
    GString *at = g_string_new(NULL);
    dome__ckpt_image_pointer(at, d->image, bytes);
    const char *rest = strpbrk(at->str, ".["); /* the place in what it leads to */
    printf("    %s -> %s [label=\"", d->from, to);
    dot_text(*path == '.' ? path + 1 : path);
    if (place > 0 && rest && space != DOME_CAPTURE_SPACE_GLOBAL) {
        fputs(" to ", stdout);
        dot_text(rest);
    }
    puts("\"];");
    g_string_free(at, TRUE);
    g_free(to);
}

static void dot_pointers(drawing *d, GString *path, const dome_capture_shown_type *type, const uint8_t *bytes)
{
    const gsize length = path->len;
    if (!type->pointers)
        return;
    if (type->kind == DOME_CAPTURE_KIND_POINTER) {
        dot_edge(d, path->str, bytes);
    } else if (type->kind == DOME_CAPTURE_KIND_ARRAY) {
        for (uint64_t k = 0; k < type->count; k++) {
            g_string_append_printf(path, "[%" PRIu64 "]", k);
            dot_pointers(d, path, type->element, bytes + k * type->element->bytes);
            g_string_truncate(path, length);
        }
    } else {
        const dome_capture_shown_member *used =
            type->kind == DOME_CAPTURE_KIND_UNION ? dome__capture_shown_in_use(type, bytes) : NULL;
        for (uint64_t k = 0; k < type->count - (type->tail != NULL); k++) {
            const dome_capture_shown_member *m = &type->members[k];
            if (type->kind == DOME_CAPTURE_KIND_UNION && m != used)
                continue;
            g_string_append_printf(path, ".%s", m->name);
            dot_pointers(d, path, m->type, bytes + m->at);
            g_string_truncate(path, length);
        }
    }
}

static void dot_node(drawing *d, const char *title, const char *values)
{
    enum { TEXT_SHOWN = 120 };
    printf("    %s [label=\"", d->from);
    dot_text(title);
    if (values) {
        char *some = g_strndup(values, TEXT_SHOWN);
        fputs("\\n", stdout);
        dot_text(some);
        if (strlen(values) > TEXT_SHOWN)
            fputs("...", stdout);
        g_free(some);
    }
    puts("\"];");
}

static void dot_frames(drawing *d)
{
    const GArray *frames = d->image->inspection->frames;
    for (guint k = 0; k < frames->len; k++) {
        const dome_capture_shown_frame *f = &g_array_index(frames, dome_capture_shown_frame, k);
        char *place = dome__ckpt_image_place(f), *title = g_strdup_printf("#%u %s\n%s", k, f->function->name, place);
        GString *path = g_string_new(NULL);
        snprintf(d->from, sizeof d->from, "frame_%u", k);
        dot_node(d, title, NULL);
        if (k > 0)
            printf("    frame_%u -> frame_%u [style=dashed];\n", k - 1, k);
        if (f->saved)
            dot_pointers(d, path, f->function->saved, f->saved);
        if (f->memory)
            dot_pointers(d, path, f->function->memory, f->memory);
        g_string_free(path, TRUE);
        g_free(title);
        g_free(place);
    }
}

static void dot_piece(drawing *d, const dome_capture_piece *p)
{
    GString *path = g_string_new(NULL), *text = g_string_new(NULL);
    char *title = NULL;
    if (p->global) {
        guint number = 0;
        g_ptr_array_find(d->image->inspection->globals, p->global, &number);
        snprintf(d->from, sizeof d->from, "global_%u", number);
        title = g_strdup(p->global->name);
        g_hash_table_add(d->drawn, g_strdup(d->from));
    } else {
        snprintf(d->from, sizeof d->from, "heap_%" PRIu64, p->serial);
        title = p->elements == 1 ? g_strdup_printf("heap %" PRIu64 ": %s", p->serial, p->type->name)
                                 : g_strdup_printf("heap %" PRIu64 ": %s [%" PRIu64 "]", p->serial, p->type->name, p->elements);
    }
    piece_text(text, d->image, p, ELEMENTS_SHOWN);
    if (p->first == 0)
        dot_node(d, title, p->type->pointers ? NULL : text->str);
    for (uint64_t k = 0; k < p->count && p->type->pointers; k++) {
        if (p->elements > 1)
            g_string_printf(path, "[%" PRIu64 "]", p->first + k);
        dot_pointers(d, path, p->type, p->bytes + k * p->type->bytes);
    }
    for (uint64_t k = 0; k < p->tail && p->type->tail->pointers; k++) {
        g_string_printf(path, "%s[%" PRIu64 "]", p->type->members[p->type->count - 1].name, k);
        dot_pointers(d, path, p->type->tail, p->bytes + p->type->bytes + k * p->type->tail->bytes);
    }
    g_free(title);
    g_string_free(text, TRUE);
    g_string_free(path, TRUE);
}

int dome__ckpt_image_dot(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t most)
{
    dome_ckpt_image image;
    char *message = NULL;
    dome_capture_piece piece;
    bool good = dome__ckpt_image_open(&image, file, object, &message) && dome__ckpt_image_read_heap(&image, &message);
    if (good) {
        drawing d = {.image = &image, .drawn = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
        uint64_t blocks = 0;
        puts("digraph image {\n    rankdir=LR;\n    node [shape=box, fontname=monospace];\n    edge [fontname=monospace];");
        dot_frames(&d);
        dome__capture_inspect_rewind(image.inspection);
        while (dome__capture_inspect_next(image.inspection, &piece, &message)) {
            blocks += !piece.global && piece.first == 0;
            if (blocks > most)
                continue; /* read on, so that all runs are known */
            if (!piece.global || piece.type->pointers)
                dot_piece(&d, &piece);
        }
        if (blocks > most)
            printf("    label=\"%" PRIu64 " of %" PRIu64 " blocks of the heap\";\n", most, blocks);
        puts("}");
        g_hash_table_unref(d.drawn);
        good = in_file(&image, &message);
    }
    dome__ckpt_image_close(&image);
    return good ? 0 : dome__ckpt_complain(1, message);
}
