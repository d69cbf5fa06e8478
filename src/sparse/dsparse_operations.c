#include "sparse/dsparse_operations.h"

dome_operation_part dome__dsparse_operations = DOME_OPERATION_PART(DOME_PART_DSPARSE, DOME_DSPARSE_OPERATIONS);
