/* dome ckpt: inspects checkpoints. */
#include "dome_ckpt.h"

#include "commands.h"
#include "store/store.h"
#include "store/store_inspect.h"
#include "system/say.h"
#include "system/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- shared by the subcommands ---- */

void dome__ckpt_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *usage, const char *summary, int least,
                      int most)
{
    GOptionContext *context = g_option_context_new(usage);
    const char *name = (*argv)[0];
    g_set_prgname("dome ckpt");
    g_option_context_set_summary(context, summary);
    /* The help begins with the program's name, which includes the subcommand. */
    char *called = g_strconcat("dome ckpt ", name, NULL);
    g_set_prgname(called);
    dome__command_options(context, entries, argc, argv, called + strlen("dome "));
    g_free(called);
    g_option_context_free(context);
    if (*argc > 1 && strcmp((*argv)[1], "--") == 0) {
        memmove(*argv + 1, *argv + 2, (size_t)(*argc - 1) * sizeof **argv);
        --*argc;
    }
    if (*argc - 1 < least || *argc - 1 > most)
        dome__command_fail(2, "ckpt %s: give %s; see dome ckpt %s --help", name, usage, name);
}

int dome__ckpt_complain(int status, char *message)
{
    fflush(stdout);
    dome__say("ckpt: %s", message);
    g_free(message);
    return status;
}

char *dome__ckpt_plain(const char *name)
{
    char *shown = dome__ckpt_shown(name); /* with quotes */
    char *plain = g_strndup(shown + 1, strlen(shown) - 2);
    g_free(shown);
    return plain;
}

void dome__ckpt_make_plain(char *text)
{
    char *plain = dome__plain(text); /* never longer */
    strcpy(text, plain);
    g_free(plain);
}

char *dome__ckpt_shape_text(const dome_ckpt *ckpt, const dome_ckpt_object *object, const char *between)
{
    int ndim;
    uint64_t *shape = dome__ckpt_shape(ckpt, object, &ndim);
    GString *text = g_string_new(NULL);
    for (int d = 0; d < ndim; d++)
        g_string_append_printf(text, "%s%" PRIu64, d ? between : "", shape[d]);
    g_free(shape);
    return g_string_free(text, FALSE);
}

bool dome__ckpt_room(dome_ckpt_buffer *buffer, uint64_t bytes, char **message)
{
    if (buffer->data && bytes <= buffer->room)
        return true;
    g_free(buffer->data);
    buffer->room = MAX(bytes, 1 << 16);
    buffer->data = buffer->room <= G_MAXSIZE ? g_try_malloc(buffer->room) : NULL;
    return buffer->data || dome__ckpt_refuse(message, "there is no memory for a block of %" PRIu64 " bytes", bytes);
}

/* ---- finding the file that an argument names ---- */

static dome_ckpt_file *newest_of(const char *directory, char **message)
{
    GPtrArray *items = dome__store_list(directory, message);
    dome_ckpt_file *file = NULL;
    bool pieces = false;
    if (!items)
        return NULL;
    for (guint i = items->len; i > 0 && !file; i--) {
        dome_store_item *item = g_ptr_array_index(items, i - 1);
        if (item->pieces > 0)
            pieces = true;
        else if (item->damage)
            dome__ckpt_complain(1, g_steal_pointer(&item->damage));
        else
            file = g_steal_pointer(&item->file);
    }
    if (!file)
        dome__ckpt_refuse(message, "directory '%s' has no checkpoint that can be read%s", directory,
                          pieces ? "; there are pieces: give one of the files" : "");
    g_ptr_array_unref(items);
    return file;
}

/* DIR:N */
static char *numbered_path(const char *argument)
{
    const char *colon = strrchr(argument, ':');
    char *path = NULL, *end;
    if (!colon || !g_ascii_isdigit(colon[1]))
        return NULL;
    uint64_t number = g_ascii_strtoull(colon + 1, &end, 10);
    if (*end)
        return NULL;
    char *directory = g_strndup(argument, (size_t)(colon - argument));
    if (g_file_test(directory, G_FILE_TEST_IS_DIR))
        path = dome__ckpt_file_path(directory, number, 0, 0);
    g_free(directory);
    return path;
}

dome_ckpt_file *dome__ckpt_named(const char *argument, char **message)
{
    if (g_file_test(argument, G_FILE_TEST_IS_DIR))
        return newest_of(argument, message);
    char *path = g_file_test(argument, G_FILE_TEST_EXISTS) ? NULL : numbered_path(argument);
    dome_ckpt_file *file = dome__ckpt_open(path ? path : argument, message);
    g_free(path);
    return file;
}

/* ---- ls ---- */

static uint64_t own_bytes(const dome_ckpt *ckpt)
{
    return ckpt->file_bytes - ckpt->head_bytes;
}

static char *references(const dome_ckpt *ckpt, const char *separator)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < ckpt->earlier->len; i++)
        g_string_append_printf(text, "%s%" PRIu64, i ? separator : "", g_array_index(ckpt->earlier, dome_ckpt_earlier, i).number);
    return g_string_free(text, FALSE);
}

static bool refers_to(const dome_ckpt *ckpt, uint64_t number)
{
    for (guint i = 0; i < ckpt->earlier->len; i++)
        if (g_array_index(ckpt->earlier, dome_ckpt_earlier, i).number == number)
            return true;
    return false;
}

/* Whether the file is kept only because a newer checkpoint needs its blocks: it cannot be restored any more, since a file that it
 * needs has been removed. */
static bool is_kept(const GPtrArray *items, const dome_store_item *item)
{
    for (guint i = 0; item->file && item->damage && i < items->len; i++) {
        const dome_store_item *other = g_ptr_array_index(items, i);
        if (other->file && !other->damage && refers_to(dome__ckpt_head(other->file), item->number))
            return true;
    }
    return false;
}

static const char *state_of(const GPtrArray *items, const dome_store_item *item)
{
    if (!item->damage)
        return "good";
    if (!item->file)
        return "damaged";
    return is_kept(items, item) ? "kept" : "incomplete";
}

static void list_as_json(const GPtrArray *items)
{
    puts("[");
    for (guint i = 0; i < items->len; i++) {
        const dome_store_item *item = g_ptr_array_index(items, i);
        printf("  {\"path\": ");
        dome__json_string(stdout, item->path);
        printf(", \"number\": %" PRIu64 ", \"piece\": %u, \"pieces\": %u, \"state\": \"%s\"", item->number, item->piece,
               item->pieces, state_of(items, item));
        if (item->damage && !is_kept(items, item)) {
            printf(", \"damage\": ");
            dome__json_string(stdout, item->damage);
        }
        if (item->file) {
            const dome_ckpt *ckpt = dome__ckpt_head(item->file);
            char *earlier = references(ckpt, ", ");
            printf(", \"program\": ");
            dome__json_string(stdout, ckpt->program);
            printf(", \"loop\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"own\": %" PRIu64 ", \"objects\": %u, \"refers_to\": [%s]",
                   ckpt->loop, ckpt->file_bytes, own_bytes(ckpt), ckpt->objects->len, earlier);
            g_free(earlier);
        }
        printf("}%s\n", i + 1 < items->len ? "," : "");
    }
    puts("]");
}

static void list_as_text(const GPtrArray *items)
{
    if (items->len > 0)
        printf("%10s %12s %16s %16s  %-10s %-12s %s\n", "number", "loop", "bytes", "own data", "state", "refers to", "program");
    for (guint i = 0; i < items->len; i++) {
        const dome_store_item *item = g_ptr_array_index(items, i);
        char *number = item->pieces > 0 ? g_strdup_printf("%" PRIu64 ".%uof%u", item->number, item->piece, item->pieces)
                                        : g_strdup_printf("%" PRIu64, item->number);
        if (item->file) {
            const dome_ckpt *ckpt = dome__ckpt_head(item->file);
            char *program = dome__ckpt_plain(ckpt->program), *earlier = references(ckpt, ",");
            printf("%10s %12" PRIu64 " %16" PRIu64 " %16" PRIu64 "  %-10s %-12s %s\n", number, ckpt->loop, ckpt->file_bytes,
                   own_bytes(ckpt), state_of(items, item), *earlier ? earlier : "-", program);
            g_free(program);
            g_free(earlier);
        } else {
            printf("%10s %12s %16s %16s  %-10s\n", number, "-", "-", "-", state_of(items, item));
        }
        g_free(number);
    }
}

int dome__ckpt_command_ls(int argc, char **argv)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {{"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a list of objects in JSON", NULL}, {0}};
    dome__ckpt_parse(&argc, &argv, entries, "DIR",
                     "Lists the checkpoints of a directory: number, loop boundaries that the program had passed, bytes of the\n"
                     "file, bytes of data in it, state, and the numbers of earlier checkpoints that hold data of this one.\n\n"
                     "States: good: it can be read, as far as one sees without reading its data (see dome ckpt verify);\n"
                     "incomplete: it needs an earlier one that is missing or damaged; kept: so does this one, and it is there\n"
                     "only because a newer good one needs blocks of it; damaged: the file cannot be read.\n"
                     "NUMBER.2of3 is the second of three pieces.\n\n"
                     "Exit status: 0; 1 if one is damaged; 2 for wrong usage, or if the directory cannot be read.",
                     1, 1);
    char *message = NULL;
    GPtrArray *items = dome__store_list(argv[1], &message);
    if (!items)
        return dome__ckpt_complain(2, message);
    if (json)
        list_as_json(items);
    else
        list_as_text(items);
    int status = 0;
    for (guint i = 0; i < items->len; i++) {
        dome_store_item *item = g_ptr_array_index(items, i);
        if (!item->file)
            status = 1;
        if (item->damage && !is_kept(items, item))
            dome__ckpt_complain(1, g_steal_pointer(&item->damage));
    }
    g_ptr_array_unref(items);
    return status;
}

/* ---- verify ---- */

enum { DAMAGES_SHOWN = 10 };

static uint64_t verify_blocks(dome_ckpt_file *file, const dome_ckpt_object *object, uint64_t *absent)
{
    uint64_t damaged = 0;
    for (uint64_t b = 0; b < object->blocks; b++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(dome__ckpt_head(file), object, b);
        char *message = NULL;
        if (e->source == 0) {
            ++*absent;
            continue;
        }
        if (dome__ckpt_check(file, object, b, &message))
            continue;
        if (++damaged <= DAMAGES_SHOWN)
            dome__ckpt_complain(1, message);
        else
            g_free(message);
    }
    return damaged;
}

static int verify(dome_ckpt_file *file, bool quiet)
{
    const dome_ckpt *ckpt = dome__ckpt_head(file);
    uint64_t damaged = 0, absent = 0;
    char *message = NULL;
    if (!dome__ckpt_check_earlier(file, &message))
        return dome__ckpt_complain(1, message);
    for (guint i = 0; i < ckpt->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i);
        uint64_t here = verify_blocks(file, object, &absent);
        if (here > DAMAGES_SHOWN) {
            char *name = dome__ckpt_shown(object->name);
            dome__ckpt_complain(1, g_strdup_printf("checkpoint '%s': object %s: %" PRIu64 " damaged blocks in all",
                                                   dome__ckpt_path(file), name, here));
            g_free(name);
        }
        damaged += here;
    }
    if (!damaged && !dome__ckpt_check_results(file, 0, 1, &message))
        damaged += (uint64_t)dome__ckpt_complain(1, message);
    char *path = dome__plain(dome__ckpt_path(file));
    if (!damaged && !quiet)
        printf("%s: good: %" PRIu64 " blocks of %u objects%s\n", path, ckpt->entries - absent, ckpt->objects->len,
               absent ? ", all that this piece has" : "");
    g_free(path);
    return damaged > 0;
}

static int verify_path(const char *path, bool quiet)
{
    char *message = NULL;
    dome_ckpt_file *file = dome__ckpt_named(path, &message);
    if (!file)
        return dome__ckpt_complain(1, message);
    int status = verify(file, quiet);
    dome__ckpt_close(file);
    return status;
}

static int verify_directory(const char *directory, bool quiet)
{
    char *message = NULL;
    int status = 0;
    GPtrArray *items = dome__store_list(directory, &message);
    if (!items)
        return dome__ckpt_complain(1, message);
    for (guint i = 0; i < items->len; i++) {
        dome_store_item *item = g_ptr_array_index(items, i);
        int found = 0;
        if (is_kept(items, item)) {
            char *shown = dome__plain(item->path);
            if (!quiet)
                printf("%s: kept for newer ones: its blocks are read with them\n", shown);
            g_free(shown);
        } else if (item->damage) {
            found = dome__ckpt_complain(1, g_steal_pointer(&item->damage));
        } else {
            found = verify(item->file, quiet);
        }
        status = MAX(status, found);
    }
    if (items->len == 0)
        status = dome__ckpt_complain(1, g_strdup_printf("directory '%s' has no checkpoint", directory));
    g_ptr_array_unref(items);
    return status;
}

int dome__ckpt_command_verify(int argc, char **argv)
{
    gboolean quiet = FALSE;
    const GOptionEntry entries[] = {{"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print nothing about good ones", NULL}, {0}};
    dome__ckpt_parse(&argc, &argv, entries, "FILE|DIR|DIR:NUMBER...",
                     "Reads checkpoints, with all data in them and in earlier ones that they refer to, and compares all\n"
                     "checksums. DIR stands for all checkpoints in it; a file that is kept for newer ones alone is read with\n"
                     "those. A line for each that is good; for damage, lines on standard error with file, object and block.\n\n"
                     "Exit status: 0 if all are good; 1 if one is not or cannot be read; 2 for wrong usage.",
                     1, INT_MAX - 1);
    int status = 0;
    for (int i = 1; i < argc; i++) {
        bool directory = g_file_test(argv[i], G_FILE_TEST_IS_DIR);
        int found = directory ? verify_directory(argv[i], quiet) : verify_path(argv[i], quiet);
        status = MAX(status, found);
    }
    return status;
}

/* ---- the command ---- */

static const dome_command commands[] = {
    {"ls", dome__ckpt_command_ls, "DIR: the checkpoints of a directory"},
    {"show", dome__ckpt_command_show, "FILE|DIR|DIR:NUMBER: what is in one: objects and statistics of their values"},
    {"verify", dome__ckpt_command_verify, "FILE|DIR|DIR:NUMBER...: check all checksums"},
    {"diff", dome__ckpt_command_diff, "A B: how two differ"},
};

static void help(FILE *to)
{
    fputs("Usage: dome ckpt COMMAND [OPTION...] ARGUMENT...\n\n"
          "Reads checkpoints written on any machine by any number of tasks. Changes nothing.\n\n"
          "Commands (dome ckpt COMMAND --help tells more):\n",
          to);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\nDIR is a program's --dome-checkpoint-dir. Where a command takes one checkpoint, DIR stands for the newest good\n"
          "one in it, and DIR:NUMBER for the one with that number.\n",
          to);
}

int dome__command_ckpt(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)) {
        help(stdout);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < G_N_ELEMENTS(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    if (argc > 1)
        dome__command_unknown("dome ckpt", argv[1], commands, G_N_ELEMENTS(commands));
    help(stderr);
    return 2;
}
