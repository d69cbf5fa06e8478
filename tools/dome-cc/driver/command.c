/* Commands: the compiler and what belongs to it. */
#include "driver/driver.h"

#include <stdio.h>
#include <sys/wait.h>

GPtrArray *command_new(const options *o)
{
    GPtrArray *command = g_ptr_array_new();
    char **words;
    int n;
    if (g_shell_parse_argv(o->compiler, &n, &words, NULL))
        for (int i = 0; i < n; i++)
            g_ptr_array_add(command, words[i]);
    return command;
}

void command_add(GPtrArray *command, const char *text)
{
    g_ptr_array_add(command, g_strdup(text));
}

/* output, errors: what the command prints there; NULL: it prints where this process does. */
int command_run_captured(const options *o, GPtrArray *command, char **output, char **errors)
{
    g_ptr_array_add(command, NULL);
    if (o->verbose) {
        char *line = g_strjoinv(" ", (char **)command->pdata);
        fprintf(stderr, "%s\n", line);
        g_free(line);
    }
    GError *error = NULL;
    int status;
    if (!g_spawn_sync(NULL, (char **)command->pdata, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, output,
                      errors, &status, &error)) {
        char *text = g_strdup_printf("dome-cc: error: %s cannot be run: %s\n", (char *)command->pdata[0], error->message);
        if (!errors)
            fputs(text, stderr);
        else
            *errors = g_strdup(text);
        g_free(text);
        g_error_free(error);
        return 1;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "dome-cc: error: %s was ended by signal %d (%s)\n", (char *)command->pdata[0], WTERMSIG(status),
                g_strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int command_run(const options *o, GPtrArray *command, char **output)
{
    return command_run_captured(o, command, output, NULL);
}

void command_add_word(GPtrArray *command, const word *w)
{
    command_add(command, w->text);
    if (w->value)
        command_add(command, w->value);
}

void command_add_words(const options *o, GPtrArray *command, unsigned kinds)
{
    for (unsigned i = 0; i < o->words->len; i++) {
        const word *w = g_ptr_array_index(o->words, i);
        if (kinds & (1u << w->kind))
            command_add_word(command, w);
    }
}

/* The first line of what a command prints, or NULL. */
char *command_ask(const options *o, GPtrArray *command)
{
    char *text = NULL;
    if (command_run(o, command, &text) != 0 || !text)
        return NULL;
    return g_strstrip(g_strdelimit(text, "\n", ' '));
}

/* A program of the compiler's, such as ar. */
char *command_tool(const options *o, const char *name)
{
    GPtrArray *question = command_new(o);
    g_ptr_array_add(question, g_strdup_printf("-print-prog-name=%s", name));
    char *found = command_ask(o, question);
    return found && *found ? found : g_strdup(name);
}
