/* The file of a checkpoint as the place from which an object reads its values later (core/block_source.h). The file stays open
 * until then, so it may be removed meanwhile. */
#ifndef DOME_SRC_CKPT_RESTART_SOURCE_H
#define DOME_SRC_CKPT_RESTART_SOURCE_H

#include "core/block_source.h"
#include "core/environment.h"
#include "store/reader.h"

/* An object of the file `from`, whose blocks have a fixed length. */
dome_block_source *dome__restart_source_new(dome_env *env, dome_ckpt_file *from, const dome_ckpt_object *there);

/* ---- the file `doubted` in the directory of checkpoints ----
 *
 * It is there from when data that was not verified before the program went on has turned out to be damaged until another
 * checkpoint has been written: a restart then verifies everything before it begins. */

bool dome__restart_is_doubted(const char *directory);
void dome__restart_doubt(const char *directory);
void dome__restart_trust(const char *directory);

#endif
