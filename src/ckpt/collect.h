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

typedef struct dome_collect_request {
    const char *directory, *program;
    const dome_ckpt_pieces *pieces;
    uint64_t from;   /* no checkpoint with a lower number */
    uint64_t wanted; /* this number; 0: any */
} dome_collect_request;

/* Makes a checkpoint whole in the directories of all groups, from pieces or from a whole one in some of them: the newest complete
 * and good one that is asked for. Sets *number, to 0 if there is none, and *next to the highest number anywhere plus one.
 * Collective. Fails by dome__fail. */
int dome__collect(dome_env *env, const dome_collect_request *request, uint64_t *number, uint64_t *next);

#endif
