/* The operations of scalars. */
#ifndef DOME_SRC_DSCALAR_OPERATIONS_H
#define DOME_SRC_DSCALAR_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_DSCALAR = 4 };

#define DOME_DSCALAR_OPERATIONS(X)                                                                                               \
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
    X(DSCALAR_RDIVS, "dscalar_rdivs", "a:v value:f", DEFERRED)

DOME_OPERATION_CODES(DOME_PART_DSCALAR, DOME_DSCALAR_OPERATIONS);

extern dome_operation_part dome__dscalar_operations;

#endif
