/* dome: the command. Its subcommands are in dome_NAME.c. */
#include "commands.h"
#include "launch/launch.h"
#include "options/nearest.h"
#include "system/say.h"
#include "system/terminal.h"

#include <dome/env.h>

#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dome__command_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    dome__say("%s", text);
    exit(status);
}

void dome__print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments), **lines = g_strsplit(text, "\n", -1);
    va_end(arguments);
    for (char **line = lines; *line; line++) {
        char *plain = dome__plain(*line);
        printf("%s%s", line > lines ? "\n" : "", plain);
        g_free(plain);
    }
    g_strfreev(lines);
    g_free(text);
}

void dome__command_unknown(const char *of, const char *word, const dome_command *commands, size_t count)
{
    GPtrArray *names = g_ptr_array_new();
    for (size_t i = 0; i < count; i++)
        g_ptr_array_add(names, (gpointer)commands[i].name);
    g_ptr_array_add(names, NULL);
    const char *meant = dome__nearest(word, (const char *const *)names->pdata);
    if (meant)
        dome__command_fail(2, "there is no command %s; did you mean %s %s?", word, of, meant);
    dome__command_fail(2, "there is no command %s; %s --help lists them", word, of);
}

void dome__command_options(GOptionContext *context, const GOptionEntry *entries, int *argc, char ***argv, const char *name)
{
    GError *error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (g_option_context_parse(context, argc, argv, &error))
        return;
    if (error->domain != G_OPTION_ERROR)
        dome__command_fail(2, "%s: %s", name, error->message);
    /* GOption's message ends with the unknown option. */
    const char *word = strrchr(error->message, ' '), *meant = NULL;
    if (g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) && word && g_str_has_prefix(word + 1, "--")) {
        GPtrArray *names = g_ptr_array_new();
        for (const GOptionEntry *entry = entries; entry->long_name; entry++)
            g_ptr_array_add(names, (gpointer)entry->long_name);
        g_ptr_array_add(names, NULL);
        meant = dome__nearest(word + 1 + strlen("--"), (const char *const *)names->pdata);
    }
    if (meant)
        dome__command_fail(2, "%s: %s; did you mean --%s?", name, error->message, meant);
    dome__command_fail(2, "%s: %s; see dome %s --help", name, error->message, name);
}

void dome__command_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *usage, const char *summary, int most)
{
    const char *name = (*argv)[0];
    GOptionContext *context = g_option_context_new(usage);
    g_option_context_set_summary(context, summary);
    dome__command_options(context, entries, argc, argv, name);
    g_option_context_free(context);
    if (*argc > 1 && strcmp((*argv)[1], "--") == 0) {
        memmove(*argv + 1, *argv + 2, (size_t)(*argc - 1) * sizeof **argv);
        --*argc;
    }
    if (most >= 0 && *argc - 1 > most)
        dome__command_fail(2, "%s: '%s' is one argument too many; see dome %s --help", name, (*argv)[most + 1], name);
}

static const dome_command commands[] = {
    {"run", dome__command_run, "run a program on several tasks"},
    {"ps", dome__command_ps, "list running programs"},
    {"grow", dome__command_grow, "add tasks to a running program"},
    {"shrink", dome__command_shrink, "take tasks away from a running program"},
    {"move", dome__command_move, "move the tasks of a running program from one host to another"},
    {"suspend", dome__command_suspend, "stop all processes of a running program"},
    {"resume", dome__command_resume, "let a suspended program run on"},
    {"submit", dome__command_submit, "give a program to domed, which starts it when there is room"},
    {"attach", dome__command_attach, "show the output of a submitted program until it ends"},
    {"kill", dome__command_kill, "end a submitted program"},
    {"limits", dome__command_limits, "change the tasks and the priority of a submitted program"},
#ifdef DOME_WITH_PVM
    {"hosts", dome__command_hosts, "list, add and remove hosts of your PVM virtual machine"},
    {"net", dome__command_net, "show how fast the links between hosts are, and which hosts are close"},
    {"slurm", dome__command_slurm, "in an allocation of Slurm: list its hosts, run a command on one"},
    {"doctor", dome__command_doctor, "check this host and others; name each problem and its remedy"},
#endif
#ifdef DOME_WITH_CHECKPOINT
    {"ckpt", dome__command_ckpt, "look at checkpoints: ls, show, verify, diff"},
#endif
    {"view", dome__command_view, "show a running program, or a recorded --dome-trace, in a browser"},
};

static void help(FILE *to)
{
    fputs("Usage: dome COMMAND [OPTION...]\n\nCommands (dome COMMAND --help tells more):\n", to);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("  --help     this text\n  --version  the version\n", to);
}

/* A command whose output is lost, because the disk is full for instance, does not end with 0. Called at exit, since help ends
 * the process within GLib. */
static void close_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    const char *name = g_get_prgname(), *command = g_str_has_prefix(name, "dome ") ? name + strlen("dome ") : name;
    dome__say("%s: the output cannot be written", command);
    _exit(2);
}

int main(int argc, char **argv)
{
    dome__open_streams();
    atexit(close_output);
    setlocale(LC_CTYPE, ""); /* for names and for the help; numbers have the same format everywhere */
    g_set_prgname("dome");
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        help(stdout);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("dome " DOME_VERSION);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < G_N_ELEMENTS(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            char *called = g_strconcat("dome ", argv[1], NULL); /* help begins with it */
            g_set_prgname(called);
            g_free(called);
            return commands[i].main(argc - 1, argv + 1);
        }
    if (argc > 1)
        dome__command_unknown("dome", argv[1], commands, G_N_ELEMENTS(commands));
    help(stderr);
    return 2;
}
