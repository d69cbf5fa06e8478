/* Running sums and products of the values of blocks, in double and in order.
 *
 * Each result waits for the one before it, so some blocks are done side by side. The total before a block need not be known until
 * the block's results are complete: it is combined with them afterwards, while they are in the cache. */
#ifndef DOME_SRC_RUNNING_H
#define DOME_SRC_RUNNING_H

#include <dome/type.h>

#include <stdbool.h>

/* Blocks side by side. */
enum { DOME_BESIDE = 4 };

typedef struct dome_running {
    /* Computes the running results s of each of DOME_BESIDE blocks of count values, which follow each other in x as they do in s,
     * and the last one of each block. s: x itself, or memory that does not overlap it; NULL: only the last ones are wanted. */
    void (*run)(const void *x, double *s, uint64_t count, double last[DOME_BESIDE]);

    /* Sets z to `before` combined with the results s of one block. z: s itself, or memory that does not overlap it. */
    void (*combine)(void *z, const double *s, uint64_t count, double before);
} dome_running;

/* Sums or products; NULL for types other than DOME_F32 and DOME_F64. */
const dome_running *dome__running(dome_type type, bool product);

#endif
