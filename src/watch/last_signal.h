/* Reports the signal that ends a task. Only PVM's daemon waits for a task's process, and it does not report how that ended, so
 * the task itself tells the hub from a signal handler. Signals that the program or a sanitizer handles or ignores are not
 * touched; the default action follows, including a core dump if enabled. SIGKILL cannot be caught. */
#ifndef DOME_SRC_LAST_SIGNAL_H
#define DOME_SRC_LAST_SIGNAL_H

#include <stdbool.h>

/* Calls tell from a signal handler before the process ends by that signal. all: not only for faults but also for signals that are
 * sent; false for a task whose parent waits for it. */
void dome__last_signal_catch(void (*tell)(int number), bool all);

/* Restores the default actions. */
void dome__last_signal_leave(void);

#endif
