/* malloc and its relatives, by caller: what the program calls for is memory that all tasks share (omp_arena.h), and what Dome and
 * the libraries under it call for is the process's own, by the C library's malloc. A block is freed by where it lies.
 *
 *     the program, libraries that it alone needs, in a virtual thread     the thread's arena
 *     the C library, in a virtual thread of a program of several tasks    where no other task has memory: whoever follows a
 *                                                                         pointer of another task's library is told so
 *     all these in another thread; Dome, GLib                             the C library's malloc
 */
#ifndef DOME_SRC_PROCESS_OMP_HEAP_H
#define DOME_SRC_PROCESS_OMP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Notes which libraries are not the program's: libdome-omp, and those that it needs. To be called before the program begins. */
void dome__omp_heap_begin(void);

/* Whether an address of code is the program's: of its file, or of a library that it alone needs. */
bool dome__omp_is_programs(const void *code);

/* Called for each block of the program's memory, with its bytes and the return address of the function that asked for it; NULL:
 * nobody asks. */
extern void (*dome__omp_block_given)(void *block, size_t bytes, const void *caller);

/* While it is not 0, what the C library gets is the program's. */
extern unsigned dome__omp_heap_lends;

/* malloc for the function that has this return address. */
void *dome__omp_heap_get(size_t bytes, const void *caller);

/* The same for whole pages (omp_arena.h); NULL: there are none, or this caller gets none from an arena. */
void *dome__omp_heap_get_pages(uint64_t bytes, bool *zero, const void *caller);

/* Memory for the virtual thread that calls, as if the program had called aligned_alloc: for the runtime. */
void *dome__omp_heap_get_aligned(size_t alignment, size_t bytes);

#endif
