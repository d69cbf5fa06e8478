/* A member: tasks that have a region in one memory. They are on one host, with equal data formats; with --dome-road=pvm each task
 * is a member of its own. Members are numbered by the ranks of their first tasks. */
#ifndef DOME_SRC_REGION_MEMBER_H
#define DOME_SRC_REGION_MEMBER_H

#include "core/environment.h"
#include "memory/memory.h"
#include "region/lock_service.h"
#include "region/release.h"
#include "region/unit_service.h"

struct dome_member_table {
    unsigned count;           /* of members */
    unsigned member, task;    /* this task's member, and its number in it */
    unsigned tasks, most;     /* of this member; of the largest one */
    int *firsts;              /* by member: the rank of its first task */
    int *ranks;               /* by task of this member: its rank */
    uint16_t *of;             /* by rank: its member */
    uint32_t regions;         /* so many have had units: a number for the next one */
    dome_unit_service *units; /* NULL: there is one member, whose tasks need no messages */
    dome_lock_service *locks; /* likewise */
    dome_release *release;    /* NULL: there is one member, or no region has release consistency */
    GPtrArray *figures;       /* dome_region_figures (region_profile.h); NULL: none so far */
    GPtrArray *buried;        /* memory of regions that other members may still use (region.c); NULL: none so far */
};

/* env->lazy.members is there from the first call on, and members are in touch over the service channel. Collective. Fails by
 * dome__fail; what: "a region", "a lock". */
int dome__member_start(dome_env *env, const char *what);

/* After the channel has been stopped. NULL is allowed. */
void dome__member_free(dome_member_table *table);

/* New memory of each member, all zero, on all tasks or on none. Collective, and all tasks wait for each other. NULL: fails by
 * dome__fail, with *status; what: "'image'". */
dome_memory *dome__member_memory(dome_env *env, const char *what, uint64_t bytes, dome_status *status);

/* The same for memory that is not necessary. NULL: there is none, or *status, after dome__fail_transport. */
dome_memory *dome__member_memory_if(dome_env *env, uint64_t bytes, int *status);

#endif
