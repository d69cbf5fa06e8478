/* How many units of each region have travelled between members, for --dome-profile. */
#ifndef DOME_SRC_REGION_REGION_PROFILE_H
#define DOME_SRC_REGION_REGION_PROFILE_H

#include "core/environment.h"

/* Of the regions of one name, made one after the other. */
typedef struct dome_region_figures {
    char *name;      /* NULL: regions without a name */
    uint64_t bytes;  /* of values that this task has taken in, for its member */
    uint64_t *units; /* the same in units, by the member they came from */
} dome_region_figures;

/* Figures for a region that is being made. env keeps them. Each task alone; tasks make regions in one order. */
dome_region_figures *dome__region_profile_add(dome_env *env, const char *name);

/* On rank 0 a line for each name, g_free'd; NULL on the others, and if there are none. Collective. Returns a status of the
 * transport. */
int dome__region_profile_text(const dome_env *env, char **text);

void dome__region_profile_free(gpointer figures);

#endif
