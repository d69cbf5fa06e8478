/* dome: the command. Its subcommands are in dome_NAME.c. */
#include "commands.h"

#include <dome/env.h>

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dome__command_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fprintf(stderr, "dome: %s\n", text);
    exit(status);
}

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", dome__command_run, "run a program on several tasks"},
#ifdef DOME_WITH_CHECKPOINT
    {"ckpt", dome__command_ckpt, "look at checkpoints: ls, show, verify, diff"},
#endif
    {"view", dome__command_view, "show what a program has recorded with --dome-trace"},
};

static void help(FILE *to)
{
    fputs("Usage: dome COMMAND [OPTION...]\n\nCommands (dome COMMAND --help tells more):\n", to);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("  --help     this text\n  --version  the version\n", to);
}

int main(int argc, char **argv)
{
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
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    if (argc > 1)
        fprintf(stderr, "dome: there is no command %s\n", argv[1]);
    help(stderr);
    return 2;
}
