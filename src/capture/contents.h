/* The content of structures of the program's own. It is in blocks of the heap, and each task has its own part, so the image does
 * not have it: the object saves its elements as in any program, and makes new content when the program goes on (the slot make).
 */
#ifndef DOME_SRC_CAPTURE_CONTENTS_H
#define DOME_SRC_CAPTURE_CONTENTS_H

#include <stdbool.h>

/* Behind dome__capture_handles_begin: numbers the heap's blocks, and sets those apart to which content leads. False without
 * memory, or if content is where it cannot be (*problem says why, to be g_free'd). */
bool dome__capture_contents_set_apart(char **problem);

#endif
