/* The computation of mm.h written for PVM by hand, in the plain way: an equal part of the rows for each task, the first task adds
 * up the parts of the norm and tells all the total, messages in PVM's portable form and by way of its daemons. */
#include "mm_pvm.h"

#include <pvm3.h>

static double total(const mm_group *group, double part)
{
    double sum = part;
    if (group->rank != 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkdouble(&part, 1, 1);
        pvm_send(group->tid[0], MM_TAG_PART);
        pvm_recv(group->tid[0], MM_TAG_TOTAL);
        pvm_upkdouble(&sum, 1, 1);
        return sum;
    }
    for (int r = 1; r < group->size; r++) {
        pvm_recv(group->tid[r], MM_TAG_PART);
        pvm_upkdouble(&part, 1, 1);
        sum += part;
    }
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(&sum, 1, 1);
    pvm_mcast((int *)group->tid + 1, group->size - 1, MM_TAG_TOTAL);
    return sum;
}

int main(int argc, char **argv)
{
    return mm_pvm_run(argc, argv, false, total);
}
