/* dome ckpt diff: compares two checkpoints. */
#include "commands.h"
#include "core/layout.h"
#include "dome_ckpt_image.h"
#include "store/store_inspect.h"

#include <inttypes.h>
#include <string.h>

typedef struct side {
    dome_ckpt_file *file;
    const dome_ckpt *ckpt;
    dome_ckpt_buffer buffer;
} side;

typedef struct comparison {
    side a, b;
    bool json, all;
    bool differ;
    unsigned listed; /* objects written to the JSON list so far */
} comparison;

static void begin_item(comparison *c, const char *name)
{
    c->differ = true;
    if (!c->json)
        return;
    printf("%s    {\"name\": ", c->listed++ ? ",\n" : "");
    dome__json_string(stdout, name);
}

/* Reports a difference, of an object or a counter, as text. */
static void tell(comparison *c, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void tell(comparison *c, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments), *plain = dome__ckpt_plain(name);
    va_end(arguments);
    begin_item(c, name);
    if (c->json) {
        printf(", \"description\": ");
        dome__json_string(stdout, text);
        putchar('}');
    } else {
        dome__print("%s: %s\n", plain, text); /* with the numbers and types of both */
    }
    g_free(text);
    g_free(plain);
}

/* ---- values ---- */

typedef struct found {
    uint64_t blocks, elements, first;
    GPtrArray *columns;
    dome_ckpt_difference *differences;
} found;

static void print_column(const comparison *c, const dome_ckpt_object *object, const dome_ckpt_column *column,
                         const dome_ckpt_difference *d, bool first)
{
    char *name = dome__ckpt_plain(column->name), a[DOME_CKPT_TEXT], b[DOME_CKPT_TEXT], largest[DOME_CKPT_TEXT];
    uint64_t width = MAX(object->width, 1);
    dome__ckpt_value_text(d->a, column->kind, a);
    dome__ckpt_value_text(d->b, column->kind, b);
    dome__ckpt_value_text((dome_ckpt_value){DOME_CKPT_FLOAT, {.f = d->largest}}, DOME_KIND_F64, largest);
    if (c->json) {
        printf("%s{\"name\": ", first ? "" : ", ");
        dome__json_string(stdout, column->name);
        printf(", \"values\": %" PRIu64 ", \"first\": [%" PRIu64 ", %" PRIu64 "], \"a\": ", d->count, d->first / width,
               d->first % width);
        dome__json_number(stdout, a);
        printf(", \"b\": ");
        dome__json_number(stdout, b);
        printf(", \"largest\": ");
        dome__json_number(stdout, largest);
        putchar('}');
    } else {
        printf("    %s%s%" PRIu64 " values differ, first at element %" PRIu64, name, *name ? ": " : "", d->count,
               d->first / width);
        if (width > 1)
            printf(", value %" PRIu64, d->first % width);
        printf(": %s and %s; largest absolute difference %s\n", a, b, largest);
    }
    g_free(name);
}

static void print_found(comparison *c, const dome_ckpt_object *object, const found *f)
{
    char *name = dome__ckpt_plain(object->name);
    bool first = true;
    begin_item(c, object->name);
    if (c->json) {
        printf(", \"blocks\": %" PRIu64 ", \"elements\": %" PRIu64 ", \"columns\": [", f->blocks, f->elements);
    } else {
        printf("%s: %" PRIu64 " of %" PRIu64 " blocks", name, f->blocks, object->blocks);
        if (object->fixed)
            printf(" and %" PRIu64 " of %" PRIu64 " elements", f->elements, object->length);
        printf(" differ");
        printf(object->fixed ? ", the first is element %" PRIu64 "\n" : ", the first is block %" PRIu64 "\n", f->first);
    }
    for (guint i = 0; i < f->columns->len; i++)
        if (f->differences[i].count > 0) {
            print_column(c, object, g_ptr_array_index(f->columns, i), &f->differences[i], first);
            first = false;
        }
    if (c->json)
        printf("]}");
    g_free(name);
}

static bool read_block(side *s, const dome_ckpt_object *object, uint64_t block, char **message)
{
    return dome__ckpt_room(&s->buffer, dome__ckpt_entry(s->ckpt, object, block)->length, message) &&
           dome__ckpt_read(s->file, object, block, s->buffer.data, message);
}

static void compare_elements(const comparison *c, const dome_ckpt_object *object, uint64_t block, found *f)
{
    const char *a = c->a.buffer.data, *b = c->b.buffer.data;
    uint64_t value_bytes = dome__ckpt_type_bytes(c->a.ckpt, object->type), width = object->width;
    uint64_t values = dome__ckpt_block_values(object, block), before = block * object->block_size;
    uint64_t element_bytes = width * value_bytes;
    for (uint64_t e = 0; width > 0 && e < values / width; e++)
        if (memcmp(a + e * element_bytes, b + e * element_bytes, element_bytes) != 0 && f->elements++ == 0)
            f->first = before + e;
    const dome_ckpt_pair pair = {a, b, values, value_bytes, before * width};
    for (guint i = 0; i < f->columns->len; i++)
        dome__ckpt_difference_add(&f->differences[i], g_ptr_array_index(f->columns, i), &pair);
}

/* Blocks with equal checksums are equal; only the others are read. */
static bool compare_blocks(comparison *c, const dome_ckpt_object *of_a, const dome_ckpt_object *of_b, char **message)
{
    bool all, good = true;
    found f = {0};
    f.columns = dome__ckpt_columns(c->a.ckpt, of_a->fixed ? of_a->type : DOME_CKPT_NO_TYPE, &all);
    f.differences = g_new0(dome_ckpt_difference, f.columns->len + 1);
    for (uint64_t i = 0; good && i < of_a->blocks; i++) {
        const dome_ckpt_entry *a = dome__ckpt_entry(c->a.ckpt, of_a, i), *b = dome__ckpt_entry(c->b.ckpt, of_b, i);
        if (a->source == 0 && b->source == 0)
            continue;
        if (dome__ckpt_known_equal(c->a.ckpt, a, c->b.ckpt, b))
            continue;
        const bool read = of_a->fixed && a->source != 0 && b->source != 0;
        if (read)
            good = read_block(&c->a, of_a, i, message) && read_block(&c->b, of_b, i, message);
        /* The checksums of blocks that have deltas say nothing. */
        if (!good || (read && memcmp(c->a.buffer.data, c->b.buffer.data, (size_t)a->length) == 0))
            continue;
        if (f.blocks++ == 0 && !of_a->fixed)
            f.first = i;
        if (read)
            compare_elements(c, of_a, i, &f);
    }
    if (good && f.blocks > 0)
        print_found(c, of_a, &f);
    g_ptr_array_unref(f.columns);
    g_free(f.differences);
    return good;
}

/* ---- descriptions ---- */

static bool described_alike(comparison *c, const dome_ckpt_object *a, const dome_ckpt_object *b)
{
    const char *of_a = dome__ckpt_type_name(c->a.ckpt, a->type), *of_b = dome__ckpt_type_name(c->b.ckpt, b->type);
    if (strcmp(a->kind, b->kind) != 0 || a->fixed != b->fixed) {
        char *first = dome__ckpt_shown(a->kind), *second = dome__ckpt_shown(b->kind);
        tell(c, a->name, "its kind differs: %s and %s", first, second);
        g_free(first);
        g_free(second);
    } else if (!dome__ckpt_types_equal(c->a.ckpt, a->type, c->b.ckpt, b->type)) {
        char *first = dome__ckpt_shown(of_a), *second = dome__ckpt_shown(of_b);
        tell(c, a->name, "its type differs: %s and %s%s", first, second,
             strcmp(of_a, of_b) == 0 ? ", which are described differently" : "");
        g_free(first);
        g_free(second);
    } else if (a->length != b->length || a->width != b->width) {
        tell(c, a->name, "its size differs: %" PRIu64 " x %" PRIu64 " and %" PRIu64 " x %" PRIu64, a->length, a->width, b->length,
             b->width);
    } else if (a->distribution != b->distribution) {
        tell(c, a->name, "its distribution differs: %s and %s", dome__distribution_word(a->distribution),
             dome__distribution_word(b->distribution));
    } else if (a->block_size != b->block_size) {
        tell(c, a->name, "its blocks differ: of %" PRIu64 " and of %" PRIu64 " elements", a->block_size, b->block_size);
    } else {
        return true;
    }
    return false;
}

/* Values are compared as well where only shapes differ. */
static void compare_shapes(comparison *c, const dome_ckpt_object *a, const dome_ckpt_object *b)
{
    char *of_a = dome__ckpt_shape_text(c->a.ckpt, a, " x "), *of_b = dome__ckpt_shape_text(c->b.ckpt, b, " x ");
    if (strcmp(of_a, of_b) != 0)
        tell(c, a->name, "its shape differs: %s and %s", *of_a ? of_a : "none", *of_b ? of_b : "none");
    g_free(of_a);
    g_free(of_b);
}

/* ---- captured programs ---- */

static void tell_image(void *context, const char *text)
{
    tell(context, "image", "%s", text);
}

static bool equal_blocks(const comparison *c, const dome_ckpt_object *of_a, const dome_ckpt_object *of_b)
{
    bool equal = of_a->blocks == of_b->blocks;
    for (uint64_t i = 0; i < of_a->blocks && equal; i++) {
        const dome_ckpt_entry *a = dome__ckpt_entry(c->a.ckpt, of_a, i), *b = dome__ckpt_entry(c->b.ckpt, of_b, i);
        equal = dome__ckpt_known_equal(c->a.ckpt, a, c->b.ckpt, b);
    }
    return equal;
}

static bool compare_images(comparison *c, const dome_ckpt_object *of_a, const dome_ckpt_object *of_b, char **message)
{
    dome_ckpt_image a = {0}, b = {0};
    if (equal_blocks(c, of_a, of_b))
        return true;
    /* The types of all blocks first: what pointers lead to is told by them. */
    bool good = dome__ckpt_image_open(&a, c->a.file, of_a, message) && dome__ckpt_image_read_heap(&a, message) &&
                dome__ckpt_image_open(&b, c->b.file, of_b, message) && dome__ckpt_image_read_heap(&b, message);
    if (good) {
        dome__capture_inspect_rewind(a.inspection);
        dome__capture_inspect_rewind(b.inspection);
        good = dome__ckpt_image_compare(&a, &b, c->all, tell_image, c, message);
    }
    dome__ckpt_image_close(&a);
    dome__ckpt_image_close(&b);
    return good;
}

static bool compare_objects(comparison *c, char **message)
{
    for (guint i = 0; i < c->a.ckpt->objects->len; i++) {
        const dome_ckpt_object *a = dome__ckpt_object(c->a.ckpt, i), *b = dome__ckpt_find(c->b.ckpt, a->name);
        if (!b) {
            tell(c, a->name, "only in the first");
        } else if (dome__ckpt_is_image(a) && dome__ckpt_is_image(b)) {
            if (!compare_images(c, a, b, message))
                return false;
        } else if (described_alike(c, a, b)) {
            compare_shapes(c, a, b);
            if (!compare_blocks(c, a, b, message))
                return false;
        }
    }
    for (guint i = 0; i < c->b.ckpt->objects->len; i++) {
        const dome_ckpt_object *b = dome__ckpt_object(c->b.ckpt, i);
        if (!dome__ckpt_find(c->a.ckpt, b->name))
            tell(c, b->name, "only in the second");
    }
    return true;
}

static const dome_ckpt_counter *find_counter(const dome_ckpt *ckpt, const char *name)
{
    for (guint i = 0; i < ckpt->counters->len; i++)
        if (strcmp(g_array_index(ckpt->counters, dome_ckpt_counter, i).name, name) == 0)
            return &g_array_index(ckpt->counters, dome_ckpt_counter, i);
    return NULL;
}

/* Reports the counters of `from` that `other` has not, or, if `differing`, has with another value. */
static void compare_counters(comparison *c, const dome_ckpt *from, const dome_ckpt *other, bool differing, const char *which)
{
    for (guint i = 0; i < from->counters->len; i++) {
        const dome_ckpt_counter *x = &g_array_index(from->counters, dome_ckpt_counter, i), *y = find_counter(other, x->name);
        if (dome__ckpt_is_shape(x)) /* compared by the names of objects */
            continue;
        if (!y)
            tell(c, x->name, "a counter, only in the %s", which);
        else if (differing && x->value != y->value)
            tell(c, x->name, "a counter: %" PRIu64 " and %" PRIu64, x->value, y->value);
    }
}

static void compare_heads(comparison *c)
{
    const dome_ckpt *a = c->a.ckpt, *b = c->b.ckpt;
    if (strcmp(a->program, b->program) != 0) {
        char *first = dome__ckpt_shown(a->program), *second = dome__ckpt_shown(b->program);
        tell(c, "program", "%s and %s", first, second);
        g_free(first);
        g_free(second);
    }
    if (a->loop != b->loop)
        tell(c, "loop", "%" PRIu64 " and %" PRIu64, a->loop, b->loop);
    compare_counters(c, a, b, true, "first");
    compare_counters(c, b, a, false, "second");
}

/* ---- the command ---- */

static bool open_side(side *s, const char *argument, char **message)
{
    s->file = dome__ckpt_named(argument, message);
    s->ckpt = s->file ? dome__ckpt_head(s->file) : NULL;
    return s->file;
}

int dome__ckpt_command_diff(int argc, char **argv)
{
    gboolean json = FALSE, objects = FALSE, all = FALSE;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print an object in JSON", NULL},
        {"all", 0, 0, G_OPTION_ARG_NONE, &all, "Of captured programs: name each block of the heap that differs", NULL},
        {"objects", 0, 0, G_OPTION_ARG_NONE, &objects, "Compare objects alone, not program, loop and counters", NULL},
        {0}};
    dome__ckpt_parse(&argc, &argv, entries, "A B",
                     "Compares two checkpoints, each given as FILE, DIR or DIR:NUMBER: program, loop, counters, and objects by\n"
                     "their names. For an object that differs: how many blocks and elements do, and for each field how many\n"
                     "values, the first of them, and the largest absolute difference. Values differ where their bits do.\n"
                     "Of a program that was saved inside its calls: which variable of which active function or global\n"
                     "differs, and which block of the heap, with the first value of each.\n"
                     "Numbers of checkpoints and what they refer to are not compared. Blocks with equal checksums are equal\n"
                     "and are not read.\n\n"
                     "Exit status, as of diff(1): 0 if they are equal, 1 if they differ, 2 for trouble.",
                     2, 2);
    comparison c = {.json = json, .all = all};
    char *message = NULL;
    bool good = open_side(&c.a, argv[1], &message) && open_side(&c.b, argv[2], &message);
    if (good && json)
        puts("{\n  \"differences\": [");
    if (good && !objects)
        compare_heads(&c);
    good = good && compare_objects(&c, &message);
    if (good && json)
        printf("%s  ],\n  \"equal\": %s\n}\n", c.listed ? "\n" : "", c.differ ? "false" : "true");
    int status = good ? c.differ : dome__ckpt_complain(2, message);
    dome__ckpt_close(c.a.file);
    dome__ckpt_close(c.b.file);
    g_free(c.a.buffer.data);
    g_free(c.b.buffer.data);
    return status;
}
