#include "options/option_parse.h"

#include "ckpt/checkpoint.h"
#include "options/nearest.h"
#include "options/option_table.h"
#include "options/option_value.h"
#include "system/environment_variables.h"
#include "system/unconst.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

#define PREFIX "--dome-"

/* The place that is being read, and the options into which it is read. */
typedef struct reading {
    dome_options *options;
    dome_option_origin *origins;
    dome_option_source source;
} reading;

static GQuark error_quark(void)
{
    return g_quark_from_static_string("dome-options");
}

static void note_origin(const reading *r, const dome_option_row *row, const char *written)
{
    r->origins[row - dome__option_rows] = (dome_option_origin){r->source, written};
}

static gboolean parse_option(const char *name, const char *value, gpointer data, GError **error)
{
    const reading *r = data;
    const dome_option_row *row = dome__option_row_of(name);
    if (dome__option_read(row, value, r->options)) {
        note_origin(r, row, NULL);
        return TRUE;
    }
    char *message = dome__option_refusal(row, name, value);
    g_set_error_literal(error, error_quark(), 0, message);
    g_free(message);
    return FALSE;
}

static void set_defaults(dome_options *options)
{
    *options = (dome_options){0};
    for (const dome_option_row *row = dome__option_rows; row->name; row++)
        if (row->initial)
            dome__option_read(row, row->initial, options);
}

/* The value of this option is optional, and must follow "=": GOption would otherwise take the program's next argument as the
 * value. */
#define RESTART "dome-restart"

/* The context has no named group: GOption would invent --GROUP-OPTION spellings. */
static GOptionContext *new_context(reading *r)
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
    GOptionGroup *group = g_option_group_new("", "", "", r, NULL);
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
    char *shown = dome__option_readable(name);
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
static bool parse_arguments(reading *r, GPtrArray *arguments, char **message)
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
    GOptionContext *context = new_context(r);
    GError *error = NULL;
    bool ok = check_flags(list, count, message);
    if (ok && !g_option_context_parse(context, &count, &list, &error)) {
        ok = false;
        *message = dome__option_readable(error->message);
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

/* The words of DOME_OPTIONS. */
static bool parse_words(reading *r, char **words, char **message)
{
    GPtrArray *arguments = g_ptr_array_new();
    g_ptr_array_add(arguments, (gpointer)DOME_VARIABLE_OPTIONS);
    for (char **word = words; *word; word++)
        g_ptr_array_add(arguments, *word);
    bool ok = parse_arguments(r, arguments, message);
    if (ok && arguments->len > 1) {
        char *shown = dome__option_readable(arguments->pdata[1]);
        *message = g_strdup_printf("'%s' is not an option of Dome's", shown);
        g_free(shown);
        ok = false;
    }
    g_ptr_array_free(arguments, TRUE);
    return ok && !(*message = dome__option_rules_broken(DOME_RULES_OF_WORDS, r->options, NULL, false));
}

static bool parse_environment(reading *r, const char *environment, char **message)
{
    char **words = NULL, *reason = NULL;
    GError *error = NULL;
    if (!g_shell_parse_argv(environment, NULL, &words, &error)) {
        bool empty = g_error_matches(error, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING);
        if (!empty) {
            char *shown = dome__option_readable(environment);
            *message = g_strdup_printf("DOME_OPTIONS has an unmatched quote: %s", shown);
            g_free(shown);
        }
        g_error_free(error);
        return empty;
    }
    r->source = DOME_FROM_ENVIRONMENT;
    const bool ok = parse_words(r, words, &reason);
    if (!ok)
        *message = g_strconcat("in DOME_OPTIONS: ", reason, NULL);
    g_free(reason);
    g_strfreev(words);
    return ok;
}

static dome_option_origin *origin_of(const reading *r, const char *name)
{
    return &r->origins[dome__option_row(name) - dome__option_rows];
}

/* The command line takes precedence over the environment: the number of tasks and the transport, of which one may exclude the
 * other, are read of it alone first. */
static bool parse_argv(reading *r, GPtrArray *arguments, char **message)
{
    dome_options *o = r->options;
    dome_option_origin *tasks = origin_of(r, "dome-tasks"), *transport = origin_of(r, "dome-transport");
    const dome_option_origin env_tasks_origin = *tasks, env_transport_origin = *transport;
    const int env_tasks = o->start.tasks;
    const char *env_transport = o->start.transport;
    o->start.tasks = 0;
    o->start.transport = NULL;
    *tasks = *transport = (dome_option_origin){0};
    r->source = DOME_FROM_ARGUMENTS;
    if (!parse_arguments(r, arguments, message) || (*message = dome__option_rules_broken(DOME_RULES_OF_WORDS, o, NULL, false)))
        return false;
    const bool one = g_strcmp0(o->start.transport, "self") == 0, several = o->start.tasks > 1;
    if (!o->start.tasks && !one) {
        o->start.tasks = env_tasks;
        *tasks = env_tasks_origin;
    }
    if (!o->start.transport && !(several && g_strcmp0(env_transport, "self") == 0)) {
        o->start.transport = env_transport;
        *transport = env_transport_origin;
    }
    return true;
}

static void take_given(reading *r, const dome_option_given *given)
{
    r->source = DOME_FROM_COMMAND;
    for (; given && given->row; given++)
        if (dome__option_read(given->row, given->value, r->options))
            note_origin(r, given->row, given->written);
    /* To a program its own arguments say more than the number that dome run hands on. */
    if (origin_of(r, "dome-transport")->source == DOME_FROM_ARGUMENTS && r->options->start.tasks > 1 &&
        strcmp(r->options->start.transport, "self") == 0) {
        r->options->start.tasks = 0;
        *origin_of(r, "dome-tasks") = (dome_option_origin){0};
    }
}

/* Whether options of different places go together. */
static char *all_broken(const reading *r, bool of_command)
{
    const dome_option_origin *origins = of_command ? r->origins : NULL;
    char *message = dome__option_rules_broken(DOME_RULES_OF_WORDS, r->options, origins, false);
    return message ? message : dome__option_rules_broken(DOME_RULES_OF_ALL, r->options, origins, false);
}

static GPtrArray *words_of(const dome_option_words *words)
{
    GPtrArray *arguments = g_ptr_array_new();
    for (int i = 0; i < *words->argc; i++)
        g_ptr_array_add(arguments, (*words->argv)[i]);
    return arguments;
}

static void leave_words(const dome_option_words *words, const GPtrArray *left)
{
    memcpy(*words->argv, left->pdata, left->len * sizeof **words->argv);
    (*words->argv)[left->len] = NULL;
    *words->argc = (int)left->len;
}

bool dome__options_read(dome_options *options, dome_option_origin *origins, const dome_option_words *words, char **message)
{
    reading r = {options, origins, DOME_FROM_DEFAULT};
    const bool argued = words->argc && words->argv && *words->argv && *words->argc > 0;
    GPtrArray *arguments = argued ? words_of(words) : NULL;
    set_defaults(options);
    memset(origins, 0, DOME_OPTIONS_MOST * sizeof *origins);
    *message = NULL;
    bool ok = !words->environment || parse_environment(&r, words->environment, message);
    ok = ok && (!argued || parse_argv(&r, arguments, message));
    if (ok) {
        take_given(&r, words->given);
        *message = all_broken(&r, words->given != NULL);
        ok = !*message;
    }
    if (!ok)
        dome__options_clear(options);
    else if (argued)
        leave_words(words, arguments);
    if (arguments)
        g_ptr_array_free(arguments, TRUE);
    return ok;
}

/* Which directory the words mean. With tell each task keeps its own state in memory; to heal is of little use without a state. */
static void settle_directory(dome_options *options)
{
    const char *given = options->checkpoint.directory;
    const bool memory = g_strcmp0(given, DOME_CHECKPOINT_MEMORY) == 0, none = g_strcmp0(given, DOME_CHECKPOINT_NONE) == 0;
    if (none || (memory && options->loss.action == DOME_LOSS_TELL)) {
        g_clear_pointer(&options->checkpoint.directory, g_free);
    } else if (!given && options->loss.action == DOME_LOSS_HEAL) {
        options->checkpoint.directory = g_strdup(DOME_CHECKPOINT_MEMORY);
        options->checkpoint.by_default = true;
    }
}

void dome__options_settle(dome_options *options)
{
    settle_directory(options);
    if (options->loss.action == DOME_LOSS_END)
        options->loss.restarts = 0;
}

bool dome__options_parse(dome_options *options, const char *environment, int *argc, char ***argv, char **message)
{
    dome_option_origin origins[DOME_OPTIONS_MOST];
    const dome_option_words words = {.environment = environment, .argc = argc, .argv = argv};
    const bool ok = dome__options_read(options, origins, &words, message);
    if (ok)
        dome__options_settle(options);
    return ok;
}

bool dome__options_look(dome_options *options, int argc, char **argv)
{
    dome_option_origin origins[DOME_OPTIONS_MOST];
    reading r = {options, origins, DOME_FROM_ARGUMENTS};
    GPtrArray *arguments = words_of(&(dome_option_words){.argc = &argc, .argv = &argv});
    char *message = NULL;
    set_defaults(options);
    const bool ok = argc < 1 || parse_arguments(&r, arguments, &message);
    if (!ok)
        dome__options_clear(options);
    g_free(message);
    g_ptr_array_free(arguments, TRUE);
    return ok;
}

void dome__options_clear(dome_options *options)
{
    g_clear_pointer(&options->trace, g_free);
    g_clear_pointer(&options->checkpoint.directory, g_free);
    g_clear_pointer(&options->start.hosts_script, g_free);
}

/* ---- handed on ---- */

static bool stands_in(char *const *words, const dome_option_row *row)
{
    bool stands = false;
    for (int k = 0; words[k] && !stands; k++)
        stands = dome__option_row_of(words[k]) == row;
    return stands;
}

static void add_copies(GPtrArray *words, char *const *these)
{
    for (int k = 0; these[k]; k++)
        g_ptr_array_add(words, g_strdup(these[k]));
}

/* An interpreter takes the words before its script for its own, so the new words stand behind the others. */
char **dome__options_instead(char *const *argv, char *const *instead)
{
    GPtrArray *words = g_ptr_array_new();
    int k = 1;
    g_ptr_array_add(words, g_strdup(argv[0]));
    for (; argv[k] && strcmp(argv[k], "--") != 0; k++) {
        const dome_option_row *row = dome__option_row_of(argv[k]);
        const bool two = row && argv[k + 1] && !strchr(argv[k], '=') && dome__option_takes_next(row);
        if (!row || !stands_in(instead, row)) {
            g_ptr_array_add(words, g_strdup(argv[k]));
            if (two)
                g_ptr_array_add(words, g_strdup(argv[k + 1]));
        }
        k += two;
    }
    add_copies(words, instead);
    add_copies(words, argv + k); /* of the program alone */
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

void dome__options_hand_on(const char *words)
{
    const char *before = g_getenv(DOME_VARIABLE_OPTIONS);
    char *text = before ? g_strdup_printf("%s %s", before, words) : g_strdup(words);
    g_setenv(DOME_VARIABLE_OPTIONS, text, TRUE);
    g_free(text);
}
