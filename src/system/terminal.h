/* Terminals, and text for people. */
#ifndef DOME_SRC_TERMINAL_H
#define DOME_SRC_TERMINAL_H

#include <stdbool.h>

/* Clears from the cursor to the end of the line. */
#define DOME_TERMINAL_CLEAR "\033[K"

bool dome__terminal_is(int fd);

/* A prefix for lines of ranks other than 0, as rank 0 may have drawn a progress bar: on a terminal it clears the line to the
 * right of the cursor; "" elsewhere. */
const char *dome__terminal_clear(int fd);

/* Text that did not come from this library (a name, a path, another process's word) as people may see it: one line of characters
 * that can be printed. In place of others stand blanks (for the end of a line, a tab) and question marks: a terminal would obey
 * control characters, those of ISO 6429 from U+0080 on included, and hide or turn text by format characters; bytes that are not
 * UTF-8 may be any of these. g_free'd. */
char *dome__plain(const char *text);

#endif
