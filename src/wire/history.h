/* The views that a program has had (view.h): its size over time, why it changed, and how long each part of a change took. For
 * `dome ps` and for traces. Functions of numbers and texts: the hub tells when a change begins, when its view stands, and what
 * task 0 has measured. Of many views only the first and the newest are kept. */
#ifndef DOME_SRC_HISTORY_H
#define DOME_SRC_HISTORY_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

enum { DOME_HISTORY_MOST = 64 };

/* Seconds. */
typedef struct dome_change_parts {
    double noticing; /* from an order to the boundary where it is carried out, meanwhile the program computes; or from the last
                        sign of a lost task to the beginning of healing */
    double members;  /* starting new tasks */
    double blocks;   /* writing the state and reading it */
    double joining;  /* the tasks become the program again and find each other */
    double preamble; /* the program's own code, from dome_init to the last object that has got its values */
} dome_change_parts;

typedef struct dome_view_note {
    uint32_t number;
    int tasks, hosts;
    double at;   /* seconds from the start of the program until its tasks had joined */
    uint64_t ns; /* the same on the hub's clock */
    char *kind;  /* "start", "grow", "shrink", "move" or "heal" */
    char *why;   /* who wanted it, or the loss */
    bool timed;  /* the parts but for `noticing` are known */
    dome_change_parts parts;
} dome_view_note;

dome_view_note *dome__view_note_copy(const dome_view_note *note);
void dome__view_note_free(dome_view_note *note);

/* Seconds for which nothing was computed; below 0: unknown. */
double dome__view_note_still(const dome_view_note *note);

typedef struct dome_history {
    GPtrArray *notes; /* dome_view_note, oldest first */
    uint64_t left_out;

    /* of the change that is under way */
    char *why;
    bool heals;
    double noticing;
} dome_history;

void dome__history_init(dome_history *history);
void dome__history_clear(dome_history *history);

/* A change begins. Another one that is under way is over. */
void dome__history_begin(dome_history *history, bool heals, const char *why, double noticing);

/* All tasks of a view have joined. Returns its note. */
const dome_view_note *dome__history_stands(dome_history *history, uint32_t number, int tasks, int hosts, double at, uint64_t ns);

/* Task 0 has measured the parts of the change into a view, but for `noticing`. Returns the note; NULL: that view is not known. */
const dome_view_note *dome__history_timed(dome_history *history, uint32_t number, const dome_change_parts *parts);

/* The lines of a trace (docs/trace-format.md) about a view: V, and P if its parts are known; g_free'd. */
char *dome__view_note_begins(const dome_view_note *note);
char *dome__view_note_took(const dome_view_note *note, uint64_t now_ns);

#endif
