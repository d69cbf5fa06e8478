/* --dome-profile: prints how the time was spent and what balancing did. */
#ifndef DOME_SRC_PROFILE_H
#define DOME_SRC_PROFILE_H

#include <dome/env.h>

/* Gathers the figures of all tasks and prints them on rank 0's standard error. Collective. Returns a status of the transport. */
int dome__profile_print(dome_env *env);

#endif
