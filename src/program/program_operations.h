/* The operations of a program as a whole. */
#ifndef DOME_SRC_PROGRAM_OPERATIONS_H
#define DOME_SRC_PROGRAM_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_PROGRAM = 1 };

#define DOME_PROGRAM_OPERATIONS(X)                                                                                               \
    X(INIT, "dome_init", "tasks:u", PLAIN)                                                                                       \
    X(FINALIZE, "dome_finalize", "", PLAIN)                                                                                      \
    X(CHECKPOINT, "dome_checkpoint", "poll:h", MOVES)                                                                            \
    X(RESIZE, "dome_resize", "tasks:i", PLAIN)                                                                                   \
    X(ON_VIEW, "dome_on_view", "", PLAIN)                                                                                        \
    X(LOST, "dome_lost", "", PLAIN)                                                                                              \
    X(ON_VIEW_IN_PLACE, "dome_on_view_in_place", "", PLAIN)

DOME_OPERATION_CODES(DOME_PART_PROGRAM, DOME_PROGRAM_OPERATIONS);

extern dome_operation_part dome__program_operations;

#endif
