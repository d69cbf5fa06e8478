/* The computation of mm.h written for PVM by hand, as fast as one can with an equal part of the rows for each task: tasks are
 * connected directly, messages are raw, and the norm takes one step, in which all tell all their parts. */
#include "mm_pvm.h"

#include <pvm3.h>

/* Added in the order of ranks, so all get the same sum. */
static double total(const mm_group *group, double part)
{
    double sum = 0;
    pvm_initsend(PvmDataRaw);
    pvm_pkdouble(&part, 1, 1);
    for (int r = 0; r < group->size; r++)
        if (r != group->rank)
            pvm_send(group->tid[r], MM_TAG_PART);
    for (int r = 0; r < group->size; r++) {
        double other = part;
        if (r != group->rank) {
            pvm_recv(group->tid[r], MM_TAG_PART);
            pvm_upkdouble(&other, 1, 1);
        }
        sum += other;
    }
    return sum;
}

int main(int argc, char **argv)
{
    return mm_pvm_run(argc, argv, true, total);
}
