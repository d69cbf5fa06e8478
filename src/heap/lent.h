/* What the C library lends a program: texts, a broken-down time, and clocks that begin with the process. The program gets copies
 * that are saved, and clocks that go on. */
#ifndef DOME_SRC_HEAP_LENT_H
#define DOME_SRC_HEAP_LENT_H

#include <dome/capture.h>

/* Their globals, by DOME_CAPTURE_KEEP_TEXTS, _CALENDAR and _CLOCKS. */
extern dome_capture_module dome__capture_lent[3];

/* Before the image is taken, and when it has been read. */
void dome__capture_clocks_save(void);
void dome__capture_clocks_restore(void);

#endif
