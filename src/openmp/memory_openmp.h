/* Memory of the runtime that all tasks can access, as the program's own heap. */
#ifndef DOME_SRC_OPENMP_MEMORY_OPENMP_H
#define DOME_SRC_OPENMP_MEMORY_OPENMP_H

#include <stddef.h>

/* As aligned_alloc: the program's heap, once it has one that its tasks share. */
extern void *(*dome__omp_allocator)(size_t alignment, size_t bytes);

/* All zero; ends the program if there is none. */
void *dome__omp_allocate(size_t bytes, size_t alignment);
void dome__omp_release(void *memory);

#endif
