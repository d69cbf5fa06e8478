/* Kernels for struct types. */
#ifndef DOME_SRC_KERNELS_STRUCT_H
#define DOME_SRC_KERNELS_STRUCT_H

#include "kernels/kernels.h"

/* dome__kernel for struct types, but for copy and select. */
dome_kernel dome__struct_kernel(dome_operation_code code, dome_type type, dome_type from);

/* The function of dome_type_ops that an operation without a kernel would need; NULL: no struct type has this operation. */
const char *dome__struct_lacks(dome_operation_code code, dome_type type);

#endif
