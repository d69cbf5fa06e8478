/* The loops of dome_reduction over elements. */
#ifndef DOME_SRC_COMM_REDUCTIONS_H
#define DOME_SRC_COMM_REDUCTIONS_H

#include "transport/collective.h"

#include <dome/comm.h>

/* "DOME_SUM"; NULL if there is no such reduction. */
const char *dome__reduction_name(dome_reduction reduction);

/* The loop of a reduction for a type; NULL if the type does not have it. For an exact sum: see below. */
dome_combine dome__reduction_loop(dome_reduction reduction, dome_type type);

/* Whether the reduction is an exact sum of floating-point values, which no loop over pairs computes: dome__exact_rows does. */
bool dome__reduction_is_exact(dome_reduction reduction, dome_type type);

/* Whether the loop gives the same bits in any order and grouping. */
bool dome__reduction_commutes(dome_reduction reduction, dome_type type);

/* Whether combining an element with itself gives its final form, which one element alone need not have: 1 instead of 5
 * (DOME_AND), the usual NaN instead of another one. */
bool dome__reduction_settles(dome_reduction reduction);

/* out[i] = the exact sum of rows[0][i], ..., rows[count - 1][i], rounded to double and then to the type; row r begins at element
 * r * n. out may be one of the rows. */
void dome__exact_rows(dome_type type, const void *rows, int count, uint64_t n, void *out);

#endif
