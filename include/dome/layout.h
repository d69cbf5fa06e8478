/* Layouts: which task owns which blocks.
 *
 * A vector of n elements is cut into blocks of dome_block_size(n) elements (the last block may be
 * shorter). The blocks form a ring; each task owns one contiguous run of them, in rank order, and
 * may own none. A run may pass the end of the vector and continue at block 0, so it covers at most
 * two spans of indices. A layout is immutable, reference-counted and the same on every task; all
 * dynamic vectors of one length and block size share one.
 *
 * The block size depends on n alone, not on the element size or the number of tasks. So vectors of
 * one length and different types agree on the owner of an index, and element-wise work never
 * communicates.
 *
 * None of these functions is collective. */
#ifndef DOME_LAYOUT_H
#define DOME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dome_layout dome_layout;

/* Which tasks hold the elements of an object. */
typedef enum dome_distribution {
    DOME_DYNAMIC, /* each task some blocks; load balancing may move them */
    DOME_BLOCK,   /* each task some blocks, spread evenly; they never move */
    DOME_WHOLE    /* every task all elements */
} dome_distribution;

/* The indices first, ..., first + count - 1. */
typedef struct dome_span {
    uint64_t first;
    uint64_t count;
} dome_span;

/* Elements per block for a vector of n: the largest power of two not above n / 256, but at least 1
 * and at most 1024; for n of 2^30 and more, large enough that there are at most 2^20 blocks. */
uint64_t dome_block_size(uint64_t n);

/* A layout over ntasks tasks: task r owns counts[r] blocks, and task 0 starts at block `start`. The
 * counts must add up to the number of blocks. NULL if they do not or if memory is exhausted. The
 * caller owns one reference. */
dome_layout *dome_layout_new(uint64_t n, uint64_t block_size, int ntasks, uint64_t start, const uint64_t *counts);

/* A layout that spreads the blocks evenly over ntasks tasks; the first tasks own one more where the
 * numbers do not divide. NULL if memory is exhausted. The caller owns one reference. */
dome_layout *dome_layout_even(uint64_t n, uint64_t block_size, int ntasks);

/* Adds a reference and returns the layout; drops one and frees the layout with the last. NULL is
 * allowed. dome_layout_equal compares what the layouts describe. */
dome_layout *dome_layout_ref(const dome_layout *layout);
void dome_layout_unref(dome_layout *layout);
bool dome_layout_equal(const dome_layout *a, const dome_layout *b);

uint64_t dome_layout_length(const dome_layout *layout);     /* n, elements */
uint64_t dome_layout_block_size(const dome_layout *layout); /* elements per block */
uint64_t dome_layout_blocks(const dome_layout *layout);     /* number of blocks */
int dome_layout_tasks(const dome_layout *layout);

/* The run of blocks that `rank` owns. Sets *start to its first block and returns the number of
 * blocks; the run continues around the ring. */
uint64_t dome_layout_run(const dome_layout *layout, int rank, uint64_t *start);

/* The elements that `rank` owns, as 0, 1 or 2 spans in the order in which they lie in its memory.
 * Returns the number of spans. */
int dome_layout_spans(const dome_layout *layout, int rank, dome_span spans[2]);

uint64_t dome_layout_local(const dome_layout *layout, int rank);        /* elements that rank owns */
int dome_layout_owner(const dome_layout *layout, uint64_t block);       /* the rank that owns a block; O(log tasks) */
dome_span dome_layout_block(const dome_layout *layout, uint64_t block); /* the elements of a block */

/* The position of `index` in the memory of `rank` (0 for its first element), or UINT64_MAX if
 * `rank` does not own it. */
uint64_t dome_layout_position(const dome_layout *layout, int rank, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
