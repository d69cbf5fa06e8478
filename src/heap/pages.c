#include "heap/pages.h"

#include "heap/die.h"

#include <stdlib.h>

dome_capture_branch *dome__capture_branches[DOME_CAPTURE_LEVEL];

dome_capture_page *dome__capture_page_make(uint64_t number)
{
    if (number >> (3 * DOME_CAPTURE_LEVEL_BITS))
        dome__capture_die("this machine gives addresses of more than 48 bits, which the captured heap does not know");
    dome_capture_branch **b = &dome__capture_branches[number >> (2 * DOME_CAPTURE_LEVEL_BITS)];
    if (!*b)
        *b = calloc(1, sizeof **b);
    dome_capture_leaf **l = *b ? &(*b)->leaves[number >> DOME_CAPTURE_LEVEL_BITS & (DOME_CAPTURE_LEVEL - 1)] : NULL;
    if (l && !*l)
        *l = calloc(1, sizeof **l);
    return l && *l ? &(*l)->pages[number & (DOME_CAPTURE_LEVEL - 1)] : NULL;
}
