#include "options/option_print.h"

#include "options/option_value.h"

#include <glib.h>
#include <string.h>

/* Without its backquotes; g_free'd. */
static char *plain(const char *text)
{
    char **parts = g_strsplit(text, "`", -1), *all = g_strjoinv(NULL, parts);
    g_strfreev(parts);
    return all;
}

/* Appends the sentence in lines of at most 80 columns, indented, without its backquotes. */
static void append_wrapped(GString *to, const char *sentence)
{
    enum { INDENT = 6, WIDTH = 80 };
    char **words = g_strsplit(sentence, " ", -1);
    gsize column = WIDTH;
    for (char **word = words; *word; word++) {
        char *bare = plain(*word);
        bool breaks = column + 1 + strlen(bare) > WIDTH;
        g_string_append_printf(to, "%s%*s%s", breaks && word != words ? "\n" : "", breaks ? INDENT : 1, "", bare);
        column = (breaks ? INDENT : column + 1) + strlen(bare);
        g_free(bare);
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

/* ---- a configuration ---- */

/* Whether the shell takes the text as it stands. */
static bool is_simple(const char *text)
{
    static const char simple[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+-@%";
    return strspn(text, simple) == strlen(text);
}

char *dome__option_word(const dome_option_row *row, const dome_options *options)
{
    char *value = dome__option_text(row, options);
    if (!value)
        return NULL;
    char *quoted = is_simple(value) ? g_strdup(value) : g_shell_quote(value);
    char *word = g_strconcat("--", row->name, *value ? "=" : "", *value ? quoted : "", NULL);
    g_free(quoted);
    g_free(value);
    return word;
}

bool dome__option_is_default(const dome_option_row *row, const dome_options *options)
{
    char *value = dome__option_text(row, options);
    const bool same = g_strcmp0(value, row->initial) == 0;
    g_free(value);
    return same;
}

/* In a comment of the shell. */
static char *word_of_unset(const dome_option_row *row)
{
    char *value = plain(row->otherwise ? row->otherwise : row->kind == DOME_OPTION_FLAG ? "off" : "not given");
    char *word = g_strdup_printf("# --%s: %s", row->name, value);
    g_free(value);
    return word;
}

static void append_origin(GString *text, const dome_option_origin *origin)
{
    static const char *const words[] = {[DOME_FROM_DEFAULT] = "default",
                                        [DOME_FROM_ENVIRONMENT] = "environment: DOME_OPTIONS",
                                        [DOME_FROM_ARGUMENTS] = "command line: the program's arguments",
                                        [DOME_FROM_COMMAND] = "command line: "};
    g_string_append_printf(text, "  # %s%s\n", words[origin->source], origin->source == DOME_FROM_COMMAND ? origin->written : "");
}

char *dome__options_show(const dome_options *options, const dome_option_origin *origins)
{
    enum { COLUMN = 36 };
    GString *text = g_string_new(NULL);
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        char *word = dome__option_word(row, options);
        if (!word)
            word = word_of_unset(row);
        g_string_append_printf(text, "%-*s", COLUMN, word);
        append_origin(text, &origins[row - dome__option_rows]);
        g_free(word);
    }
    return g_string_free(text, FALSE);
}
