/* The subcommands of dome: each is in its own file, dome_NAME.c, and in the table of dome.c. */
#ifndef DOME_TOOLS_COMMANDS_H
#define DOME_TOOLS_COMMANDS_H

#include <glib.h>
#include <stdio.h>

typedef struct dome_command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} dome_command;

/* Reports that `of` ("dome") has no such command, suggests a similar one, and ends the program with status 2. */
void dome__command_unknown(const char *of, const char *word, const dome_command *commands, size_t count)
    __attribute__((noreturn));

/* Like main, with the name of the subcommand as argv[0]. Return the exit status: 2 for wrong usage. */
int dome__command_run(int argc, char **argv);
int dome__command_ckpt(int argc, char **argv); /* built with checkpoints only */
int dome__command_view(int argc, char **argv);

int dome__command_ps(int argc, char **argv);
int dome__command_grow(int argc, char **argv);
int dome__command_shrink(int argc, char **argv);
int dome__command_move(int argc, char **argv);
int dome__command_submit(int argc, char **argv);
int dome__command_attach(int argc, char **argv);
int dome__command_suspend(int argc, char **argv);
int dome__command_resume(int argc, char **argv);
int dome__command_kill(int argc, char **argv);
int dome__command_limits(int argc, char **argv);
int dome__command_hosts(int argc, char **argv);  /* built with PVM only */
int dome__command_doctor(int argc, char **argv); /* likewise */
int dome__command_net(int argc, char **argv);    /* likewise */
int dome__command_slurm(int argc, char **argv);  /* likewise */

/* Shows the output of a program that the daemon runs until it ends; its exit status. */
int dome__attach(const char *word);

/* Gives an order (wire/order.h) to the hub of a program of the user's, prints what has become of it; the exit status. */
struct dome_order;
int dome__command_order(const char *command, const char *program, const struct dome_order *order);

/* Parses options. A wrong option ends the program with status 2 and an error message, which begins with the command's `name` and
 * suggests a similar option. */
void dome__command_options(GOptionContext *context, const GOptionEntry *entries, int *argc, char ***argv, const char *name);

/* The same, with this help; at most `most` arguments may remain, from argv[1] on, or any number if it is -1. */
void dome__command_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *usage, const char *summary, int most);

/* Prints "dome: " and the line on standard error, and exits. */
void dome__command_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Prints text for people on standard output. Characters that a terminal would obey (system/terminal.h) are replaced; ends of
 * lines stay. */
void dome__print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The lines of a PVM hostfile that add hosts, each host once. A line may have slots=N besides PVM's options: the word is not in
 * the result. *slots (may be NULL; g_free'd by the caller): the slots of all hosts, as DOME_VARIABLE_SLOTS has them. NULL with
 * *message (g_free'd) if the file is not a hostfile. */
char **dome__hostfile_read(const char *path, char **slots, char **message);

/* ---- JSON ---- */

/* Writes a JSON string with its quotes. Bytes that are not UTF-8 are replaced, characters that cannot be printed escaped. */
void dome__json_string(FILE *to, const char *text);

/* Writes a number given as text; "nan", "inf" and "-inf" become strings. */
void dome__json_number(FILE *to, const char *text);

#endif
