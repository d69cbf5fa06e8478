/* The file by which this program is started again: to become it anew, to restart it, and to start other tasks of it. That is the
 * executable file of this process, but for one that an emulator or a loader runs: there it is the script that has run that, and
 * which has said so by DOME_VARIABLE_PROGRAM. */
#ifndef DOME_SRC_OWN_PROGRAM_H
#define DOME_SRC_OWN_PROGRAM_H

/* Takes the variable out of the environment: programs that this one may start must not see it. Call it once, before the others.
 */
void dome__own_program_begin(void);

/* The path, g_free'd by the caller; NULL: it is not known. */
char *dome__own_program(void);

/* The same; NULL, too, if the file has been replaced or removed since this process was started. */
char *dome__own_program_unchanged(void);

/* What the program is called in its checkpoints, where that is not the name of its file: to be set before dome_init. */
void dome__own_program_call(const char *name);
const char *dome__own_program_called(void); /* NULL: nothing else */

#endif
