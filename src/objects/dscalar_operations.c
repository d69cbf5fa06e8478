#include "objects/dscalar_operations.h"

dome_operation_part dome__dscalar_operations = DOME_OPERATION_PART(DOME_PART_DSCALAR, DOME_DSCALAR_OPERATIONS);
