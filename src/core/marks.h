/* For structures of the library that note what has been written since a mark (dome_object_delta): a byte for each block, with a
 * bit for each mark. */
#ifndef DOME_SRC_CORE_MARKS_H
#define DOME_SRC_CORE_MARKS_H

#include "core/environment.h"

/* The flags of a block that has just been written, and the bit of a mark. */
enum { DOME_WRITTEN = (1 << DOME_MARKS) - 1 };
#define DOME_MARK_BIT(mark) (1u << (mark))

/* Whether blocks that stores may have written count as written without being compared (--dome-checkpoint-mode). Other marks than
 * those of checkpoints are accurate. */
static inline bool dome__mark_estimates(const dome_env *env, unsigned mark)
{
    return mark == DOME_MARK_CHECKPOINT && env->options.checkpoint.mode != DOME_CHECKPOINT_ACCURATE;
}

/* The blocks that a task has under a layout, and whether one may have been written. */
typedef struct dome_marked {
    const dome_layout *layout;
    int rank;
    bool (*written)(const void *object, unsigned mark, uint64_t block);
    const void *object;
    unsigned mark;
} dome_marked;

/* Visits the longest runs of blocks that may have been written. */
dome_status dome__marked_visit(const dome_marked *marked, dome_delta_visit visit, void *ctx);

#endif
