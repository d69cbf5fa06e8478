/* One C file: what the compiler says of it, its preprocessed text, and its object. */
#include "driver/driver.h"
#include "front/front.h"
#include "front/section.h"

#include "dickpt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
            command_add(arguments, w);
    }
}

/* As the compiler calls it: "x86_64-linux-gnu". NULL: it does not say. */
static const char *target_machine(const options *o)
{
    static char *target;
    if (!target) {
        GPtrArray *command = command_new(o);
        command_add(command, "-dumpmachine");
        target = command_ask(o, command);
    }
    return target;
}

unit *compile_parse(const options *o, const char *path, char *text, gsize length, GPtrArray *flags)
{
    GPtrArray *arguments = g_ptr_array_new();
    for (const char *const *w =
             (const char *const[]){"-x", "cpp-output", "-w", "-ferror-limit=20", "-fdouble-square-bracket-attributes", NULL};
         *w; w++)
        command_add(arguments, *w);
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

/* The preprocessed text. The compiler says that it is an old one, as clang does: the headers then have nothing that libclang does
 * not know. With any optimization the text is the same: headers must not have other macros for -O0. */
static source preprocess(const options *o, const char *path)
{
    char *to = files_scratch(".i");
    source s = {.text = NULL};
    GPtrArray *command = command_new(o);
    command_add_words(o, command, FLAGS | PREPROCESSOR);
    for (const char *const *w =
             (const char *const[]){"-E", "-dD", "-U__GNUC__", "-D__GNUC__=4", "-U__GNUC_MINOR__", "-D__GNUC_MINOR__=2",
                                   "-U__GNUC_PATCHLEVEL__", "-D__GNUC_PATCHLEVEL__=1", "-D__DOME_CC__=1", "-U__OPTIMIZE__",
                                   "-D_Float32=dome__float32", "-D_Float64=dome__float64", "-D_Float32x=dome__float32x",
                                   "-D_Float64x=dome__float64x", "-D_Float128=dome__float128", "-w", NULL};
         *w; w++)
        command_add(command, *w);
    library_add_include(o, command);
    command_add(command, path);
    command_add(command, "-o");
    command_add(command, to);
    if (command_run_captured(o, command, NULL, &s.errors) == 0 && g_file_get_contents(to, &s.text, &s.length, NULL))
        s.macros = source_take_macros(s.text);
    return s;
}

/* #pragma dickpt becomes calls, at the same lines. False after a message. */
static bool replace_dickpt(source *s)
{
    GString *text = g_string_new(NULL);
    char *wrong = NULL;
    if (s->text && dickpt_calls(s->text, false, text, &wrong)) {
        g_free(s->text);
        s->length = text->len;
        s->text = g_string_free(text, FALSE);
    } else {
        g_string_free(text, TRUE);
    }
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    return !wrong;
}

/* The compiler's own messages about the user's text. */
int compile_plainly(const options *o, const char *path, const char *object, const source *s)
{
    GPtrArray *command = command_new(o);
    command_add_words(o, command, FLAGS | PREPROCESSOR | DEPENDENCIES | WARNINGS);
    if (s && s->text &&
        (strstr(s->text, "\n#pragma dome ") || strstr(s->text, "\n#pragma dickpt "))) /* which the compiler does not know */
        command_add(command, "-Wno-unknown-pragmas");
    library_add_include(o, command);
    if (object) {
        command_add(command, "-c");
        command_add(command, "-o");
        command_add(command, object);
    } else {
        command_add(command, "-fsyntax-only");
    }
    command_add(command, path);
    return command_run(o, command, NULL);
}

GPtrArray *compile_flags(const options *o)
{
    GPtrArray *flags = g_ptr_array_new();
    command_add_words(o, flags, FLAGS);
    return flags;
}

/* Lets the compiler report on a file, and make its object if that is wanted; then the preprocessed text. 0, or the compiler's
 * status. */
int compile_read(const options *o, const char *path, const char *object, source *s)
{
    *s = preprocess(o, path);
    int status = compile_plainly(o, path, object, s);
    if (!status && !replace_dickpt(s))
        status = 1;
    if (!status && !s->text) {
        fputs(s->errors ? s->errors : "", stderr);
        status = 1;
    }
    g_free(s->errors);
    return status;
}

static int compile_only(const options *o, const char *path)
{
    char *made = o->output ? g_strdup(o->output) : files_object_name(path), *section = files_scratch(".text");
    source s;
    int status = compile_read(o, path, made, &s);
    if (status)
        return status;
    object own = {.path = (char *)(guintptr)path, .flags = compile_flags(o), .text = s.text, .length = s.length};
    GPtrArray *command = g_ptr_array_new();
    unit *u = compile_parse(o, path, s.text, s.length, own.flags);
    if (!u->refused)
        source_find(u, s.macros);
    own.sources = u->tables[TABLE_SOURCES];
    GString *content = section_text(&own);
    command_add(command, command_tool(o, "objcopy"));
    g_ptr_array_add(command, g_strdup_printf("--add-section=" SECTION_NAME "=%s", section));
    command_add(command, "--set-section-flags=" SECTION_NAME "=exclude");
    command_add(command, made);
    if (u->refused || !files_write(section, content->str, (gssize)content->len) || command_run(o, command, NULL) != 0) {
        unlink(made);
        return 1;
    }
    return 0;
}

int compile_text(const options *o, const unit *u, const char *text, GPtrArray *flags, const char *object)
{
    char *file = files_scratch(".i");
    if (!files_write(file, text, -1))
        return 1;
    GPtrArray *command = command_new(o);
    for (unsigned i = 0; i < flags->len; i++)
        if (!g_str_has_prefix(g_ptr_array_index(flags, i), "-save-temps")) /* those of the user's text are there already */
            command_add(command, g_ptr_array_index(flags, i));
    /* gcc 12 for s390x keeps the counter of a loop in memory, and counts down once more after a poll that is a way back to the
     * loop's head (tests/dome-cc/supported/counted.c). */
    if (target_machine(o) && g_str_has_prefix(target_machine(o), "s390"))
        command_add(command, "-fno-branch-count-reg");
    for (const char *const *w = (const char *const[]){"-w", "-ffp-contract=off", "-x", "cpp-output", "-c", "-o", NULL}; *w; w++)
        command_add(command, *w);
    command_add(command, object);
    command_add(command, file);
    int status = command_run(o, command, NULL);
    if (status)
        fprintf(stderr,
                "dome-cc: error: the compiler does not take the translation of %s (dome-cc --emit-source shows it); this is a "
                "mistake of dome-cc\n",
                u->path);
    return status;
}

static int compile_file(const options *o, const char *path)
{
    int status = 0;
    if (g_str_has_suffix(path, ".c"))
        return compile_only(o, path);
    if (files_other_language(path))
        return compile_plainly(o, path, o->output ? o->output : files_object_name(path), NULL);
    status = files_is_missing(path);
    if (!status)
        fprintf(stderr, "dome-cc: warning: %s: not used, because nothing is linked\n", path);
    return status;
}

int compile_files(const options *o)
{
    int status = 0;
    for (unsigned i = 0; i < o->words->len && !status; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (w->kind == WORD_INPUT)
            status = compile_file(o, w->text);
    }
    return status;
}
