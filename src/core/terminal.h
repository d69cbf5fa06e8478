/* Terminals. */
#ifndef DOME_SRC_TERMINAL_H
#define DOME_SRC_TERMINAL_H

#include <stdbool.h>

/* Clears from the cursor to the end of the line. */
#define DOME_TERMINAL_CLEAR "\033[K"

bool dome__terminal_is(int fd);

/* A prefix for lines of ranks other than 0, as rank 0 may have drawn a progress bar: on a terminal it clears the line to the
 * right of the cursor; "" elsewhere. */
const char *dome__terminal_clear(int fd);

#endif
