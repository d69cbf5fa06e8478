#include "program/placement.h"

#include <sched.h>

bool dome__bind_to_core(int place, int tasks)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) < tasks)
        return false;
    /* spread the tasks out: processors with adjacent numbers often share a core or caches */
    int wanted = (int)((long)place * CPU_COUNT(&allowed) / tasks), cpu = 0;
    for (int seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == wanted)
            break;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}
