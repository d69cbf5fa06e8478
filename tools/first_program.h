/* The first program of README: whether it can be built and run here. */
#ifndef DOME_TOOLS_FIRST_PROGRAM_H
#define DOME_TOOLS_FIRST_PROGRAM_H

typedef enum dome_first_result {
    DOME_FIRST_RUNS,
    DOME_FIRST_CANNOT_BUILD, /* something that a host which only runs programs does without */
    DOME_FIRST_FAILS
} dome_first_result;

/* Compiles it as README says, with what the PATH and pkg-config find, in a temporary directory, and runs it as `tasks` tasks on a
 * virtual machine of its own. *text and *mend (NULL: none) are g_free'd; sudo goes before what only root may do. */
dome_first_result dome__first_program(int tasks, const char *sudo, char **text, char **mend);

#endif
