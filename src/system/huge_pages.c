#define _GNU_SOURCE
#include "system/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

void dome__huge_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const size_t before = (DOME_HUGE_PAGE - (uintptr_t)memory % DOME_HUGE_PAGE) % DOME_HUGE_PAGE;
    if (bytes >= before + DOME_HUGE_PAGE)
        madvise((char *)memory + before, (bytes - before) / DOME_HUGE_PAGE * DOME_HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}
