#include "region/region_operations.h"

dome_operation_part dome__region_operations = DOME_OPERATION_PART(DOME_PART_REGION, DOME_REGION_OPERATIONS);
