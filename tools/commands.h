/* The subcommands of dome: each is in a file of its own, dome_NAME.c, and in the table of dome.c. */
#ifndef DOME_TOOLS_COMMANDS_H
#define DOME_TOOLS_COMMANDS_H

/* Like main, with the name of the subcommand as argv[0]. Return the exit status: 2 for wrong usage. */
int dome__command_run(int argc, char **argv);
int dome__command_ckpt(int argc, char **argv); /* where there are checkpoints */
int dome__command_view(int argc, char **argv);

/* Prints "dome: " and the line on standard error, and exits. */
void dome__command_fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

#endif
