/* State of the process that no image can have: threads of the program, descriptors that are no streams. */
#ifndef DOME_SRC_CAPTURE_FOREIGN_H
#define DOME_SRC_CAPTURE_FOREIGN_H

#include <glib.h>

/* State of the process before the program's main, as foreign.c noted it. */
typedef struct dome_capture_foreign {
    GHashTable *threads;     /* numbers */
    GHashTable *descriptors; /* with their files, as the numbers may come again */
} dome_capture_foreign;

/* Notes the threads and descriptors that the process has before the program begins: they are the library's, or everybody's. */
void dome__capture_foreign_begin(void);

/* Names something that the program has opened or started since; NULL: nothing. own: a directory in which the library has files.
 * g_free'd by the caller. */
char *dome__capture_foreign_find(const char *own);

#endif
