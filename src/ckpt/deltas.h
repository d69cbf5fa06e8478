/* Deltas of the blocks that a task has copied, against the checkpoint before, which the task reads for it: so no task keeps a
 * copy of what it saved last. */
#ifndef DOME_SRC_CKPT_DELTAS_H
#define DOME_SRC_CKPT_DELTAS_H

#include "ckpt/snapshot.h"

/* Makes them of a snapshot that has been converted: `deltas`, which is empty, gets a block for each of its blocks, whose bytes
 * are DOME_CKPT_SAME where nothing has changed. It gets none at all, and has no problem, if the deltas would not be much shorter
 * than the blocks. get_on, if not NULL, is called now and then. */
void dome__ckpt_make_deltas(dome_ckpt_snapshot *deltas, const dome_ckpt_snapshot *snapshot, const char *previous,
                            void (*get_on)(void *ctx), void *ctx);

#endif
