/* For hosts without a common file system: finds out which tasks share a directory of checkpoints, and brings the contents of the
 * directories together at a restart. */
#ifndef DOME_SRC_COLLECT_H
#define DOME_SRC_COLLECT_H

#include "ckpt/writer.h"
#include "core/environment.h"

/* Makes the directory if it does not exist, checks its owner, and finds out which tasks share it: every task makes a
 * file there with a unique name, and looks for those of the others. Sets count, group and leader. Collective. Fails by
 * dome__fail. */
int dome__find_groups(dome_env *env, const char *directory, dome_store_owner owner, dome_ckpt_pieces *pieces);

/* Connects the groups in a ring, for copies, over the service channel. Collective. Fails by dome__fail. */
int dome__connect_groups(dome_env *env, dome_ckpt_pieces *pieces);

/* Removes what an interrupted start left in the directory, which must be locked. */
void dome__clean_directory(const char *directory);

void dome__groups_free(dome_ckpt_pieces *pieces);

/* Makes a checkpoint whole in the directories of all groups, from pieces or from a whole one in some of them: the newest complete
 * and good one with at least number `from`, or number `wanted` (0: any). Sets *number, to 0 if there is none, and *next to the
 * highest number anywhere plus one. Collective. Fails by dome__fail. */
int dome__collect(dome_env *env, const char *directory, const char *program, const dome_ckpt_pieces *pieces, uint64_t from,
                  uint64_t wanted, uint64_t *number, uint64_t *next);

#endif
