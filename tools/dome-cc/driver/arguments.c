/* The command line. */
#include "driver/driver.h"
#include "plan/plan.h"

#include <dome/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_word(options *o, word_kind kind, char *text, char *value)
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

bool arguments_is_own(const char *a)
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

typedef struct reader {
    options *o;
    char *word, *next; /* next: the argument behind it, or NULL */
    bool took_next;
    bool as_c;           /* -x c */
    bool verbose;        /* -v */
    bool named;          /* a file is */
    const char *bounded; /* --max-overhead, --max-interval */
} reader;

/* What a procedure here says of a word. */
typedef enum { OTHER, TAKEN, WRONG } reading;

static bool begins_with(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (g_str_has_prefix(word, *list))
            return true;
    return false;
}

/* WRONG after a message: what is to be written instead. */
static reading judge(bool good, const char *word, const char *what)
{
    if (good)
        return TAKEN;
    fprintf(stderr, "dome-cc: error: %s: %s\n", word, what);
    return WRONG;
}

static void read_polls(options *o, char *which)
{
    o->profile = NULL;
    if (strcmp(which, "profile") == 0) {
        polls_policy = POLLS_NONE;
        measured_set_counts();
    } else if (!read_policy(which)) {
        o->profile = which;
    }
}

/* --max-overhead, --max-interval */
static reading read_bound(reader *r)
{
    static const unit_name shares[] = {{"%", 0.01}, {NULL, 0}}, times[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {NULL, 0}};
    const char *value = strchr(r->word, '=') + 1;
    r->bounded = r->word;
    if (g_str_has_prefix(r->word, "--max-overhead="))
        return judge(read_amount(value, shares, &r->o->most_overhead), r->word, "a percentage, such as 5%");
    return judge(read_amount(value, times, &r->o->longest_interval), r->word, "a time, such as 1ms");
}

/* Options that the compiler does not get. */
static reading read_own(reader *r)
{
    static const char *const bounds[] = {"--max-overhead=", "--max-interval=", NULL};
    options *o = r->o;
    char *a = r->word;
    if (!is_well_written(a))
        return WRONG;
    if (begins_with(a, bounds))
        return read_bound(r);
    if (strcmp(a, "--emit-source") == 0) {
        o->emit = true;
    } else if (strcmp(a, "--verbose") == 0) {
        o->verbose = true;
    } else if (g_str_has_prefix(a, "--cc=")) {
        o->compiler = a + strlen("--cc=");
        return judge(is_command(o->compiler), a, "a command, such as clang or \"gcc -m32\"");
    } else if (g_str_has_prefix(a, "--dome=")) {
        o->dome = a + strlen("--dome=");
    } else if (g_str_has_prefix(a, "--polls=")) {
        read_polls(o, a + strlen("--polls="));
    } else {
        return OTHER;
    }
    return TAKEN;
}

/* -c, -o */
static reading read_output(reader *r)
{
    options *o = r->o;
    if (strcmp(r->word, "-c") == 0) {
        o->compile_only = true;
    } else if (strcmp(r->word, "-o") == 0) {
        if (!r->next) {
            fputs("dome-cc: error: -o needs the name of a file\n", stderr);
            return WRONG;
        }
        o->output = r->next;
        r->took_next = true;
    } else if (g_str_has_prefix(r->word, "-o")) {
        o->output = r->word + 2;
    } else {
        return OTHER;
    }
    return TAKEN;
}

/* -x */
static reading read_language(reader *r)
{
    const char *language = r->word[2] ? r->word + 2 : r->next ? r->next : "";
    if (!text_in_list(language, (const char *const[]){"c", "none", NULL})) {
        fprintf(stderr, "dome-cc: error: -x %s: only C is translated\n", language);
        return WRONG;
    }
    r->as_c = strcmp(language, "c") == 0;
    r->took_next = !r->word[2];
    return TAKEN;
}

/* What is to be made: an output, of a language, by the compiler alone. */
static reading read_kind(reader *r)
{
    static const char *const through[] = {"-E", "-S", "-M", "-MM", "-fsyntax-only", "-###", "--target-help", NULL};
    static const char *const questions[] = {"-print-", "-dump", "--help=", NULL};
    char *a = r->word;
    const reading output = read_output(r);
    if (output != OTHER)
        return output;
    if (text_in_list(a, (const char *const[]){"-shared", "-r", NULL}))
        return judge(false, a, "only whole C programs are translated");
    if (g_str_has_prefix(a, "-x"))
        return read_language(r);
    if (strcmp(a, "-v") == 0) {
        r->verbose = true;
        add_word(r->o, WORD_FLAG, a, NULL);
    } else if (text_in_list(a, through) || begins_with(a, questions)) {
        r->o->passes = true;
    } else {
        return OTHER;
    }
    return TAKEN;
}

/* Options whose value is the next argument. */
static reading read_with_value(reader *r)
{
    static const char *const preprocessor[] = {"-I",      "-D",       "-U",         "-include",  "-imacros",       "-isystem",
                                               "-iquote", "-iprefix", "-idirafter", "-isysroot", "-Xpreprocessor", NULL};
    static const char *const dependencies[] = {"-MF", "-MT", "-MQ", NULL};
    static const char *const linker[] = {"-L", "-l", "-Xlinker", "-u", "-T", "-z", "-e", NULL};
    static const char *const other[] = {"--param", "-aux-info", "-B", "--sysroot", "-Xassembler", NULL};
    static const struct {
        const char *const *names;
        word_kind kind;
    } all[] = {{preprocessor, WORD_PREPROCESSOR}, {dependencies, WORD_DEPENDENCIES}, {linker, WORD_LINK}, {other, WORD_FLAG}};
    for (unsigned k = 0; k < G_N_ELEMENTS(all); k++) {
        if (!text_in_list(r->word, all[k].names))
            continue;
        if (!r->next) {
            fprintf(stderr, "dome-cc: error: %s needs a value\n", r->word);
            return WRONG;
        }
        add_word(r->o, all[k].kind, r->word, r->next);
        r->took_next = true;
        return TAKEN;
    }
    return OTHER;
}

static reading read_file(reader *r)
{
    if (r->word[0] == '-' && r->word[1])
        return OTHER;
    if (r->word[0] == '-')
        return judge(false, r->word, "the program must be in a file");
    if (!r->o->passes && !is_input(r->word, r->as_c))
        return WRONG;
    r->named = true;
    add_word(r->o, WORD_INPUT, r->word, NULL);
    return TAKEN;
}

/* Of an option in one word, without those that have been read before. */
static word_kind kind_of(const char *a)
{
    static const char *const dependencies[] = {"-MD", "-MMD", "-MP", "-MG", NULL};
    static const char *const dependency_values[] = {"-MF", "-MT", "-MQ", NULL};
    static const char *const of_tools[] = {"-Wa,", "-Wp,", NULL};
    if (text_in_list(a, dependencies) || begins_with(a, dependency_values))
        return WORD_DEPENDENCIES;
    if (strchr("IDU", a[1]))
        return WORD_PREPROCESSOR;
    if (g_str_has_prefix(a, "-Wl,") || a[1] == 'l' || a[1] == 'L' || strcmp(a, "-static") == 0)
        return WORD_LINK;
    if ((a[1] == 'W' && !begins_with(a, of_tools)) || g_str_has_prefix(a, "-pedantic"))
        return WORD_WARNING;
    return WORD_FLAG;
}

/* False: a message has been printed. */
static bool read_word(reader *r)
{
    static reading (*const in_order[])(reader *) = {read_own, read_kind, read_with_value, read_file};
    r->took_next = false;
    for (unsigned k = 0; k < G_N_ELEMENTS(in_order); k++) {
        const reading result = in_order[k](r);
        if (result != OTHER)
            return result == TAKEN;
    }
    add_word(r->o, kind_of(r->word), r->word, NULL);
    return true;
}

/* What is said at once. */
static bool answers(const char *word)
{
    const bool help = strcmp(word, "--help") == 0, version = strcmp(word, "--version") == 0;
    if (help)
        fputs(usage, stdout);
    if (version)
        printf("dome-cc %s\n", DOME_VERSION);
    return help || version;
}

/* False after a message: there is nothing to translate, or it has no place for what is made. */
static bool check_inputs(const options *o)
{
    unsigned sources = 0, inputs = 0;
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        const char *language = w->kind == WORD_INPUT ? files_other_language(w->text) : NULL;
        if (language && strcmp(language, "assembler") != 0) {
            fprintf(stderr, "dome-cc: error: %s: %s is not translated: compile it by its own compiler, and link the object\n",
                    w->text, language);
            return false;
        }
        inputs += w->kind == WORD_INPUT;
        sources += w->kind == WORD_INPUT && g_str_has_suffix(w->text, ".c");
    }
    if (inputs == 0) {
        fputs("dome-cc: error: no input files; dome-cc --help lists the options\n", stderr);
        return false;
    }
    if (o->output && sources > 1 && (o->compile_only || (o->emit && strcmp(o->output, "-") != 0))) {
        fputs("dome-cc: error: one -o and several files\n", stderr);
        return false;
    }
    return true;
}

/* False after a message: options that do not go together. */
static bool check_all(const reader *r)
{
    if (r->o->passes)
        return true;
    if (r->bounded && !r->o->profile) {
        fprintf(stderr,
                "dome-cc: error: %s needs --polls=FILE: compile with --polls=profile, run the program, and give the file that it "
                "writes\n",
                r->bounded);
        return false;
    }
    return check_inputs(r->o);
}

bool arguments_read(options *o, int argc, char **argv, int *status)
{
    reader r = {.o = o};
    for (int i = 0; i < argc; i++)
        add_arguments(o->arguments, argv[i], 0);
    for (unsigned i = 1; i < o->arguments->len; i++) {
        r.word = g_ptr_array_index(o->arguments, i);
        r.next = i + 1 < o->arguments->len ? g_ptr_array_index(o->arguments, i + 1) : NULL;
        *status = 0;
        if (answers(r.word))
            return false;
        *status = 2;
        if (!read_word(&r))
            return false;
        i += r.took_next;
    }
    *status = 2;
    o->passes = o->passes || (r.verbose && !r.named);
    return check_all(&r);
}
