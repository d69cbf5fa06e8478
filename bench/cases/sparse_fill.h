/* The rows of sparse_rows.h as dsparse_fill_rows takes them. */
#ifndef DOME_BENCH_SPARSE_FILL_H
#define DOME_BENCH_SPARSE_FILL_H

#include "sparse_rows.h"

#include <dome/sparse.h>

/* ctx: the kind of matrix. */
static inline void sparse_fill_row(void *ctx, uint64_t index, dsparse_row *row)
{
    int64_t column[SPARSE_LINKS];
    double value[SPARSE_LINKS];
    const int count = sparse_row(ctx, index, column, value);
    for (int k = 0; k < count; k++)
        dsparse_row_add(row, (uint64_t)column[k], value[k]);
}

#endif
