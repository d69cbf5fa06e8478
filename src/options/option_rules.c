#include "options/option_rules.h"

#include "ckpt/checkpoint.h"
#include "options/option_value.h"

#include <glib.h>
#include <string.h>

/* Whether options break a rule. Two numbers are in order if one of them is not given. */
typedef bool broken(const dome_options *o, bool supervised);

static bool in_order(int less, int more)
{
    return !less || !more || less <= more;
}

static bool one_task(const dome_options *o)
{
    return o->start.transport && strcmp(o->start.transport, "self") == 0;
}

static bool several_in_one(const dome_options *o, bool supervised)
{
    (void)supervised;
    return o->start.tasks > 1 && one_task(o);
}

static bool resumes_without_directory(const dome_options *o, bool supervised)
{
    (void)supervised;
    return o->restart.from != DOME_RESTART_NONE &&
           g_strcmp0(o->checkpoint.directory ? o->checkpoint.directory : DOME_CHECKPOINT_NONE, DOME_CHECKPOINT_NONE) == 0;
}

/* What follows a loss by tell or heal needs no directory: the tasks keep the state. */
static bool saves_without_directory(const dome_options *o, bool supervised)
{
    (void)supervised;
    const bool kept = o->loss.action == DOME_LOSS_TELL || o->loss.action == DOME_LOSS_HEAL;
    return o->checkpoint.unit != DOME_CHECKPOINT_AUTO && !o->checkpoint.directory && !kept;
}

static bool least_over_most(const dome_options *o, bool supervised)
{
    (void)supervised;
    return !in_order(o->size.least, o->size.most);
}

static bool least_over_tasks(const dome_options *o, bool supervised)
{
    (void)supervised;
    return !in_order(o->size.least, o->start.tasks);
}

static bool tasks_over_most(const dome_options *o, bool supervised)
{
    (void)supervised;
    return !in_order(o->start.tasks, o->size.most);
}

static bool restarts_never(const dome_options *o, bool supervised)
{
    return o->loss.action == DOME_LOSS_RESTART && !o->loss.restarts && !supervised;
}

static bool two_numbers(const dome_options *o, bool supervised)
{
    (void)supervised;
    return o->start.hosts_script && o->size.policy == DOME_SIZE_AUTO;
}

static bool script_of_one(const dome_options *o, bool supervised)
{
    (void)supervised;
    return one_task(o) && o->start.hosts_script;
}

static bool size_of_one(const dome_options *o, bool supervised)
{
    (void)supervised;
    return one_task(o) && o->size.policy == DOME_SIZE_AUTO;
}

/* In the texts, {NAME} is the option dome-NAME as the user wrote it, {NAME=} the same with its value, {=NAME} its value. */
static const struct {
    dome_option_moment moment;
    broken *broken;
    const char *text;
} rules[] = {
    {DOME_RULES_OF_WORDS, several_in_one, "{transport=} runs one task, but {tasks} says {=tasks}"},
    {DOME_RULES_OF_ALL, resumes_without_directory, "{restart} needs {checkpoint-dir}: the directory where checkpoints are"},
    {DOME_RULES_OF_ALL, saves_without_directory,
     "{checkpoint-every} needs {checkpoint-dir}: the directory where checkpoints are"},
    {DOME_RULES_OF_START, least_over_most, "{min=} is more than {max=}"},
    {DOME_RULES_OF_START, least_over_tasks, "{min=} is more than {tasks=}"},
    {DOME_RULES_OF_START, tasks_over_most, "{tasks=} is more than {max=}"},
    {DOME_RULES_OF_START, restarts_never, "{on-loss=} needs {restarts} K, the most times"},
    {DOME_RULES_OF_START, two_numbers, "{hosts-script} and {size=} exclude each other: both say how many tasks there are"},
    {DOME_RULES_OF_START, script_of_one, "{transport=} has no hosts for {hosts-script}"},
    {DOME_RULES_OF_START, size_of_one, "{transport=} runs one task: leave out {size=}"},
};

const char *dome__option_name(const char *name, const dome_option_origin *origins)
{
    const dome_option_row *row = dome__option_row(name);
    const dome_option_origin *origin = origins ? &origins[row - dome__option_rows] : NULL;
    if (origin && origin->source == DOME_FROM_COMMAND)
        return origin->written;
    const bool without = origin && origin->source == DOME_FROM_DEFAULT && row->command;
    char *text = g_strconcat("--", name + (without ? strlen("dome-") : 0), NULL);
    const char *kept = g_intern_string(text);
    g_free(text);
    return kept;
}

/* Appends what stands between two braces. */
static void append_part(GString *to, const char *part, const dome_options *options, const dome_option_origin *origins)
{
    const bool value_alone = part[0] == '=', value = value_alone || g_str_has_suffix(part, "=");
    char *short_name = g_strndup(part + value_alone, strlen(part) - value), *name = g_strconcat("dome-", short_name, NULL);
    char *text = value ? dome__option_text(dome__option_row(name), options) : NULL;
    if (!value_alone)
        g_string_append(to, dome__option_name(name, origins));
    if (text)
        g_string_append_printf(to, "%s%s", value_alone ? "" : " ", text);
    g_free(text);
    g_free(name);
    g_free(short_name);
}

static char *filled_in(const char *text, const dome_options *options, const dome_option_origin *origins)
{
    GString *message = g_string_new(NULL);
    char **parts = g_strsplit_set(text, "{}", -1);
    for (int i = 0; parts[i]; i++)
        if (i % 2)
            append_part(message, parts[i], options, origins);
        else
            g_string_append(message, parts[i]);
    g_strfreev(parts);
    return g_string_free(message, FALSE);
}

char *dome__option_rules_broken(dome_option_moment moment, const dome_options *options, const dome_option_origin *origins,
                                bool supervised)
{
    const bool runs = !options->help && !options->version;
    for (size_t k = 0; k < G_N_ELEMENTS(rules); k++)
        if (rules[k].moment == moment && (runs || moment == DOME_RULES_OF_WORDS) && rules[k].broken(options, supervised))
            return filled_in(rules[k].text, options, origins);
    return NULL;
}
