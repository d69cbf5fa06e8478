/* Memory for the program: an arena for each virtual thread, at a fixed place, the same in all tasks. Everything that describes an
 * arena lies in it, so that it travels with what it describes.
 *
 *     thread 0     lists of free blocks by size, free runs of pages, and then blocks     up to 1 TiB
 *     thread 1     the same                                                              up to 4 GiB
 *     ...
 *     the C library of task r, for the program: private, where no other task has anything    up to 16 GiB
 *
 * Small blocks have sizes in steps; one that is freed joins the list of the thread that frees it, whatever arena it lies in.
 * Large ones are runs of pages. */
#ifndef DOME_SRC_PROCESS_OMP_ARENA_H
#define DOME_SRC_PROCESS_OMP_ARENA_H

#include "openmp/places.h"

#include <stdbool.h>
#include <stddef.h>

#define DOME_OMP_ARENA_FIRST (UINT64_C(1) << 40) /* bytes of thread 0's, and of each other one */
#define DOME_OMP_ARENA_OTHER (UINT64_C(1) << 32)
#define DOME_OMP_ARENA_OWNS  UINT64_C(0x100000000000)
#define DOME_OMP_ARENA_OWN   (UINT64_C(1) << 34)

enum { DOME_OMP_ARENA_OF_LIBRARY = DOME_OMP_MAX_THREADS }; /* the number of the private one */

/* Where this task's begins: set by rank before it is used. */
extern uint64_t dome__omp_arena_own;

static inline char *dome__omp_arena_begin(unsigned thread)
{
    if (__builtin_expect(thread == DOME_OMP_ARENA_OF_LIBRARY, 0))
        return (char *)(uintptr_t)dome__omp_arena_own;
    return (char *)(uintptr_t)(DOME_OMP_HEAP + (thread ? DOME_OMP_ARENA_FIRST + (thread - 1) * DOME_OMP_ARENA_OTHER : 0));
}

/* Whether a block is in an arena, and in whose. */
static inline bool dome__omp_arena_has(const void *block)
{
    return (uintptr_t)block - DOME_OMP_HEAP < DOME_OMP_ARENA_FIRST + (DOME_OMP_MAX_THREADS - 1) * DOME_OMP_ARENA_OTHER ||
           (uintptr_t)block - dome__omp_arena_own < DOME_OMP_ARENA_OWN;
}

static inline unsigned dome__omp_arena_of(const void *block)
{
    const uint64_t at = (uintptr_t)block - DOME_OMP_HEAP;
    if ((uintptr_t)block < DOME_OMP_HEAP)
        return DOME_OMP_ARENA_OF_LIBRARY;
    return at < DOME_OMP_ARENA_FIRST ? 0 : 1 + (unsigned)((at - DOME_OMP_ARENA_FIRST) / DOME_OMP_ARENA_OTHER);
}

/* NULL, with errno: there is no memory. zero: whether the block is known to be all zero; may be NULL. */
void *dome__omp_arena_get(unsigned thread, size_t bytes, bool *zero);

/* alignment: a power of two. */
void *dome__omp_arena_get_aligned(unsigned thread, size_t alignment, size_t bytes);

/* Whole pages, in pages that nothing else lies in, which is a block, too. bytes: a number of them. */
void *dome__omp_arena_get_pages(unsigned thread, uint64_t bytes, bool *zero);

/* The bytes of the pages that begin there; 0: it is no such block's beginning. */
uint64_t dome__omp_arena_pages(const void *block);

/* thread: to whose lists the block goes. A block that was freed before ends the program, where that is noticed. */
void dome__omp_arena_free(unsigned thread, void *block);

/* As realloc, for a block and bytes that are not 0. */
void *dome__omp_arena_resize(unsigned thread, void *block, size_t bytes);

size_t dome__omp_arena_usable(const void *block);

/* The block in use that has the address. bytes: reads memory of arenas; NULL: there is none. NULL is returned: none was found. */
typedef const void *dome_omp_reader(const void *address);
const void *dome__omp_arena_find(const void *address, dome_omp_reader *bytes, size_t *size);

/* How much of the arena has been in use, from its beginning, in whole pages: memory that other tasks may access. */
uint64_t dome__omp_arena_length(unsigned thread);

/* Memory of the arena up to `end` is accessible; false, with errno: there is none. For contents that are put back. */
bool dome__omp_arena_reach(unsigned thread, const char *end);

/* Makes memory accessible, from begin to end; false, with errno: there is none. Private memory, unless it is set. */
extern bool (*dome__omp_arena_map)(char *begin, char *end);

/* Pages without content may be given back to the system: not if other tasks have them, too. */
extern bool dome__omp_arena_gives_back;

#endif
