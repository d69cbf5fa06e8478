/* The subcommands of dome: each is in a file of its own, dome_NAME.c, and in the table of dome.c. */
#ifndef DOME_TOOLS_COMMANDS_H
#define DOME_TOOLS_COMMANDS_H

#include <glib.h>
#include <stdio.h>

typedef struct dome_command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} dome_command;

/* Says that no command of `of` ("dome") is called so, and which one was meant; ends the program with status 2. */
void dome__command_unknown(const char *of, const char *word, const dome_command *commands, size_t count)
    __attribute__((noreturn));

/* Like main, with the name of the subcommand as argv[0]. Return the exit status: 2 for wrong usage. */
int dome__command_run(int argc, char **argv);
int dome__command_ckpt(int argc, char **argv); /* where there are checkpoints */
int dome__command_view(int argc, char **argv);

int dome__command_ps(int argc, char **argv);
int dome__command_hosts(int argc, char **argv);  /* where there is PVM */
int dome__command_doctor(int argc, char **argv); /* likewise */

/* Parses options. What is wrong with them ends the program with status 2 and one line, which begins with the command's `name` and
 * names the option that was meant. */
void dome__command_options(GOptionContext *context, const GOptionEntry *entries, int *argc, char ***argv, const char *name);

/* The same, with this help; at most `most` arguments are left, from argv[1] on, or any number for -1. */
void dome__command_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *usage, const char *summary, int most);

/* Prints "dome: " and the line on standard error, and exits. */
void dome__command_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* The lines of a PVM hostfile that add hosts. NULL with *message (g_free'd) for what is no such file. */
char **dome__hostfile_read(const char *path, char **message);

/* ---- JSON ---- */

/* A string with its quotes. What is not UTF-8 is replaced. */
void dome__json_string(FILE *to, const char *text);

/* A number as its text; "nan", "inf" and "-inf" become strings. */
void dome__json_number(FILE *to, const char *text);

#endif
