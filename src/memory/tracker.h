/* The ways to learn who reads and writes memory, and the choice of one. */
#ifndef DOME_SRC_MEMORY_TRACKER_H
#define DOME_SRC_MEMORY_TRACKER_H

#include "memory/memory.h"

/* A row. A text in *why, or returned, says why a call has failed; it is static, and follows "cannot be ...: ". NULL: no failure.
 */
typedef struct dome_tracker {
    const char *name, *how;
    bool rights;  /* it can keep pages from being read or written */
    bool watches; /* it knows which pages were written */

    /* Takes a memory, all of whose pages get the access NONE if `rights`, or else WRITE. */
    const char *(*begin)(dome_memory *memory, bool rights);

    /* Lets accesses to pages pass, from `open` to this, and never more meanwhile. NULL in rows without rights that notice writes
     * by themselves. Also called for an access that is let pass by now, if the processor stops at it. */
    const char *(*set)(dome_memory *memory, size_t first, size_t count, dome_access access);

    /* Visits the pages that were written since the last time. NULL: pages are closed to writes, and the faults are noted. */
    const char *(*written)(dome_memory *memory, dome_memory_visit *visit, void *context);

    /* In rows with rights: lets all accesses pass for good, as if there had never been rights. */
    const char *(*release)(dome_memory *memory);

    void (*end)(dome_memory *memory); /* NULL: nothing is to be done */
} dome_tracker;

extern const dome_tracker dome__tracker_async, dome__tracker_fault, dome__tracker_protect, dome__tracker_compare;

/* The best one that this machine has; NULL: none, with *why. */
const dome_tracker *dome__tracker_choose(bool rights, const char **why);

/* The rows from the best one on, until NULL; *why: NULL, or why this machine has it not. Each was tried out, once. */
const dome_tracker *dome__tracker_row(unsigned k, const char **why);

/* From now on this one, for memories that it can serve, and no better one for others; "auto": the best one, or the one that the
 * variable DOME_TRACKER names. false: there is none of this name, or this machine has it not. */
bool dome__tracker_force(const char *name);

#endif
