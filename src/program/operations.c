#include "program/operations.h"

#include "balance/balance_operations.h"
#include "comm/comm_operations.h"
#include "kernels/elementwise.h"
#include "objects/dscalar_operations.h"
#include "objects/dvec_operations.h"
#include "program/program_operations.h"
#include "region/region_operations.h"
#include "sparse/dsparse_operations.h"

#include <glib.h>

/* By number: the compiler warns of two parts with one number. In this order they are in profiles. */
static dome_operation_part *const parts[] = {
    [DOME_PART_PROGRAM] = &dome__program_operations, [DOME_PART_COMM] = &dome__comm_operations,
    [DOME_PART_BALANCE] = &dome__balance_operations, [DOME_PART_DSCALAR] = &dome__dscalar_operations,
    [DOME_PART_DVEC] = &dome__dvec_operations,       [DOME_PART_ELEMENTWISE] = &dome__elementwise_operations,
    [DOME_PART_DSPARSE] = &dome__dsparse_operations, [DOME_PART_REGION] = &dome__region_operations,
};

void dome__operations_add(void)
{
    for (guint k = 0; k < G_N_ELEMENTS(parts); k++)
        if (parts[k])
            dome__operation_add_part(parts[k]);
}
