/* The file by which this program is started again: to become it anew, to restart it, and to start other tasks of it. That is the
 * path by which this process was started. A link in it is not resolved: a program may go by the name of the link, or look for its
 * files beside it, as the interpreter in a virtual environment of Python's does. If that path leads elsewhere by now, it is the
 * executable file of this process. For a program that an emulator or a loader runs it is the script that has run that, and which
 * has said so by DOME_VARIABLE_PROGRAM. */
#ifndef DOME_SRC_OWN_PROGRAM_H
#define DOME_SRC_OWN_PROGRAM_H

/* Takes the variable out of the environment: programs that this one may start must not see it. Call it once, before the next two.
 */
void dome__own_program_begin(void);

/* The path, absolute but for that of a script; g_free'd by the caller. NULL: it is not known. */
char *dome__own_program(void);

/* The same; NULL, too, if the file has been replaced or removed since this process was started. */
char *dome__own_program_unchanged(void);

/* The program's name in its checkpoints, if that is not the name of its file; to be set before dome_init. */
void dome__own_program_call(const char *name);
const char *dome__own_program_called(void); /* NULL: nothing else */

/* The directory in which this process was started: its other tasks begin there, too. NULL: it is not known. */
const char *dome__own_directory(void);

#endif
