/* The second half of dome_init, which is also the beginning of a view that a task enters in place. */
#ifndef DOME_SRC_PROGRAM_INIT_H
#define DOME_SRC_PROGRAM_INIT_H

#include <dome/env.h>

/* All tasks are there, and the transport is open: balancing, checkpoints and the state of the view before begin. Fails by
 * dome__fail. Collective. */
dome_status dome__begin_view(dome_env *env);

#endif
