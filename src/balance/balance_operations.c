#include "balance/balance_operations.h"

dome_operation_part dome__balance_operations = DOME_OPERATION_PART(DOME_PART_BALANCE, DOME_BALANCE_OPERATIONS);
