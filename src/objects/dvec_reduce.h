/* This task's part of a reduction, for those who combine the parts later. */
#ifndef DOME_SRC_DVEC_REDUCE_H
#define DOME_SRC_DVEC_REDUCE_H

#include "eval/failure.h"
#include "kernels/kernels_reduce.h"
#include "objects/dvec_private.h"

typedef struct dvec_part {
    bool alone;            /* every task has all the data: the part is the result */
    dome_failure *failure; /* of this task's elements; borrowed, NULL: none */
} dvec_part;

/* Inside of an operation; both check their operands. Sums of complex elements, but for DOME_TERMS_SQUARES, have two parts. */
int dvec__sum_part(const dvec *x, const dvec *y, dome_terms terms, dome_exact_sum sums[2], dvec_part *part);
int dvec__extreme_part(const dvec *x, bool largest, dome_extreme *best, dvec_part *part);

#endif
