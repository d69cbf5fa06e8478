/* Terminals. */
#ifndef DOME_SRC_TERMINAL_H
#define DOME_SRC_TERMINAL_H

#include <stdbool.h>

/* Clears from the cursor to the end of the line. */
#define DOME_TERMINAL_CLEAR "\033[K"

bool dome__terminal_is(int fd);

/* What to write to a descriptor before a line that does not come from rank 0, which may have drawn a bar: it clears what is right
 * of the cursor on a terminal. "" elsewhere. */
const char *dome__terminal_clear(int fd);

#endif
