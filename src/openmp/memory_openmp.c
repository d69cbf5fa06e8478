#include "openmp/memory_openmp.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/team.h"

void *(*dome__omp_allocator)(size_t alignment, size_t bytes) = aligned_alloc;

void *dome__omp_allocate(size_t bytes, size_t alignment)
{
    void *memory = dome__omp_allocator(alignment, bytes ? bytes : 1);
    if (!memory)
        dome__omp_die("OpenMP: no memory for %zu bytes of a construct", bytes);
    return memset(memory, 0, bytes);
}

void dome__omp_release(void *memory)
{
    free(memory);
}
