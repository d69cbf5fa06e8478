/* The operations that move data. */
#ifndef DOME_SRC_BALANCE_OPERATIONS_H
#define DOME_SRC_BALANCE_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_BALANCE = 3 };

#define DOME_BALANCE_OPERATIONS(X)                                                                                               \
    X(BALANCE, "load balancing", "before:c decision_of_load_balancing:h", COMES_BEFORE)                                          \
    X(RELAYOUT, "dome_env_relayout", "layout:h", PLAIN)

DOME_OPERATION_CODES(DOME_PART_BALANCE, DOME_BALANCE_OPERATIONS);

extern dome_operation_part dome__balance_operations;

#endif
