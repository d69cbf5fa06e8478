/* --dome-profile: prints how the time was spent and what balancing did. */
#ifndef DOME_SRC_PROFILE_H
#define DOME_SRC_PROFILE_H

#include <dome/env.h>

/* Before the program enters another view: keeps the figures of this one for the last profile. Collective. Returns a status of the
 * transport. */
int dome__profile_keep(dome_env *env);

/* Gathers the figures of all tasks, adds those of the views before, and prints them on rank 0's standard error. Collective.
 * Returns a status of the transport. */
int dome__profile_print(dome_env *env);

#endif
