/* Linking: all files are read, planned, translated and compiled. */
#include "driver/driver.h"
#include "emit/emit.h"
#include "front/section.h"

#include <stdio.h>
#include <string.h>

static bool is_file(const char *path)
{
    return path && g_file_test(path, G_FILE_TEST_EXISTS);
}

/* The archive that "-lNAME" is in a folder, or the file that "-l:FILE" is there; NULL: none, or a shared library hides it. */
static char *find_in(const char *folder, const char *name, bool only_archives, bool *hidden)
{
    char *shared = *name == ':' ? NULL : g_strdup_printf("%s/lib%s.so", folder, name);
    char *file = *name == ':' ? g_build_filename(folder, name + 1, NULL) : g_strdup_printf("%s/lib%s.a", folder, name);
    *hidden = !only_archives && is_file(shared);
    if (*hidden || !is_file(file))
        g_clear_pointer(&file, g_free);
    g_free(shared);
    return file;
}

/* The archive that "-lNAME" is, in the folders of "-L"; NULL: a shared library, or one of the system. */
static char *find_archive(const options *o, const char *name)
{
    char *file = NULL;
    bool hidden = false;
    for (unsigned i = 0; i < o->words->len && !file && !hidden; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (w->kind == WORD_LINK && g_str_has_prefix(w->text, "-L"))
            file = find_in(w->value ? w->value : w->text + 2, name, library_is_static(o), &hidden);
    }
    return file;
}

/* What a word of the command gives to translate. */
typedef struct part {
    unsigned first, count; /* units */
    bool archive;
} part;

typedef struct linking {
    const options *o;
    program program;
    part *parts;        /* of each word */
    GPtrArray *flags;   /* GPtrArray * of char *: of each unit */
    GPtrArray *texts;   /* char *: the translation of each unit */
    GPtrArray *objects; /* char *: the file of each unit's object */
} linking;

static unit *unit_of(const linking *l, unsigned i)
{
    return g_ptr_array_index(l->program.units, i);
}

/* ---- reading ---- */

/* False after a message. */
static bool is_readable(const word *w)
{
    if (w->kind != WORD_INPUT)
        return true;
    if (files_is_missing(w->text))
        return false;
    if (g_file_test(w->text, G_FILE_TEST_IS_DIR)) {
        fprintf(stderr, "dome-cc: error: %s is a folder\n", w->text);
        return false;
    }
    return true;
}

/* The file in which what a word gives to translate may be; NULL: none. */
static char *file_of(const options *o, const word *w)
{
    if (w->kind == WORD_LINK && g_str_has_prefix(w->text, "-l"))
        return find_archive(o, w->value ? w->value : w->text + 2);
    return w->kind == WORD_INPUT ? w->text : NULL;
}

static void add_unit(linking *l, object *x, GHashTable *macros)
{
    unit *u = compile_parse(l->o, x->path, x->text, x->length, x->flags);
    if (x->sources)
        u->tables[TABLE_SOURCES] = x->sources;
    else if (!u->refused)
        source_find(u, macros);
    g_ptr_array_add(l->program.units, u);
    g_ptr_array_add(l->flags, x->flags);
}

/* 0, or a status after a message of ours or of the compiler's. */
static int read_word(linking *l, const word *w, part *part)
{
    GPtrArray *list = g_ptr_array_new();
    char *file = file_of(l->o, w);
    source read = {.text = NULL};
    part->first = l->program.units->len;
    if (!is_readable(w))
        return 1;
    if (w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c")) {
        object *own = g_new0(object, 1);
        const int status = compile_read(l->o, w->text, NULL, &read);
        if (status)
            return status;
        *own = (object){.path = w->text, .flags = compile_flags(l->o), .text = read.text, .length = read.length};
        g_ptr_array_add(list, own);
    } else if (file && !section_read(file, list, &part->archive)) {
        return 1;
    }
    for (unsigned i = 0; i < list->len; i++)
        add_unit(l, g_ptr_array_index(list, i), read.macros);
    part->count = list->len;
    return 0;
}

static bool is_refused(const linking *l)
{
    bool refused = false;
    for (unsigned i = 0; i < l->program.units->len; i++)
        refused = refused || unit_of(l, i)->refused;
    return refused;
}

/* ---- translating ---- */

/* False after a message. */
static bool plan(linking *l)
{
    program *p = &l->program;
    for (unsigned i = 0; i < p->units->len; i++) {
        functions_find(p, unit_of(l, i));
        measured_name(unit_of(l, i));
    }
    parallel_begin(p);
    if (polls_operations && !p->parallel) {
        fputs("dome-cc: error: --polls=operations: the program is no Dome program: it does not call dome_init\n", stderr);
        return false;
    }
    polls_complete(p);
    if (measured_chooses() && !measured_judge(p, l->o->most_overhead))
        return false;
    for (unsigned i = 0; i < p->units->len; i++)
        blocks_pragmas(p, unit_of(l, i));
    blocks_infer(p);
    for (unsigned i = 0; i < p->units->len; i++)
        padding_find(p, unit_of(l, i));
    return true;
}

static void translate(linking *l)
{
    for (unsigned i = 0; i < l->program.units->len; i++) {
        unit *u = unit_of(l, i);
        rewrite_unit(&l->program, u);
        if (measured_counts())
            measured_edit(&l->program, u, l->o->output && !l->o->emit ? l->o->output : "a.out");
        g_ptr_array_add(l->texts, module_write(&l->program, u));
    }
}

/* With line markers as those of headers of the system, of which compilers give no warnings: they have been given of the user's
 * text. */
static char *without_warnings(const char *text)
{
    GString *s = g_string_new(NULL);
    for (const char *line = text; *line;) {
        const gsize length = strcspn(line, "\n");
        char *copy = g_strndup(line, length), *end = strrchr(copy, '"');
        const bool marker = g_str_has_prefix(copy, "# ") && end && !strchr(end, '3');
        g_string_append_printf(s, "%s%s%s", copy, marker ? " 3" : "", line[length] ? "\n" : "");
        g_free(copy);
        line += length + (line[length] == '\n');
    }
    return g_string_free(s, FALSE);
}

static int emit_sources(const linking *l)
{
    for (unsigned i = 0; i < l->texts->len; i++) {
        const char *path = unit_of(l, i)->path;
        char *text = without_warnings(g_ptr_array_index(l->texts, i));
        char *name = l->o->output ? g_strdup(l->o->output) : g_strdup_printf("%.*s.dome.c", (int)strlen(path) - 2, path);
        if (strcmp(name, "-") == 0)
            fputs(text, stdout);
        else if (!files_write(name, text, -1))
            return 1;
        g_free(name);
    }
    return 0;
}

/* ---- objects and the program ---- */

static bool has_main(const linking *l)
{
    bool has = false;
    for (unsigned i = 0; i < l->program.units->len; i++)
        has = has || unit_of(l, i)->main;
    return has;
}

static int compile_units(linking *l)
{
    int status = 0;
    for (unsigned i = 0; i < l->texts->len && !status; i++) {
        char *object = files_scratch(".o");
        status = compile_text(l->o, unit_of(l, i), g_ptr_array_index(l->texts, i), g_ptr_array_index(l->flags, i), object);
        g_ptr_array_add(l->objects, object);
    }
    return status;
}

/* In front of an archive, one of the objects that are translated: what it defines is then not taken from the other. */
static bool add_archive(const linking *l, GPtrArray *command, const part *part)
{
    GPtrArray *make = g_ptr_array_new();
    char *archive = files_scratch(".a");
    command_add(make, command_tool(l->o, "ar"));
    command_add(make, "rcs");
    command_add(make, archive);
    for (unsigned i = 0; i < part->count; i++)
        command_add(make, g_ptr_array_index(l->objects, part->first + i));
    command_add(command, archive);
    return command_run(l->o, make, NULL) == 0;
}

/* What the linker gets for a word of the command. */
static bool add_linked(const linking *l, GPtrArray *command, unsigned i)
{
    const word *w = g_ptr_array_index(l->o->words, i);
    const part *part = &l->parts[i];
    if (part->count && !part->archive)
        command_add(command, g_ptr_array_index(l->objects, part->first));
    if (part->count && part->archive && !add_archive(l, command, part))
        return false;
    if ((w->kind == WORD_INPUT && (!part->count || part->archive)) || w->kind == WORD_FLAG || w->kind == WORD_LINK)
        command_add_word(command, w);
    return true;
}

static int link_objects(const linking *l)
{
    const options *o = l->o;
    GPtrArray *command = command_new(o);
    for (unsigned i = 0; i < o->words->len; i++)
        if (!add_linked(l, command, i))
            return 1;
    if (!library_add(o, unit_of(l, 0), command))
        return 1;
    command_add(command, "-o");
    command_add(command, o->output ? o->output : "a.out");
    return command_run(o, command, NULL);
}

static program program_new(void)
{
    return (program){.units = g_ptr_array_new(),
                     .functions = g_hash_table_new(g_str_hash, g_str_equal),
                     .addressed = g_hash_table_new(g_str_hash, g_str_equal),
                     .code_names = g_hash_table_new(g_str_hash, g_str_equal),
                     .weak = g_hash_table_new(g_str_hash, g_str_equal),
                     .wrappers = g_hash_table_new(g_str_hash, g_str_equal),
                     .whole = g_hash_table_new(g_str_hash, g_str_equal)};
}

int link_program(const options *o)
{
    linking l = {.o = o,
                 .program = program_new(),
                 .parts = g_new0(part, o->words->len),
                 .flags = g_ptr_array_new(),
                 .texts = g_ptr_array_new(),
                 .objects = g_ptr_array_new()};
    for (unsigned i = 0; i < o->words->len; i++) {
        const int status = read_word(&l, g_ptr_array_index(o->words, i), &l.parts[i]);
        if (status)
            return status;
    }
    if (is_refused(&l) || !plan(&l))
        return 1;
    translate(&l);
    if (is_refused(&l))
        return 1;
    if (o->emit)
        return emit_sources(&l);
    if (!has_main(&l)) {
        fputs("dome-cc: error: none of the translated files has main\n", stderr);
        return 1;
    }
    const int status = compile_units(&l);
    return status ? status : link_objects(&l);
}
