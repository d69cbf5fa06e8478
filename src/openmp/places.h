/* Where the memory of an OpenMP program lies: at the same addresses on all tasks.
 *
 *     heap            0x2000 0000 0000    START divides it
 *     stack of 0      0x3000 0000 0000    main's; the guard at its low end, the thread's static TLS and TCB at its high end
 *     stack of 1      one stride further
 *     ... */
#ifndef DOME_SRC_OPENMP_PLACES_H
#define DOME_SRC_OPENMP_PLACES_H

#include <stdint.h>

enum {
    DOME_OMP_MAX_THREADS = 1024,
    DOME_OMP_GUARD_BYTES = 1 << 16, /* no thread may touch it: a stack that is full is noticed */
};

#define DOME_OMP_LOCALS UINT64_C(0x1ff100000000) /* by which thread 0's own variables travel (process/omp_locals.h) */
#define DOME_OMP_HEAP   UINT64_C(0x200000000000)
#define DOME_OMP_STACKS UINT64_C(0x300000000000)

/* From a stack to the next. A place is kept for the largest that OMP_STACKSIZE may ask for, so that addresses do not depend on
 * it. */
#define DOME_OMP_STACK_STRIDE (UINT64_C(1) << 30)
#define DOME_OMP_STACK_BYTES  (UINT64_C(8) << 20)
#define DOME_OMP_STACK_LEAST  (UINT64_C(1) << 18)
#define DOME_OMP_STACK_MOST   (UINT64_C(1) << 29)

/* The end of a thread's stack, above its highest byte. A stack of n bytes, its guard included, begins n bytes below. Stacks end
 * at different pages of their places, or their frames would all compete for the same lines of caches. */
static inline char *dome__omp_stack_end(unsigned thread)
{
    return (char *)(uintptr_t)(DOME_OMP_STACKS + (thread + 1) * DOME_OMP_STACK_STRIDE - thread % 64 * UINT64_C(0x9000));
}

#endif
