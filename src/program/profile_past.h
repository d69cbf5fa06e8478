/* The profile of earlier views (wire/view.h): a file in memory that task 0 takes along from view to view. A view that ended by a
 * loss is not in it. */
#ifndef DOME_SRC_PROFILE_PAST_H
#define DOME_SRC_PROFILE_PAST_H

#include <glib.h>

#include <stdbool.h>
#include <stdint.h>

/* A view as a whole; times of a task in ns. */
typedef struct dome_profile_view {
    uint64_t number, tasks, loops;
    uint64_t elapsed;                  /* largest */
    uint64_t computing, slowest;       /* mean and largest: what is not waiting for other tasks */
    uint64_t waiting;                  /* mean */
    uint64_t without, without_waiting; /* mean: without a processor, and the part of it that is in `waiting` */
} dome_profile_view;

typedef struct dome_profile_past {
    GArray *views;  /* dome_profile_view */
    uint64_t *rows; /* of the figures of all views together: `cells` for each rank */
    uint64_t ranks;
} dome_profile_past;

/* Reads what is there; fd -1: nothing. To be cleared by the caller. A view that had registered fewer operations knew the first
 * ones of the cells; cells that this one does not know yet are left out. */
void dome__profile_past_read(dome_profile_past *past, int fd, uint64_t cells);
void dome__profile_past_clear(dome_profile_past *past);

/* Replaces the contents. fd -1: makes the file, closed on exec. Returns its descriptor; -1: there is no memory. */
int dome__profile_past_write(const dome_profile_past *past, int fd, uint64_t cells);

#endif
