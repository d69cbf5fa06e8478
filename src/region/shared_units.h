/* The units of a region that several members have: its memory's rights follow the protocol (unit_protocol.h), the homes of its
 * units follow the layout, values are converted between unlike formats.
 *
 *     size = ...; dome__unit_size_agree(env, what, type, &size);                 // then memory of size.units * size.bytes
 *     units = dome__shared_units_new(&setup, &status);
 *     x[7] = 3.5;                                                            // waits in the fault handler for the right */
#ifndef DOME_SRC_REGION_SHARED_UNITS_H
#define DOME_SRC_REGION_SHARED_UNITS_H

#include "core/layout.h"
#include "region/loading.h"
#include "region/member.h"
#include "region/unit_size.h"

typedef struct dome_shared_units dome_shared_units;

typedef struct dome_shared_units_setup {
    dome_env *env;
    const char *what, *name; /* for messages, and for the profile; NULL: none */
    dome_memory *memory;
    dome_type type;
    uint64_t element;          /* bytes from an element to the next */
    const dome_layout *layout; /* of elements: the home of a unit is the member of its first element's owner */
    dome_unit_size size;
} dome_shared_units_setup;

/* The tasks may access the memory as soon as this has returned. Collective, and all tasks wait for each other. NULL: fails by
 * dome__fail, with *status. */
dome_shared_units *dome__shared_units_new(const dome_shared_units_setup *setup, dome_status *status);

/* All tasks have met since the last access. NULL is allowed. */
void dome__shared_units_free(dome_shared_units *units);

/* Waits until this task has had the right to these bytes, so that accesses to `data` fault no more than others take it away. */
void dome__shared_units_want(dome_shared_units *units, uint64_t first, uint64_t bytes, bool write);

/* For estimates of what was written. mark: from now on a unit counts as unwritten while this member may read it and not write it,
 * and so no other member may write it. Only where each host has one task: other tasks of a member may write without a word to
 * this one. */
void dome__shared_units_mark(dome_shared_units *units);
bool dome__shared_units_unwritten(const dome_shared_units *units, uint64_t first, uint64_t bytes);

/* Whether this task's member is the home of the unit. */
bool dome__shared_units_is_home(const dome_shared_units *units, uint64_t unit);

/* The units of which this member is the home get their values by `loading`, before any task has a right to one. */
void dome__shared_units_load(dome_shared_units *units, dome_loading *loading);

/* Adds so many values to those from number `first` of the region on (region.h), in this member's memory if it may write the unit
 * or is its home, otherwise at the home. before may be NULL. */
void dome__shared_units_add(dome_shared_units *units, uint64_t first, uint64_t count, const void *values, void *before);

/* Another layout, in two steps. All tasks wait for each other before, between, and after. fetch: gets what this member becomes
 * the home of; false: a task that has a part of it is gone. */
bool dome__shared_units_fetch(dome_shared_units *units, const dome_layout *layout);
void dome__shared_units_adopt(dome_shared_units *units, const dome_layout *layout);

#endif
