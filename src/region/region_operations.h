/* The operations of regions and locks. */
#ifndef DOME_SRC_REGION_REGION_OPERATIONS_H
#define DOME_SRC_REGION_REGION_OPERATIONS_H

#include "core/operation_table.h"

enum { DOME_PART_REGION = 8 };

#define DOME_REGION_OPERATIONS(X)                                                                                                \
    X(REGION_NEW, "dome_region_new", "name:o type:n length:u width:u block:u at:u consistency:u", PLAIN)                         \
    X(REGION_WANT, "dome_region_want", "", PLAIN)                                                                                \
    X(REGION_FETCH_ADD, "dome_region_fetch_add", "", PLAIN)                                                                      \
    X(REGION_FAULT, "page faults of regions", "", PLAIN)                                                                         \
    X(REGION_FREE, "dome_region_free", "", PLAIN)                                                                                \
    X(LOCK_NEW, "dome_lock_new", "name:n", PLAIN)                                                                                \
    X(LOCK_ACQUIRE, "dome_lock_acquire", "", PLAIN)                                                                              \
    X(LOCK_RELEASE, "dome_lock_release", "", PLAIN)                                                                              \
    X(LOCK_FREE, "dome_lock_free", "name:n", PLAIN)

DOME_OPERATION_CODES(DOME_PART_REGION, DOME_REGION_OPERATIONS);

extern dome_operation_part dome__region_operations;

#endif
