/* A rank's blocks by their numbers. A run may wrap around the end of the ring (dome/layout.h); only layout.c computes where. */
#ifndef DOME_SRC_LAYOUT_H
#define DOME_SRC_LAYOUT_H

#include <dome/layout.h>

/* The blocks that a rank owns, as 0, 1 or 2 ranges of block numbers, in the order of its run. Returns the number of ranges; the
 * others have count 0. */
int dome__layout_block_ranges(const dome_layout *layout, int rank, dome_span ranges[2]);

/* The block at a position of a rank's run, and the position of a block; if the rank does not own the block, the position is at
 * least the length of the run. */
uint64_t dome__layout_block_at(const dome_layout *layout, int rank, uint64_t position);
uint64_t dome__layout_position_of(const dome_layout *layout, int rank, uint64_t block);

/* "DOME_BLOCK"; NULL if it is not a distribution. */
static inline const char *dome__distribution_name(uint64_t distribution)
{
    static const char *const names[] = {"DOME_DYNAMIC", "DOME_BLOCK", "DOME_WHOLE"};
    return distribution < sizeof names / sizeof *names ? names[distribution] : NULL;
}

/* The word of a distribution in listings: "block"; "?" if it is not a distribution. */
static inline const char *dome__distribution_word(uint64_t distribution)
{
    static const char *const words[] = {"dynamic", "block", "whole"};
    return distribution < sizeof words / sizeof *words ? words[distribution] : "?";
}

#endif
