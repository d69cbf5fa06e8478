/* Additions in memory that other tasks and threads access at the same time: each value in one step. */
#ifndef DOME_SRC_CORE_ATOMIC_ADD_H
#define DOME_SRC_CORE_ATOMIC_ADD_H

#include <dome/type.h>

/* Real numbers of up to 8 bytes; others cannot be added in one step. */
bool dome__atomic_adds(dome_type type);

/* Adds count values to those at `at`, one after the other. before: gets what was there; NULL: nobody asks. Integers wrap around.
 */
void dome__atomic_add(dome_type type, void *at, const void *values, void *before, uint64_t count);

#endif
