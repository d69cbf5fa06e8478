/* A member: tasks that have a region in one memory. So far that is one for the whole program: all tasks are on one host, with
 * equal data formats. */
#ifndef DOME_SRC_REGION_MEMBER_H
#define DOME_SRC_REGION_MEMBER_H

#include "core/environment.h"
#include "memory/memory.h"

/* Whether all tasks are of one member; the same on all tasks. Fails by dome__fail; what: "a region" or "a lock". */
dome_status dome__member_check(dome_env *env, const char *what);

/* New memory of the member, all zero, on all tasks or on none. Collective, and all tasks wait for each other. NULL: fails by
 * dome__fail, with *status; what: "'image'". */
dome_memory *dome__member_memory(dome_env *env, const char *what, uint64_t bytes, dome_status *status);

#endif
