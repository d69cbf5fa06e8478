/* setjmp and longjmp: functions that are left by longjmp give nothing back themselves. */
#include "capture/frames.h"
#include "capture/status.h"
#include "heap/die.h"

#include <dome/capture.h>

enum { HELD_BITS = 16 };

long long dome_capture_jump_mark(void)
{
    return (long long)dome__capture_memory_count() << HELD_BITS | (long long)dome__capture_held();
}

void dome_capture_jumped(long long mark)
{
    const size_t memories = (size_t)(mark >> HELD_BITS);
    if (memories > dome__capture_memory_count())
        dome__capture_die("longjmp to a function that has returned");
    dome__capture_memory_cut(memories);
    dome__capture_held_set((unsigned)(mark & ((1 << HELD_BITS) - 1)));
}
