/* The operations of vectors, without the element-wise ones (kernels/elementwise.h). */
#ifndef DOME_SRC_DVEC_OPERATIONS_H
#define DOME_SRC_DVEC_OPERATIONS_H

#include "core/operation_table.h"
#include "kernels/elementwise.h"

enum { DOME_PART_DVEC = 5 };

#define DOME_DVEC_OPERATIONS(X)                                                                                                  \
    X(DVEC_NEW, "dvec_new", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                                      \
    X(DVEC_NEW_WITH, "dvec_new_with", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                            \
    X(DVEC_NEW_LIKE, "dvec_new_like", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                            \
    X(DVEC_CLONE, "dvec_clone", "name:o x:v", PLAIN)                                                                             \
    X(DVEC_FREE, "dvec_free", "", PLAIN)                                                                                         \
    X(DVEC_DISCARD, "dvec_discard", "", DEFERRED)                                                                                \
    X(DVEC_FILL_VALUE, "dvec_fill_value", "value:h", DEFERRED)                                                                   \
    X(DVEC_AXPBY, "dvec_axpby", "x:v a:f b:f", DEFERRED)                                                                         \
    X(DVEC_LINEAR_COMBINATION, "dvec_linear_combination", "terms:u coefficients:h term:v", DEFERRED)                             \
    X(DVEC_AXPY_STRUCT, "dvec_axpy_struct", "x:v a:h", DEFERRED)                                                                 \
    X(DVEC_FILL_C128, "dvec_fill_c128", "real:f imaginary:f", DEFERRED)                                                          \
    X(DVEC_ADDS_C128, "dvec_adds_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_SUBS_C128, "dvec_subs_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_MULS_C128, "dvec_muls_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_DIVS_C128, "dvec_divs_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_AXPY_C128, "dvec_axpy_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_AXPY_BY, "dvec_axpy_by", "x:v a:v", UPDATES)                                                                          \
    X(DVEC_AYPX_BY, "dvec_aypx_by", "x:v a:v", UPDATES)                                                                          \
    X(DVEC_AXPBY_BY, "dvec_axpby_by", "x:v a:v b:v", UPDATES)                                                                    \
    X(DVEC_MULS_BY, "dvec_muls_by", "x:v a:v", UPDATES)                                                                          \
    X(DVEC_SUM, "dvec_sum", "", MOVES)                                                                                           \
    X(DVEC_PROD, "dvec_prod", "", MOVES)                                                                                         \
    X(DVEC_SUM_I64, "dvec_sum_i64", "", MOVES)                                                                                   \
    X(DVEC_SUM_C128, "dvec_sum_c128", "", MOVES)                                                                                 \
    X(DVEC_PROD_C128, "dvec_prod_c128", "", MOVES)                                                                               \
    X(DVEC_SUM_STRUCT, "dvec_sum_struct", "", MOVES)                                                                             \
    X(DVEC_MIN_VALUE, "dvec_min_value", "", MOVES)                                                                               \
    X(DVEC_MAX_VALUE, "dvec_max_value", "", MOVES)                                                                               \
    X(DVEC_MIN_VALUE_I64, "dvec_min_value_i64", "", MOVES)                                                                       \
    X(DVEC_MAX_VALUE_I64, "dvec_max_value_i64", "", MOVES)                                                                       \
    X(DVEC_MIN_VALUE_STRUCT, "dvec_min_value_struct", "", MOVES)                                                                 \
    X(DVEC_MAX_VALUE_STRUCT, "dvec_max_value_struct", "", MOVES)                                                                 \
    X(DVEC_DOT, "dvec_dot", "y:v", MOVES)                                                                                        \
    X(DVEC_DOT_I64, "dvec_dot_i64", "y:v", MOVES)                                                                                \
    X(DVEC_DOT_C128, "dvec_dot_c128", "y:v", MOVES)                                                                              \
    X(DVEC_DOTS, "dvec_dots", "number:u vector:v", MOVES)                                                                        \
    X(DVEC_NORM2, "dvec_norm2", "", MOVES)                                                                                       \
    X(DVEC_NORM1, "dvec_norm1", "", MOVES)                                                                                       \
    X(DVEC_NORM_INF, "dvec_norm_inf", "", MOVES)                                                                                 \
    X(DVEC_COLUMN_SUMS, "dvec_column_sums", "field:n", MOVES)                                                                    \
    X(DVEC_COLUMN_MIN_VALUES, "dvec_column_min_values", "field:n", MOVES)                                                        \
    X(DVEC_COLUMN_MAX_VALUES, "dvec_column_max_values", "field:n", MOVES)                                                        \
    X(DVEC_REDUCE, "dvec_reduce", "type:n by_blocks:u", MOVES)                                                                   \
    X(DVEC_ARGMIN, "dvec_argmin", "", MOVES)                                                                                     \
    X(DVEC_ARGMAX, "dvec_argmax", "", MOVES)                                                                                     \
    X(DVEC_SUM_INTO, "dvec_sum_into", "x:v", REDUCES)                                                                            \
    X(DVEC_DOT_INTO, "dvec_dot_into", "x:v y:v", REDUCES)                                                                        \
    X(DVEC_NORM2_INTO, "dvec_norm2_into", "x:v", REDUCES)                                                                        \
    X(DVEC_MIN_VALUE_INTO, "dvec_min_value_into", "x:v", REDUCES)                                                                \
    X(DVEC_MAX_VALUE_INTO, "dvec_max_value_into", "x:v", REDUCES)                                                                \
    X(DVEC_SCAN, "dvec_scan", "x:v", MOVES)                                                                                      \
    X(DVEC_ROLL, "dvec_roll", "x:v distance:i", MOVES)                                                                           \
    X(DVEC_SHIFT, "dvec_shift", "x:v distance:i value:h", MOVES)                                                                 \
    X(DVEC_GATHER, "dvec_gather", "x:v index:v", MOVES)                                                                          \
    X(DVEC_SCATTER, "dvec_scatter", "x:v index:v", MOVES)                                                                        \
    X(DVEC_SCATTER_ADD, "dvec_scatter_add", "x:v index:v", ACCUMULATES)                                                          \
    X(DVEC_EXSCAN, "dvec_exscan", "x:v", MOVES)                                                                                  \
    X(DVEC_CUMPROD, "dvec_cumprod", "x:v", MOVES)                                                                                \
    X(DVEC_SORT, "dvec_sort", "x:v", MOVES)                                                                                      \
    X(DVEC_ARGSORT, "dvec_argsort", "x:v", MOVES)                                                                                \
    X(DVEC_SEARCHSORTED, "dvec_searchsorted", "sorted:v x:v right:u", MOVES)                                                     \
    X(DVEC_TOPK, "dvec_topk", "k:u largest:u results:u", MOVES)                                                                  \
    X(DVEC_UNIQUE, "dvec_unique", "name:o x:v", MOVES)                                                                           \
    X(DVEC_COMPRESS, "dvec_compress", "name:o mask:v", MOVES)                                                                    \
    X(DVEC_NONZERO, "dvec_nonzero", "name:o x:v", MOVES)                                                                         \
    X(DVEC_SLICE, "dvec_slice", "name:o first:u count:u step:i", MOVES)                                                          \
    X(DVEC_CONCATENATE, "dvec_concatenate", "name:o number:u vector:v", MOVES)                                                   \
    X(DVEC_FACTORIZE, "dvec_factorize", "name:o keys:v sort:u", MOVES)                                                           \
    X(DVEC_SUM_BY, "dvec_sum_by", "labels:v k:u", MOVES)                                                                         \
    X(DVEC_MIN_BY, "dvec_min_by", "labels:v k:u", MOVES)                                                                         \
    X(DVEC_MAX_BY, "dvec_max_by", "labels:v k:u", MOVES)                                                                         \
    X(DVEC_COUNT_BY, "dvec_count_by", "k:u", MOVES)                                                                              \
    X(DVEC_HISTOGRAM, "dvec_histogram", "bins:u edges:h", MOVES)                                                                 \
    X(DVEC_HISTOGRAM_EDGES, "dvec_histogram_edges", "bins:u edges:h", MOVES)                                                     \
    X(DVEC_MATMUL, "dvec_matmul", "a:v b:v", MOVES)                                                                              \
    X(DVEC_NEAREST, "dvec_nearest", "x:v rows:v", MOVES)                                                                         \
    X(DVEC_TRANSPOSE_MATMUL, "dvec_transpose_matmul", "b:v", MOVES)                                                              \
    X(DVEC_TAKE_VIEW, "dvec_take_view", "name:o view:h", MOVES)                                                                  \
    X(DVEC_COPY_VIEW, "dvec_copy_view", "x:v view:h view_of_x:h", MOVES)                                                         \
    X(DVEC_JOIN_VIEWS, "dvec_join_views", "name:o axis:i views:h vector:v", MOVES)                                               \
    X(DVEC_ROLL_VIEW, "dvec_roll_view", "name:o view:h axis:i distance:i", MOVES)                                                \
    X(DVEC_REDUCE_VIEW, "dvec_reduce_view", "name:o view:h operation:u axes:u", MOVES)                                           \
    X(DVEC_SCAN_VIEW, "dvec_scan_view", "name:o view:h operation:u axis:i", MOVES)                                               \
    X(DVEC_GET, "dvec_get", "index:u", PLAIN)                                                                                    \
    X(DVEC_GET_MANY, "dvec_get_many", "", PLAIN)                                                                                 \
    X(DVEC_SET, "dvec_set", "index:u element:h", PLAIN)                                                                          \
    X(DVEC_ALLGATHER, "dvec_allgather", "", PLAIN)                                                                               \
    X(DVEC_PRINT, "dvec_print", "", PLAIN)                                                                                       \
    X(DVEC_TEXT, "dvec_text", "", PLAIN)                                                                                         \
    X(DVEC_LOCAL, "dvec_local_spans", "", LOOKS)                                                                                 \
    X(DVEC_LOCAL_CONST, "dvec_local_spans_const", "", LOOKS)                                                                     \
    X(DVEC_HALO, "dvec_halo_elements", "below:u above:u periodic:u", PLAIN)                                                      \
    X(DVEC_HALO_PLANES, "dvec_halo_planes", "below:u above:u periodic:u", PLAIN)                                                 \
    X(DVEC_STENCIL, "dvec_stencil", "x:v below:u above:u periodic:u", MOVES)                                                     \
    X(DVEC_SET_SHAPE, "dvec_set_shape", "dimensions:u dimension:u", PLAIN)                                                       \
    X(DVEC_MAP, "dvec_map", "inputs:u input:v", MOVES)                                                                           \
    X(DVEC_MAP_RUNS, "dvec_map_runs", "inputs:u input:v", MOVES)                                                                 \
    X(DVEC_MAP_ANYWHERE, "dvec_map_anywhere", "inputs:u input:v", MOVES)                                                         \
    X(DVEC_RUN_BEGIN, "dvec_run_begin", "inputs:u input:v", MOVES)                                                               \
    X(LOOP_MAP, "DVEC_MAP", "inputs:u input:v", MOVES)                                                                           \
    X(LOOP_SUM, "DVEC_SUM", "inputs:u input:v", MOVES)                                                                           \
    X(LOOP_MAP_SUM, "DVEC_MAP_SUM", "inputs:u input:v", MOVES)                                                                   \
    X(DVEC_RUN_OVER, "dvec_run_over", "form:u operands:u operand:v", MOVES)                                                      \
    X(LOOP_FOR, "DVEC_FOR", "form:u vectors:u vector:v", MOVES)                                                                  \
    X(LOOP_FOR_SUM, "DVEC_FOR_SUM", "form:u vectors:u vector:v", MOVES)                                                          \
    X(LOOP_FOR_ROWS, "DVEC_FOR_ROWS", "form:u vectors:u vector:v", MOVES)                                                        \
    X(LOOP_FOR_ROWS_SUM, "DVEC_FOR_ROWS_SUM", "form:u vectors:u vector:v", MOVES)                                                \
    X(CXX_FOR_EACH, "dome::for_each", "form:u vectors:u vector:v", MOVES)                                                        \
    X(CXX_SUM, "dome::sum", "form:u vectors:u vector:v", MOVES)                                                                  \
    X(CXX_FOR_ROWS, "dome::for_rows", "form:u vectors:u vector:v", MOVES)                                                        \
    X(CXX_SUM_ROWS, "dome::sum_rows", "form:u vectors:u vector:v", MOVES)                                                        \
    X(CXX_MAP, "dome::map", "form:u vectors:u vector:v", MOVES)                                                                  \
    X(CXX_MAP_SUM, "dome::map_sum", "form:u vectors:u vector:v", MOVES)                                                          \
    X(DVEC_WRITE, "dvec_write", "file:n", PLAIN)                                                                                 \
    X(DVEC_WRITE_ZARR, "dvec_write_zarr", "file:n version:u level:u chunk:u", PLAIN)                                             \
    X(DVEC_READ, "dvec_read", "name:o file:n distribution:d width:u block:u", PLAIN)                                             \
    X(DVEC_READ_WITH, "dvec_read_with", "name:o file:n distribution:d width:u block:u", PLAIN)                                   \
    X(DVEC_READ_COLUMNS, "dvec_read_columns", "file:n columns:h options:h", PLAIN)                                               \
    X(DVEC_READ_TEXT, "dvec_read_text", "name:o file:n options:h", PLAIN)

DOME_OPERATION_CODES(DOME_PART_DVEC, DOME_DVEC_OPERATIONS);

extern dome_operation_part dome__dvec_operations;

/* dome__null for an operation of vectors, element-wise or not: names it before dome_init, too. */
dome_status dvec__null(dome_operation_code code, const char *what);

#endif
