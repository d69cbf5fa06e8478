/* option_tables markdown [PART] | man: the table of options (options/option_table.h) as docs/running.md, docs/checkpoints.md and
 * docs/man/dome-options.7 show it. scripts/option-tables puts it there. */
#include "options/option_table.h"

#include <dome/env.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

/* What happens without the option; words of the option's own in backquotes. */
static char *without(const dome_option_row *row)
{
    if (row->otherwise || !row->initial)
        return g_strdup(row->otherwise ? row->otherwise : "");
    return g_strdup_printf(row->kind == DOME_OPTION_WORD || row->kind == DOME_OPTION_NAME ? "`%s`" : "%s", row->initial);
}

static char *replaced(const char *text, const char *old, const char *by)
{
    char **parts = g_strsplit(text, old, -1), *all = g_strjoinv(by, parts);
    g_strfreev(parts);
    return all;
}

static void print_markdown(int part)
{
    puts("| option | meaning | default |\n|---|---|---|");
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        if (part >= 0 && (int)row->part != part)
            continue;
        char *argument = replaced(row->argument ? row->argument : "", "|", "\\|"), *otherwise = without(row);
        bool optional = row->kind == DOME_OPTION_RESTART;
        printf("| `--%s%s%s%s` | %s", row->name,
               optional        ? "[="
               : row->argument ? " "
                               : "",
               argument, optional ? "]" : "", row->help);
        if (row->page)
            printf("; see %s", row->page);
        printf(" | %s |\n", otherwise);
        g_free(argument);
        g_free(otherwise);
    }
}

/* Words in backquotes become bold. */
static void print_roff(const char *text)
{
    char *dashes = replaced(text, "-", "\\-"), **parts = g_strsplit(dashes, "`", -1);
    for (int i = 0; parts[i]; i++)
        printf(i % 2 ? "\\fB%s\\fR" : "%s", parts[i]);
    g_strfreev(parts);
    g_free(dashes);
}

static void print_man(void)
{
    printf(".TH DOME-OPTIONS 7 \"\" \"Dome %s\" \"Dome\"\n"
           ".SH NAME\ndome-options \\- options of every Dome program\n"
           ".SH DESCRIPTION\n"
           "Every Dome program takes these options, before or among its own arguments;\n.B \\-\\-\nends them.\n"
           "They may also stand in the environment variable\n.BR DOME_OPTIONS ,\nby the shell's quoting rules; the command line "
           "wins.\n"
           ".SH OPTIONS\n",
           DOME_VERSION);
    for (const dome_option_row *row = dome__option_rows; row->name; row++) {
        if (row == dome__option_rows || row->part != row[-1].part)
            printf(".SS %s\n", dome__option_parts[row->part]);
        bool optional = row->kind == DOME_OPTION_RESTART;
        char *name = replaced(row->name, "-", "\\-"), *otherwise = without(row);
        printf(".TP\n\\fB\\-\\-%s\\fR", name);
        if (row->argument)
            printf("%s\\fI%s\\fR%s", optional ? "[=" : "=", row->argument, optional ? "]" : "");
        puts("");
        print_roff(row->help);
        if (*otherwise) {
            printf(" (default: ");
            print_roff(otherwise);
            printf(")");
        }
        puts("");
        g_free(name);
        g_free(otherwise);
    }
    puts(".SH SEE ALSO\n.BR dome (1),\n.BR dome\\-run (1)");
}

int main(int argc, char **argv)
{
    int part = -1;
    for (int i = 0; argc > 2 && i < DOME_OPTION_PARTS; i++)
        if (strcmp(argv[2], dome__option_parts[i]) == 0)
            part = i;
    if (argc == 2 && strcmp(argv[1], "man") == 0)
        print_man();
    else if ((argc == 2 || part >= 0) && strcmp(argv[1], "markdown") == 0)
        print_markdown(part);
    else
        return 2;
    return 0;
}
