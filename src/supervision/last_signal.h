/* The signal by which a task ends. Nobody but PVM's daemon waits for a task's process, and it keeps to itself how that has ended:
 * so the task says it with its last breath. Signals that the program handles or ignores, or that a sanitizer handles, are left
 * alone; the default action follows, a core dump where that is wanted included. SIGKILL cannot be caught. */
#ifndef DOME_SRC_LAST_SIGNAL_H
#define DOME_SRC_LAST_SIGNAL_H

#include <stdbool.h>

/* tell is called from a signal handler before the process ends by that signal. all: also for signals that are sent rather than
 * faults, which a task whose parent waits for it leaves alone. */
void dome__last_signal_catch(void (*tell)(int number), bool all);

/* Default actions are back. */
void dome__last_signal_leave(void);

#endif
