#include "program/options.h"

#include "program/nearest.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

#define PREFIX          "--dome-"
#define DEFAULT_TIMEOUT 10.0
#define MIN_TIMEOUT     0.1
#define MAX_TIMEOUT     86400.0
#define MAX_TASKS       1000000
#define MAX_COUNT       1000000000
#define DEFAULT_KEEP    2
#define MAX_SECONDS     1e9

static GQuark error_quark(void)
{
    return g_quark_from_static_string("dome-options");
}

/* What a user typed, fit for one line of a message. */
static char *readable(const char *text)
{
    enum { LONGEST = 80 };
    char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) > LONGEST) {
        char *cut = g_utf8_substring(valid, 0, LONGEST);
        g_free(valid);
        valid = g_strconcat(cut, "...", NULL);
        g_free(cut);
    }
    for (char *c = valid; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return valid;
}

static gboolean bad_value(GError **error, const char *name, const char *value, const char *wanted)
{
    char *shown = readable(value);
    g_set_error(error, error_quark(), 0, "%s takes %s, not '%s'", name, wanted, shown);
    g_free(shown);
    return FALSE;
}

static gboolean parse_tasks(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    guint64 tasks;
    if (!g_ascii_string_to_unsigned(value, 10, 1, MAX_TASKS, &tasks, NULL))
        return bad_value(error, name, value, "a whole number from 1 to " G_STRINGIFY(MAX_TASKS));
    options->tasks = (int)tasks;
    return TRUE;
}

static gboolean parse_transport(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    if (strcmp(value, "pvm") != 0 && strcmp(value, "self") != 0)
        return bad_value(error, name, value, "'pvm' or 'self'");
    g_free(options->transport);
    options->transport = g_strdup(value);
    return TRUE;
}

static gboolean parse_timeout(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    char *end;
    double timeout = g_ascii_strtod(value, &end);
    if (end == value || *end || g_ascii_isspace(*value) || !(timeout >= MIN_TIMEOUT && timeout <= MAX_TIMEOUT))
        return bad_value(error, name, value, "seconds from 0.1 to 86400");
    options->timeout = timeout;
    return TRUE;
}

static gboolean parse_output(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    if (strcmp(value, "rank0") == 0)
        options->output = DOME_OUTPUT_FIRST;
    else if (strcmp(value, "all") == 0)
        options->output = DOME_OUTPUT_ALL;
    else
        return bad_value(error, name, value, "'rank0' or 'all'");
    return TRUE;
}

/* A choice among words, whose place is the value of the option. */
static gboolean parse_word(const char *name, const char *value, const char *const words[], const char *wanted, int *place,
                           GError **error)
{
    for (*place = 0; words[*place]; ++*place)
        if (strcmp(value, words[*place]) == 0)
            return TRUE;
    return bad_value(error, name, value, wanted);
}

static gboolean parse_balance(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"global", "ring", "random", "none", NULL}; /* as in dome_balancing */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'none', 'global', 'ring' or 'random'", &place, error))
        return FALSE;
    options->balance = (dome_balancing)place;
    return TRUE;
}

static gboolean parse_topology(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"ring", "linear", NULL}; /* as in dome_topology */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'ring' or 'linear'", &place, error))
        return FALSE;
    options->topology = (dome_topology)place;
    return TRUE;
}

static gboolean parse_progress(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"auto", "always", "never", NULL}; /* as in dome_progress_mode */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'auto', 'always' or 'never'", &place, error))
        return FALSE;
    options->progress = (dome_progress_mode)place;
    return TRUE;
}

static gboolean parse_kernels(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"auto", "avx512", "avx2", "baseline", NULL};
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'auto', 'avx512', 'avx2' or 'baseline'", &place, error))
        return FALSE;
    options->kernels = words[place];
    return TRUE;
}

static gboolean parse_road(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"best", "vm", "shm", "pvm", NULL}; /* as in dome_road */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'best', 'vm', 'shm' or 'pvm'", &place, error))
        return FALSE;
    options->road = (dome_road)place;
    return TRUE;
}

static gboolean parse_evaluator(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"auto", "plain", "fused", "compiled", NULL}; /* as in dome_evaluator */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'auto', 'plain', 'fused' or 'compiled'", &place, error))
        return FALSE;
    options->evaluator = (dome_evaluator)place;
    return TRUE;
}

static gboolean parse_bind(const char *name, const char *value, gpointer data, GError **error)
{
    static const char *const words[] = {"none", "core", NULL}; /* as in dome_binding */
    dome_options *options = data;
    int place;
    if (!parse_word(name, value, words, "'none' or 'core'", &place, error))
        return FALSE;
    options->bind = (dome_binding)place;
    return TRUE;
}

static gboolean parse_count(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    guint64 count;
    if (!g_ascii_string_to_unsigned(value, 10, 1, MAX_COUNT, &count, NULL))
        return bad_value(error, name, value, "a whole number from 1 to " G_STRINGIFY(MAX_COUNT));
    if (strcmp(name, "--dome-balance-every") == 0)
        options->balance_every = count;
    else if (strcmp(name, "--dome-balance-phases") == 0)
        options->balance_phases = count;
    else
        options->balance_group = (int)count;
    return TRUE;
}

static gboolean parse_trace(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    if (!*value)
        return bad_value(error, name, value, "the name of a file");
    g_free(options->trace);
    options->trace = g_strdup(value);
    return TRUE;
}

static gboolean parse_directory(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    if (!*value)
        return bad_value(error, name, value, "the name of a directory");
    g_free(options->checkpoint_dir);
    options->checkpoint_dir = g_strdup(value);
    return TRUE;
}

/* Seconds above 0, with an s behind them or without. */
static bool parse_seconds(const char *value, bool with_s, double *seconds)
{
    char *end;
    *seconds = g_ascii_strtod(value, &end);
    return end != value && strcmp(end, with_s ? "s" : "") == 0 && !g_ascii_isspace(*value) && *seconds > 0 &&
           *seconds <= MAX_SECONDS;
}

static gboolean parse_every(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    guint64 count;
    if (strcmp(value, "auto") == 0) {
        options->checkpoint_unit = DOME_CHECKPOINT_AUTO;
    } else if (g_ascii_string_to_unsigned(value, 10, 1, MAX_COUNT, &count, NULL)) {
        options->checkpoint_unit = DOME_CHECKPOINT_LOOPS;
        options->checkpoint_every = (double)count;
    } else if (parse_seconds(value, true, &options->checkpoint_every)) {
        options->checkpoint_unit = DOME_CHECKPOINT_SECONDS;
    } else {
        return bad_value(error, name, value, "loops (100), seconds (60s) or 'auto'");
    }
    return TRUE;
}

static gboolean parse_mtbf(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    if (!parse_seconds(value, false, &options->checkpoint_mtbf) && !parse_seconds(value, true, &options->checkpoint_mtbf))
        return bad_value(error, name, value, "seconds above 0");
    return TRUE;
}

static gboolean parse_keep(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    guint64 count;
    if (!g_ascii_string_to_unsigned(value, 10, 1, MAX_TASKS, &count, NULL))
        return bad_value(error, name, value, "a whole number from 1 to " G_STRINGIFY(MAX_TASKS));
    options->checkpoint_keep = (unsigned)count;
    return TRUE;
}

static gboolean parse_restart(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    guint64 number = 0;
    if (!*value)
        options->restart = DOME_RESTART_NEWEST;
    else if (strcmp(value, "auto") == 0)
        options->restart = DOME_RESTART_AUTO;
    else if (g_ascii_string_to_unsigned(value, 10, 1, G_MAXUINT64, &number, NULL))
        options->restart = DOME_RESTART_NUMBER;
    else
        return bad_value(error, name, value, "no value, =auto or =NUMBER");
    options->restart_number = number;
    return TRUE;
}

static gboolean parse_flag(const char *name, const char *value, gpointer data, GError **error)
{
    dome_options *options = data;
    (void)value;
    (void)error;
    if (strcmp(name, "--dome-profile") == 0)
        options->profile = true;
    else if (strcmp(name, "--dome-check-pointers") == 0)
        options->check_pointers = true;
    else if (strcmp(name, "--dome-version") == 0)
        options->version = true;
    else
        options->help = true;
    return TRUE;
}

/* Its value is optional, and only ever behind "=": GOption would take the program's own next argument. */
#define RESTART "dome-restart"

/* FILENAME lets values through as the bytes they are, whatever the locale. */
#define VALUE(name, parse, description, argument)                                                                                \
    {                                                                                                                            \
        name, 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, (gpointer)parse, description, argument                           \
    }
#define FLAG(name, description)                                                                                                  \
    {                                                                                                                            \
        name, 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (gpointer)parse_flag, description, NULL                            \
    }

static const GOptionEntry entries[] = {
    VALUE("dome-tasks", parse_tasks, "run as N tasks (default: one on each host, or each processor of this one)", "N"),
    VALUE("dome-transport", parse_transport, "how tasks communicate; self: one task, no daemon", "pvm|self"),
    VALUE("dome-road", parse_road,
          "how tasks of one host exchange data; vm: shared memory and each other's memory, shm: shared memory (default best)",
          "best|vm|shm|pvm"),
    VALUE("dome-bind", parse_bind, "core: keep each task on a processor of its own (default none)", "none|core"),
    VALUE("dome-timeout", parse_timeout, "give a task or host up when it is silent for so long (default 10)", "SECONDS"),
    VALUE("dome-output", parse_output, "whose standard output is shown; all: with the rank before each line", "rank0|all"),
    VALUE("dome-balance", parse_balance,
          "where data goes: by the figures of all tasks, by those of neighbours, nowhere; random: for finding mistakes (default "
          "global)",
          "none|global|ring|random"),
    VALUE("dome-balance-every", parse_count, "balance every so many operations (default: as often as it pays)", "OPS"),
    VALUE("dome-balance-phases", parse_count, "balance so many times at most (default: no limit)", "N"),
    VALUE("dome-balance-group", parse_count, "ring: groups of so many tasks decide together (default 1)", "TASKS"),
    VALUE("dome-topology", parse_topology, "ring: data may go around the ends; linear: it may not (default ring)", "ring|linear"),
    VALUE("dome-kernels", parse_kernels, "the widest vector instructions to use; the bits are the same (default: what there is)",
          "auto|avx512|avx2|baseline"),
    VALUE("dome-checkpoint-dir", parse_directory, "write checkpoints into this directory", "DIR"),
    VALUE("dome-checkpoint-every", parse_every, "how often: loop boundaries, seconds, or as often as it pays (default auto)",
          "N|SECONDSs|auto"),
    VALUE("dome-checkpoint-keep", parse_keep, "keep so many of them (default 2)", "K"),
    VALUE("dome-checkpoint-mtbf", parse_mtbf, "auto: expect a failure every so many seconds (default: as seen, at first 3600)",
          "SECONDS"),
    VALUE(RESTART, parse_restart,
          "go on from the newest good checkpoint (without a value), from one by number, or (auto) from one if there is one",
          "auto|NUMBER"),
    VALUE("dome-evaluator", parse_evaluator,
          "how element-wise operations are run: plain: one after the other; fused: in one pass; compiled: by generated code, "
          "waited "
          "for; auto: fused, and by generated code where a chain comes back (default auto)",
          "auto|plain|fused|compiled"),
    FLAG("dome-check-pointers", "end with a word when the program uses a pointer to data that has moved"),
    VALUE("dome-progress", parse_progress,
          "how far the program is; auto: on a terminal and in a file, not in a pipe (default auto)", "auto|always|never"),
    VALUE("dome-trace", parse_trace, "record what happens in FILE, for dome view; FILE.json: for Perfetto", "FILE"),
    FLAG("dome-profile", "print what each operation cost when the program ends"),
    FLAG("dome-version", "print the version of Dome and end"),
    FLAG("dome-help", "print this and end"),
    {0},
};

/* Named, the group's description heads the help; unnamed, GOption cannot invent --GROUP-OPTION spellings. */
static GOptionContext *new_context(dome_options *options, const char *group_name)
{
    GOptionContext *context = g_option_context_new("[the program's own arguments]");
    GOptionGroup *group =
        g_option_group_new(group_name, "Options of every Dome program:", "Options of every Dome program", options, NULL);
    g_option_group_add_entries(group, entries);
    if (*group_name)
        g_option_context_add_group(context, group);
    else
        g_option_context_set_main_group(context, group);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_ignore_unknown_options(context, TRUE);
    return context;
}

/* The message for an argument that starts like an option of Dome's and was not taken as one. */
static char *unknown_option(const char *argument)
{
    char *name = g_strndup(argument, strcspn(argument, "="));
    char *shown = readable(name);
    const char *names[G_N_ELEMENTS(entries)];
    for (size_t i = 0; i < G_N_ELEMENTS(entries); i++)
        names[i] = entries[i].long_name;
    const char *nearest = dome__nearest(name + strlen("--"), names);
    char *message = nearest ? g_strdup_printf("unknown option %s; did you mean --%s?", shown, nearest)
                            : g_strdup_printf("unknown option %s; --dome-help lists the options", shown);
    g_free(shown);
    g_free(name);
    return message;
}

/* GOption drops the value of --dome-profile=yes without a word. */
static bool check_flags(char **arguments, int count, char **message)
{
    for (int i = 1; i < count; i++)
        for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
            size_t length = strlen(entry->long_name);
            if (entry->flags & G_OPTION_FLAG_NO_ARG && g_str_has_prefix(arguments[i], "--") &&
                g_str_has_prefix(arguments[i] + 2, entry->long_name) && arguments[i][2 + length] == '=') {
                *message = g_strdup_printf("--%s takes no value", entry->long_name);
                return false;
            }
        }
    return true;
}

/* Reads the options among the arguments before the first "--" and takes them out of the array (not out of memory). */
static bool parse_arguments(dome_options *options, GPtrArray *arguments, char **message)
{
    guint end = 1;
    while (end < arguments->len && strcmp(arguments->pdata[end], "--") != 0)
        end++;

    int count = (int)end;
    char **list = g_new0(char *, end + 1);
    memcpy(list, arguments->pdata, end * sizeof *list);
    for (guint i = 1; i < end; i++)
        if (strcmp(list[i], "--" RESTART) == 0)
            list[i] = (char *)"--" RESTART "=";
    GOptionContext *context = new_context(options, "");
    GError *error = NULL;
    bool ok = check_flags(list, count, message);
    if (ok && !g_option_context_parse(context, &count, &list, &error)) {
        ok = false;
        *message = readable(error->message);
        g_error_free(error);
    }
    for (int i = 1; ok && i < count; i++)
        if (g_str_has_prefix(list[i], PREFIX)) {
            *message = unknown_option(list[i]);
            ok = false;
        }
    if (ok) {
        memcpy(arguments->pdata, list, (size_t)count * sizeof *list);
        if (end > (guint)count)
            g_ptr_array_remove_range(arguments, (guint)count, end - (guint)count);
    }
    g_option_context_free(context);
    g_free(list);
    return ok;
}

static bool parse_environment(dome_options *options, const char *environment, char **message)
{
    char **words = NULL;
    GError *error = NULL;
    if (!g_shell_parse_argv(environment, NULL, &words, &error)) {
        bool empty = g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING);
        if (!empty) {
            char *shown = readable(environment);
            *message = g_strdup_printf("DOME_OPTIONS has an unmatched quote: %s", shown);
            g_free(shown);
        }
        g_error_free(error);
        return empty;
    }

    GPtrArray *arguments = g_ptr_array_new();
    g_ptr_array_add(arguments, (gpointer) "DOME_OPTIONS");
    for (char **word = words; *word; word++)
        g_ptr_array_add(arguments, *word);
    char *reason = NULL;
    bool ok = parse_arguments(options, arguments, &reason);
    if (ok && arguments->len > 1) {
        char *shown = readable(arguments->pdata[1]);
        reason = g_strdup_printf("'%s' is not an option of Dome's", shown);
        g_free(shown);
        ok = false;
    }
    if (!ok)
        *message = g_strconcat("in DOME_OPTIONS: ", reason, NULL);
    g_free(reason);
    g_ptr_array_free(arguments, TRUE);
    g_strfreev(words);
    return ok;
}

static bool contradict(const dome_options *options)
{
    return options->tasks > 1 && options->transport && strcmp(options->transport, "self") == 0;
}

static bool check_together(const dome_options *options, const char *where, char **message)
{
    if (!contradict(options))
        return true;
    *message = g_strdup_printf("%s--dome-transport self runs one task, but --dome-tasks says %d", where, options->tasks);
    return false;
}

static bool check_checkpoints(const dome_options *options, char **message)
{
    bool wanted = options->restart != DOME_RESTART_NONE || options->checkpoint_unit != DOME_CHECKPOINT_AUTO;
    if (options->checkpoint_dir || !wanted || options->help || options->version)
        return true;
    *message = g_strdup_printf("--%s needs --dome-checkpoint-dir: the directory where checkpoints are",
                               options->restart != DOME_RESTART_NONE ? RESTART : "dome-checkpoint-every");
    return false;
}

static bool parse_argv(dome_options *options, int *argc, char ***argv, char **message)
{
    int env_tasks = options->tasks;
    char *env_transport = g_steal_pointer(&options->transport);
    options->tasks = 0;

    GPtrArray *arguments = g_ptr_array_new();
    for (int i = 0; i < *argc; i++)
        g_ptr_array_add(arguments, (*argv)[i]);
    bool ok = parse_arguments(options, arguments, message) && check_together(options, "", message) &&
              check_checkpoints(options, message);
    if (ok) {
        memcpy(*argv, arguments->pdata, arguments->len * sizeof **argv);
        (*argv)[arguments->len] = NULL;
        *argc = (int)arguments->len;

        /* What the environment says stands unless argv says otherwise. */
        if (!options->tasks && !(options->transport && strcmp(options->transport, "self") == 0))
            options->tasks = env_tasks;
        if (!options->transport)
            options->transport = g_steal_pointer(&env_transport);
        if (contradict(options))
            g_clear_pointer(&options->transport, g_free);
    }
    g_ptr_array_free(arguments, TRUE);
    g_free(env_transport);
    return ok;
}

bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message)
{
    *options = (dome_options){
        .timeout = DEFAULT_TIMEOUT,
        .balance_group = 1,
        .kernels = "auto",
        .checkpoint_keep = DEFAULT_KEEP,
    };
    *message = NULL;
    bool ok = true;
    if (environment)
        ok = parse_environment(options, environment, message) && check_together(options, "in DOME_OPTIONS: ", message);
    if (ok && argc && argv && *argv && *argc > 0)
        ok = parse_argv(options, argc, argv, message);
    else if (ok)
        ok = check_checkpoints(options, message);
    if (!ok)
        dome__options_clear(options);
    return ok;
}

void dome__options_clear(dome_options *options)
{
    g_clear_pointer(&options->transport, g_free);
    g_clear_pointer(&options->trace, g_free);
    g_clear_pointer(&options->checkpoint_dir, g_free);
}

char *dome__options_help(void)
{
    dome_options unused = {0};
    GOptionContext *context = new_context(&unused, "dome");
    g_option_context_set_description(context, "The same options may stand in the environment variable DOME_OPTIONS;\n"
                                              "the command line wins. \"--\" ends the options of Dome.");
    char *text = g_option_context_get_help(context, FALSE, NULL);
    g_option_context_free(context);
    return text;
}
