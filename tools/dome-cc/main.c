/* dome-cc: a compiler of C programs that can be saved inside their calls, and continued elsewhere. Used as cc is;
 * docs/dome-cc.md.
 *
 * Which functions can be captured is known when all files are: at link time. Until then a file's preprocessed text is in its
 * object, which is otherwise the compiler's own (section.c). */
#include "emit/emit.h"
#include "front/section.h"

#include <dome/version.h>

#include <errno.h>
#include <signal.h>
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
    "  --polls=WHICH   loops that poll: auto (those that may take long; the default), every, none,\n"
    "                  or a number: 1 nests, 2 large outermost loops, 4 outermost, 8 large innermost, 16 innermost, and sums;\n"
    "                  0: no loop, but each function; -1: functions that call themselves\n"
    "  --polls=operations   a Dome program is saved behind each operation of Dome, too, also if it calls dome_checkpoint\n"
    "  --polls=profile a program that counts, and adds what it has counted to PROGRAM.polls (or the file DOME_POLLS) at its end\n"
    "  --polls=FILE    polls by such a file, with\n"
    "  --max-interval=TIME, --max-overhead=SHARE   the longest time without a poll (default: 1ms), what polls may cost (5%)\n"
    "  --cc=COMPILER   the compiler; default: " DOME_CC_COMPILER "\n"
    "  --dome=WHERE    Dome for the machine of that compiler: the folder where it is installed, or its dome.pc\n"
    "  --verbose       print each command\n"
    "  --help, --version\n"
    "Everything else is the compiler's: -c, -o, -O2, -g, -I, -D, -l, ...\n";

typedef struct options {
    char *compiler, *output, *dome;
    char *profile;           /* --polls=FILE */
    double most_overhead;    /* a share */
    double longest_interval; /* seconds */
    bool compile_only, emit, verbose;
    GPtrArray *words; /* word: the arguments that are not ours, in order */
} options;

typedef struct word {
    enum { WORD_FLAG, WORD_PREPROCESSOR, WORD_DEPENDENCIES, WORD_WARNING, WORD_LINK, WORD_INPUT } kind;
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

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};

/* The compiler that runs gets the signal, too, if it is of the keyboard. */
static void clean_and_end(int number)
{
    clean();
    signal(number, SIG_DFL);
    raise(number); /* when this function has returned */
}

static void hold_ends(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
        sigaddset(&set, ends[i]);
    sigprocmask(how, &set, NULL);
}

static void catch_ends(void)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++)
        if (signal(ends[i], clean_and_end) == SIG_IGN) /* by nohup, say */
            signal(ends[i], SIG_IGN);
}

static char *scratch_file(const char *suffix)
{
    hold_ends(SIG_BLOCK);
    if (!scratch) {
        GError *error = NULL;
        scratch = g_dir_make_tmp("dome-cc-XXXXXX", &error);
        if (!scratch) {
            fprintf(stderr, "dome-cc: error: no folder for temporary files: %s\n", error->message);
            exit(1);
        }
        scratch_files = g_ptr_array_new();
        atexit(clean);
        catch_ends();
    }
    char *name = g_strdup_printf("%s/%u%s", scratch, scratch_files->len, suffix);
    g_ptr_array_add(scratch_files, name);
    hold_ends(SIG_UNBLOCK);
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

/* output, errors: what the command prints there; NULL: it prints where this process does. */
static int run_apart(const options *o, GPtrArray *command, char **output, char **errors)
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
                      errors, &status, &error)) {
        char *text = g_strdup_printf("dome-cc: error: %s cannot be run: %s\n", (char *)command->pdata[0], error->message);
        if (!errors)
            fputs(text, stderr);
        else
            *errors = g_strdup(text);
        g_free(text);
        g_error_free(error);
        return 1;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "dome-cc: error: %s was ended by signal %d (%s)\n", (char *)command->pdata[0], WTERMSIG(status),
                g_strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(const options *o, GPtrArray *command, char **output)
{
    return run_apart(o, command, output, NULL);
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

enum {
    FLAGS = 1u << WORD_FLAG,
    PREPROCESSOR = 1u << WORD_PREPROCESSOR,
    DEPENDENCIES = 1u << WORD_DEPENDENCIES,
    WARNINGS = 1u << WORD_WARNING,
    LINK = 1u << WORD_LINK
};

/* ---- where the library is ---- */

static char *own_folder(void)
{
    char *self = g_file_read_link("/proc/self/exe", NULL), *folder = self ? g_path_get_dirname(self) : g_strdup(".");
    g_free(self);
    return folder;
}

static void own_installation(char **include, char **library)
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

/* The first line of what a command prints, or NULL. */
static char *ask(const options *o, GPtrArray *command)
{
    char *text = NULL;
    if (run(o, command, &text) != 0 || !text)
        return NULL;
    return g_strstrip(g_strdelimit(text, "\n", ' '));
}

/* The dome.pc of an installation for the compiler's machine: a file, or in the folder of one; NULL: there is none. */
static char *find_pc(const options *o, const char *where)
{
    if (g_str_has_suffix(where, ".pc"))
        return g_file_test(where, G_FILE_TEST_IS_REGULAR) ? g_strdup(where) : NULL;
    GPtrArray *command = command_new(o);
    add_words(o, command, 1u << WORD_FLAG);
    add(command, "-print-multiarch"); /* as Debian calls it: prefix/lib/s390x-linux-gnu */
    char *machine = ask(o, command), *beside = g_build_filename("lib", machine ? machine : "", NULL);
    const char *const folders[] = {beside, "lib64", "lib"};
    for (unsigned i = 0; i < G_N_ELEMENTS(folders); i++) {
        char *file = g_build_filename(where, folders[i], "pkgconfig", "dome.pc", NULL);
        if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
            return file;
        g_free(file);
    }
    return NULL;
}

/* The flags that pkg-config prints for the installation of --dome; false: it has printed why there are none. */
static bool ask_pkg_config(const options *o, const char *pc, const char *what, GPtrArray *command)
{
    GPtrArray *question = g_ptr_array_new();
    add(question, "pkg-config");
    add(question, what);
    add(question, pc);
    char *answer = ask(o, question), **words = NULL;
    int n;
    if (!answer || (*answer && !g_shell_parse_argv(answer, &n, &words, NULL))) {
        fprintf(stderr, "dome-cc: error: pkg-config %s %s: no answer\n", what, pc);
        return false;
    }
    for (char **w = words; w && *w; w++)
        add(command, *w);
    return true;
}

/* The headers are the same on all machines. */
static void add_include(const options *o, GPtrArray *command)
{
    char *include, *library, *pc = o->dome ? find_pc(o, o->dome) : NULL;
    if (pc && ask_pkg_config(o, pc, "--cflags-only-I", command))
        return;
    own_installation(&include, &library);
    g_ptr_array_add(command, g_strdup_printf("-I%s", include));
}

static bool is_static(const options *o)
{
    bool asked = false;
    for (unsigned i = 0; i < o->words->len; i++)
        asked = asked || text_in_list(((const word *)g_ptr_array_index(o->words, i))->text,
                                      (const char *const[]){"-static", "-static-pie", NULL});
    return asked;
}

/* False: Dome is there as a shared library alone, and "-static" is given. */
static bool can_be_static(const options *o, const char *library)
{
    char *archive = g_build_filename(library, "libdome.a", NULL);
    const bool can = !is_static(o) || g_file_test(archive, G_FILE_TEST_EXISTS);
    if (!can)
        fprintf(stderr, "dome-cc: error: -static: there is no %s: link without -static\n", archive);
    g_free(archive);
    return can;
}

static bool add_library(const options *o, const unit *u, GPtrArray *command)
{
    char *include, *library, *pc;
    own_installation(&include, &library);
    if (o->dome) {
        pc = find_pc(o, o->dome);
        if (!pc)
            fprintf(stderr, "dome-cc: error: --dome=%s: there is no Dome for the machine of %s (no dome.pc)\n", o->dome,
                    o->compiler);
        return pc && ask_pkg_config(o, pc, "--libs", command);
    }
    if (!unit_is_native(u)) {
        char *folder = own_folder(), *prefix = g_path_get_dirname(folder);
        pc = find_pc(o, prefix);
        if (!pc || g_str_has_prefix(pc, library))
            fprintf(stderr,
                    "dome-cc: error: %s makes programs of another machine: say by --dome=WHERE where Dome is installed for it\n",
                    o->compiler);
        return pc && !g_str_has_prefix(pc, library) && ask_pkg_config(o, pc, "--libs", command);
    }
    if (!can_be_static(o, library))
        return false;
    g_ptr_array_add(command, g_strdup_printf("-L%s", library));
    g_ptr_array_add(command, g_strdup_printf("-Wl,-rpath,%s", library));
    add(command, "-ldome");
    char **more = g_strsplit(DOME_CC_LIBRARIES, " ", -1);
    for (char **m = more; *m; m++)
        if (**m)
            add(command, *m);
    return true;
}

/* ---- files ---- */

/* What the compiler compiles and dome-cc does not look into; NULL: neither. */
static const char *other_language(const char *file)
{
    static const char *const endings[][2] = {{".cc", "C++"},      {".cp", "C++"},      {".cxx", "C++"},     {".cpp", "C++"},
                                             {".CPP", "C++"},     {".c++", "C++"},     {".C", "C++"},       {".m", "Objective-C"},
                                             {".f", "Fortran"},   {".F", "Fortran"},   {".f90", "Fortran"}, {".s", "assembler"},
                                             {".S", "assembler"}, {".sx", "assembler"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(file, endings[i][0]))
            return endings[i][1];
    return NULL;
}

/* True after a message. */
static bool is_missing(const char *file)
{
    const bool missing = !g_file_test(file, G_FILE_TEST_EXISTS);
    if (missing)
        fprintf(stderr, "dome-cc: error: %s: there is no such file\n", file);
    return missing;
}

/* Of the compiler's arguments, those that change what C means. */
static void add_meanings(GPtrArray *arguments, GPtrArray *words)
{
    static const char *const same[] = {"-m32",           "-m64",         "-mx32", "-ansi", "-fsigned-char", "-funsigned-char",
                                       "-fgnu89-inline", "-fshort-enums"};
    for (unsigned i = 0; i < words->len; i++) {
        const char *w = g_ptr_array_index(words, i);
        bool pass = g_str_has_prefix(w, "-std=") && !strchr(w, '+'); /* of C++: the compiler has warned */
        for (unsigned k = 0; k < G_N_ELEMENTS(same); k++)
            pass = pass || strcmp(w, same[k]) == 0;
        if (pass)
            add(arguments, w);
    }
}

/* As the compiler calls it: "x86_64-linux-gnu". NULL: it does not say. */
static const char *target_machine(const options *o)
{
    static char *target;
    if (!target) {
        GPtrArray *command = command_new(o);
        add(command, "-dumpmachine");
        target = ask(o, command);
    }
    return target;
}

static unit *parse(const options *o, const char *path, char *text, gsize length, GPtrArray *flags)
{
    GPtrArray *arguments = g_ptr_array_new();
    for (const char *const *w =
             (const char *const[]){"-x", "cpp-output", "-w", "-ferror-limit=20", "-fdouble-square-bracket-attributes", NULL};
         *w; w++)
        add(arguments, *w);
    add_meanings(arguments, command_new(o)); /* "gcc -m32" */
    add_meanings(arguments, flags);
    if (target_machine(o))
        g_ptr_array_add(arguments, g_strdup_printf("--target=%s", target_machine(o)));
    unit *u = unit_read(path, text, length, (const char *const *)arguments->pdata, (int)arguments->len);
    for (unsigned i = 0; i < flags->len; i++) {
        const char *flag = g_ptr_array_index(flags, i);
        u->one_memory = u->one_memory || strcmp(flag, "-fno-strict-aliasing") == 0;
        if (g_str_has_prefix(flag, "-fopenmp") && strcmp(flag, "-fopenmp-simd") != 0)
            unit_refuse_threads(u, "#pragma omp", flag);
        if (strcmp(flag, "-fopenacc") == 0)
            unit_refuse_threads(u, "#pragma acc", flag);
    }
    return u;
}

typedef struct source {
    char *text; /* preprocessed; NULL: there is none */
    gsize length;
    GHashTable *macros; /* its own */
    char *errors;
} source;

/* The preprocessed text. The compiler says that it is an old one, as clang does: the headers then have nothing that libclang does
 * not know. With any optimization the text is the same: headers must not have other macros for -O0. */
static source preprocess(const options *o, const char *path)
{
    char *to = scratch_file(".i");
    source s = {.text = NULL};
    GPtrArray *command = command_new(o);
    add_words(o, command, FLAGS | PREPROCESSOR);
    for (const char *const *w =
             (const char *const[]){"-E", "-dD", "-U__GNUC__", "-D__GNUC__=4", "-U__GNUC_MINOR__", "-D__GNUC_MINOR__=2",
                                   "-U__GNUC_PATCHLEVEL__", "-D__GNUC_PATCHLEVEL__=1", "-D__DOME_CC__=1", "-U__OPTIMIZE__",
                                   "-D_Float32=dome__float32", "-D_Float64=dome__float64", "-D_Float32x=dome__float32x",
                                   "-D_Float64x=dome__float64x", "-D_Float128=dome__float128", "-w", NULL};
         *w; w++)
        add(command, *w);
    add_include(o, command);
    add(command, path);
    add(command, "-o");
    add(command, to);
    if (run_apart(o, command, NULL, &s.errors) == 0 && g_file_get_contents(to, &s.text, &s.length, NULL))
        s.macros = source_take_macros(s.text);
    return s;
}

/* The compiler's own messages about the user's text. */
static int compile_plainly(const options *o, const char *path, const char *object, const source *s)
{
    GPtrArray *command = command_new(o);
    add_words(o, command, FLAGS | PREPROCESSOR | DEPENDENCIES | WARNINGS);
    if (s && s->text && strstr(s->text, "\n#pragma dome ")) /* which the compiler does not know */
        add(command, "-Wno-unknown-pragmas");
    add_include(o, command);
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

static bool write_file(const char *name, const char *text, gssize length)
{
    FILE *file = fopen(name, "w"); /* g_file_set_contents leaves the end of a longer file that was there */
    const gsize all = length < 0 ? strlen(text) : (gsize)length;
    bool good = file && fwrite(text, 1, all, file) == all;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "dome-cc: error: %s cannot be written: %s\n", name, g_strerror(errno));
    return good;
}

static char *object_name(const char *source)
{
    char *base = g_path_get_basename(source), *dot = strrchr(base, '.');
    if (dot)
        *dot = '\0';
    char *name = g_strconcat(base, ".o", NULL);
    g_free(base);
    return name;
}

/* A program of the compiler's, such as ar. */
static char *tool(const options *o, const char *name)
{
    GPtrArray *question = command_new(o);
    g_ptr_array_add(question, g_strdup_printf("-print-prog-name=%s", name));
    char *found = ask(o, question);
    return found && *found ? found : g_strdup(name);
}

/* Lets the compiler report on a file, and make its object if that is wanted; then the preprocessed text. 0, or the compiler's
 * status. */
static int read_source(const options *o, const char *path, const char *object, source *s)
{
    *s = preprocess(o, path);
    int status = compile_plainly(o, path, object, s);
    if (!status && !s->text) {
        fputs(s->errors ? s->errors : "", stderr);
        status = 1;
    }
    g_free(s->errors);
    return status;
}

static int compile_only(const options *o, const char *path)
{
    char *made = o->output ? g_strdup(o->output) : object_name(path), *section = scratch_file(".text");
    source s;
    int status = read_source(o, path, made, &s);
    if (status)
        return status;
    object own = {.path = (char *)(guintptr)path, .flags = flags_of(o), .text = s.text, .length = s.length};
    GPtrArray *command = g_ptr_array_new();
    unit *u = parse(o, path, s.text, s.length, own.flags);
    if (!u->refused)
        source_find(u, s.macros);
    own.sources = u->sources;
    GString *content = section_text(&own);
    add(command, tool(o, "objcopy"));
    g_ptr_array_add(command, g_strdup_printf("--add-section=" SECTION_NAME "=%s", section));
    add(command, "--set-section-flags=" SECTION_NAME "=exclude");
    add(command, made);
    if (u->refused || !write_file(section, content->str, (gssize)content->len) || run(o, command, NULL) != 0) {
        unlink(made);
        return 1;
    }
    return 0;
}

static int compile_text(const options *o, const unit *u, const char *text, GPtrArray *flags, const char *object)
{
    char *file = scratch_file(".i");
    if (!write_file(file, text, -1))
        return 1;
    GPtrArray *command = command_new(o);
    for (unsigned i = 0; i < flags->len; i++)
        if (!g_str_has_prefix(g_ptr_array_index(flags, i), "-save-temps")) /* those of the user's text are there already */
            add(command, g_ptr_array_index(flags, i));
    /* gcc 12 for s390x keeps the counter of a loop in memory, and counts down once more after a poll that is a way back to the
     * loop's head (tests/dome-cc/supported/counted.c). */
    if (target_machine(o) && g_str_has_prefix(target_machine(o), "s390"))
        add(command, "-fno-branch-count-reg");
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
            file = find_in(w->value ? w->value : w->text + 2, name, is_static(o), &hidden);
    }
    return file;
}

/* What a word of the command gives to translate. */
typedef struct part {
    unsigned first, count; /* units */
    bool archive;
} part;

/* False: one line has been printed, or the compiler's. */
static bool read_word(const options *o, const word *w, program *p, GPtrArray *all_flags, part *part, int *status)
{
    GPtrArray *list = g_ptr_array_new();
    bool library = w->kind == WORD_LINK && g_str_has_prefix(w->text, "-l");
    char *file = library ? find_archive(o, w->value ? w->value : w->text + 2) : w->kind == WORD_INPUT ? w->text : NULL;
    source read = {.text = NULL};
    part->first = p->units->len;
    *status = 1;
    if (w->kind == WORD_INPUT && is_missing(w->text))
        return false;
    if (w->kind == WORD_INPUT && g_file_test(w->text, G_FILE_TEST_IS_DIR)) {
        fprintf(stderr, "dome-cc: error: %s is a folder\n", w->text);
        return false;
    }
    if (w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c")) {
        object *own = g_new0(object, 1);
        *status = read_source(o, w->text, NULL, &read);
        if (*status)
            return false;
        *own = (object){.path = w->text, .flags = flags_of(o), .text = read.text, .length = read.length};
        g_ptr_array_add(list, own);
    } else if (file && !section_read(file, list, &part->archive)) {
        return false;
    }
    *status = 0;
    for (unsigned i = 0; i < list->len; i++) {
        object *x = g_ptr_array_index(list, i);
        unit *u = parse(o, x->path, x->text, x->length, x->flags);
        if (x->sources)
            u->sources = x->sources;
        else if (!u->refused)
            source_find(u, read.macros);
        g_ptr_array_add(p->units, u);
        g_ptr_array_add(all_flags, x->flags);
    }
    part->count = list->len;
    return true;
}

/* In front of an archive, one of the objects that are translated: what it defines is then not taken from the other. */
static bool add_archive(const options *o, GPtrArray *command, const GPtrArray *objects, const part *part)
{
    GPtrArray *make = g_ptr_array_new();
    char *archive = scratch_file(".a");
    add(make, tool(o, "ar"));
    add(make, "rcs");
    add(make, archive);
    for (unsigned i = 0; i < part->count; i++)
        add(make, g_ptr_array_index(objects, part->first + i));
    add(command, archive);
    return run(o, make, NULL) == 0;
}

static int link_program(const options *o)
{
    program p = {g_ptr_array_new(),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 g_hash_table_new(g_str_hash, g_str_equal),
                 false,
                 false};
    GPtrArray *all_flags = g_ptr_array_new();
    part *parts = g_new0(part, o->words->len); /* of each word */
    int refused = 0, status = 0;
    for (unsigned i = 0; i < o->words->len; i++)
        if (!read_word(o, g_ptr_array_index(o->words, i), &p, all_flags, &parts[i], &status))
            return status;
    for (unsigned i = 0; i < p.units->len; i++)
        refused += ((unit *)g_ptr_array_index(p.units, i))->refused;
    if (refused)
        return 1;
    bool has_main = false;
    for (unsigned i = 0; i < p.units->len; i++) {
        functions_find(&p, g_ptr_array_index(p.units, i));
        measured_name(g_ptr_array_index(p.units, i));
    }
    for (unsigned i = 0; i < p.units->len; i++)
        has_main = has_main || ((unit *)g_ptr_array_index(p.units, i))->main;
    parallel_begin(&p);
    if (polls_operations && !p.parallel) {
        fputs("dome-cc: error: --polls=operations: the program is no Dome program: it does not call dome_init\n", stderr);
        return 1;
    }
    polls_complete(&p);
    if (measured_chooses() && !measured_judge(&p, o->most_overhead))
        return 1;
    for (unsigned i = 0; i < p.units->len; i++)
        blocks_pragmas(&p, g_ptr_array_index(p.units, i));
    blocks_infer(&p);
    for (unsigned i = 0; i < p.units->len; i++)
        padding_find(&p, g_ptr_array_index(p.units, i));
    GPtrArray *texts = g_ptr_array_new(), *objects = g_ptr_array_new();
    for (unsigned i = 0; i < p.units->len; i++) {
        unit *u = g_ptr_array_index(p.units, i);
        rewrite_unit(&p, u);
        if (measured_counts())
            measured_edit(&p, u, o->output && !o->emit ? o->output : "a.out");
        g_ptr_array_add(texts, module_write(&p, u));
        refused += u->refused;
    }
    if (refused)
        return 1;
    if (o->emit) {
        for (unsigned i = 0; i < p.units->len; i++) {
            unit *u = g_ptr_array_index(p.units, i);
            char *text = without_warnings(g_ptr_array_index(texts, i));
            char *name = o->output ? g_strdup(o->output) : g_strdup_printf("%.*s.dome.c", (int)strlen(u->path) - 2, u->path);
            if (strcmp(name, "-") == 0)
                fputs(text, stdout);
            else if (!write_file(name, text, -1))
                return 1;
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
        status =
            compile_text(o, g_ptr_array_index(p.units, i), g_ptr_array_index(texts, i), g_ptr_array_index(all_flags, i), object);
        if (status)
            return status;
        g_ptr_array_add(objects, object);
    }
    GPtrArray *command = command_new(o);
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (parts[i].count && !parts[i].archive)
            add(command, g_ptr_array_index(objects, parts[i].first));
        if (parts[i].count && parts[i].archive && !add_archive(o, command, objects, &parts[i]))
            return 1;
        if ((w->kind == WORD_INPUT && (!parts[i].count || parts[i].archive)) || w->kind == WORD_FLAG || w->kind == WORD_LINK) {
            add(command, w->text);
            if (w->value)
                add(command, w->value);
        }
    }
    if (!add_library(o, g_ptr_array_index(p.units, 0), command))
        return 1;
    add(command, "-o");
    add(command, o->output ? o->output : "a.out");
    return run(o, command, NULL);
}

/* ---- arguments ---- */

static void add_word(options *o, int kind, char *text, char *value)
{
    word *w = g_new0(word, 1);
    w->kind = kind;
    w->text = text;
    w->value = value;
    g_ptr_array_add(o->words, w);
}

typedef struct unit_name {
    const char *name;
    double factor;
} unit_name;

static bool read_amount(const char *text, const unit_name *units, double *value)
{
    char *end;
    double number = g_ascii_strtod(text, &end);
    for (; units->name && strcmp(end, units->name) != 0; units++)
        ;
    *value = number * units->factor;
    return end != text && units->name && *value > 0;
}

static bool read_policy(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (strcmp(text, "auto") == 0)
        polls_policy = POLLS_AUTO;
    else if (strcmp(text, "every") == 0)
        polls_policy = POLLS_EVERY;
    else if (strcmp(text, "none") == 0)
        polls_policy = POLLS_NONE;
    else if (strcmp(text, "operations") == 0)
        polls_operations = true;
    else if (*text && !*end && number >= POLLS_RECURSION && number <= 31)
        polls_policy = (int)number;
    else
        return false;
    return true;
}

/* No option of the compiler. */
static bool is_own(const char *a)
{
    static const char *const own[] = {"--cc=", "--dome=", "--polls=", "--max-overhead=", "--max-interval="};
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++)
        if (g_str_has_prefix(a, own[i]))
            return true;
    return strcmp(a, "--emit-source") == 0 || strcmp(a, "--verbose") == 0;
}

/* False after a message: an option of ours that is not written as it must be, or one of the program. */
static bool is_well_written(const char *a)
{
    static const char *const own[][2] = {{"--cc", "--cc=gcc"},
                                         {"--dome", "--dome=/usr/local"},
                                         {"--polls", "--polls=auto"},
                                         {"--max-overhead", "--max-overhead=5%"},
                                         {"--max-interval", "--max-interval=1ms"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++) {
        if (strcmp(a, own[i][0]) == 0) {
            fprintf(stderr, "dome-cc: error: %s needs a value in the same word: %s\n", a, own[i][1]);
            return false;
        }
    }
    if (g_str_has_prefix(a, "--dome-")) {
        fprintf(stderr, "dome-cc: error: %s is an option of the program: give it when you start the program\n", a);
        return false;
    }
    return true;
}

static bool is_command(const char *text)
{
    char **words = NULL;
    const bool good = g_shell_parse_argv(text, NULL, &words, NULL);
    g_strfreev(words);
    return good;
}

/* False after a message: C that is to be translated has another name. */
static bool is_input(const char *name, bool as_c)
{
    if (g_str_has_suffix(name, ".i"))
        fprintf(stderr, "dome-cc: error: %s: give dome-cc the C file of which the preprocessor has made it\n", name);
    else if (as_c && !g_str_has_suffix(name, ".c"))
        fprintf(stderr, "dome-cc: error: %s: the name of a C file must end in .c, also after -x c\n", name);
    else
        return true;
    return false;
}

/* The words in place of "@FILE", as compilers take them; a file that cannot be read stays a word. */
static void add_arguments(GPtrArray *all, char *argument, int depth)
{
    enum { DEEPEST = 16 };
    char *text = NULL, **words = NULL;
    int n = 0;
    if (argument[0] == '@' && depth < DEEPEST && g_file_get_contents(argument + 1, &text, NULL, NULL) &&
        (!*g_strstrip(text) || g_shell_parse_argv(text, &n, &words, NULL)))
        for (int i = 0; i < n; i++)
            add_arguments(all, words[i], depth + 1);
    else
        g_ptr_array_add(all, argument);
    g_free(text);
}

int main(int argc, char **argv)
{
    static const char *const preprocessor[] = {"-I",      "-D",       "-U",         "-include",  "-imacros",       "-isystem",
                                               "-iquote", "-iprefix", "-idirafter", "-isysroot", "-Xpreprocessor", NULL};
    static const char *const dependency_names[] = {"-MF", "-MT", "-MQ", NULL};
    static const char *const linker[] = {"-L", "-l", "-Xlinker", "-u", "-T", "-z", "-e", NULL};
    static const char *const other[] = {"--param", "-aux-info", "-B", "--sysroot", "-Xassembler", NULL};
    static const char *const through[] = {"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", NULL};
    static const char *const dependencies[] = {"-MD", "-MMD", "-MP", "-MG", NULL};
    options o = {
        .compiler = g_strdup(DOME_CC_COMPILER), .words = g_ptr_array_new(), .most_overhead = 0.05, .longest_interval = 1e-3};
    bool pass = false, as_c = false, verbose = false, named = false;
    const char *bounded = NULL;
    GPtrArray *arguments = g_ptr_array_new();
    for (int i = 0; i < argc; i++)
        add_arguments(arguments, argv[i], 0);
    argc = (int)arguments->len;
    argv = (char **)arguments->pdata;
    for (int i = 1; i < argc; i++) {
        char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        } else if (strcmp(a, "--version") == 0) {
            printf("dome-cc %s\n", DOME_VERSION);
            return 0;
        } else if (!is_well_written(a)) {
            return 2;
        } else if (strcmp(a, "--emit-source") == 0) {
            o.emit = true;
        } else if (strcmp(a, "--verbose") == 0) {
            o.verbose = true;
        } else if (g_str_has_prefix(a, "--cc=")) {
            o.compiler = a + 5;
            if (!is_command(o.compiler)) {
                fprintf(stderr, "dome-cc: error: %s: a command, such as clang or \"gcc -m32\"\n", a);
                return 2;
            }
        } else if (g_str_has_prefix(a, "--dome=")) {
            o.dome = a + 7;
        } else if (g_str_has_prefix(a, "--polls=")) {
            o.profile = NULL;
            if (strcmp(a + 8, "profile") == 0) {
                polls_policy = POLLS_NONE;
                measured_set_counts();
            } else if (!read_policy(a + 8)) {
                o.profile = a + 8;
            }
        } else if (g_str_has_prefix(a, "--max-overhead=")) {
            if (!read_amount(a + 15, (const unit_name[]){{"%", 0.01}, {NULL, 0}}, &o.most_overhead)) {
                fprintf(stderr, "dome-cc: error: %s: a percentage, such as 5%%\n", a);
                return 2;
            }
            bounded = a;
        } else if (g_str_has_prefix(a, "--max-interval=")) {
            if (!read_amount(a + 15, (const unit_name[]){{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}}, &o.longest_interval)) {
                fprintf(stderr, "dome-cc: error: %s: a time, such as 1ms\n", a);
                return 2;
            }
            bounded = a;
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
        } else if (text_in_list(a, (const char *const[]){"-shared", "-r", NULL})) {
            fprintf(stderr, "dome-cc: error: %s: only whole C programs are translated\n", a);
            return 2;
        } else if (g_str_has_prefix(a, "-x")) {
            const char *language = a[2] ? a + 2 : value ? value : "";
            if (!text_in_list(language, (const char *const[]){"c", "none", NULL})) {
                fprintf(stderr, "dome-cc: error: -x %s: only C is translated\n", language);
                return 2;
            }
            as_c = strcmp(language, "c") == 0;
            i += !a[2];
        } else if (strcmp(a, "-v") == 0) {
            verbose = true;
            add_word(&o, WORD_FLAG, a, NULL);
        } else if (text_in_list(a, through) || g_str_has_prefix(a, "-print-") || g_str_has_prefix(a, "-dump") ||
                   g_str_has_prefix(a, "--help=") || strcmp(a, "--target-help") == 0) {
            pass = true;
        } else if (!value && (text_in_list(a, preprocessor) || text_in_list(a, dependency_names) || text_in_list(a, linker) ||
                              text_in_list(a, other))) {
            fprintf(stderr, "dome-cc: error: %s needs a value\n", a);
            return 2;
        } else if (text_in_list(a, preprocessor)) {
            add_word(&o, WORD_PREPROCESSOR, a, value);
            i++;
        } else if (text_in_list(a, dependency_names)) {
            add_word(&o, WORD_DEPENDENCIES, a, value);
            i++;
        } else if (text_in_list(a, linker)) {
            add_word(&o, WORD_LINK, a, value);
            i++;
        } else if (text_in_list(a, other)) {
            add_word(&o, WORD_FLAG, a, value);
            i++;
        } else if (a[0] != '-') {
            if (!pass && !is_input(a, as_c))
                return 2;
            named = true;
            add_word(&o, WORD_INPUT, a, NULL);
        } else if (!a[1]) {
            fputs("dome-cc: error: -: the program must be in a file\n", stderr);
            return 2;
        } else if (text_in_list(a, dependencies) || g_str_has_prefix(a, "-MF") || g_str_has_prefix(a, "-MT") ||
                   g_str_has_prefix(a, "-MQ")) {
            add_word(&o, WORD_DEPENDENCIES, a, NULL);
        } else if (strchr("IDU", a[1])) {
            add_word(&o, WORD_PREPROCESSOR, a, NULL);
        } else if (g_str_has_prefix(a, "-Wl,") || a[1] == 'l' || a[1] == 'L' || strcmp(a, "-static") == 0) {
            add_word(&o, WORD_LINK, a, NULL);
        } else if ((a[1] == 'W' && !g_str_has_prefix(a, "-Wa,") && !g_str_has_prefix(a, "-Wp,")) ||
                   g_str_has_prefix(a, "-pedantic")) {
            add_word(&o, WORD_WARNING, a, NULL);
        } else {
            add_word(&o, WORD_FLAG, a, NULL);
        }
    }
    if (pass || (verbose && !named)) {
        GPtrArray *command = command_new(&o);
        for (int i = 1; i < argc; i++)
            if (!is_own(argv[i]))
                add(command, argv[i]);
        return run(&o, command, NULL);
    }
    if (bounded && !o.profile) {
        fprintf(stderr,
                "dome-cc: error: %s needs --polls=FILE: compile with --polls=profile, run the program, and give the file that it "
                "writes\n",
                bounded);
        return 2;
    }
    unsigned sources = 0, inputs = 0;
    for (unsigned i = 0; i < o.words->len; i++) {
        const word *w = g_ptr_array_index(o.words, i);
        const char *language = w->kind == WORD_INPUT ? other_language(w->text) : NULL;
        if (language && strcmp(language, "assembler") != 0) {
            fprintf(stderr, "dome-cc: error: %s: %s is not translated: compile it by its own compiler, and link the object\n",
                    w->text, language);
            return 2;
        }
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
    if (!o.compile_only || o.emit) {
        if (o.profile && !measured_read(o.profile, o.longest_interval))
            return 1;
        return link_program(&o);
    }
    for (unsigned i = 0; i < o.words->len; i++) {
        const word *w = g_ptr_array_index(o.words, i);
        int status = 0;
        if (w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c"))
            status = compile_only(&o, w->text);
        else if (w->kind == WORD_INPUT && other_language(w->text))
            status = compile_plainly(&o, w->text, o.output ? o.output : object_name(w->text), NULL);
        else if (w->kind == WORD_INPUT && !(status = is_missing(w->text)))
            fprintf(stderr, "dome-cc: warning: %s: not used, because nothing is linked\n", w->text);
        if (status)
            return status;
    }
    return 0;
}
