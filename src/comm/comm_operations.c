#include "comm/comm_operations.h"

dome_operation_part dome__comm_operations = DOME_OPERATION_PART(DOME_PART_COMM, DOME_COMM_OPERATIONS);
