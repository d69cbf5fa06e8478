#include "objects/dvec_operations.h"

#include "core/operation.h"

dome_operation_part dome__dvec_operations = DOME_OPERATION_PART(DOME_PART_DVEC, DOME_DVEC_OPERATIONS);

dome_status dvec__null(dome_operation_code code, const char *what)
{
    const bool elementwise = dome__elementwise_number(code) != DOME_ELEMENTWISE_NONE;
    return dome__null(dome__operation_name_in(elementwise ? &dome__elementwise_operations : &dome__dvec_operations, code), what);
}
