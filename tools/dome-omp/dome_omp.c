/* dome-omp's command line. The compiler does all; what is added to its command makes the program one of Dome. */
#include "dome_omp.h"
#include "dickpt.h"

#include <dome/version.h>

#include "system/environment_variables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: dome-omp [OPTION...] FILE...\n"
    "Compiles and links a program with OpenMP, in C, C++ or Fortran, so that its threads run on the tasks of Dome:\n"
    "    dome-omp -O3 prog.c -o prog\n"
    "    OMP_NUM_THREADS=16 dome run -n 4 ./prog\n"
    "\n"
    "  --cc=COMPILER   a GNU compiler or clang; default: " DOME_OMP_COMPILER "\n"
    "  --show          print the compiler's command, and stop\n"
    "  --help, --version\n"
    "Everything else is the compiler's: -c, -o, -O2, -g, -I, -D, -l, ...\n";

typedef struct job {
    char *compiler;
    GPtrArray *words; /* char *: the compiler's arguments */
    bool show, links, inputs, cplusplus, fortran, wrong;
    const char *fortran_source, *dickpt_source; /* one of them; one with #pragma dickpt */
} job;

typedef enum kind_of_compiler { GNU, CLANG } kind_of_compiler;

static int is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool begins_with_one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (g_str_has_prefix(word, *list))
            return true;
    return false;
}

/* What no program over tasks can be made with: NULL, or why. */
static const char *refusal(const char *word)
{
    static const struct {
        const char *word, *why;
    } all[] = {
        {"-static", "libdome-omp is a shared library"},
        {"-static-pie", "libdome-omp is a shared library"},
        {"-pie", "the program's data must have the same addresses on all tasks"},
        {"-shared", "data of a shared library is not kept equal on all tasks: link its objects into the program"},
        {"-fopenacc", "OpenMP alone runs over tasks"},
        {"-m32", "programs of x86-64 alone run over tasks"},
        {"-mx32", "programs of x86-64 alone run over tasks"},
        {"-fnoopenmp-use-tls", "variables of threads lie in their own memory"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
        if (strcmp(word, all[i].word) == 0)
            return all[i].why;
    return g_str_has_prefix(word, "-fsanitize=") ? "sanitizers keep data of their own about the memory of one process" : NULL;
}

/* The languages of an object or archive, by names that only their compilers write. */
static void look_into(job *j, const char *file)
{
    char *bytes = NULL;
    gsize length = 0;
    if (!g_file_get_contents(file, &bytes, &length, NULL))
        return; /* the compiler says why */
    j->fortran = j->fortran || memmem(bytes, length, "_gfortran_", strlen("_gfortran_"));
    j->cplusplus = j->cplusplus || memmem(bytes, length, "__gxx_personality_v0", strlen("__gxx_personality_v0")) ||
                   memmem(bytes, length, "_ZSt", 4) || memmem(bytes, length, "_ZNSt", 5) || memmem(bytes, length, "_Znwm", 5);
    g_free(bytes);
}

/* clang is given sources as they are. */
static void look_for_dickpt(job *j, const char *file)
{
    char *text = NULL;
    GString *unused = g_string_new(NULL);
    char *wrong = NULL;
    if (g_file_get_contents(file, &text, NULL, NULL) && (dickpt_calls(text, false, unused, &wrong) || wrong))
        j->dickpt_source = file;
    g_string_free(unused, TRUE);
    g_free(wrong);
    g_free(text);
}

static void take_input(job *j, const char *file)
{
    static const char *const cplusplus[] = {".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C", ".ii", NULL};
    static const char *const fortran[] = {".f",   ".for", ".ftn", ".fpp", ".f90", ".f95", ".f03", ".f08", ".F",
                                          ".FOR", ".FTN", ".FPP", ".F90", ".F95", ".F03", ".F08", NULL};
    const char *name = strrchr(file, '/'), *suffix = strrchr(name ? name : file, '.');
    j->inputs = true;
    look_for_dickpt(j, file);
    if (!suffix || strcmp(suffix, ".o") == 0 || strcmp(suffix, ".a") == 0)
        look_into(j, file);
    else if (is_one_of(suffix, cplusplus))
        j->cplusplus = true;
    else if (is_one_of(suffix, fortran)) {
        j->fortran = true;
        j->fortran_source = file;
    }
}

static void take_language(job *j, const char *language)
{
    j->cplusplus = j->cplusplus || g_str_has_prefix(language, "c++");
    j->fortran = j->fortran || g_str_has_prefix(language, "f77") || g_str_has_prefix(language, "f95");
}

/* What one argument says; the compiler gets it in any case. */
static void note_word(job *j, const char *word, const char *before)
{
    static const char *const not_linking[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "-###", "--target-help",
                                              NULL};
    static const char *const questions[] = {"-print-", "-dump", "--help=", NULL};
    static const char *const with_value[] = {
        "-o",      "-I",        "-D",  "-U",        "-include",    "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot",
        "-MF",     "-MT",       "-MQ", "-L",        "-l",          "-Xlinker", "-u",       "-T",      "-z",         "-e",
        "--param", "-aux-info", "-B",  "--sysroot", "-Xassembler", "-J",       "-wrapper", NULL};
    const char *why = refusal(word);
    if (before && is_one_of(before, with_value))
        return;
    if (why) {
        fprintf(stderr, "dome-omp: error: %s: %s\n", word, why);
        j->wrong = true;
    } else if (strcmp(word, "-x") == 0 || (before && strcmp(before, "-x") == 0)) {
        take_language(j, word);
    } else if (g_str_has_prefix(word, "-x")) {
        take_language(j, word + 2);
    } else if (is_one_of(word, not_linking) || begins_with_one_of(word, questions)) {
        j->links = false;
        j->inputs = true;
    } else if (word[0] != '-' || !word[1]) {
        take_input(j, word);
    }
}

/* A file of arguments, as gcc has them: "@file". */
static void note_file(job *j, const char *file, int depth)
{
    char *text = NULL, **words = NULL;
    int n = 0;
    if (!g_file_get_contents(file, &text, NULL, NULL) || !g_shell_parse_argv(text, &n, &words, NULL)) {
        g_free(text);
        return; /* gcc takes it as a name, or finds it empty */
    }
    for (int i = 0; i < n; i++) {
        if (words[i][0] == '@' && depth < 8)
            note_file(j, words[i] + 1, depth + 1);
        else
            note_word(j, words[i], i > 0 ? words[i - 1] : NULL);
    }
    g_strfreev(words);
    g_free(text);
}

/* False: an option of dome-omp's that is not written as it must be. */
static bool read_own(job *j, const char *word)
{
    if (g_str_has_prefix(word, "--cc=") && word[5]) {
        j->compiler = g_strdup(word + 5);
    } else if (strcmp(word, "--show") == 0) {
        j->show = true;
    } else if (strcmp(word, "--cc") == 0 || strcmp(word, "--cc=") == 0) {
        fputs("dome-omp: error: --cc needs a value in the same word: --cc=gcc-12\n", stderr);
        return false;
    } else if (g_str_has_prefix(word, "--dome-")) {
        fprintf(stderr, "dome-omp: error: %s is an option of the program: give it when you start the program\n", word);
        return false;
    }
    return true;
}

static bool read_arguments(job *j, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!read_own(j, argv[i]))
            return false;
        if (g_str_has_prefix(argv[i], "--cc=") || strcmp(argv[i], "--show") == 0)
            continue;
        g_ptr_array_add(j->words, argv[i]);
        if (argv[i][0] == '@')
            note_file(j, argv[i] + 1, 0);
        else
            note_word(j, argv[i], i > 1 ? argv[i - 1] : NULL);
    }
    if (j->words->len == 0)
        fputs("dome-omp: error: no input files; dome-omp --help lists the options\n", stderr);
    return j->words->len > 0 && !j->wrong;
}

static bool find_compiler(char **compiler, kind_of_compiler *kind)
{
    GPtrArray *command = g_ptr_array_new(); /* all words: the compiler may be behind ccache */
    char *text = NULL;
    *kind = GNU;
    if (strcmp(compiler[0], DOME_OMP_COMPILER) == 0)
        return true;
    for (char **word = compiler; *word; word++)
        g_ptr_array_add(command, *word);
    g_ptr_array_add(command, "--version");
    g_ptr_array_add(command, NULL);
    GError *error = NULL;
    if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, NULL, &error)) {
        fprintf(stderr, "dome-omp: error: %s cannot be run: %s\n", compiler[0], error->message);
        g_error_free(error);
        return false;
    }
    g_ptr_array_free(command, TRUE);
    const char *why = NULL;
    if (strstr(text, "clang version")) {
        *kind = CLANG;
        why = clang_refusal(text);
    } else if (!strstr(text, "Free Software Foundation")) {
        why = "neither a GNU compiler nor clang";
    }
    if (why)
        fprintf(stderr, "dome-omp: error: %s is %s\n", compiler[0], why);
    g_free(text);
    return !why;
}

static bool find_places(places *p)
{
    p->self = g_file_read_link("/proc/self/exe", NULL);
    if (!p->self || strchr(p->self, ',')) {
        fprintf(stderr, "dome-omp: error: gcc cannot run %s: the name of its folder must have no comma\n",
                p->self ? p->self : "it");
        return false;
    }
    char *folder = g_path_get_dirname(p->self), *prefix = g_path_get_dirname(folder);
    if (strcmp(folder, DOME_OMP_BUILD_FOLDER) == 0) {
        p->include = g_strdup(DOME_OMP_SOURCE_INCLUDE);
        p->library = g_strdup(DOME_OMP_BUILD_LIBRARY);
        p->loader = g_build_filename(folder, "dome-ld", NULL);
    } else {
        p->include = g_build_filename(prefix, DOME_OMP_INCLUDEDIR, NULL);
        p->library = g_build_filename(prefix, DOME_OMP_LIBDIR, NULL);
        p->loader = g_build_filename(p->library, "dome-ld", NULL);
    }
    p->specs = g_build_filename(p->library, "dome-omp", NULL);
    g_free(folder);
    g_free(prefix);
    return true;
}

static void add_linking(GPtrArray *c, const places *p)
{
    g_ptr_array_add(c, "-no-pie");
    g_ptr_array_add(c, g_strdup_printf("-L%s", p->library));
    /* before all libraries that have functions of the same names, as libatomic */
    g_ptr_array_add(c, "-Wl,--push-state,--no-as-needed,-ldome-omp,--pop-state");
    g_ptr_array_add(c, g_strdup_printf("-Wl,--version-script=%s/names.map", p->specs));
    g_ptr_array_add(c, "-Wl,-z,now");
    g_ptr_array_add(c, g_strdup_printf("-Wl,-rpath,%s", p->library));
    if (g_file_test(p->loader, G_FILE_TEST_IS_EXECUTABLE))
        g_ptr_array_add(c, g_strdup_printf("-Wl,--dynamic-linker=%s", p->loader));
}

/* libgomp.spec in `specs` names libdome-omp, so that gcc links it in libgomp's place. */
static void add_gnu(GPtrArray *c, const job *j, const places *p)
{
    g_ptr_array_add(c, "-wrapper");
    g_ptr_array_add(c, g_strdup_printf("%s,--step", p->self));
    g_ptr_array_add(c, "-fopenmp");
    g_ptr_array_add(c, "-fno-inline-atomics");
    g_ptr_array_add(c, "-fno-pie");
    g_ptr_array_add(c, "-Wa,--defsym," DOME_OMP_MARK "=0");
    if (j->links)
        g_ptr_array_add(c, g_strdup_printf("-B%s/", p->specs));
}

static GPtrArray *make_command(const job *j, const places *p, char **compiler, kind_of_compiler kind)
{
    GPtrArray *c = g_ptr_array_new();
    for (; *compiler; compiler++)
        g_ptr_array_add(c, *compiler);
    if (kind == GNU)
        add_gnu(c, j, p);
    else
        clang_add_options(c);
    if (j->links)
        add_linking(c, p);
    for (unsigned i = 0; i < j->words->len; i++)
        if (kind == GNU || !clang_leaves_out(g_ptr_array_index(j->words, i)))
            g_ptr_array_add(c, g_ptr_array_index(j->words, i));
    if (kind == CLANG && j->links)
        g_ptr_array_add(c, "-ldome-omp");
    g_ptr_array_add(c, "-idirafter");
    g_ptr_array_add(c, p->include);
    if (j->links && j->fortran) {
        g_ptr_array_add(c, "-lgfortran");
        g_ptr_array_add(c, "-lquadmath");
    }
    if (j->links && j->cplusplus)
        g_ptr_array_add(c, "-lstdc++");
    if (j->links && (j->cplusplus || j->fortran))
        g_ptr_array_add(c, "-lm");
    return c;
}

static void show(const GPtrArray *command)
{
    for (unsigned i = 0; i < command->len; i++) {
        const char *word = g_ptr_array_index(command, i);
        const bool plain =
            *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=+:@") == strlen(word);
        char *quoted = plain ? g_strdup(word) : g_shell_quote(word);
        printf("%s%s", i ? " " : "", quoted);
        g_free(quoted);
    }
    putchar('\n');
}

/* And the compiler's: by these words CMake, Meson and their like know which compiler's options there are. */
static int show_version(void)
{
    const char *named = g_getenv(DOME_VARIABLE_OMP_CC);
    char *command = g_strconcat(named && *named ? named : DOME_OMP_COMPILER, " --version", NULL), **words = NULL;
    bool failed = puts("dome-omp " DOME_VERSION) < 0;
    if (!named || !*named)
        failed = failed || puts("C, C++ and GNU Fortran, by") < 0;
    failed = failed || fflush(stdout) != 0;
    if (!failed && g_shell_parse_argv(command, NULL, &words, NULL))
        execvp(words[0], words);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--step") == 0)
        return step_run(argv + 2);
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return show_version();
    job j = {.compiler = g_strdup(g_getenv(DOME_VARIABLE_OMP_CC)), .words = g_ptr_array_new(), .links = true};
    places p = {.self = NULL};
    char **compiler = NULL;
    if (!j.compiler || !*j.compiler)
        j.compiler = g_strdup(DOME_OMP_COMPILER);
    if (!read_arguments(&j, argc, argv) || !find_places(&p))
        return 2;
    if (!g_shell_parse_argv(j.compiler, NULL, &compiler, NULL)) {
        fprintf(stderr, "dome-omp: error: --cc=%s is not a command\n", j.compiler);
        return 2;
    }
    kind_of_compiler kind;
    if (!find_compiler(compiler, &kind))
        return 2;
    if (kind == CLANG && j.fortran_source) {
        fprintf(stderr, "dome-omp: error: %s: clang compiles no Fortran\n", j.fortran_source);
        return 2;
    }
    if (kind == CLANG && j.dickpt_source) {
        fprintf(stderr, "dome-omp: error: %s: #pragma dickpt needs gcc; with clang call the functions of dome/delta.h\n",
                j.dickpt_source);
        return 2;
    }
    j.links = j.links && j.inputs;
    GPtrArray *command = make_command(&j, &p, compiler, kind);
    if (j.show)
        return show(command), 0;
    g_ptr_array_add(command, NULL);
    if (kind == CLANG && j.links)
        return step_link((char **)command->pdata);
    execvp(command->pdata[0], (char **)command->pdata);
    fprintf(stderr, "dome-omp: error: %s cannot be run: %s\n", (char *)command->pdata[0], g_strerror(errno));
    return 1;
}
