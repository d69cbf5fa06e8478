/* Prefix sums without the element itself. */
#include "objects/dvec_private.h"

#include <dome/arrays.h>

dome_status dvec_exscan(dvec *z, const dvec *x)
{
    DOME_NEEDS(z, "a vector", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, z->env, DOME_OP_DVEC_EXSCAN, z->object, dvec__id(x));
    dome_status status = dvec_scan(z, x);
    if (status == DOME_OK)
        status = dvec_shift(z, z, 1, NULL);
    return dome__end(&op, status);
}
