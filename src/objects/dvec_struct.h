/* Reductions and prefix sums of struct types with arithmetic (dome_type_set_ops). */
#ifndef DOME_SRC_DVEC_STRUCT_H
#define DOME_SRC_DVEC_STRUCT_H

#include "objects/dvec_private.h"

/* Finds the first smallest or largest value; position or value may be NULL. A whole operation. */
dome_status dvec__struct_extreme(dome_operation_code code, const dvec *x, bool largest, uint64_t *position, void *value);

/* z = the prefix sums of x. A whole operation. */
dome_status dvec__struct_scan(dvec *z, const dvec *x);

#endif
