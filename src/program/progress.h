/* dome_progress: the text of its lines, and where they are printed. */
#ifndef DOME_SRC_PROGRESS_H
#define DOME_SRC_PROGRESS_H

#include "options/option_parse.h"

#include <dome/env.h>

#include <stddef.h>
#include <stdint.h>

/* The progress of a loop and its recent speed. Work done before the first call (before a restart) does not count as speed. */
typedef struct dome_meter {
    bool begun, finished;
    uint64_t done, total;
    char unit[32];
    uint64_t now;                                      /* ns */
    uint64_t first_done, first_ns;                     /* at the first call */
    uint64_t older_done, older_ns, mark_done, mark_ns; /* the speed is that since `older` */
} dome_meter;

/* When the loop began that is shown, and where. ns 0: none is. */
typedef struct dome_loop_begin {
    uint64_t ns, done, total;
} dome_loop_begin;

/* The first call of a loop goes on with the one that began in the view before, if it is the same: its time counts from there. */
void dome__meter_continue(dome_meter *meter, const dome_loop_begin *begin);

/* Records a call at `now` (ns of a monotonic clock). Returns true if it is the first call of a new loop. */
bool dome__meter_note(dome_meter *meter, uint64_t done, uint64_t total, const char *unit, uint64_t now);

/* The line to print, without a newline and shorter than `columns`; columns 0: of any length and without a bar. g_free'd by the
 * caller. */
char *dome__meter_line(const dome_meter *meter, int columns);

struct dome_progress_state *dome__progress_new(void); /* freed by g_free */

/* For the next view. Any thread may call it. */
dome_loop_begin dome__progress_begin(const dome_env *env);

/* From the view before. */
void dome__progress_continue(dome_env *env, const dome_loop_begin *begin);

/* Call before other output: removes the bar. */
void dome__progress_hide(dome_env *env);

/* Call at the program's end: leaves the bar as it is. */
void dome__progress_end(dome_env *env);

#endif
