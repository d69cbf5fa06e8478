/* For points the numbers of the nearest of some rows. */
#ifndef DOME_SRC_KERNELS_NEAREST_H
#define DOME_SRC_KERNELS_NEAREST_H

#include <stdint.h>

enum { DOME_NEAREST_POINTS = 32 };

/* number[i]: the first of the k rows with the least sum of squared differences from point i, added in the order of the columns;
 * 0 if no sum is finite or all are NaN. columns[d * DOME_NEAREST_POINTS + i] is column d of point i. */
void dome__find_nearest(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number);

#endif
