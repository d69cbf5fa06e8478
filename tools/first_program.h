/* The first program of README: tests whether it can be built and run here. */
#ifndef DOME_TOOLS_FIRST_PROGRAM_H
#define DOME_TOOLS_FIRST_PROGRAM_H

typedef enum dome_first_result {
    DOME_FIRST_RUNS,
    DOME_FIRST_CANNOT_BUILD, /* something is missing that a host needs only for building programs */
    DOME_FIRST_FAILS
} dome_first_result;

/* Compiles it as README says, with the tools that PATH and pkg-config find, in a temporary directory, and runs it as `tasks`
 * tasks on a separate virtual machine. *text and *mend (NULL: none) are g_free'd; sudo is the prefix of commands that only root
 * may run. */
dome_first_result dome__first_program(int tasks, const char *sudo, char **text, char **mend);

#endif
