/* Reductions that combine the tasks' elements from the left in rank order, or exactly: for these the trees of
 * transport/collective.h, which group tasks by hosts, would not do. */
#ifndef DOME_SRC_COMM_ORDERED_H
#define DOME_SRC_COMM_ORDERED_H

#include "core/operation.h"
#include "transport/collective.h"

#include <dome/comm.h>

typedef enum dome_result {
    DOME_RESULT_EVERYWHERE, /* allreduce */
    DOME_RESULT_AT_ROOT,    /* reduce */
    DOME_RESULT_OF_LOWER    /* scan */
} dome_result;

typedef struct dome_ordered {
    dome_type type;
    dome_combine loop; /* or: */
    dome_combine_function function;
    void *ctx;    /* of function; if both are NULL, the sum is exact */
    bool settles; /* dome__reduction_settles */
    dome_result result;
    int root;
} dome_ordered;

/* data: count elements, before and after. */
dome_status dome__ordered(dome_operation *op, const dome_ordered *how, void *data, uint64_t count);

#endif
