/* The operations of sparse matrices. */
#ifndef DOME_SRC_DSPARSE_OPERATIONS_H
#define DOME_SRC_DSPARSE_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_DSPARSE = 7 };

#define DOME_DSPARSE_OPERATIONS(X)                                                                                               \
    X(DSPARSE_NEW, "dsparse_new", "name:o type:n rows:u columns:u", PLAIN)                                                       \
    X(DSPARSE_NEW_OF, "dsparse_new_of", "name:o type:n rows:u columns:u", PLAIN)                                                 \
    X(DSPARSE_ASSEMBLE, "dsparse_assemble", "", PLAIN)                                                                           \
    X(DSPARSE_ASSEMBLE_C128, "dsparse_assemble_c128", "", PLAIN)                                                                 \
    X(DSPARSE_ASSEMBLE_I64, "dsparse_assemble_i64", "", PLAIN)                                                                   \
    X(DSPARSE_ASSEMBLE_VECTORS, "dsparse_assemble_vectors", "rows:v columns:v values:v", PLAIN)                                  \
    X(DSPARSE_FILL_ROWS, "dsparse_fill_rows", "", PLAIN)                                                                         \
    X(DSPARSE_ENTRIES, "dsparse_entries", "", PLAIN)                                                                             \
    X(DSPARSE_GET_ROW, "dsparse_get_row", "", PLAIN)                                                                             \
    X(DSPARSE_GET_ROW_C128, "dsparse_get_row_c128", "", PLAIN)                                                                   \
    X(DSPARSE_GET_ROW_I64, "dsparse_get_row_i64", "", PLAIN)                                                                     \
    X(DSPARSE_MULTIPLY, "dsparse_multiply", "y:v x:v", MOVES)                                                                    \
    X(DSPARSE_MULTIPLY_TRANSPOSED, "dsparse_multiply_transposed", "y:v x:v", MOVES)                                              \
    X(DSPARSE_DIAGONAL, "dsparse_diagonal", "d:v", PLAIN)                                                                        \
    X(DSPARSE_SCALE, "dsparse_scale", "factor:f", PLAIN)                                                                         \
    X(DSPARSE_SCALE_C128, "dsparse_scale_c128", "real:f imaginary:f", PLAIN)                                                     \
    X(DSPARSE_SCALE_I64, "dsparse_scale_i64", "factor:i", PLAIN)                                                                 \
    X(DSPARSE_SCALE_ROWS, "dsparse_scale_rows", "d:v", PLAIN)                                                                    \
    X(DSPARSE_NORM_FROBENIUS, "dsparse_norm_frobenius", "", PLAIN)                                                               \
    X(DSPARSE_NORM_INF, "dsparse_norm_inf", "", PLAIN)                                                                           \
    X(DSPARSE_TRANSPOSE, "dsparse_transpose", "a:v", PLAIN)                                                                      \
    X(DSPARSE_SLICE, "dsparse_slice", "name:o first:u count:u step:i", PLAIN)                                                    \
    X(DSPARSE_SUBMATRIX, "dsparse_submatrix", "name:o rows:v", PLAIN)                                                            \
    X(DSPARSE_READ, "dsparse_read", "name:o file:n", PLAIN)                                                                      \
    X(DSPARSE_WRITE, "dsparse_write", "file:n", PLAIN)                                                                           \
    X(DSPARSE_IS_SYMMETRIC, "dsparse_is_symmetric", "", PLAIN)

DOME_OPERATION_CODES(DOME_PART_DSPARSE, DOME_DSPARSE_OPERATIONS);

extern dome_operation_part dome__dsparse_operations;

#endif
