#include "process/omp_names.h"

#include "process/omp_heap.h"

#include "openmp/fibre.h"
#include "openmp/memory_openmp.h"
#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_arena.h"
#include "process/omp_image.h"
#include "process/omp_libraries.h"
#include "process/omp_next.h"
#include "process/omp_streams.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* Blocks that a thread has freed which has no arena: thread 0 frees them. */
static void *orphans;

static dome_omp_part program;

void dome__omp_heap_begin(void)
{
    program = dome__omp_image()->code;
    dome__omp_libraries_begin();
    dome__omp_allocator = dome__omp_heap_get_aligned;
}

bool dome__omp_is_programs(const void *code)
{
    return ((const char *)code >= program.begin && (const char *)code < program.end) || !dome__omp_libraries_have(code);
}

/* The virtual thread that runs, by its thread pointer; at least DOME_OMP_MAX_THREADS: none does. */
static inline uint64_t running(void)
{
    return ((uintptr_t)dome__omp_thread_pointer() - DOME_OMP_STACKS) / DOME_OMP_STACK_STRIDE;
}

unsigned dome__omp_heap_lends;

/* Whether the caller's memory is in an arena; sets which. */
static inline bool is_in_arena(const void *caller, unsigned *arena)
{
    const uint64_t t = running();
    *arena = (unsigned)t;
    if (t >= DOME_OMP_MAX_THREADS || dome__omp_is_programs(caller))
        return t < DOME_OMP_MAX_THREADS;
    if (!dome__omp_libraries_is_c(caller) || (!dome__omp_heap_lends && dome__omp_tasks.size == 1))
        return false;
    if (!dome__omp_heap_lends)
        *arena = DOME_OMP_ARENA_OF_LIBRARY;
    return true;
}

#define IS_IN_ARENA(arena) is_in_arena(__builtin_return_address(0), arena)

/* While threads of several tasks run at the same time, a block joins the lists of the thread that frees it, or else of the thread
 * that has got it. */
static inline bool is_parallel(void)
{
    return __builtin_expect(dome__omp_tasks.size > 1 || dome__omp_watcher, 0) && dome__omp_running &&
           dome__omp_running->team->active_level > 0;
}

static void free_orphans(void)
{
    for (void *block = __atomic_exchange_n(&orphans, NULL, __ATOMIC_ACQUIRE), *next; block; block = next) {
        next = *(void **)block;
        dome__omp_arena_free(dome__omp_arena_of(block), block);
    }
}

static void *get(unsigned thread, size_t bytes)
{
    if (__builtin_expect(thread == 0 && orphans && !is_parallel(), 0))
        free_orphans();
    return dome__omp_arena_get(thread, bytes, NULL);
}

/* In which arena a block is freed or resized by a virtual thread. What is the C library's own stays so, and what is shared does.
 */
static inline unsigned by(unsigned thread, const void *block)
{
    const unsigned of = dome__omp_arena_of(block);
    return is_parallel() && of != DOME_OMP_ARENA_OF_LIBRARY ? thread : of;
}

void (*dome__omp_block_given)(void *block, size_t bytes, const void *caller);

static inline void *tell(void *block, size_t bytes, const void *caller)
{
    if (__builtin_expect(dome__omp_block_given && block, 0))
        dome__omp_block_given(block, bytes, caller);
    return block;
}

void *dome__omp_heap_get(size_t bytes, const void *caller)
{
    unsigned thread;
    const bool in_arena = is_in_arena(caller, &thread);
    if (in_arena && thread != DOME_OMP_ARENA_OF_LIBRARY)
        return tell(get(thread, bytes), bytes, caller);
    void *place = dome__omp_stream_place(bytes);
    if (place)
        return place;
    return in_arena ? dome__omp_arena_get(thread, bytes, NULL) : __libc_malloc(bytes);
}

void *malloc(size_t bytes)
{
    return dome__omp_heap_get(bytes, __builtin_return_address(0));
}

void free(void *block)
{
    if (!dome__omp_arena_has(block)) {
        if (!dome__omp_stream_ends(block))
            __libc_free(block);
        return;
    }
    const uint64_t thread = running();
    if (__builtin_expect(thread < DOME_OMP_MAX_THREADS, 1)) {
        dome__omp_arena_free(by((unsigned)thread, block), block);
        return;
    }
    *(void **)block = __atomic_load_n(&orphans, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&orphans, (void **)block, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void *get_zero(unsigned thread, size_t bytes)
{
    bool zero;
    void *block = dome__omp_arena_get(thread, bytes, &zero);
    return block && !zero ? memset(block, 0, bytes) : block;
}

void *calloc(size_t n, size_t each)
{
    unsigned thread;
    size_t bytes;
    if (!IS_IN_ARENA(&thread))
        return __libc_calloc(n, each);
    if (!__builtin_mul_overflow(n, each, &bytes))
        return tell(get_zero(thread, bytes), bytes, __builtin_return_address(0));
    errno = ENOMEM;
    return NULL;
}

/* A thread without an arena cannot resize: its copy is the process's own. */
static void *move_out(void *block, size_t bytes)
{
    const size_t usable = dome__omp_arena_usable(block);
    void *copy = __libc_malloc(bytes);
    if (copy) {
        memcpy(copy, block, bytes < usable ? bytes : usable);
        free(block);
    }
    return copy;
}

static void *resize(void *block, size_t bytes, const void *caller)
{
    unsigned thread;
    const bool shared = is_in_arena(caller, &thread);
    const uint64_t number = running();
    if (!block)
        return shared ? tell(get(thread, bytes), bytes, caller) : __libc_malloc(bytes);
    if (!dome__omp_arena_has(block))
        return __libc_realloc(block, bytes);
    if (!bytes) {
        free(block);
        return NULL;
    }
    if (number >= DOME_OMP_MAX_THREADS)
        return move_out(block, bytes);
    return tell(dome__omp_arena_resize(by((unsigned)number, block), block, bytes), bytes, caller);
}

void *realloc(void *block, size_t bytes)
{
    return resize(block, bytes, __builtin_return_address(0));
}

void *reallocarray(void *block, size_t n, size_t each)
{
    size_t bytes;
    if (!__builtin_mul_overflow(n, each, &bytes))
        return resize(block, bytes, __builtin_return_address(0));
    errno = ENOMEM;
    return NULL;
}

/* ---- aligned ---- */

static bool is_power(size_t n)
{
    return n && (n & (n - 1)) == 0;
}

static size_t power_above(size_t n)
{
    size_t power = sizeof(void *);
    while (power < n && power << 1)
        power <<= 1;
    return power;
}

static void *get_aligned(size_t alignment, size_t bytes, const void *caller)
{
    unsigned thread;
    return is_in_arena(caller, &thread) ? dome__omp_arena_get_aligned(thread, power_above(alignment), bytes)
                                        : __libc_memalign(alignment, bytes);
}

void *dome__omp_heap_get_pages(uint64_t bytes, bool *zero, const void *caller)
{
    unsigned thread;
    if (!is_in_arena(caller, &thread) || thread == DOME_OMP_ARENA_OF_LIBRARY)
        return NULL;
    return tell(dome__omp_arena_get_pages(thread, bytes, zero), bytes, caller);
}

void *dome__omp_heap_get_aligned(size_t alignment, size_t bytes)
{
    return get_aligned(alignment, bytes, program.begin);
}

void *memalign(size_t alignment, size_t bytes)
{
    return get_aligned(alignment, bytes, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return get_aligned(alignment, bytes, __builtin_return_address(0));
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    const int error = errno;
    if (!is_power(alignment) || alignment % sizeof(void *))
        return EINVAL;
    void *got = get_aligned(alignment, bytes, __builtin_return_address(0));
    errno = error;
    if (!got)
        return ENOMEM;
    *block = got;
    return 0;
}

void *valloc(size_t bytes)
{
    return get_aligned((size_t)sysconf(_SC_PAGESIZE), bytes, __builtin_return_address(0));
}

void *pvalloc(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes <= SIZE_MAX - page)
        return get_aligned(page, (bytes + page - 1) & ~(page - 1), __builtin_return_address(0));
    errno = ENOMEM;
    return NULL;
}

size_t malloc_usable_size(void *block)
{
    static size_t (*next)(void *);
    if (dome__omp_arena_has(block))
        return dome__omp_arena_usable(block);
    if (!next)
        next = (size_t(*)(void *))dome__omp_next("malloc_usable_size");
    return next(block);
}
