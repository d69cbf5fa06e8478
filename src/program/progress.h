/* dome_progress: what its lines say, and where they go. */
#ifndef DOME_SRC_PROGRESS_H
#define DOME_SRC_PROGRESS_H

#include "program/options.h"

#include <dome/env.h>

#include <stddef.h>
#include <stdint.h>

/* How far a loop is, and how fast it has been lately. Work that was done before the first call (a restart) has not been seen and
 * does not count as speed. */
typedef struct dome_meter {
    bool begun, finished;
    uint64_t done, total;
    char unit[32];
    uint64_t now;                                      /* ns */
    uint64_t first_done, first_ns;                     /* at the first call */
    uint64_t older_done, older_ns, mark_done, mark_ns; /* the speed is that since `older` */
} dome_meter;

/* Takes note of a call at `now` (ns of some monotonic clock). Returns true if it is the first of another loop than before. */
bool dome__meter_note(dome_meter *meter, uint64_t done, uint64_t total, const char *unit, uint64_t now);

/* The line for it, without a newline, in fewer than `columns` columns; columns 0: as long as it gets, and without a bar.
 * g_free'd by the caller. */
char *dome__meter_line(const dome_meter *meter, int columns);

typedef struct dome_progress_state {
    bool decided;
    enum { DOME_PROGRESS_NOTHING, DOME_PROGRESS_BAR, DOME_PROGRESS_LINES } how;
    bool visible; /* a bar is on the terminal, in the line of the cursor */
    uint64_t began, shown;
    dome_meter meter;
} dome_progress_state;

/* Something else is about to be written: takes the bar away. */
void dome__progress_hide(dome_env *env);

/* The program ends: a bar stays as it was. */
void dome__progress_end(dome_env *env);

#endif
