#include "process/omp_touch.h"

#include "openmp/fibre.h"
#include "openmp/places.h"
#include "openmp/tasks.h"

#include <string.h>

enum { PAGE = 4096, MOST = 0x7ffff000 }; /* MOST: that one call of the system moves */

bool dome__omp_by_thread(void)
{
    return ((uintptr_t)dome__omp_thread_pointer() - DOME_OMP_STACKS) / DOME_OMP_STACK_STRIDE < DOME_OMP_MAX_THREADS;
}

bool dome__omp_touches(void)
{
    return (dome__omp_tasks.size > 1 || dome__omp_watcher) && dome__omp_by_thread();
}

/* In one instruction: what another task has written may arrive meanwhile. */
static void touch(char *byte, bool write)
{
    if (write)
        __asm__ volatile("lock; orb $0, %0" : "+m"(*byte) : : "cc");
    else
        (void)*(volatile char *)byte;
}

static bool touched; /* virtual threads run one at a time */

bool dome__omp_touched(void)
{
    const bool any = touched;
    touched = false;
    return any;
}

void dome__omp_touch(const void *address, size_t bytes, bool write)
{
    char *at = (char *)(uintptr_t)address, *end = at + (bytes < MOST ? bytes : MOST);
    for (; at && at < end; at = (char *)(((uintptr_t)at & ~(uintptr_t)(PAGE - 1)) + PAGE)) // NOLINT(performance-no-int-to-ptr)
        if (dome__omp_tasks.is_shared(at)) {
            touch(at, write);
            touched = true;
        }
}

void dome__omp_touch_text(const char *text)
{
    if (text)
        dome__omp_touch(text, strlen(text) + 1, false);
}
