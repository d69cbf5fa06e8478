/* Which elements of each unit a task has written, for --dome-profile and the trace: members that write different elements of one
 * unit in turns share it falsely (S. Eggers, T. Jeremiassen, "Eliminating false sharing", ICPP 1991).
 *
 *     setup = (dome_unit_writes_setup){.task = 2, .element = sizeof(double), .unit = 4096, .units = 100};
 *     writes = dome__unit_writes_new(&setup);
 *     dome__unit_writes_begin(writes, 7, values);                     // the unit has come
 *     dome__unit_writes_end(writes, 7, values);                       // it goes: what differs is written, in one turn
 *     dome__unit_writes_tell(writes, true, tell, ctx);
 *
 * Elements are found by comparing a unit with a copy of it, and by the addresses of page faults. So a store of the value that was
 * there is not seen, and of the elements that a task reads only those at which it faulted. Any thread. */
#ifndef DOME_SRC_REGION_UNIT_WRITES_H
#define DOME_SRC_REGION_UNIT_WRITES_H

#include "trace/element_run.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dome_unit_writes dome_unit_writes;

/* What a task, or a member by its first task, has done to a unit. */
typedef struct dome_unit_told {
    int task;               /* rank */
    uint64_t unit, turns;   /* turns: how often it had the unit and wrote it before another one got it */
    GArray *written, *read; /* dome_element_run, ascending */
} dome_unit_told;

typedef struct dome_unit_writes_setup {
    int task;               /* whom they are told for: the rank of the first task of the member, or this task's */
    uint64_t element, unit; /* bytes */
    uint64_t units;         /* of the region */
} dome_unit_writes_setup;

/* NULL without memory. */
dome_unit_writes *dome__unit_writes_new(const dome_unit_writes_setup *setup);
void dome__unit_writes_free(dome_unit_writes *writes);

/* All functions that follow do nothing if writes is NULL. */

/* This task has faulted at a byte of the region. */
void dome__unit_writes_touch(dome_unit_writes *writes, uint64_t offset, bool write);

/* It has written these bytes. */
void dome__unit_writes_add(dome_unit_writes *writes, uint64_t offset, uint64_t bytes);

/* What it wrote is on its way to others. */
void dome__unit_writes_turn(dome_unit_writes *writes, uint64_t unit);

/* Values of a unit when the member got it, and when it gives it away. */
void dome__unit_writes_begin(dome_unit_writes *writes, uint64_t unit, const void *values);
void dome__unit_writes_end(dome_unit_writes *writes, uint64_t unit, const void *values);

/* Another member has had these values written here. */
void dome__unit_writes_others(dome_unit_writes *writes, uint64_t offset, const void *values, uint64_t bytes);

/* Values are compared no more; what is known stays. */
void dome__unit_writes_stop(dome_unit_writes *writes);

/* Tells of the units with the most turns, some tens. all: also of those of which little is new since they were told last. `told`
 * is valid during the call. */
typedef void dome_unit_tell(void *ctx, const dome_unit_told *told);
void dome__unit_writes_tell(dome_unit_writes *writes, bool all, dome_unit_tell *tell, void *ctx);

/* ---- what several tasks have told of one region ---- */

typedef struct dome_false_sharing {
    uint64_t units;              /* that two tasks share falsely */
    const dome_unit_told *a, *b; /* two tasks at the one of them with the most turns; NULL: there is none */
} dome_false_sharing;

/* told: dome_unit_told, which is sorted. Two tasks share a unit falsely if both have written it again and again, and neither has
 * touched an element that the other one has written. */
dome_false_sharing dome__false_sharing_find(GArray *told);

/* "elements 0 to 63, 128 and others". The caller frees it. */
char *dome__element_runs_text(const GArray *runs);

#endif
