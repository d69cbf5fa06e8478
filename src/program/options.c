#include "program/options.h"

#include "ckpt/checkpoint.h"
#include "program/nearest.h"
#include "program/option_table.h"
#include "system/environment_variables.h"
#include "system/unconst.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

#define PREFIX      "--dome-"
#define MAX_LOOPS   1000000000
#define MAX_SECONDS 1e9

static GQuark error_quark(void)
{
    return g_quark_from_static_string("dome-options");
}

/* A user's input in a form that fits into one line of a message. */
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

static bool read_word(const dome_option_row *row, const char *value, void *field)
{
    char **words = g_strsplit(row->argument, "|", -1);
    int place = 0;
    while (words[place] && strcmp(words[place], value) != 0)
        place++;
    bool found = words[place];
    g_strfreev(words);
    if (found && row->kind == DOME_OPTION_WORD)
        *(int *)field = place;
    else if (found)
        *(const char **)field = g_intern_string(value);
    return found;
}

static bool read_count(const dome_option_row *row, const char *value, void *field)
{
    guint64 count;
    if (!g_ascii_string_to_unsigned(value, 10, 1, (guint64)row->most, &count, NULL))
        return false;
    if (row->size == sizeof(uint64_t))
        *(uint64_t *)field = count;
    else
        *(unsigned *)field = (unsigned)count;
    return true;
}

/* Reads a number, with a trailing s if with_s. */
static bool read_number(const char *value, bool with_s, double *number)
{
    char *end;
    *number = g_ascii_strtod(value, &end);
    return end != value && strcmp(end, with_s ? "s" : "") == 0 && !g_ascii_isspace(*value);
}

static bool read_seconds(const dome_option_row *row, const char *value, void *field)
{
    double seconds;
    if (!read_number(value, false, &seconds) || !(seconds >= row->least && seconds <= row->most))
        return false;
    *(double *)field = seconds;
    return true;
}

static bool read_period(const char *value, bool with_s, double *seconds)
{
    return read_number(value, with_s, seconds) && *seconds > 0 && *seconds <= MAX_SECONDS;
}

static bool read_text(const char *value, void *field)
{
    if (!*value)
        return false;
    g_free(*(char **)field);
    *(char **)field = g_strdup(value);
    return true;
}

static bool read_every(const char *value, dome_options *options)
{
    guint64 count;
    if (strcmp(value, "auto") == 0) {
        options->checkpoint_unit = DOME_CHECKPOINT_AUTO;
    } else if (g_ascii_string_to_unsigned(value, 10, 1, MAX_LOOPS, &count, NULL)) {
        options->checkpoint_unit = DOME_CHECKPOINT_LOOPS;
        options->checkpoint_every = (double)count;
    } else if (read_period(value, true, &options->checkpoint_every)) {
        options->checkpoint_unit = DOME_CHECKPOINT_SECONDS;
    } else {
        return false;
    }
    return true;
}

static bool read_restart(const char *value, dome_options *options)
{
    guint64 number = 0;
    if (!*value)
        options->restart = DOME_RESTART_NEWEST;
    else if (strcmp(value, "auto") == 0)
        options->restart = DOME_RESTART_AUTO;
    else if (g_ascii_string_to_unsigned(value, 10, 1, G_MAXUINT64, &number, NULL))
        options->restart = DOME_RESTART_NUMBER;
    else
        return false;
    options->restart_number = number;
    return true;
}

/* Sets the fields of the row's option. Returns false and changes nothing if value is invalid. */
static bool read_value(const dome_option_row *row, const char *value, dome_options *options)
{
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case DOME_OPTION_FLAG:
        return *(bool *)field = true;
    case DOME_OPTION_WORD:
    case DOME_OPTION_NAME:
        return read_word(row, value, field);
    case DOME_OPTION_COUNT:
        return read_count(row, value, field);
    case DOME_OPTION_SECONDS:
        return read_seconds(row, value, field);
    case DOME_OPTION_TEXT:
        return read_text(value, field);
    case DOME_OPTION_EVERY:
        return read_every(value, options);
    case DOME_OPTION_MTBF:
        return read_period(value, false, field) || read_period(value, true, field);
    case DOME_OPTION_RESTART:
        return read_restart(value, options);
    }
    return false;
}

/* Turns "a|b|c" into "'a', 'b' or 'c'", g_free'd by the caller. */
static char *list_of_words(const char *words)
{
    char **each = g_strsplit(words, "|", -1);
    guint count = g_strv_length(each);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < count; i++)
        g_string_append_printf(text, "%s'%s'", i == 0 ? "" : i + 1 < count ? ", " : " or ", each[i]);
    g_strfreev(each);
    return g_string_free(text, FALSE);
}

/* The description of an option's valid values for error messages, g_free'd by the caller. */
static char *wanted(const dome_option_row *row)
{
    char least[G_ASCII_DTOSTR_BUF_SIZE], most[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(least, sizeof least, "%g", row->least);
    g_ascii_formatd(most, sizeof most, "%.0f", row->most);
    if (row->wanted)
        return g_strdup(row->wanted);
    if (row->kind == DOME_OPTION_COUNT)
        return g_strdup_printf("a whole number from 1 to %s", most);
    if (row->kind == DOME_OPTION_SECONDS)
        return g_strdup_printf("seconds from %s to %s", least, most);
    return list_of_words(row->argument);
}

static gboolean parse_option(const char *name, const char *value, gpointer data, GError **error)
{
    const dome_option_row *row = dome__option_rows;
    while (strcmp(row->name, name + strlen("--")) != 0)
        row++;
    if (read_value(row, value, data))
        return TRUE;
    char *shown = readable(value), *text = wanted(row);
    g_set_error(error, error_quark(), 0, "%s takes %s, not '%s'", name, text, shown);
    g_free(text);
    g_free(shown);
    return FALSE;
}

static void set_defaults(dome_options *options)
{
    *options = (dome_options){0};
    for (const dome_option_row *row = dome__option_rows; row->name; row++)
        if (row->initial)
            read_value(row, row->initial, options);
}

/* The value of this option is optional, and must follow "=": GOption would otherwise take the program's next argument as the
 * value. */
#define RESTART "dome-restart"

/* The context has no named group: GOption would invent --GROUP-OPTION spellings. */
static GOptionContext *new_context(dome_options *options)
{
    GArray *entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        GOptionEntry entry = {
            .long_name = row->name,
            /* FILENAME passes values on as bytes, whatever the locale. */
            .flags = row->kind == DOME_OPTION_FLAG ? G_OPTION_FLAG_NO_ARG : G_OPTION_FLAG_FILENAME,
            .arg = G_OPTION_ARG_CALLBACK,
            .arg_data = (gpointer)parse_option,
        };
        g_array_append_val(entries, entry);
    }
    GOptionContext *context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new("", "", "", options, NULL);
    g_option_group_add_entries(group, (GOptionEntry *)(void *)entries->data);
    g_option_context_set_main_group(context, group);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_ignore_unknown_options(context, TRUE);
    g_array_free(entries, TRUE);
    return context;
}

/* The message for an argument that looks like an option of Dome but is unknown. */
static char *unknown_option(const char *argument)
{
    char *name = g_strndup(argument, strcspn(argument, "="));
    char *shown = readable(name);
    GPtrArray *names = g_ptr_array_new();
    for (const dome_option_row *row = dome__option_rows; row->name; row++)
        g_ptr_array_add(names, dome__unconst(row->name));
    g_ptr_array_add(names, NULL);
    const char *nearest = dome__nearest(name + strlen("--"), (const char *const *)names->pdata);
    g_ptr_array_free(names, TRUE);
    char *message = nearest ? g_strdup_printf("unknown option %s; did you mean --%s?", shown, nearest)
                            : g_strdup_printf("unknown option %s; --dome-help lists the options", shown);
    g_free(shown);
    g_free(name);
    return message;
}

/* GOption silently drops the value of --dome-profile=yes. */
static bool check_flags(char **arguments, int count, char **message)
{
    for (int i = 1; i < count; i++)
        for (const dome_option_row *row = dome__option_rows; row->name; row++)
            if (row->kind == DOME_OPTION_FLAG && g_str_has_prefix(arguments[i], "--") &&
                g_str_has_prefix(arguments[i] + 2, row->name) && arguments[i][2 + strlen(row->name)] == '=') {
                *message = g_strdup_printf("--%s takes no value", row->name);
                return false;
            }
    return true;
}

/* Reads the options among the arguments before the first "--" and removes them from the array (without freeing them). */
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
    GOptionContext *context = new_context(options);
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
    g_ptr_array_add(arguments, (gpointer)DOME_VARIABLE_OPTIONS);
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
    const bool without = options->on_loss == DOME_LOSS_TELL || options->on_loss == DOME_LOSS_HEAL; /* they need none for that */
    const bool every = options->checkpoint_unit != DOME_CHECKPOINT_AUTO && !options->checkpoint_dir && !without;
    const bool resumes = options->restart != DOME_RESTART_NONE &&
                         (!options->checkpoint_dir || strcmp(options->checkpoint_dir, DOME_CHECKPOINT_NONE) == 0);
    if ((!every && !resumes) || options->help || options->version)
        return true;
    *message = g_strdup_printf("--%s needs --dome-checkpoint-dir: the directory where checkpoints are",
                               options->restart != DOME_RESTART_NONE ? RESTART : "dome-checkpoint-every");
    return false;
}

static bool parse_argv(dome_options *options, int *argc, char ***argv, char **message)
{
    int env_tasks = options->tasks;
    const char *env_transport = options->transport;
    options->tasks = 0;
    options->transport = NULL;

    GPtrArray *arguments = g_ptr_array_new();
    for (int i = 0; i < *argc; i++)
        g_ptr_array_add(arguments, (*argv)[i]);
    bool ok = parse_arguments(options, arguments, message) && check_together(options, "", message) &&
              check_checkpoints(options, message);
    if (ok) {
        memcpy(*argv, arguments->pdata, arguments->len * sizeof **argv);
        (*argv)[arguments->len] = NULL;
        *argc = (int)arguments->len;

        /* argv takes precedence over the environment. */
        if (!options->tasks && !(options->transport && strcmp(options->transport, "self") == 0))
            options->tasks = env_tasks;
        if (!options->transport)
            options->transport = env_transport;
        if (contradict(options))
            options->transport = NULL;
    }
    g_ptr_array_free(arguments, TRUE);
    return ok;
}

/* Which directory the words mean. With tell each task keeps its own state in memory; to heal is of little use without a state. */
static void settle_directory(dome_options *options)
{
    const char *given = options->checkpoint_dir;
    const bool memory = g_strcmp0(given, DOME_CHECKPOINT_MEMORY) == 0, none = g_strcmp0(given, DOME_CHECKPOINT_NONE) == 0;
    if (none || (memory && options->on_loss == DOME_LOSS_TELL)) {
        g_clear_pointer(&options->checkpoint_dir, g_free);
    } else if (!given && options->on_loss == DOME_LOSS_HEAL) {
        options->checkpoint_dir = g_strdup(DOME_CHECKPOINT_MEMORY);
        options->checkpoint_by_default = true;
    }
}

bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message)
{
    set_defaults(options);
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
    else
        settle_directory(options);
    return ok;
}

void dome__options_clear(dome_options *options)
{
    g_clear_pointer(&options->trace, g_free);
    g_clear_pointer(&options->checkpoint_dir, g_free);
    g_clear_pointer(&options->hosts_script, g_free);
}

/* Appends the sentence in lines of at most 80 columns, indented, without its backquotes. */
static void append_wrapped(GString *to, const char *sentence)
{
    enum { INDENT = 6, WIDTH = 80 };
    char **words = g_strsplit(sentence, " ", -1);
    gsize column = WIDTH;
    for (char **word = words; *word; word++) {
        char **parts = g_strsplit(*word, "`", -1), *plain = g_strjoinv(NULL, parts);
        bool breaks = column + 1 + strlen(plain) > WIDTH;
        g_string_append_printf(to, "%s%*s%s", breaks && word != words ? "\n" : "", breaks ? INDENT : 1, "", plain);
        column = (breaks ? INDENT : column + 1) + strlen(plain);
        g_free(plain);
        g_strfreev(parts);
    }
    g_string_append_c(to, '\n');
    g_strfreev(words);
}

char *dome__options_help(void)
{
    GString *text = g_string_new("Options of every Dome program\n");
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        if (row == dome__option_rows || row->part != row[-1].part)
            g_string_append_printf(text, "\n%s:\n", dome__option_parts[row->part]);
        g_string_append_printf(text, "  --%s%s%s\n", row->name, row->argument ? "=" : "", row->argument ? row->argument : "");
        const char *otherwise = row->otherwise ? row->otherwise : row->initial;
        char *sentence = otherwise ? g_strdup_printf("%s (default: %s)", row->help, otherwise) : g_strdup(row->help);
        append_wrapped(text, sentence);
        g_free(sentence);
    }
    g_string_append(text, "\nThe same options may stand in the environment variable DOME_OPTIONS;\n"
                          "the command line wins. \"--\" ends the options of Dome.\n");
    return g_string_free(text, FALSE);
}
