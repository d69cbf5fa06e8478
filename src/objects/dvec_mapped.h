/* The sum of a vector that dvec_map has filled. If the program has asked for it after one dvec_map, the next one into the vector
 * adds up each block while it is in the cache, and dvec_sum need not read the vector again. */
#ifndef DOME_SRC_DVEC_MAPPED_H
#define DOME_SRC_DVEC_MAPPED_H

#include "kernels/exact_sum.h"
#include "objects/dvec_private.h"

/* Whether the sums of out's blocks are wanted while dvec_map fills it. If so they begin at 0. */
bool dvec__mapped_begin(dvec *out);

/* Adds a block of so many elements that is complete. */
void dvec__mapped_add(dvec *out, const char *data, uint64_t count);

/* dvec_map has filled out, whose values have got their version. with_sums: each block has been added. */
void dvec__mapped_end(dvec *out, bool with_sums);

/* Sets the exact sums of x's values, two of complex elements, if they are known. Otherwise notes that they were asked for. */
bool dvec__mapped_sums(const dvec *x, dome_exact_sum sums[2]);

#endif
