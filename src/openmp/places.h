/* Where the memory of an OpenMP program lies: at the same addresses on all tasks.
 *
 *     heap            0x2000 0000 0000    START divides it
 *     stack of 0      0x3000 0000 0000    main's; the guard at its low end, the thread's static TLS and TCB at its high end
 *     stack of 1      one stride further: a little more than OMP_STACKSIZE, which is the same on all tasks
 *     ... */
#ifndef DOME_SRC_OPENMP_PLACES_H
#define DOME_SRC_OPENMP_PLACES_H

#include <stdint.h>

enum {
    DOME_OMP_MAX_THREADS = 1024,
    DOME_OMP_GUARD_BYTES = 1 << 16, /* no thread may touch it: a stack that is full is noticed */
};

#define DOME_OMP_HEAP   UINT64_C(0x200000000000)
#define DOME_OMP_STACKS UINT64_C(0x300000000000)

#define DOME_OMP_STACK_BYTES (UINT64_C(8) << 20) /* of one, its guard included; OMP_STACKSIZE may ask for others */
#define DOME_OMP_STACK_LEAST (UINT64_C(1) << 18)
#define DOME_OMP_STACK_MOST  (UINT64_C(8) << 30)

/* From a stack to the next: some pages more than it has, so that the same place in all of them is not the same place in caches.
 */
static inline uint64_t dome__omp_stack_stride(uint64_t stack_bytes)
{
    return stack_bytes + 9 * 4096;
}

/* The lowest byte of a thread's stack of so many bytes. */
static inline char *dome__omp_stack_low(unsigned thread, uint64_t stack_bytes)
{
    return (char *)(uintptr_t)(DOME_OMP_STACKS + thread * dome__omp_stack_stride(stack_bytes));
}

#endif
