/* The wrapper around every public operation: records the current operation, times it, and reports failure.
 *
 *     dome_status dvec_add(dvec *z, const dvec *x, const dvec *y)
 *     {
 *         dome_operation op;
 *         dome__begin(&op, z->env, DOME_OP_DVEC_ADD, z->object, hash of the other arguments);
 *         dome_status status = ...;                      // check, then dispatch; failures by dome__fail
 *         return dome__end(&op, status);
 *     }
 *
 * Operations nest (dome_finalize frees objects): messages and the clock name the outermost. */
#ifndef DOME_SRC_OPERATION_H
#define DOME_SRC_OPERATION_H

#include <dome/structure.h>

/* X(code, name, arguments, flag). The public functions that do work, in the order of the headers; structures register theirs
 * (operation_table.c). arguments: names and kinds of the words passed to dome__begin, for the report on tasks that disagree
 * (trail.c). u, i, f: a number; d: a distribution; v: the id of an object; n: a text, by dome__text_word; o: the same for the
 * name of the object to be created; c: code of the operation that the user called; h: a hash, whose value is not shown. The last
 * one also describes all further words. flag: a dome_operation_flags. The evaluator's properties of element-wise operations are
 * in kernels/elementwise.h. */
#define DOME_OPERATION_LIST(X)                                                                                                   \
    X(NONE, "the program's own code", "", PLAIN)                                                                                 \
    X(INIT, "dome_init", "tasks:u", PLAIN)                                                                                       \
    X(FINALIZE, "dome_finalize", "", PLAIN)                                                                                      \
    X(CHECKPOINT, "dome_checkpoint", "poll:h", MOVES)                                                                            \
    X(RESIZE, "dome_resize", "tasks:i", PLAIN)                                                                                   \
    X(ON_VIEW, "dome_on_view", "", PLAIN)                                                                                        \
    X(LOST, "dome_lost", "", PLAIN)                                                                                              \
    X(BARRIER, "dome_barrier", "", MOVES)                                                                                        \
    X(BCAST, "dome_bcast", "root:u count:u size_of_the_type:u", PLAIN)                                                           \
    X(ALLREDUCE, "dome_allreduce", "type:n count:u reduction:n", PLAIN)                                                          \
    X(REDUCE, "dome_reduce", "type:n count:u reduction:n root:u", PLAIN)                                                         \
    X(SCAN, "dome_scan", "type:n count:u reduction:n", PLAIN)                                                                    \
    X(EXSCAN, "dome_exscan", "type:n count:u reduction:n", PLAIN)                                                                \
    X(ALLREDUCE_WITH, "dome_allreduce_with", "type:n count:u", PLAIN)                                                            \
    X(REDUCE_WITH, "dome_reduce_with", "type:n count:u root:u", PLAIN)                                                           \
    X(SCAN_WITH, "dome_scan_with", "type:n count:u", PLAIN)                                                                      \
    X(EXSCAN_WITH, "dome_exscan_with", "type:n count:u", PLAIN)                                                                  \
    X(GATHER, "dome_gather", "type:n count:u root:u", PLAIN)                                                                     \
    X(ALLGATHER, "dome_allgather", "type:n count:u", PLAIN)                                                                      \
    X(GATHERV, "dome_gatherv", "type:n counts:h root:u", PLAIN)                                                                  \
    X(ALLGATHERV, "dome_allgatherv", "type:n counts:h", PLAIN)                                                                   \
    X(SCATTER, "dome_scatter", "type:n count:u root:u", PLAIN)                                                                   \
    X(SCATTERV, "dome_scatterv", "type:n counts:h root:u", PLAIN)                                                                \
    X(ALLTOALL, "dome_alltoall", "type:n", PLAIN)                                                                                \
    X(SEND, "dome_send", "", PLAIN)                                                                                              \
    X(RECV, "dome_recv", "", PLAIN)                                                                                              \
    X(ISEND, "dome_isend", "", PLAIN)                                                                                            \
    X(IRECV, "dome_irecv", "", PLAIN)                                                                                            \
    X(WAIT, "dome_wait", "", PLAIN)                                                                                              \
    X(TEST, "dome_test", "", PLAIN)                                                                                              \
    X(BALANCE, "load balancing", "before:c decision_of_load_balancing:h", PLAIN)                                                 \
    X(RELAYOUT, "dome_env_relayout", "layout:h", PLAIN)                                                                          \
    X(TYPE_STRUCT, "dome_type_struct", "name:o fields:h", PLAIN)                                                                 \
    X(TYPE_SET_OPS, "dome_type_set_ops", "type:n functions:h", PLAIN)                                                            \
    X(OBJECT_NEW, "dome_object_new", "name:o kind:n", PLAIN)                                                                     \
    X(OBJECT_FREE, "dome_object_free", "", PLAIN)                                                                                \
    X(OPERATION_REGISTER, "dome_operation_register", "name:n arguments:n flags:u", PLAIN)                                        \
    X(DSCALAR_NEW, "dscalar_new", "name:o type:n", PLAIN)                                                                        \
    X(DSCALAR_SET, "dscalar_set", "value:h", PLAIN)                                                                              \
    X(DSCALAR_SET_I64, "dscalar_set_i64", "value:i", PLAIN)                                                                      \
    X(DSCALAR_SET_F64, "dscalar_set_f64", "value:f", PLAIN)                                                                      \
    X(DSCALAR_SET_C128, "dscalar_set_c128", "real:f imaginary:f", PLAIN)                                                         \
    X(DSCALAR_GET, "dscalar_get", "", PLAIN)                                                                                     \
    X(DSCALAR_GET_I64, "dscalar_get_i64", "", PLAIN)                                                                             \
    X(DSCALAR_GET_F64, "dscalar_get_f64", "", PLAIN)                                                                             \
    X(DSCALAR_GET_C128, "dscalar_get_c128", "", PLAIN)                                                                           \
    X(DSCALAR_COPY, "dscalar_copy", "a:v", DEFERRED)                                                                             \
    X(DSCALAR_ADD, "dscalar_add", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_SUB, "dscalar_sub", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_MUL, "dscalar_mul", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_DIV, "dscalar_div", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_MIN, "dscalar_min", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_MAX, "dscalar_max", "a:v b:v", DEFERRED)                                                                           \
    X(DSCALAR_NEG, "dscalar_neg", "a:v", DEFERRED)                                                                               \
    X(DSCALAR_ABS, "dscalar_abs", "a:v", DEFERRED)                                                                               \
    X(DSCALAR_SQRT, "dscalar_sqrt", "a:v", DEFERRED)                                                                             \
    X(DSCALAR_ADDS, "dscalar_adds", "a:v value:f", DEFERRED)                                                                     \
    X(DSCALAR_MULS, "dscalar_muls", "a:v value:f", DEFERRED)                                                                     \
    X(DSCALAR_RDIVS, "dscalar_rdivs", "a:v value:f", DEFERRED)                                                                   \
    X(DVEC_NEW, "dvec_new", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                                      \
    X(DVEC_NEW_WITH, "dvec_new_with", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                            \
    X(DVEC_NEW_LIKE, "dvec_new_like", "name:o length:u type:n distribution:d width:u block:u", PLAIN)                            \
    X(DVEC_CLONE, "dvec_clone", "name:o x:v", PLAIN)                                                                             \
    X(DVEC_FREE, "dvec_free", "", PLAIN)                                                                                         \
    X(DVEC_FILL_VALUE, "dvec_fill_value", "value:h", DEFERRED)                                                                   \
    X(DVEC_FILL, "dvec_fill", "value:f", DEFERRED)                                                                               \
    X(DVEC_COPY, "dvec_copy", "x:v", DEFERRED)                                                                                   \
    X(DVEC_CONVERT, "dvec_convert", "x:v", DEFERRED)                                                                             \
    X(DVEC_ADD, "dvec_add", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_SUB, "dvec_sub", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_MUL, "dvec_mul", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_DIV, "dvec_div", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_MIN, "dvec_min", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_MAX, "dvec_max", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_POW, "dvec_pow", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_ADDS, "dvec_adds", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_SUBS, "dvec_subs", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_MULS, "dvec_muls", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_DIVS, "dvec_divs", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_MINS, "dvec_mins", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_MAXS, "dvec_maxs", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_POWS, "dvec_pows", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_RSUBS, "dvec_rsubs", "x:v a:f", DEFERRED)                                                                             \
    X(DVEC_RDIVS, "dvec_rdivs", "x:v a:f", DEFERRED)                                                                             \
    X(DVEC_RPOWS, "dvec_rpows", "x:v a:f", DEFERRED)                                                                             \
    X(DVEC_FMOD, "dvec_fmod", "x:v y:v", DEFERRED)                                                                               \
    X(DVEC_FMODS, "dvec_fmods", "x:v a:f", DEFERRED)                                                                             \
    X(DVEC_ATAN2, "dvec_atan2", "x:v y:v", DEFERRED)                                                                             \
    X(DVEC_HYPOT, "dvec_hypot", "x:v y:v", DEFERRED)                                                                             \
    X(DVEC_AXPY, "dvec_axpy", "x:v a:f", DEFERRED)                                                                               \
    X(DVEC_NEG, "dvec_neg", "x:v", DEFERRED)                                                                                     \
    X(DVEC_ABS, "dvec_abs", "x:v", DEFERRED)                                                                                     \
    X(DVEC_SQRT, "dvec_sqrt", "x:v", DEFERRED)                                                                                   \
    X(DVEC_EXP, "dvec_exp", "x:v", DEFERRED)                                                                                     \
    X(DVEC_LOG, "dvec_log", "x:v", DEFERRED)                                                                                     \
    X(DVEC_SIN, "dvec_sin", "x:v", DEFERRED)                                                                                     \
    X(DVEC_COS, "dvec_cos", "x:v", DEFERRED)                                                                                     \
    X(DVEC_TAN, "dvec_tan", "x:v", DEFERRED)                                                                                     \
    X(DVEC_ASIN, "dvec_asin", "x:v", DEFERRED)                                                                                   \
    X(DVEC_ACOS, "dvec_acos", "x:v", DEFERRED)                                                                                   \
    X(DVEC_ATAN, "dvec_atan", "x:v", DEFERRED)                                                                                   \
    X(DVEC_SINH, "dvec_sinh", "x:v", DEFERRED)                                                                                   \
    X(DVEC_COSH, "dvec_cosh", "x:v", DEFERRED)                                                                                   \
    X(DVEC_TANH, "dvec_tanh", "x:v", DEFERRED)                                                                                   \
    X(DVEC_EXP2, "dvec_exp2", "x:v", DEFERRED)                                                                                   \
    X(DVEC_EXPM1, "dvec_expm1", "x:v", DEFERRED)                                                                                 \
    X(DVEC_LOG2, "dvec_log2", "x:v", DEFERRED)                                                                                   \
    X(DVEC_LOG10, "dvec_log10", "x:v", DEFERRED)                                                                                 \
    X(DVEC_LOG1P, "dvec_log1p", "x:v", DEFERRED)                                                                                 \
    X(DVEC_CBRT, "dvec_cbrt", "x:v", DEFERRED)                                                                                   \
    X(DVEC_ERF, "dvec_erf", "x:v", DEFERRED)                                                                                     \
    X(DVEC_ERFC, "dvec_erfc", "x:v", DEFERRED)                                                                                   \
    X(DVEC_FLOOR, "dvec_floor", "x:v", DEFERRED)                                                                                 \
    X(DVEC_CEIL, "dvec_ceil", "x:v", DEFERRED)                                                                                   \
    X(DVEC_ROUND, "dvec_round", "x:v", DEFERRED)                                                                                 \
    X(DVEC_TRUNC, "dvec_trunc", "x:v", DEFERRED)                                                                                 \
    X(DVEC_CONJ, "dvec_conj", "x:v", DEFERRED)                                                                                   \
    X(DVEC_REAL, "dvec_real", "x:v", DEFERRED)                                                                                   \
    X(DVEC_IMAG, "dvec_imag", "x:v", DEFERRED)                                                                                   \
    X(DVEC_ARG, "dvec_arg", "x:v", DEFERRED)                                                                                     \
    X(DVEC_EQ, "dvec_eq", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_NE, "dvec_ne", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_LT, "dvec_lt", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_LE, "dvec_le", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_GT, "dvec_gt", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_GE, "dvec_ge", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_EQS, "dvec_eqs", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_NES, "dvec_nes", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_LTS, "dvec_lts", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_LES, "dvec_les", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_GTS, "dvec_gts", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_GES, "dvec_ges", "x:v a:f", DEFERRED)                                                                                 \
    X(DVEC_AND, "dvec_and", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_OR, "dvec_or", "x:v y:v", DEFERRED)                                                                                   \
    X(DVEC_XOR, "dvec_xor", "x:v y:v", DEFERRED)                                                                                 \
    X(DVEC_NOT, "dvec_not", "x:v", DEFERRED)                                                                                     \
    X(DVEC_BITAND, "dvec_bitand", "x:v y:v", DEFERRED)                                                                           \
    X(DVEC_BITOR, "dvec_bitor", "x:v y:v", DEFERRED)                                                                             \
    X(DVEC_BITXOR, "dvec_bitxor", "x:v y:v", DEFERRED)                                                                           \
    X(DVEC_BITANDS, "dvec_bitands", "x:v a:f", DEFERRED)                                                                         \
    X(DVEC_BITORS, "dvec_bitors", "x:v a:f", DEFERRED)                                                                           \
    X(DVEC_BITXORS, "dvec_bitxors", "x:v a:f", DEFERRED)                                                                         \
    X(DVEC_BITNOT, "dvec_bitnot", "x:v", DEFERRED)                                                                               \
    X(DVEC_LSHIFT, "dvec_lshift", "x:v y:v", DEFERRED)                                                                           \
    X(DVEC_RSHIFT, "dvec_rshift", "x:v y:v", DEFERRED)                                                                           \
    X(DVEC_LSHIFTS, "dvec_lshifts", "x:v a:f", DEFERRED)                                                                         \
    X(DVEC_RSHIFTS, "dvec_rshifts", "x:v a:f", DEFERRED)                                                                         \
    X(DVEC_SELECT, "dvec_select", "mask:v x:v y:v", DEFERRED)                                                                    \
    X(DVEC_REPEAT, "a repeated operand", "x:v", DEFERRED)                                                                        \
    X(DVEC_IOTA, "dvec_iota", "", DEFERRED)                                                                                      \
    X(DVEC_RANDOM, "dvec_random", "seed:u", DEFERRED)                                                                            \
    X(DVEC_RANDOM_NORMAL, "dvec_random_normal", "seed:u", DEFERRED)                                                              \
    X(DVEC_AXPBY, "dvec_axpby", "x:v a:f b:f", DEFERRED)                                                                         \
    X(DVEC_LINEAR_COMBINATION, "dvec_linear_combination", "terms:u coefficients:h term:v", DEFERRED)                             \
    X(DVEC_AXPY_STRUCT, "dvec_axpy_struct", "x:v a:h", DEFERRED)                                                                 \
    X(DVEC_FILL_C128, "dvec_fill_c128", "real:f imaginary:f", DEFERRED)                                                          \
    X(DVEC_ADDS_C128, "dvec_adds_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_SUBS_C128, "dvec_subs_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_MULS_C128, "dvec_muls_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_DIVS_C128, "dvec_divs_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_AXPY_C128, "dvec_axpy_c128", "x:v real:f imaginary:f", DEFERRED)                                                      \
    X(DVEC_AXPY_BY, "dvec_axpy_by", "x:v a:v", PLAIN)                                                                            \
    X(DVEC_AYPX_BY, "dvec_aypx_by", "x:v a:v", PLAIN)                                                                            \
    X(DVEC_AXPBY_BY, "dvec_axpby_by", "x:v a:v b:v", PLAIN)                                                                      \
    X(DVEC_MULS_BY, "dvec_muls_by", "x:v a:v", PLAIN)                                                                            \
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
    X(DVEC_SCATTER_ADD, "dvec_scatter_add", "x:v index:v", MOVES)                                                                \
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
    X(DVEC_TRANSPOSE_MATMUL, "dvec_transpose_matmul", "b:v", MOVES)                                                              \
    X(DVEC_GET, "dvec_get", "index:u", PLAIN)                                                                                    \
    X(DVEC_GET_MANY, "dvec_get_many", "", PLAIN)                                                                                 \
    X(DVEC_SET, "dvec_set", "index:u element:h", PLAIN)                                                                          \
    X(DVEC_ALLGATHER, "dvec_allgather", "", PLAIN)                                                                               \
    X(DVEC_PRINT, "dvec_print", "", PLAIN)                                                                                       \
    X(DVEC_TEXT, "dvec_text", "", PLAIN)                                                                                         \
    X(DVEC_LOCAL, "dvec_local_spans", "", PLAIN)                                                                                 \
    X(DVEC_LOCAL_CONST, "dvec_local_spans_const", "", PLAIN)                                                                     \
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
    X(DVEC_READ_TEXT, "dvec_read_text", "name:o file:n options:h", PLAIN)                                                        \
    X(DSPARSE_NEW, "dsparse_new", "name:o type:n rows:u columns:u", PLAIN)                                                       \
    X(DSPARSE_NEW_OF, "dsparse_new_of", "name:o type:n rows:u columns:u", PLAIN)                                                 \
    X(DSPARSE_ASSEMBLE, "dsparse_assemble", "", PLAIN)                                                                           \
    X(DSPARSE_ASSEMBLE_C128, "dsparse_assemble_c128", "", PLAIN)                                                                 \
    X(DSPARSE_ASSEMBLE_I64, "dsparse_assemble_i64", "", PLAIN)                                                                   \
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

enum {
#define DOME_OPERATION_ENUM(code, name, arguments, flag) DOME_OP_##code,
    DOME_OPERATION_LIST(DOME_OPERATION_ENUM)
#undef DOME_OPERATION_ENUM
        DOME_OPERATIONS, /* codes of structures' operations begin here */
    DOME_OPERATIONS_MAX = DOME_OPERATIONS + 64
};

/* A flag of the library's own operations beside those of structure.h: a reduction whose exchange begins later, with those of the
 * reductions that follow. Data may move before it. */
enum { DOME_OPERATION_BEGINS_LATER = 4, DOME_OPERATION_REDUCES = DOME_OPERATION_MOVES | DOME_OPERATION_BEGINS_LATER };

/* The number of operations, the library's and registered ones. Another thread sees a registered one only once it is complete. */
uint32_t dome__operation_count(void);

/* By code. Hidden visibility makes access fast: every operation reads it. */
extern uint8_t dome__operation_flags[DOME_OPERATIONS_MAX] __attribute__((visibility("hidden")));

/* Whether an operation has a flag. */
static inline bool dome__operation_has(dome_operation_code code, unsigned flag)
{
    return dome__operation_flags[code] & flag;
}

/* Removes the operations that structures have registered, when their environment ends. */
void dome__operation_table_reset(void);

struct dome_operation {
    dome_env *env;
    dome_operation_code code;
    const dome_object *object;
    bool program; /* running the program's own code: a kernel */
    uint64_t start_ns, start_wait_ns, start_eval_ns;
    struct dome_operation *outer;
};

/* Enters an operation. If data may move in it and load balancing is due, balancing runs first. object may be NULL. The words hold
 * all else that tasks must agree on, as DOME_OPERATION_LIST describes them: ids of the other operands, scalars, lengths. op must
 * stay at its address until dome__end. Nested operations do not enter the history. */
void dome__begin_with(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object,
                      const uint64_t *words, size_t count);

/* dome__begin_with with one word, which may be a hash of several. */
static inline void dome__begin(dome_operation *op, dome_env *env, dome_operation_code code, const dome_object *object,
                               uint64_t word)
{
    dome__begin_with(op, env, code, object, &word, 1);
}

/* dome__begin for an operation that this task may call alone: it has no number and no place in the history, and no data moves
 * before it. */
void dome__begin_alone(dome_operation *op, dome_env *env, dome_operation_code code);

/* dome__begin_alone in two steps, between which the clock has not been read and nobody sees the task in the operation: for what
 * takes less time than that. */
void dome__enter_alone(dome_operation *op, dome_env *env, dome_operation_code code);
void dome__clock_alone(dome_operation *op);

/* Words for dome__begin: of a double (all NaNs have the same word), and of a text (0 if none), which is kept for the report on
 * tasks that disagree. */
uint64_t dome__double_word(double value);
uint64_t dome__text_word(dome_env *env, const char *text);

/* Continues the current operation as the next one of the history, under a new number: adds a decision (a hash) that all tasks
 * have made in it to the history, so that tasks which decided differently are found. */
void dome__begin_next(dome_env *env, uint64_t decision);

/* Leaves the operation: adds its computing time (waiting excluded) to the clock. Returns status. */
dome_status dome__end(dome_operation *op, dome_status status);

/* Counts bytes of vectors that an operation has read or written, for the profile: as the outermost one's. */
void dome__count_bytes(const dome_operation *op, uint64_t bytes);

/* What an environment knows of errors. */
struct dome_errors *dome__errors_new(void);
void dome__errors_free(struct dome_errors *errors);

/* Whether errors are returned to the program (dome_set_errors_return) instead of ending it. */
bool dome__errors_returned(const dome_env *env);

/* From now on errors end the program. */
void dome__errors_end(dome_env *env);

/* Reports a failure of the current operation: one line with its name, its object, the text, task and host. Ends the program, or,
 * after dome_set_errors_return, records the line and returns status. */
dome_status dome__fail(dome_env *env, dome_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* dome__fail for a failure that the task with this rank has found. */
dome_status dome__fail_at(dome_env *env, dome_status status, int rank, const char *text);

/* Report a call by another thread of the task, and by a child process of it, and end the program, or the child. The line names
 * the operation itself: the current one is that of the task's own thread. */
void dome__fail_beside(dome_env *env, dome_status status, const char *line) __attribute__((cold, noreturn));
void dome__fail_child(dome_status status, const char *line) __attribute__((cold, noreturn));

/* Reports that an argument of a public function is NULL, before its operation has begun; `what` says which ("the vector").
 * Returns DOME_ERR_ARGUMENT. */
dome_status dome__null(const char *function, const char *what);

/* Reports that a public function was called after dome_finalize, and ends the process. */
void dome__called_late(dome_env *env, const char *function) __attribute__((cold, noreturn));

/* At the head of a public function: if pointer is NULL, reports that and returns the value of the last argument (none: void). */
#define DOME_NEEDS(pointer, what, ...)                                                                                           \
    do {                                                                                                                         \
        if (__builtin_expect(!(pointer), 0)) {                                                                                   \
            dome__null(__func__, what);                                                                                          \
            return __VA_ARGS__;                                                                                                  \
        }                                                                                                                        \
    } while (0)

/* This process's only environment. NULL before dome_init and after dome_finalize. From dome__set_this_env on operations may be
 * called by the thread that calls it, and by no other; a child process of this one may only look at values. */
dome_env *dome__this_env(void);
void dome__set_this_env(dome_env *env);

/* Both accept any code. dome__operation_arguments: "" if there is no such operation. */
const char *dome__operation_name(uint32_t code);
const char *dome__operation_arguments(uint32_t code);

/* Mixes a value into a hash; start with 0. For doubles use dome__hash_double, which treats all NaNs as equal. */
uint64_t dome__hash(uint64_t hash, uint64_t value);
uint64_t dome__hash_double(uint64_t hash, double value);
uint64_t dome__hash_bytes(uint64_t hash, const void *data, size_t bytes);

#endif
