/* dome ckpt show: prints the contents of a checkpoint. */
#include "commands.h"
#include "core/layout.h"
#include "dome_ckpt_image.h"
#include "store/store_inspect.h"
#include "store/windows.h"
#include "system/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Results of reading an object. */
typedef struct contents {
    GPtrArray *columns;
    dome_ckpt_statistics *statistics; /* one a column */
    bool all_columns;
    uint64_t bytes, own, absent, damaged;
} contents;

static void count_blocks(const dome_ckpt *ckpt, const dome_ckpt_object *object, contents *c)
{
    for (uint64_t b = 0; b < object->blocks; b++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        c->bytes += e->length;
        c->own += e->source == ckpt->number ? e->length : 0;
        c->absent += e->source == 0;
    }
    c->own += dome__ckpt_delta_bytes(ckpt, object);
}

static void read_values(dome_ckpt_file *file, const dome_ckpt_object *object, dome_ckpt_buffer *buffer, contents *c)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    uint64_t value_bytes = dome__ckpt_type_bytes(ckpt, object->type);
    for (uint64_t b = 0; b < object->blocks; b++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        char *message = NULL;
        if (e->source == 0)
            continue;
        if (!dome__ckpt_room(buffer, e->length, &message) || !dome__ckpt_read(file, object, b, buffer->data, &message)) {
            if (c->damaged++ == 0)
                dome__ckpt_complain(1, message);
            else
                g_free(message);
            continue;
        }
        for (guint i = 0; i < c->columns->len; i++)
            dome__ckpt_statistics_add(&c->statistics[i], g_ptr_array_index(c->columns, i), buffer->data,
                                      dome__ckpt_block_values(object, b), value_bytes);
    }
}

static contents look(dome_ckpt_file *file, const dome_ckpt_object *object, bool values, dome_ckpt_buffer *buffer)
{
    contents c = {0};
    c.columns = dome__ckpt_columns(dome__ckpt_head(file), object->fixed ? object->type : DOME_CKPT_NO_TYPE, &c.all_columns);
    c.statistics = g_new0(dome_ckpt_statistics, MAX(c.columns->len, 1));
    count_blocks(dome__ckpt_head(file), object, &c);
    if (values)
        read_values(file, object, buffer, &c);
    return c;
}

/* ---- as text ---- */

static void print_statistics(const dome_ckpt_column *column, const dome_ckpt_statistics *s)
{
    char *name = dome__ckpt_plain(column->name);
    char min[DOME_CKPT_TEXT] = "-", max[DOME_CKPT_TEXT] = "-", mean[DOME_CKPT_TEXT];
    if (s->count > s->nan) {
        dome__ckpt_value_text(s->min, column->kind, min);
        dome__ckpt_value_text(s->max, column->kind, max);
    }
    dome__ckpt_value_text((dome_ckpt_value){DOME_CKPT_FLOAT, {.f = dome__ckpt_mean(s)}}, DOME_KIND_F64, mean);
    printf("    %s%s%" PRIu64 " values, min %s, max %s, mean %s", name, *name ? ": " : "", s->count, min, max,
           s->count - s->nan - s->infinite ? mean : "-");
    if (column->kind == DOME_KIND_F32 || column->kind == DOME_KIND_F64)
        printf(", %" PRIu64 " NaN", s->nan);
    if (s->infinite)
        printf(", %" PRIu64 " infinite", s->infinite);
    putchar('\n');
    g_free(name);
}

static void print_object(const dome_ckpt *ckpt, const dome_ckpt_object *object, const contents *c, bool values)
{
    char *name = dome__ckpt_plain(object->name), *kind = dome__ckpt_plain(object->kind);
    char *type = dome__ckpt_plain(dome__ckpt_type_name(ckpt, object->type));
    char *shape = dome__ckpt_shape_text(ckpt, object, " x ");
    printf("%s: %s", name, kind);
    if (object->type != DOME_CKPT_NO_TYPE)
        printf(" of %s", type);
    printf(", length %" PRIu64 ", width %" PRIu64, object->length, object->width);
    if (*shape)
        printf(", shape %s", shape);
    printf(", %s, %" PRIu64 " blocks", dome__distribution_word(object->distribution), object->blocks);
    if (object->block_size)
        printf(" of %" PRIu64, object->block_size);
    printf(", %" PRIu64 " bytes, %" PRIu64 " of them in this file\n", c->bytes, c->own);
    if (c->absent)
        printf("    %" PRIu64 " blocks are not in this piece\n", c->absent);
    if (c->damaged)
        printf("    %" PRIu64 " blocks are damaged\n", c->damaged);
    for (guint i = 0; values && i < c->columns->len; i++)
        if (c->statistics[i].count > 0)
            print_statistics(g_ptr_array_index(c->columns, i), &c->statistics[i]);
    if (values && !c->all_columns)
        puts("    and more fields");
    g_free(name);
    g_free(kind);
    g_free(type);
    g_free(shape);
}

static void print_head(const dome_ckpt *ckpt, const char *path)
{
    char *program = dome__ckpt_shown(ckpt->program), *place = dome__plain(path);
    printf("checkpoint '%s'\nprogram %s, number %" PRIu64, place, program, ckpt->number);
    g_free(place);
    if (ckpt->pieces)
        printf(", piece %u of %u", ckpt->piece, ckpt->pieces);
    printf(", loop %" PRIu64 ", %" PRIu64 " bytes, %" PRIu64 " of them data\n", ckpt->loop, ckpt->file_bytes,
           ckpt->file_bytes - ckpt->head_bytes);
    g_free(program);
    if (ckpt->chain > 0)
        printf("deltas, number %u of the chain behind checkpoint %" PRIu64 "\n", ckpt->chain, dome__ckpt_chain_start(ckpt));
    for (guint i = 0; i < ckpt->earlier->len; i++) {
        const dome_ckpt_earlier *e = &g_array_index(ckpt->earlier, dome_ckpt_earlier, i);
        printf("refers to checkpoint %" PRIu64 " of %" PRIu64 " bytes\n", e->number, e->file_bytes);
    }
    for (guint i = 0; i < ckpt->counters->len; i++) {
        const dome_ckpt_counter *counter = &g_array_index(ckpt->counters, dome_ckpt_counter, i);
        if (dome__ckpt_is_shape(counter))
            continue;
        char *name = dome__ckpt_plain(counter->name);
        printf("counter %s: %" PRIu64 "\n", name, counter->value);
        g_free(name);
    }
}

/* ---- as JSON ---- */

static void print_json_value(const char *key, dome_ckpt_value value, dome_type_kind kind)
{
    char text[DOME_CKPT_TEXT];
    dome__ckpt_value_text(value, kind, text);
    printf(", \"%s\": ", key);
    dome__json_number(stdout, text);
}

static void print_json_statistics(const dome_ckpt_column *column, const dome_ckpt_statistics *s)
{
    printf("{\"name\": ");
    dome__json_string(stdout, column->name);
    printf(", \"values\": %" PRIu64 ", \"nan\": %" PRIu64 ", \"infinite\": %" PRIu64, s->count, s->nan, s->infinite);
    if (s->count > s->nan) {
        print_json_value("min", s->min, column->kind);
        print_json_value("max", s->max, column->kind);
    }
    if (s->count > s->nan + s->infinite)
        print_json_value("mean", (dome_ckpt_value){DOME_CKPT_FLOAT, {.f = dome__ckpt_mean(s)}}, DOME_KIND_F64);
    putchar('}');
}

static void print_json_object(const dome_ckpt *ckpt, const dome_ckpt_object *object, const contents *c, bool values)
{
    char *shape = dome__ckpt_shape_text(ckpt, object, ", ");
    printf("    {\"name\": ");
    dome__json_string(stdout, object->name);
    printf(", \"kind\": ");
    dome__json_string(stdout, object->kind);
    printf(", \"type\": ");
    dome__json_string(stdout, dome__ckpt_type_name(ckpt, object->type));
    printf(", \"length\": %" PRIu64 ", \"width\": %" PRIu64
           ", \"shape\": [%s], \"distribution\": \"%s\", \"block_size\": %" PRIu64 ", \"blocks\": %" PRIu64
           ", \"bytes\": %" PRIu64 ", \"own\": %" PRIu64 ", \"absent\": %" PRIu64 ", \"damaged\": %" PRIu64,
           object->length, object->width, shape, dome__distribution_word(object->distribution), object->block_size,
           object->blocks, c->bytes, c->own, c->absent, c->damaged);
    g_free(shape);
    if (values) {
        printf(", \"columns\": [");
        for (guint i = 0; i < c->columns->len; i++) {
            printf("%s", i ? ", " : "");
            print_json_statistics(g_ptr_array_index(c->columns, i), &c->statistics[i]);
        }
        putchar(']');
    }
}

static void print_json_head(const dome_ckpt *ckpt, const char *path)
{
    printf("{\n  \"path\": ");
    dome__json_string(stdout, path);
    printf(",\n  \"program\": ");
    dome__json_string(stdout, ckpt->program);
    printf(",\n  \"number\": %" PRIu64 ", \"piece\": %u, \"pieces\": %u, \"loop\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"own\": %" PRIu64 ", \"chain\": %u,\n  \"refers_to\": [",
           ckpt->number, ckpt->piece, ckpt->pieces, ckpt->loop, ckpt->file_bytes, ckpt->file_bytes - ckpt->head_bytes,
           ckpt->chain);
    for (guint i = 0; i < ckpt->earlier->len; i++)
        printf("%s%" PRIu64, i ? ", " : "", g_array_index(ckpt->earlier, dome_ckpt_earlier, i).number);
    printf("],\n  \"counters\": {");
    for (guint i = 0, printed = 0; i < ckpt->counters->len; i++) {
        const dome_ckpt_counter *counter = &g_array_index(ckpt->counters, dome_ckpt_counter, i);
        if (dome__ckpt_is_shape(counter))
            continue;
        printf("%s", printed++ ? ", " : "");
        dome__json_string(stdout, counter->name);
        printf(": %" PRIu64, counter->value);
    }
    printf("},\n  \"objects\": [\n");
}

/* ---- all values of an object ---- */

typedef struct writing {
    dome_type_kind kind;
    GString **lines; /* one for each value of the object's type in the block */
} writing;

static void write_value(void *context, uint64_t element, dome_ckpt_value value)
{
    writing *w = context;
    char text[DOME_CKPT_TEXT];
    dome__ckpt_value_text(value, w->kind, text);
    GString *line = w->lines[element];
    g_string_append_printf(line, "%s%s", line->len ? " " : "", text);
}

/* Writes an element per line. */
static void write_block(const dome_ckpt_object *object, uint64_t values, uint64_t value_bytes, const void *data,
                        const GPtrArray *columns)
{
    GString **lines = g_new(GString *, values + 1);
    for (uint64_t i = 0; i < values; i++)
        lines[i] = g_string_new(NULL);
    for (guint k = 0; k < columns->len; k++) {
        const dome_ckpt_column *column = g_ptr_array_index(columns, k);
        writing w = {column->kind, lines};
        dome__ckpt_each_value(column, data, values, value_bytes, write_value, &w);
    }
    for (uint64_t i = 0; i < values; i++) {
        printf("%s%c", lines[i]->str, (i + 1) % object->width == 0 ? '\n' : ' ');
        g_string_free(lines[i], TRUE);
    }
    g_free(lines);
}

static int write_values(dome_ckpt_file *file, const char *name)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    const dome_ckpt_object *object = dome__ckpt_find(ckpt, name);
    const char *path = dome__ckpt_path(file);
    char *shown = dome__ckpt_shown(name), *message = NULL;
    bool all = true, good = false;
    GPtrArray *columns = NULL;
    dome_ckpt_buffer buffer = {0};
    if (!object)
        dome__ckpt_refuse(&message, "checkpoint '%s' has no object %s", path, shown);
    else if (!object->fixed)
        dome__ckpt_refuse(&message, "checkpoint '%s': object %s has blocks that only its kind can read", path, shown);
    else
        columns = dome__ckpt_columns(ckpt, object->type, &all);
    if (!all)
        dome__ckpt_refuse(&message, "checkpoint '%s': object %s has more fields than are shown", path, shown);
    else if (columns)
        good = true;
    for (uint64_t b = 0; good && b < object->blocks; b++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        good = dome__ckpt_room(&buffer, e->length, &message) && dome__ckpt_read(file, object, b, buffer.data, &message);
        if (good)
            write_block(object, dome__ckpt_block_values(object, b), dome__ckpt_type_bytes(ckpt, object->type), buffer.data,
                        columns);
    }
    if (columns)
        g_ptr_array_unref(columns);
    g_free(buffer.data);
    g_free(shown);
    return good ? 0 : dome__ckpt_complain(1, message);
}

/* ---- the command ---- */

static int show(dome_ckpt_file *file, bool json, bool values, bool all, bool sizes)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    dome_ckpt_buffer buffer = {0};
    int status = 0;
    (json ? print_json_head : print_head)(ckpt, dome__ckpt_path(file));
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        contents c = look(file, object, values && !sizes, &buffer);
        (json ? print_json_object : print_object)(ckpt, object, &c, values && !sizes);
        status = c.damaged ? 1 : status;
        if (values && !c.damaged && !c.absent && dome__ckpt_is_image(object) &&
            (sizes ? dome__ckpt_image_sizes : dome__ckpt_image_print)(file, object, json, all) != 0)
            status = 1;
        if (json)
            puts(i + 1 < ckpt->objects->len ? "}," : "}");
        g_ptr_array_unref(c.columns);
        g_free(c.statistics);
    }
    if (json)
        puts("  ]\n}");
    g_free(buffer.data);
    return status;
}

static int draw(dome_ckpt_file *file, uint64_t blocks)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    for (guint i = 0; i < ckpt->objects->len; i++)
        if (dome__ckpt_is_image(dome__ckpt_object(ckpt, i)))
            return dome__ckpt_image_dot(file, dome__ckpt_object(ckpt, i), blocks);
    char *message = NULL;
    dome__ckpt_refuse(&message, "checkpoint '%s' has no captured program", dome__ckpt_path(file));
    return dome__ckpt_complain(1, message);
}

int dome__ckpt_command_show(int argc, char **argv)
{
    gboolean json = FALSE, head = FALSE, all = FALSE, dot = FALSE, sizes = FALSE;
    gint64 blocks = 1000;
    char *object = NULL;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print an object in JSON; NaN and infinities are strings", NULL},
        {"head", 0, 0, G_OPTION_ARG_NONE, &head, "The description alone: values are not read", NULL},
        {"values", 0, 0, G_OPTION_ARG_STRING, &object, "Print all values of this object instead, an element a line", "OBJECT"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &all, "Of a captured program: all functions, elements and blocks of the heap", NULL},
        {"sizes", 0, 0, G_OPTION_ARG_NONE, &sizes, "How many bytes each object has, and each part of a captured program", NULL},
        {"dot", 0, 0, G_OPTION_ARG_NONE, &dot, "Print the pointers of a captured program as a graph for graphviz", NULL},
        {"blocks", 0, 0, G_OPTION_ARG_INT64, &blocks, "Of the graph: draw the first N blocks of the heap (1000)", "N"},
        {0}};
    dome__ckpt_parse(
        &argc, &argv, entries, "FILE|DIR|DIR:NUMBER",
        "Shows what is in a checkpoint: program, loop boundaries that it had passed, counters, and every object\n"
        "with type, length, width, shape, distribution, blocks, bytes and statistics of its values: number, minimum,\n"
        "maximum, mean, and how many are NaN or infinite (these are not in the mean). Structs have a line for\n"
        "each field, complex numbers one for real and one for imaginary parts. All data are read and their\n"
        "checksums compared, a block at a time.\n\n"
        "Of a program that was saved inside its calls: the active functions, each with the line and its variables;\n"
        "the heap by type; open files; globals. Pointers are shown as what they lead to: \"heap 12[3].next\",\n"
        "\"global n\", \"#3.column\" (a variable of active function 3).\n\n"
        "With --sizes of such a program what its image is made of, in bytes: names and descriptions, each variable of\n"
        "each active function, each global, the heap by type; and what tells of the heap's blocks.\n\n"
        "Exit status: 0; 1 if it is damaged or cannot be read; 2 for wrong usage.",
        1, 1);
    char *message = NULL;
    dome_ckpt_file *file = dome__ckpt_named(argv[1], &message);
    if (!file)
        return dome__ckpt_complain(1, message);
    int status = dot      ? draw(file, blocks < 0 ? 0 : (uint64_t)blocks)
                 : object ? write_values(file, object)
                          : show(file, json, !head, all, sizes);
    dome__ckpt_close(file);
    g_free(object);
    return status;
}
