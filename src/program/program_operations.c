#include "program/program_operations.h"

dome_operation_part dome__program_operations = DOME_OPERATION_PART(DOME_PART_PROGRAM, DOME_PROGRAM_OPERATIONS);
