/* Folds: the results of a vector's blocks, combined along a fixed tree. */
#ifndef DOME_SRC_DVEC_FOLD_H
#define DOME_SRC_DVEC_FOLD_H

#include "core/type_private.h"
#include "objects/dvec_private.h"

/* Node (level, i) of a binary tree over the blocks stands for those of the blocks i 2^level ... (i + 1) 2^level - 1 that exist.
 * It is its left half combined with its right half, or the left one if the right one is empty. So the operands of `combine` are
 * the same for any number of tasks and any layout, and stand in the order of the vector. */
typedef struct dvec_fold {
    const dvec *x;
    dome_type type; /* of a result */
    dvec_reduce_kernel block;
    dvec_combine combine;
    void *ctx;
    const char *combine_name; /* for messages */
    bool check;               /* combine in two orders, and fail if the results differ */
} dvec_fold;

/* Sets *result to the root on every task; an empty vector leaves it as it is. Collective. The failure of x's values, or one found
 * by the check, is reported on all tasks. */
int dvec__fold(const dvec_fold *fold, void *result);

/* Prefixes: calls each for every block of the vector in order, with the combination of all blocks before it (NULL: none): the
 * nodes of the tree that cover them, one for each bit of the block's number, combined from left to right. Collective, as
 * dvec__fold. */
typedef void (*dvec_prefix)(void *ctx, uint64_t block, const void *prefix);
int dvec__fold_prefixes(const dvec_fold *fold, dvec_prefix each, void *ctx);

/* Whether two results that should be equal differ in more than rounding (a, b, c: what they are made of). Sets *text to what
 * differs, g_malloc'd. */
bool dvec__fold_differs(dome_type type, const void *left, const void *right, const void *const parts[3], char **text);

#endif
