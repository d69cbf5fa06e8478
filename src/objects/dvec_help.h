/* dvec_map of blocks that any task may compute. */
#ifndef DOME_SRC_DVEC_HELP_H
#define DOME_SRC_DVEC_HELP_H

#include "objects/dvec_private.h"

/* Calls the kernel for every block of out, on the owner or on a task that has begun all its own blocks. Collective. The arguments
 * have been checked, and out is distributed over several tasks. Fails by dome__fail. */
int dvec__map_anywhere(dvec *out, dvec_kernel kernel, void *ctx, int nin, dvec *const in[]);

#endif
