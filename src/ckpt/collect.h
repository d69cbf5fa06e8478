/* Where hosts share no file system: which tasks have a directory of checkpoints in common, and bringing together at a restart
 * what the directories have. */
#ifndef DOME_SRC_COLLECT_H
#define DOME_SRC_COLLECT_H

#include "ckpt/writer.h"
#include "core/environment.h"

/* Makes the directory where it is not (own: for this user alone), and finds out who shares it: every task makes a file there that
 * nobody else would make. Sets count, group and leader. Collective. Fails by dome__fail. */
int dome__find_groups(dome_env *env, const char *directory, bool own, dome_ckpt_pieces *pieces);

/* Connects the groups in a ring, for copies. task: links this task with task 0 already. Collective. Fails by dome__fail. */
int dome__connect_groups(dome_env *env, const dome_ckpt_link *task, dome_ckpt_pieces *pieces);

/* Takes away what an interrupted start left in the directory, which has to be locked. */
void dome__clean_directory(const char *directory);

void dome__groups_free(dome_ckpt_pieces *pieces);

/* Makes a checkpoint whole in the directories of all groups, out of pieces or of a whole one that is in some of them: the newest
 * that is complete and good and has at least number `from`, or the one that is `wanted` (0: any). *number gets it, 0 if there is
 * none. *next gets one more than the highest number anywhere. Collective. Fails by dome__fail. */
int dome__collect(dome_env *env, const char *directory, const char *program, const dome_ckpt_pieces *pieces, uint64_t from,
                  uint64_t wanted, uint64_t *number, uint64_t *next);

#endif
