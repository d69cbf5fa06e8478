/* gcc runs its programs through these functions. A compiler gets another text where a source flushes; behind the linker, what was
 * linked is looked at. */
#include "dickpt.h"
#include "dome_omp.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program with its arguments in this process's place. */
static int become(char **command)
{
    execvp(command[0], command);
    fprintf(stderr, "dome-omp: error: %s cannot be run: %s\n", command[0], g_strerror(errno));
    return 1;
}

/* errors, output: NULL: where this process writes. The exit status. */
static int run(char **command, char **output, char **errors)
{
    GError *error = NULL;
    int status = 0;
    if (!g_spawn_sync(NULL, command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, output, errors,
                      &status, &error)) {
        fprintf(stderr, "dome-omp: error: %s cannot be run: %s\n", command[0], error->message);
        g_error_free(error);
        return 1;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "dome-omp: error: %s was ended by signal %d (%s)\n", command[0], WTERMSIG(status),
                g_strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static char *value_of(char **command, const char *option)
{
    for (char **w = command; w[0]; w++)
        if (strcmp(w[0], option) == 0 && w[1])
            return w[1];
    return NULL;
}

/* The place of the source among a compiler's arguments; 0: it is not found. */
static unsigned source_in(char **command)
{
    static const char *const with_value[] = {"-I",
                                             "-D",
                                             "-U",
                                             "-A",
                                             "-J",
                                             "-o",
                                             "-MD",
                                             "-MMD",
                                             "-MF",
                                             "-MT",
                                             "-MQ",
                                             "-dumpdir",
                                             "-dumpbase",
                                             "-dumpbase-ext",
                                             "-auxbase",
                                             "-auxbase-strip",
                                             "-aux-info",
                                             "--param",
                                             "-imultiarch",
                                             "-imultilib",
                                             "-include",
                                             "-imacros",
                                             "-isystem",
                                             "-iprefix",
                                             "-iquote",
                                             "-idirafter",
                                             "-isysroot",
                                             "-iwithprefix",
                                             "-iwithprefixbefore",
                                             "-fintrinsic-modules-path"};
    for (unsigned i = 1; command[i]; i++) {
        bool it = command[i][0] != '-' || !command[i][1];
        for (unsigned k = 0; k < G_N_ELEMENTS(with_value); k++)
            it = it && strcmp(command[i - 1], with_value[k]) != 0;
        if (it && (strcmp(command[i], "-") == 0 || g_file_test(command[i], G_FILE_TEST_IS_REGULAR)))
            return i;
    }
    return 0;
}

/* The same command for the preprocessor alone, which writes to a file. */
static GPtrArray *preprocessing(char **command, char *to)
{
    GPtrArray *c = g_ptr_array_new();
    for (; *command; command++) {
        if (strcmp(*command, "-o") == 0 && command[1])
            command++;
        else
            g_ptr_array_add(c, *command);
    }
    g_ptr_array_add(c, "-E");
    g_ptr_array_add(c, "-o");
    g_ptr_array_add(c, to);
    g_ptr_array_add(c, NULL);
    return c;
}

/* The same command for a preprocessed text in place of the source, which Fortran's has twice. */
static GPtrArray *compiling(char **command, unsigned source, const char *text, const char *more)
{
    static const char *const with_value[] = {"-MD", "-MMD", "-MF", "-MT", "-MQ", NULL};
    GPtrArray *c = g_ptr_array_new();
    for (unsigned i = 0; command[i]; i++) {
        bool leave = strcmp(command[i], "-MP") == 0 || strcmp(command[i], "-MG") == 0 || g_str_has_prefix(command[i], "-cpp");
        for (const char *const *w = with_value; *w; w++) {
            if (strcmp(command[i], *w) == 0 && command[i + 1]) {
                i++;
                leave = true;
                break;
            }
        }
        if (!leave)
            g_ptr_array_add(c, (char *)(strcmp(command[i], command[source]) == 0 ? text : command[i]));
    }
    g_ptr_array_add(c, (char *)more);
    g_ptr_array_add(c, NULL);
    return c;
}

/* The name of a new file, with this end; NULL after a message. */
static char *scratch(const char *suffix)
{
    char *name = g_strdup_printf("%s/dome-omp-XXXXXX%s", g_get_tmp_dir(), suffix);
    const int fd = g_mkstemp(name);
    if (fd >= 0 && close(fd) == 0)
        return name;
    fprintf(stderr, "dome-omp: error: %s: %s\n", name, g_strerror(errno));
    g_free(name);
    return NULL;
}

/* False after a message. */
static bool write_text(const char *file, const GString *text)
{
    GError *error = NULL;
    if (g_file_set_contents(file, text->str, (gssize)text->len, &error))
        return true;
    fprintf(stderr, "dome-omp: error: %s\n", error->message);
    g_error_free(error);
    return false;
}

/* A preprocessed text in which atomic operations, flushes and directives of checkpoints are calls. 0: it has none; -1 after a
 * message. */
static int with_calls(const char *text, gsize length, bool cplusplus, GString *result)
{
    char *wrong = NULL;
    GString *atomic = g_string_new(NULL), *flushed = g_string_new(NULL);
    const bool acts = atomic_calls(text, length, cplusplus, atomic), flushes = flush_calls(atomic->str, atomic->len, flushed);
    const bool saves = dickpt_calls(flushed->str, cplusplus, result, &wrong);
    if (!saves)
        g_string_assign(result, flushed->str);
    g_string_free(atomic, TRUE);
    g_string_free(flushed, TRUE);
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    return wrong ? -1 : acts || flushes || saves;
}

/* cc1, cc1plus */
static int compile_c(char **command)
{
    const unsigned source = source_in(command);
    const bool from_pipe = source && strcmp(command[source], "-") == 0; /* it can be read once */
    char *file = source ? scratch(".i") : NULL, *text = NULL, *errors = NULL;
    gsize length = 0;
    if (!source)
        return become(command); /* gcc asks for its version, say */
    if (!file)
        return 1;
    GString *result = g_string_new(NULL);
    int calls = 0, status = run((char **)preprocessing(command, file)->pdata, NULL, from_pipe ? NULL : &errors);
    if (status == 0 && !g_file_get_contents(file, &text, &length, NULL)) {
        fprintf(stderr, "dome-omp: error: %s cannot be read\n", file);
        status = 1;
    } else if (status == 0 && (calls = with_calls(text, length, g_str_has_suffix(command[0], "plus"), result)) < 0) {
        status = 1;
    } else if (status == 0 && (calls || from_pipe)) {
        fputs(errors ? errors : "", stderr);
        status = write_text(file, result) ? 0 : 1;
        status = status ? status : run((char **)compiling(command, source, file, "-fpreprocessed")->pdata, NULL, NULL);
    } else if (!from_pipe) { /* nothing to change, or an error, which the compiler says itself */
        g_unlink(file);
        return become(command);
    }
    g_unlink(file);
    g_string_free(result, TRUE);
    return status;
}

static bool is_fixed(const char *file, char **command)
{
    bool fixed = g_str_has_suffix(file, ".f") || g_str_has_suffix(file, ".F") || g_str_has_suffix(file, ".for") ||
                 g_str_has_suffix(file, ".FOR") || g_str_has_suffix(file, ".ftn") || g_str_has_suffix(file, ".fpp");
    for (; *command; command++) {
        fixed = fixed || strcmp(*command, "-ffixed-form") == 0;
        fixed = fixed && strcmp(*command, "-ffree-form") != 0;
    }
    return fixed;
}

/* f951 */
static int compile_fortran(char **command)
{
    const unsigned source = source_in(command);
    char *text = NULL, *errors = NULL, *file = NULL;
    bool preprocess = false;
    for (char **w = command; *w; w++)
        preprocess = preprocess || g_str_has_prefix(*w, "-cpp");
    if (!source || strcmp(command[source], "-") == 0)
        return become(command);
    const char *name = command[source], *suffix = strrchr(name, '.');
    file = scratch(suffix ? suffix : ".f90");
    if (!file)
        return 1;
    GString *result = g_string_new(NULL);
    const bool read = (!preprocess || run((char **)preprocessing(command, file)->pdata, NULL, &errors) == 0) &&
                      g_file_get_contents(preprocess ? file : name, &text, NULL, NULL);
    if (!read || !flush_calls_fortran(text, name, is_fixed(name, command), result)) {
        g_unlink(file); /* nothing to change, or an error, which the compiler says itself */
        return become(command);
    }
    fputs(errors ? errors : "", stderr);
    char *include = g_strdup_printf("-I%s", g_path_get_dirname(name)); /* for "include 'file'" */
    int status = write_text(file, result) ? 0 : 1;
    status = status ? status : run((char **)compiling(command, source, file, include)->pdata, NULL, NULL);
    g_unlink(file);
    return status;
}

/* The folders of -L, and of LD_LIBRARY_PATH. */
static char *folders_in(char **command)
{
    const char *more = g_getenv("LD_LIBRARY_PATH");
    GString *folders = g_string_new(more && *more ? more : ".");
    for (char **w = command; *w; w++) {
        if (strcmp(*w, "-L") == 0 && w[1])
            g_string_append_printf(folders, ":%s", w[1]);
        else if (g_str_has_prefix(*w, "-L"))
            g_string_append_printf(folders, ":%s", *w + 2);
    }
    return g_string_free(folders, FALSE);
}

int step_link(char **command)
{
    const char *program = value_of(command, "-o");
    const int status = run(command, NULL, NULL);
    for (char **w = command; *w && !program; w++)
        if (g_str_has_prefix(*w, "-o") && (*w)[2])
            program = *w + 2;
    char *folders = folders_in(command);
    if (status == 0) {
        objects_look(program ? program : "a.out", command);
        linked_look(program ? program : "a.out", folders);
    }
    g_free(folders);
    return status;
}

int step_run(char **command)
{
    char *name = g_path_get_basename(command[0]);
    for (char **w = command; *w; w++)
        if (strcmp(*w, "-E") == 0)
            return become(command);
    if (strcmp(name, "cc1") == 0 || strcmp(name, "cc1plus") == 0)
        return compile_c(command);
    if (strcmp(name, "f951") == 0)
        return compile_fortran(command);
    if (strcmp(name, "collect2") != 0)
        return become(command);
    return step_link(command);
}
