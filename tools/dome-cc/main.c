/* dome-cc: a compiler of C programs that can be saved inside their calls, and continued elsewhere. Used as cc is;
 * docs/dome-cc.md.
 *
 * Which functions can be captured is known when all files are: at link time. Until then a file's preprocessed text lies beside
 * its object, as prog.o.dome; the object itself is the compiler's own. */
#include "cc.h"

#include <dome/version.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "usage: dome-cc [OPTION...] FILE...\n"
    "Compiles and links a C program so that it can be saved inside its calls, and continued elsewhere:\n"
    "    dome-cc -O2 prog.c util.c -o prog\n"
    "    ./prog --dome-checkpoint-dir ck --dome-checkpoint-every 60s\n"
    "    ./prog --dome-checkpoint-dir ck --dome-restart\n"
    "\n"
    "  --emit-source   write the C that it makes (prog.c gives prog.dome.c, or -o FILE; -o - prints it), and stop\n"
    "  --polls=WHICH   loops that poll: auto (those that may take long; the default), every, none\n"
    "  --cc=COMPILER   the compiler; default: " DOME_CC_COMPILER "\n"
    "  --verbose       print each command\n"
    "  --help, --version\n"
    "Everything else is the compiler's: -c, -o, -O2, -g, -I, -D, -l, ...\n";

typedef struct options {
    char *compiler, *output;
    bool compile_only, emit, verbose;
    GPtrArray *words; /* word: the arguments that are not ours, in order */
} options;

typedef struct word {
    enum { WORD_FLAG, WORD_PREPROCESSOR, WORD_WARNING, WORD_LINK, WORD_INPUT } kind;
    char *text, *value; /* value: of "-D NAME", in an argument of its own */
} word;

/* ---- scratch files ---- */

static char *scratch;
static GPtrArray *scratch_files;

static void clean(void)
{
    for (unsigned i = 0; i < scratch_files->len; i++)
        unlink(g_ptr_array_index(scratch_files, i));
    rmdir(scratch);
}

static char *scratch_file(const char *suffix)
{
    if (!scratch) {
        GError *error = NULL;
        scratch = g_dir_make_tmp("dome-cc-XXXXXX", &error);
        if (!scratch) {
            fprintf(stderr, "dome-cc: error: no folder for temporary files: %s\n", error->message);
            exit(1);
        }
        scratch_files = g_ptr_array_new();
        atexit(clean);
    }
    char *name = g_strdup_printf("%s/%u%s", scratch, scratch_files->len, suffix);
    g_ptr_array_add(scratch_files, name);
    return name;
}

/* ---- commands ---- */

static GPtrArray *command_new(const options *o)
{
    GPtrArray *command = g_ptr_array_new();
    char **words;
    int n;
    if (g_shell_parse_argv(o->compiler, &n, &words, NULL))
        for (int i = 0; i < n; i++)
            g_ptr_array_add(command, words[i]);
    return command;
}

static void add(GPtrArray *command, const char *text)
{
    g_ptr_array_add(command, g_strdup(text));
}

static int run(const options *o, GPtrArray *command, char **output)
{
    g_ptr_array_add(command, NULL);
    if (o->verbose) {
        char *line = g_strjoinv(" ", (char **)command->pdata);
        fprintf(stderr, "%s\n", line);
        g_free(line);
    }
    GError *error = NULL;
    int status;
    if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, output,
                      NULL, &status, &error)) {
        fprintf(stderr, "dome-cc: error: %s cannot be run: %s\n", (char *)command->pdata[0], error->message);
        g_error_free(error);
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void add_words(const options *o, GPtrArray *command, unsigned kinds)
{
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (kinds & (1u << w->kind)) {
            add(command, w->text);
            if (w->value)
                add(command, w->value);
        }
    }
}

enum { FLAGS = 1u << WORD_FLAG, PREPROCESSOR = 1u << WORD_PREPROCESSOR, WARNINGS = 1u << WORD_WARNING, LINK = 1u << WORD_LINK };

/* ---- where the library is ---- */

static char *own_folder(void)
{
    char *self = g_file_read_link("/proc/self/exe", NULL), *folder = self ? g_path_get_dirname(self) : g_strdup(".");
    g_free(self);
    return folder;
}

static void find_library(char **include, char **library)
{
    char *folder = own_folder(), *prefix = g_path_get_dirname(folder);
    if (strcmp(folder, DOME_CC_BUILD_FOLDER) == 0) {
        *include = g_strdup(DOME_CC_SOURCE_INCLUDE);
        *library = g_strdup(DOME_CC_BUILD_LIBRARY);
    } else {
        *include = g_build_filename(prefix, DOME_CC_INCLUDEDIR, NULL);
        *library = g_build_filename(prefix, DOME_CC_LIBDIR, NULL);
    }
    g_free(prefix);
    g_free(folder);
}

/* ---- files ---- */

static unit *parse(const options *o, const char *path, char *text, gsize length, GPtrArray *flags)
{
    GPtrArray *arguments = g_ptr_array_new();
    for (const char *const *w = (const char *const[]){"-x", "cpp-output", "-w", "-ferror-limit=20", NULL}; *w; w++)
        add(arguments, *w);
    for (unsigned i = 0; i < flags->len; i++) {
        const char *f = g_ptr_array_index(flags, i);
        static const char *const same[] = {"-m32",           "-m64",         "-ansi", "-fsigned-char", "-funsigned-char",
                                           "-fgnu89-inline", "-fshort-enums"};
        bool pass = g_str_has_prefix(f, "-std=");
        for (unsigned k = 0; k < G_N_ELEMENTS(same); k++)
            pass = pass || strcmp(f, same[k]) == 0;
        if (pass)
            add(arguments, f);
    }
    static char *target;
    if (!target) {
        GPtrArray *command = command_new(o);
        add(command, "-dumpmachine");
        if (run(o, command, &target) != 0)
            target = NULL;
        else
            g_strstrip(target);
    }
    if (target)
        g_ptr_array_add(arguments, g_strdup_printf("--target=%s", target));
    return unit_read(path, text, length, (const char *const *)arguments->pdata, (int)arguments->len);
}

/* The preprocessed text. The compiler says that it is an old one, as clang does: the headers then have nothing that libclang does
 * not know. */
static char *preprocess(const options *o, const char *path, gsize *length)
{
    char *include, *library, *to = scratch_file(".i"), *text = NULL;
    GPtrArray *command = command_new(o);
    find_library(&include, &library);
    add_words(o, command, FLAGS | PREPROCESSOR);
    for (const char *const *w =
             (const char *const[]){"-E", "-U__GNUC__", "-D__GNUC__=4", "-U__GNUC_MINOR__", "-D__GNUC_MINOR__=2",
                                   "-U__GNUC_PATCHLEVEL__", "-D__GNUC_PATCHLEVEL__=1", "-D__DOME_CC__=1",
                                   "-D_Float32=dome__float32", "-D_Float64=dome__float64", "-D_Float32x=dome__float32x",
                                   "-D_Float64x=dome__float64x", "-D_Float128=dome__float128", "-w", NULL};
         *w; w++)
        add(command, *w);
    g_ptr_array_add(command, g_strdup_printf("-I%s", include));
    add(command, path);
    add(command, "-o");
    add(command, to);
    if (run(o, command, NULL) == 0)
        g_file_get_contents(to, &text, length, NULL);
    return text;
}

/* The compiler's own messages about the user's text. */
static int compile_plainly(const options *o, const char *path, const char *object)
{
    char *include, *library;
    GPtrArray *command = command_new(o);
    find_library(&include, &library);
    add_words(o, command, FLAGS | PREPROCESSOR | WARNINGS);
    g_ptr_array_add(command, g_strdup_printf("-I%s", include));
    if (object) {
        add(command, "-c");
        add(command, "-o");
        add(command, object);
    } else {
        add(command, "-fsyntax-only");
    }
    add(command, path);
    return run(o, command, NULL);
}

static GPtrArray *flags_of(const options *o)
{
    GPtrArray *flags = g_ptr_array_new();
    add_words(o, flags, FLAGS);
    return flags;
}

/* Beside an object: its path and flags, one a line, an empty line, and the text. */
static const char side_head[] = "dome-cc 1\n";

static bool side_write(const char *object, const char *path, GPtrArray *flags, const char *text, gsize length)
{
    char *name = g_strdup_printf("%s.dome", object);
    GString *s = g_string_new(side_head);
    g_string_append_printf(s, "%s\n", path);
    for (unsigned i = 0; i < flags->len; i++)
        g_string_append_printf(s, "%s\n", (char *)g_ptr_array_index(flags, i));
    g_string_append_c(s, '\n');
    g_string_append_len(s, text, (gssize)length);
    GError *error = NULL;
    bool good = g_file_set_contents(name, s->str, (gssize)s->len, &error);
    if (!good) {
        fprintf(stderr, "dome-cc: error: %s\n", error->message);
        g_error_free(error);
    }
    g_string_free(s, TRUE);
    g_free(name);
    return good;
}

/* False: there is none. A damaged one ends the program. */
static bool side_read(const char *object, char **path, GPtrArray **flags, char **text, gsize *length)
{
    char *name = g_strdup_printf("%s.dome", object), *all;
    gsize size;
    bool found = g_file_get_contents(name, &all, &size, NULL);
    if (found) {
        GStatBuf a, b;
        if (g_stat(object, &a) == 0 && g_stat(name, &b) == 0 && b.st_mtime + 1 < a.st_mtime) {
            fprintf(stderr, "dome-cc: error: %s is older than %s: compile it again by dome-cc -c\n", name, object);
            exit(1);
        }
        char *at = all + strlen(side_head), *empty = g_str_has_prefix(all, side_head) ? strstr(at, "\n\n") : NULL;
        if (!empty) {
            fprintf(stderr, "dome-cc: error: %s is not of this dome-cc: compile again\n", name);
            exit(1);
        }
        *empty = '\0';
        char **lines = g_strsplit(at, "\n", -1);
        *path = g_strdup(lines[0]);
        *flags = g_ptr_array_new();
        for (char **l = lines + 1; *l; l++)
            add(*flags, *l);
        *text = empty + 2;
        *length = size - (gsize)(*text - all);
    }
    g_free(name);
    return found;
}

static char *object_name(const char *source)
{
    char *base = g_path_get_basename(source);
    base[strlen(base) - 1] = 'o';
    return base;
}

static int compile_only(const options *o, const char *path)
{
    char *object = o->output ? g_strdup(o->output) : object_name(path);
    int status = compile_plainly(o, path, object);
    gsize length;
    char *text = status ? NULL : preprocess(o, path, &length);
    if (!text)
        return status ? status : 1;
    GPtrArray *flags = flags_of(o);
    unit *u = parse(o, path, text, length, flags);
    if (u->refused || !side_write(object, path, flags, text, length)) {
        unlink(object);
        return 1;
    }
    return 0;
}

static int compile_text(const options *o, const unit *u, const char *text, GPtrArray *flags, const char *object)
{
    char *file = scratch_file(".i");
    GError *error = NULL;
    if (!g_file_set_contents(file, text, -1, &error)) {
        fprintf(stderr, "dome-cc: error: %s\n", error->message);
        return 1;
    }
    GPtrArray *command = command_new(o);
    for (unsigned i = 0; i < flags->len; i++)
        add(command, g_ptr_array_index(flags, i));
    for (const char *const *w = (const char *const[]){"-w", "-ffp-contract=off", "-x", "cpp-output", "-c", "-o", NULL}; *w; w++)
        add(command, *w);
    add(command, object);
    add(command, file);
    int status = run(o, command, NULL);
    if (status)
        fprintf(stderr,
                "dome-cc: error: the compiler does not take the translation of %s (dome-cc --emit-source shows it); this is a "
                "mistake of dome-cc\n",
                u->path);
    return status;
}

static int link_program(const options *o)
{
    program p = {g_ptr_array_new(), g_hash_table_new(g_str_hash, g_str_equal), g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal)};
    GPtrArray *all_flags = g_ptr_array_new(), *units_of = g_ptr_array_new(); /* of each word: its unit, or NULL */
    int refused = 0;
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        char *text = NULL, *path = w->text;
        gsize length = 0;
        GPtrArray *flags = NULL;
        if (w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c")) {
            int status = compile_plainly(o, w->text, NULL);
            if (status)
                return status;
            text = preprocess(o, w->text, &length);
            flags = flags_of(o);
            if (!text)
                return 1;
        } else if (w->kind == WORD_INPUT) {
            if (!side_read(w->text, &path, &flags, &text, &length))
                text = NULL;
        }
        unit *u = text ? parse(o, path, text, length, flags) : NULL;
        g_ptr_array_add(units_of, u);
        if (u) {
            refused += u->refused;
            g_ptr_array_add(p.units, u);
            g_ptr_array_add(all_flags, flags);
        }
    }
    if (refused)
        return 1;
    bool has_main = false;
    for (unsigned i = 0; i < p.units->len; i++)
        summary_unit(&p, g_ptr_array_index(p.units, i));
    for (unsigned i = 0; i < p.units->len; i++)
        has_main = has_main || ((unit *)g_ptr_array_index(p.units, i))->main;
    summary_complete(&p);
    GPtrArray *texts = g_ptr_array_new(), *objects = g_ptr_array_new();
    for (unsigned i = 0; i < p.units->len; i++) {
        unit *u = g_ptr_array_index(p.units, i);
        module_edit(&p, u);
        g_ptr_array_add(texts, module_write(&p, u));
        refused += u->refused;
    }
    if (refused)
        return 1;
    if (o->emit) {
        for (unsigned i = 0; i < p.units->len; i++) {
            unit *u = g_ptr_array_index(p.units, i);
            const char *text = g_ptr_array_index(texts, i);
            char *name = o->output ? g_strdup(o->output) : g_strdup_printf("%.*s.dome.c", (int)strlen(u->path) - 2, u->path);
            GError *error = NULL;
            if (strcmp(name, "-") == 0) {
                fputs(text, stdout);
            } else if (!g_file_set_contents(name, text, -1, &error)) {
                fprintf(stderr, "dome-cc: error: %s\n", error->message);
                return 1;
            }
            g_free(name);
        }
        return 0;
    }
    if (!has_main) {
        fputs("dome-cc: error: none of the translated files has main\n", stderr);
        return 1;
    }
    for (unsigned i = 0; i < p.units->len; i++) {
        char *object = scratch_file(".o");
        int status =
            compile_text(o, g_ptr_array_index(p.units, i), g_ptr_array_index(texts, i), g_ptr_array_index(all_flags, i), object);
        if (status)
            return status;
        g_ptr_array_add(objects, object);
    }
    char *include, *library;
    find_library(&include, &library);
    GPtrArray *command = command_new(o);
    unsigned next = 0;
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (w->kind == WORD_INPUT) {
            add(command, g_ptr_array_index(units_of, i) ? g_ptr_array_index(objects, next++) : w->text);
        } else if (w->kind == WORD_FLAG || w->kind == WORD_LINK) {
            add(command, w->text);
            if (w->value)
                add(command, w->value);
        }
    }
    g_ptr_array_add(command, g_strdup_printf("-L%s", library));
    g_ptr_array_add(command, g_strdup_printf("-Wl,-rpath,%s", library));
    add(command, "-ldome");
    char **more = g_strsplit(DOME_CC_LIBRARIES, " ", -1);
    for (char **m = more; *m; m++)
        if (**m)
            add(command, *m);
    add(command, "-o");
    add(command, o->output ? o->output : "a.out");
    return run(o, command, NULL);
}

/* ---- arguments ---- */

static bool in(const char *s, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(s, *list) == 0)
            return true;
    return false;
}

static void add_word(options *o, int kind, char *text, char *value)
{
    word *w = g_new0(word, 1);
    w->kind = kind;
    w->text = text;
    w->value = value;
    g_ptr_array_add(o->words, w);
}

int main(int argc, char **argv)
{
    static const char *const preprocessor[] = {"-I",       "-D",      "-U",       "-include",       "-imacros",
                                               "-isystem", "-iquote", "-iprefix", "-idirafter",     "-isysroot",
                                               "-MF",      "-MT",     "-MQ",      "-Xpreprocessor", NULL};
    static const char *const linker[] = {"-L", "-l", "-Xlinker", "-u", "-T", "-z", "-e", NULL};
    static const char *const other[] = {"--param", "-aux-info", "-B", "--sysroot", "-Xassembler", NULL};
    static const char *const through[] = {"-E", "-S", "-M", "-MM", "-dumpmachine", "-dumpversion", "-v", "-###", NULL};
    static const char *const dependencies[] = {"-MD", "-MMD", "-MP", "-MG", NULL};
    options o = {.compiler = g_strdup(DOME_CC_COMPILER), .words = g_ptr_array_new()};
    bool pass = false;
    for (int i = 1; i < argc; i++) {
        char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        } else if (strcmp(a, "--version") == 0) {
            printf("dome-cc %s\n", DOME_VERSION);
            return 0;
        } else if (strcmp(a, "--emit-source") == 0) {
            o.emit = true;
        } else if (strcmp(a, "--verbose") == 0) {
            o.verbose = true;
        } else if (g_str_has_prefix(a, "--cc=")) {
            o.compiler = a + 5;
        } else if (g_str_has_prefix(a, "--polls=")) {
            if (!in(a + 8, (const char *const[]){"auto", "every", "none", NULL})) {
                fprintf(stderr, "dome-cc: error: %s: auto, every or none\n", a);
                return 2;
            }
            options_policy = a[8] == 'a' ? 0 : a[8] == 'e' ? 1 : -1;
        } else if (strcmp(a, "-c") == 0) {
            o.compile_only = true;
        } else if (strcmp(a, "-o") == 0) {
            if (!value) {
                fputs("dome-cc: error: -o needs the name of a file\n", stderr);
                return 2;
            }
            o.output = value;
            i++;
        } else if (g_str_has_prefix(a, "-o")) {
            o.output = a + 2;
        } else if (in(a, (const char *const[]){"-shared", "-r", "-x", NULL})) {
            fprintf(stderr, "dome-cc: error: %s: only whole C programs are translated\n", a);
            return 2;
        } else if (in(a, through)) {
            pass = true;
        } else if (in(a, preprocessor)) {
            add_word(&o, WORD_PREPROCESSOR, a, value);
            i++;
        } else if (in(a, linker)) {
            add_word(&o, WORD_LINK, a, value);
            i++;
        } else if (in(a, other)) {
            add_word(&o, WORD_FLAG, a, value);
            i++;
        } else if (a[0] != '-') {
            add_word(&o, WORD_INPUT, a, NULL);
        } else if (in(a, dependencies) || strchr("IDU", a[1])) {
            add_word(&o, WORD_PREPROCESSOR, a, NULL);
        } else if (g_str_has_prefix(a, "-Wl,") || a[1] == 'l' || a[1] == 'L' || strcmp(a, "-static") == 0) {
            add_word(&o, WORD_LINK, a, NULL);
        } else if (a[1] == 'W' && !g_str_has_prefix(a, "-Wa,") && !g_str_has_prefix(a, "-Wp,")) {
            add_word(&o, WORD_WARNING, a, NULL);
        } else {
            add_word(&o, WORD_FLAG, a, NULL);
        }
    }
    if (pass) {
        GPtrArray *command = command_new(&o);
        for (int i = 1; i < argc; i++)
            if (!g_str_has_prefix(argv[i], "--cc="))
                add(command, argv[i]);
        return run(&o, command, NULL);
    }
    unsigned sources = 0, inputs = 0;
    for (unsigned i = 0; i < o.words->len; i++) {
        const word *w = g_ptr_array_index(o.words, i);
        inputs += w->kind == WORD_INPUT;
        sources += w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c");
    }
    if (inputs == 0) {
        fputs("dome-cc: error: no input files; dome-cc --help lists the options\n", stderr);
        return 2;
    }
    if (o.output && sources > 1 && (o.compile_only || (o.emit && strcmp(o.output, "-") != 0))) {
        fputs("dome-cc: error: one -o and several files\n", stderr);
        return 2;
    }
    if (!o.compile_only || o.emit)
        return link_program(&o);
    for (unsigned i = 0; i < o.words->len; i++) {
        const word *w = g_ptr_array_index(o.words, i);
        int status = w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c") ? compile_only(&o, w->text) : 0;
        if (status)
            return status;
    }
    return 0;
}
