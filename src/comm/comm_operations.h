/* The operations that communicate for the program. */
#ifndef DOME_SRC_COMM_OPERATIONS_H
#define DOME_SRC_COMM_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_COMM = 2 };

#define DOME_COMM_OPERATIONS(X)                                                                                                  \
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
    X(TEST, "dome_test", "", PLAIN)

DOME_OPERATION_CODES(DOME_PART_COMM, DOME_COMM_OPERATIONS);

extern dome_operation_part dome__comm_operations;

#endif
