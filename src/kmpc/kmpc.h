/* What clang's code and this folder have in common. The names, arguments and numbers are those of LLVM's OpenMP library, which it
 * calls "kmpc" (openmp/runtime/src/kmp.h). */
#ifndef DOME_SRC_KMPC_KMPC_H
#define DOME_SRC_KMPC_KMPC_H

#include <stdint.h>

#include "openmp/team.h"

/* Every function gets the place in the source and the thread's number, which the library knows better. */
#define KMPC_PLACE const void *place, int32_t number

static inline void dome__kmpc_unused(KMPC_PLACE)
{
    (void)place;
    (void)number;
}

/* The word of a critical section, of which the compiler has made 32 bytes that may begin anywhere. */
static inline uint64_t *dome__kmpc_word(void *name)
{
    return (uint64_t *)(((uintptr_t)name + 7) & ~(uintptr_t)7);
}

/* A loop begins that ordered(n) may be about (kmpc_doacross.c). */
void dome__kmpc_loop_begun(dome_omp_thread *t);

#endif
