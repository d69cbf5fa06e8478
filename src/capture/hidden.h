/* Finds, before a checkpoint is written, addresses that no checkpoint can hold: those in numbers or bytes, where nothing marks
 * them as pointers, and pointers to memory that the library does not know. <dome/capture.h> says which count. */
#ifndef DOME_SRC_CAPTURE_HIDDEN_H
#define DOME_SRC_CAPTURE_HIDDEN_H

#include <stdbool.h>

/* The last findings of hidden.c. */
typedef struct dome_capture_hidden {
    char *dangling; /* the first pointer that did not count */
} dome_capture_hidden;

/* After dome__capture_pointers_begin, which is needed again if *copied: texts of libraries have got into the heap. A sentence
 * that names the first one (g_free'd by the caller); NULL: there is none. `dangling`: also for pointers to what the library does
 * not know. */
char *dome__capture_hidden_find(bool dangling, bool *copied);

/* Where the last one that did not count found the first pointer to what the library does not know; NULL: there was none. */
const char *dome__capture_hidden_dangling(void);

#endif
