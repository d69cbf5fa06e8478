/* A captured program for tests of its image: some blocks in a circle, a large one, globals, three active functions. */
#ifndef DOME_TESTS_CAPTURED_STATE_H
#define DOME_TESTS_CAPTURED_STATE_H

#include "capture/frames.h"
#include "capture/image_inspect.h"
#include "capture/image_private.h"
#include "capture/modules.h"
#include "capture/status.h"
#include "system/bytes.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

struct inner {
    char letter;
    double number;
    char text[3];
};

struct outer {
    short s;
    struct inner inner[2];
    long l;
    struct outer *next;
    char *end;
    int tag;
    union {
        int number;
        struct outer *link;
    } either;
};

static int which_either(const void *either)
{
    int tag;
    memcpy(&tag, (const char *)either - offsetof(struct outer, either) + offsetof(struct outer, tag), sizeof tag);
    return tag;
}

static dome_capture_type text_type = DOME_CAPTURE_ARRAY("char [3]", &dome_capture_char, char, 3);
static const dome_capture_member inner_members[] = {{"letter", &dome_capture_char, offsetof(struct inner, letter)},
                                                    {"number", &dome_capture_double, offsetof(struct inner, number)},
                                                    {"text", &text_type, offsetof(struct inner, text)}};
static dome_capture_type inner_type = DOME_CAPTURE_STRUCT("struct inner", struct inner, inner_members);
static dome_capture_type inners_type = DOME_CAPTURE_ARRAY("struct inner [2]", &inner_type, struct inner, 2);
static dome_capture_type outer_type;
static dome_capture_type outer_pointer = DOME_CAPTURE_POINTER_TO("struct outer *", &outer_type);
static dome_capture_type char_pointer = DOME_CAPTURE_POINTER_TO("char *", &dome_capture_char);
static const dome_capture_member either_members[] = {{"number", &dome_capture_int, 0}, {"link", &outer_pointer, 0}};
static dome_capture_type either_type = {"either",       DOME_CAPTURE_KIND_UNION,
                                        DOME_KIND_U8,   sizeof(((struct outer *)0)->either),
                                        NULL,           2,
                                        either_members, which_either,
                                        NULL,           NULL,
                                        NULL,           NULL};
static const dome_capture_member outer_members[] = {
    {"s", &dome_capture_short, offsetof(struct outer, s)},   {"inner", &inners_type, offsetof(struct outer, inner)},
    {"l", &dome_capture_long, offsetof(struct outer, l)},    {"next", &outer_pointer, offsetof(struct outer, next)},
    {"end", &char_pointer, offsetof(struct outer, end)},     {"tag", &dome_capture_int, offsetof(struct outer, tag)},
    {"either", &either_type, offsetof(struct outer, either)}};
static dome_capture_type outer_type = DOME_CAPTURE_STRUCT("struct outer", struct outer, outer_members);

/* ---- images ---- */

static struct outer *head;
static double table[300][200];
static const char literal[] = "a literal";
static const char *text;
static dome_capture_global globals[] = {{"head", &head, &outer_pointer, 1, 0},
                                        {"table", table, &dome_capture_double, 300 * 200, 0},
                                        {"literal", literal, &dome_capture_char, sizeof literal, DOME_CAPTURE_GLOBAL_CONSTANT},
                                        {"text", &text, &char_pointer, 1, 0}};
struct frame {
    int n;
    struct outer *at;
};
static const dome_capture_member frame_members[] = {{"n", &dome_capture_int, offsetof(struct frame, n)},
                                                    {"at", &outer_pointer, offsetof(struct frame, at)}};
static dome_capture_type frame_type = DOME_CAPTURE_STRUCT("frame", struct frame, frame_members);
static dome_capture_function function = {.name = "function", .saved = &frame_type, .memory = &inner_type};
static void keep_address(void)
{
}

static dome_capture_function *functions[] = {&function};
static dome_capture_type *types[] = {&outer_type};
static const dome_capture_code codes[] = {{"keep_address", keep_address}};
static dome_capture_module module = {.size = sizeof module,
                                     .name = "test",
                                     .globals = globals,
                                     .nglobals = G_N_ELEMENTS(globals),
                                     .functions = functions,
                                     .nfunctions = 1,
                                     .types = types,
                                     .ntypes = 1,
                                     .codes = codes,
                                     .ncodes = 1};

/* A program of three active functions and a circle of blocks. */
static void make_state(int circle, int more)
{
    struct outer *last = NULL;
    dome__capture_modules_complete();
    dome__capture_streams_begin();
    for (int k = 0; k < circle; k++) {
        struct outer *o = dome_capture_malloc(&outer_type, sizeof *o);
        o->s = (short)k;
        o->inner[1].number = k / 4.0;
        o->l = -k;
        o->next = head;
        o->end = o->inner[k % 2].text + k % 4;
        o->tag = k % 3;
        if (o->tag == 0)
            o->either.number = 7 * k;
        else if (o->tag == 1)
            o->either.link = head;
        last = last ? last : o;
        head = o;
    }
    last->next = head;
    dome_capture_malloc(&dome_capture_long, (size_t)more * sizeof(long));
    text = literal + 2;
    for (int k = 0; k < 300 * 200; k++)
        table[k / 200][k % 200] = k;
    struct inner *memory[3];
    for (int k = 0; k < 3; k++) {
        memory[k] = dome_capture_enter(&function);
        memory[k]->number = k;
    }
    last->end = memory[1]->text + 1;
    dome__capture_status_set(DOME_CAPTURE_CAPTURING);
    for (int k = 0; k < 3; k++) {
        struct frame *f = dome_capture_push(&function, k);
        f->n = 10 * k;
        f->at = last;
    }
    dome__capture_status_clear(DOME_CAPTURE_CAPTURING);
}

static GPtrArray *take(void)
{
    dome_capture_image *image = dome__capture_image_new(0);
    char *problem = dome__capture_image_take(image);
    g_assert_null(problem);
    GPtrArray *blocks = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (uint64_t k = 0; k < dome__capture_image_blocks(image); k++) {
        GByteArray *block = g_byte_array_new();
        g_byte_array_set_size(block, (guint)image_segment(image, (guint)k)->bytes);
        dome__capture_image_write_block(image, k, block->data);
        g_ptr_array_add(blocks, block);
    }
    dome__capture_image_free(image);
    return blocks;
}

/* The same image with the zeros of short blocks in their places: of this library's version, or (bare) as builds before version 7
 * wrote it. */
static GPtrArray *with_zeros(const GPtrArray *blocks, bool bare)
{
    GPtrArray *whole = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    GArray *of_globals = g_array_new(FALSE, TRUE, sizeof(segment));
    dome__capture_image_cut_globals(of_globals, false);
    for (guint k = 0; k < blocks->len; k++) {
        const GByteArray *block = blocks->pdata[k];
        const bool global = k > SEGMENT_FRAMES && k - SEGMENT_GLOBALS < of_globals->len;
        const bool part = global && g_array_index(of_globals, segment, k - SEGMENT_GLOBALS).kind == SEGMENT_GLOBAL_PART;
        const uint8_t *bytes = block->data;
        uint64_t length = block->len;
        uint8_t *own = NULL;
        if (k != SEGMENT_HEAD && !part)
            g_assert_true(dome__capture_image_whole_block(&bytes, &length, &own));
        if (bare && (k == SEGMENT_FRAMES || (global && !part)))
            bytes++, length--;
        GByteArray *copy = g_byte_array_new();
        g_ptr_array_add(whole, g_byte_array_append(copy, bytes, (guint)length));
        g_free(own);
        if (bare && k == SEGMENT_HEAD) { /* it has no count of sources before its streams */
            GByteArray *streams = g_byte_array_new();
            g_assert_null(dome__capture_streams_save(streams, true));
            g_assert_cmpuint(copy->data[copy->len - streams->len - 1], ==, 0);
            g_byte_array_remove_index(copy, copy->len - streams->len - 1);
            g_byte_array_unref(streams);
            dome__put_u32(copy->data, IMAGE_VERSION_BARE);
        }
    }
    g_array_unref(of_globals);
    return whole;
}

/* NULL, or why the image cannot be restored. */
static char *restore(const GPtrArray *blocks)
{
    dome_capture_image *image = dome__capture_image_new(blocks->len);
    dome_status status = DOME_OK;
    for (guint k = 0; k < blocks->len && status == DOME_OK; k++) {
        const GByteArray *block = blocks->pdata[k];
        status = dome__capture_image_read_block(image, k, block->data, block->len);
    }
    char *problem = dome__capture_image_restored(image);
    g_assert_true((status != DOME_OK) <= (problem != NULL));
    dome__capture_image_free(image);
    return problem;
}

/* ---- without the program ---- */

typedef struct inspected {
    uint64_t frames, globals, blocks, pointers, dangling;
} inspected;

static bool block_of(void *ctx, uint64_t block, const uint8_t **bytes, uint64_t *length, char **problem)
{
    const GPtrArray *blocks = ctx;
    const GByteArray *one = blocks->pdata[block];
    (void)problem;
    *bytes = one->data;
    *length = one->len;
    return true;
}

static void inspect_value(const dome_capture_inspection *i, const dome_capture_shown_type *type, const uint8_t *bytes,
                          inspected *found)
{
    if (type->kind == DOME_CAPTURE_KIND_POINTER) {
        uint64_t number, place;
        bool past;
        dome_capture_space space = dome__capture_shown_pointer(bytes, &number, &place, &past);
        const dome_capture_shown_run *run = space == DOME_CAPTURE_SPACE_HEAP ? dome__capture_inspect_run(i, number) : NULL;
        GString *path = g_string_new(NULL);
        if (run)
            dome__capture_shown_path(path, run->type, run->elements, place, past);
        g_string_free(path, TRUE);
        found->pointers += space != DOME_CAPTURE_SPACE_VALUE;
        found->dangling += space == DOME_CAPTURE_SPACE_DANGLING || (space == DOME_CAPTURE_SPACE_HEAP && !run);
    }
    for (uint64_t k = 0; type->kind == DOME_CAPTURE_KIND_ARRAY && k < type->count; k++)
        inspect_value(i, type->element, bytes + k * type->element->bytes, found);
    const dome_capture_shown_member *used =
        type->kind == DOME_CAPTURE_KIND_UNION ? dome__capture_shown_in_use(type, bytes) : NULL;
    if (used)
        inspect_value(i, used->type, bytes + used->at, found);
    for (uint64_t k = 0; type->kind == DOME_CAPTURE_KIND_STRUCT && k < type->count - (type->tail != NULL); k++)
        inspect_value(i, type->members[k].type, bytes + type->members[k].at, found);
}

/* NULL, or why the image cannot be read. */
static char *inspect(const GPtrArray *blocks, inspected *found)
{
    char *problem;
    dome_capture_piece piece;
    *found = (inspected){0};
    dome_capture_inspection *i = dome__capture_inspect(block_of, (void *)(uintptr_t)blocks, blocks->len, &problem);
    for (int pass = 0; i && !problem && pass < 2; pass++) { /* the blocks to which pointers lead are known in the second */
        *found = (inspected){.frames = i->frames->len};
        dome__capture_inspect_rewind(i);
        while (dome__capture_inspect_next(i, &piece, &problem)) {
            found->globals += piece.global && piece.first == 0;
            found->blocks += !piece.global && piece.first == 0;
            for (uint64_t k = 0; k < piece.count; k++)
                inspect_value(i, piece.type, piece.bytes + k * piece.type->bytes, found);
            for (uint64_t k = 0; k < piece.tail; k++)
                inspect_value(i, piece.type->tail, piece.bytes + piece.type->bytes + k * piece.type->tail->bytes, found);
        }
    }
    for (guint k = 0; i && k < i->frames->len; k++) {
        const dome_capture_shown_frame *f = &g_array_index(i->frames, dome_capture_shown_frame, k);
        if (f->saved)
            inspect_value(i, f->function->saved, f->saved, found);
        if (f->memory)
            inspect_value(i, f->function->memory, f->memory, found);
    }
    g_assert_true(i || problem);
    dome__capture_inspection_free(i);
    return problem;
}

static void forget(void)
{
    dome__capture_heap_clear();
    dome__capture_frames_clear();
    dome__capture_heap.serial = 0;
    head = NULL;
    text = NULL;
    memset(table, 0, sizeof table);
}

#endif
