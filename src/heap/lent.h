/* Results that the C library lends a program: texts, a broken-down time, and clocks that begin with the process. The program gets
 * copies that are saved, and clocks that go on. */
#ifndef DOME_SRC_HEAP_LENT_H
#define DOME_SRC_HEAP_LENT_H

#include <dome/capture.h>

enum { DOME_CAPTURE_CALENDAR_TEXT = 64, DOME_CAPTURE_CLOCKS = 6 };

/* The copies that the program has got, as lent.c keeps them. */
typedef struct dome_capture_lent {
    struct dome_capture_lent_text *texts;
    struct tm calendar;
    char calendar_text[DOME_CAPTURE_CALENDAR_TEXT];
    long long shown[DOME_CAPTURE_CLOCKS + 1];  /* when the program was saved: nanoseconds; behind them that of clock() */
    long long before[DOME_CAPTURE_CLOCKS + 1]; /* to be added to what the C library tells */
} dome_capture_lent;

/* Their globals, by DOME_CAPTURE_KEEP_TEXTS, _CALENDAR and _CLOCKS. */
extern dome_capture_module dome__capture_lent[3];

/* Before the image is taken, and when it has been read. */
void dome__capture_clocks_save(void);
void dome__capture_clocks_restore(void);

#endif
