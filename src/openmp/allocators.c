/* omp_alloc and its allocators. All memory is of one kind; of an allocator's traits its alignment, the size of its pool and what
 * is done when the pool is used up are kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/memory_openmp.h"
#include "openmp/team.h"

enum { TRAIT_ALIGNMENT = 2, TRAIT_POOL = 4, TRAIT_FALLBACK = 5, TRAIT_FALLBACK_ALLOCATOR = 6 };
enum { FALLBACK_DEFAULT = 11, FALLBACK_NULL = 12, FALLBACK_ABORT = 13, FALLBACK_ALLOCATOR = 14 };
enum { LAST_PREDEFINED = 8, DEFAULT_ALLOCATOR = 1 };

typedef struct trait {
    int key;
    uintptr_t value;
} trait;

typedef struct allocator {
    size_t alignment, pool, used;
    uintptr_t fallback, next;
} allocator;

/* In front of each block. */
typedef struct block {
    void *begin;
    size_t bytes, all; /* asked for; taken from the pool */
    allocator *of;
} block;

static allocator *own(uintptr_t handle)
{
    return handle > LAST_PREDEFINED ? (allocator *)handle : NULL;
}

uintptr_t omp_init_allocator(uintptr_t space, int count, const trait *traits)
{
    (void)space;
    allocator *a = dome__omp_allocate(sizeof *a, _Alignof(allocator));
    *a = (allocator){.alignment = 1, .pool = SIZE_MAX, .fallback = FALLBACK_DEFAULT};
    for (int k = 0; k < count; k++) {
        const uintptr_t value = traits[k].value;
        if (traits[k].key == TRAIT_ALIGNMENT && value && !(value & (value - 1)))
            a->alignment = value;
        else if (traits[k].key == TRAIT_POOL && value)
            a->pool = value;
        else if (traits[k].key == TRAIT_FALLBACK)
            a->fallback = value == UINTPTR_MAX ? FALLBACK_DEFAULT : value;
        else if (traits[k].key == TRAIT_FALLBACK_ALLOCATOR)
            a->next = value;
    }
    return (uintptr_t)a;
}

void omp_destroy_allocator(uintptr_t handle)
{
    if (own(handle))
        dome__omp_release(own(handle));
}

void omp_set_default_allocator(uintptr_t handle)
{
    dome__omp_self()->variables.allocator = handle ? handle : DEFAULT_ALLOCATOR;
}

uintptr_t omp_get_default_allocator(void)
{
    return dome__omp_self()->variables.allocator;
}

static void *take(size_t alignment, size_t bytes, allocator *a)
{
    if (alignment < 16)
        alignment = 16;
    size_t all = bytes + sizeof(block) + alignment;
    if (all < bytes || (a && (all > a->pool || a->used > a->pool - all)))
        return NULL;
    char *begin = dome__omp_allocate(all, 16);
    char *memory = (char *)(((uintptr_t)begin + sizeof(block) + alignment - 1) / alignment * alignment);
    ((block *)memory)[-1] = (block){begin, bytes, all, a};
    if (a)
        a->used += all;
    return memory;
}

void *omp_aligned_alloc(size_t alignment, size_t bytes, uintptr_t handle)
{
    if (!bytes)
        return NULL;
    allocator *a = own(handle ? handle : omp_get_default_allocator());
    if (a && a->alignment > alignment)
        alignment = a->alignment;
    void *memory = take(alignment, bytes, a);
    if (memory || !a || a->fallback == FALLBACK_NULL)
        return memory;
    if (a->fallback == FALLBACK_ABORT)
        dome__omp_die("OpenMP: the pool of an allocator has no %zu bytes left, and its fallback is to end the program", bytes);
    if (a->fallback == FALLBACK_ALLOCATOR && a->next)
        return omp_aligned_alloc(alignment, bytes, a->next);
    return take(alignment, bytes, NULL);
}

void *omp_alloc(size_t bytes, uintptr_t handle)
{
    return omp_aligned_alloc(1, bytes, handle);
}

void *omp_aligned_calloc(size_t alignment, size_t count, size_t size, uintptr_t handle)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return omp_aligned_alloc(alignment, bytes, handle); /* it is zero */
}

void *omp_calloc(size_t count, size_t size, uintptr_t handle)
{
    return omp_aligned_calloc(1, count, size, handle);
}

void omp_free(void *memory, uintptr_t handle)
{
    (void)handle;
    if (!memory)
        return;
    block b = ((block *)memory)[-1];
    if (b.of)
        b.of->used -= b.all;
    dome__omp_release(b.begin);
}

void *omp_realloc(void *memory, size_t bytes, uintptr_t handle, uintptr_t old_handle)
{
    if (!memory)
        return omp_alloc(bytes, handle);
    if (!bytes) {
        omp_free(memory, old_handle);
        return NULL;
    }
    size_t before = ((block *)memory)[-1].bytes;
    void *other = omp_alloc(bytes, handle);
    if (!other)
        return NULL;
    memcpy(other, memory, before < bytes ? before : bytes);
    omp_free(memory, old_handle);
    return other;
}

/* Variables with the allocate directive. */
void *GOMP_alloc(size_t alignment, size_t bytes, uintptr_t handle)
{
    void *memory = omp_aligned_alloc(alignment, bytes, handle);
    if (!memory && bytes)
        dome__omp_die("OpenMP: no memory for a variable of %zu bytes", bytes);
    return memory;
}

void GOMP_free(void *memory, uintptr_t handle)
{
    omp_free(memory, handle);
}

/* ---- for Fortran ---- */

uintptr_t omp_init_allocator_(const uintptr_t *space, const int *count, const trait *traits)
{
    return omp_init_allocator(*space, *count, traits);
}

uintptr_t omp_init_allocator_8_(const uintptr_t *space, const long *count, const trait *traits)
{
    return omp_init_allocator(*space, (int)*count, traits);
}

void omp_destroy_allocator_(const uintptr_t *handle)
{
    omp_destroy_allocator(*handle);
}

void omp_set_default_allocator_(const uintptr_t *handle)
{
    omp_set_default_allocator(*handle);
}

uintptr_t omp_get_default_allocator_(void)
{
    return omp_get_default_allocator();
}
