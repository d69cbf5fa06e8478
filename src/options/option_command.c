#include "options/option_command.h"

#include "options/option_value.h"

#include <string.h>

static void clear_given(gpointer given)
{
    g_free(((dome_option_given *)given)->value);
}

GArray *dome__option_command_new(void)
{
    GArray *given = g_array_new(TRUE, TRUE, sizeof(dome_option_given));
    g_array_set_clear_func(given, clear_given);
    return given;
}

/* The name of the option of dome run: "tasks" of "dome-tasks". */
static const char *command_name(const dome_option_row *row)
{
    return row->name + strlen("dome-");
}

/* written: "--tasks" or "-n". */
static const dome_option_row *find_row(const char *written)
{
    const dome_option_row *row = dome__option_rows;
    for (; row->name; row++)
        if (row->command && (written[1] == '-' ? strcmp(command_name(row), written + 2) == 0 : row->letter == written[1]))
            break;
    return row;
}

static void forget(GArray *given, const dome_option_row *row)
{
    for (guint k = given->len; k-- > 0;)
        if (g_array_index(given, dome_option_given, k).row == row)
            g_array_remove_index(given, k);
}

static gboolean take(const char *written, const char *value, gpointer data, GError **error)
{
    const dome_option_row *row = find_row(written);
    dome_options scratch = {0};
    if (row->kind == DOME_OPTION_COUNT && strcmp(value, "0") == 0) {
        forget(data, row);
        return TRUE;
    }
    if (dome__option_read(row, value, &scratch)) {
        const dome_option_given given = {row, g_intern_string(written), g_strdup(value)};
        g_array_append_val(data, given);
        dome__options_clear(&scratch);
        return TRUE;
    }
    char *message = dome__option_refusal(row, written, value);
    g_set_error_literal(error, g_quark_from_static_string("dome-options"), 0, message);
    g_free(message);
    return FALSE;
}

void dome__option_command_entries(GArray *entries)
{
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        const GOptionEntry entry = {
            .long_name = command_name(row),
            .short_name = row->letter,
            .flags = G_OPTION_FLAG_FILENAME, /* bytes, whatever the locale */
            .arg = G_OPTION_ARG_CALLBACK,
            .arg_data = (gpointer)take,
            .description = row->command,
            .arg_description = row->kind == DOME_OPTION_WORD ? "WORD" : row->argument,
        };
        if (row->command)
            g_array_append_val(entries, entry);
    }
}
