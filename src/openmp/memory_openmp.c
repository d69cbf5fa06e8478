#include "openmp/memory_openmp.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/team.h"

void *dome__omp_allocate(size_t bytes, size_t alignment)
{
    void *memory;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes ? bytes : 1))
        dome__omp_die("OpenMP: no memory for %zu bytes of a construct", bytes);
    return memset(memory, 0, bytes);
}

void dome__omp_release(void *memory)
{
    free(memory);
}
