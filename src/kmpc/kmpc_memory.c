/* Memory of the allocate clause. */
#include <stddef.h>
#include <stdint.h>

void *omp_alloc(size_t bytes, uintptr_t handle);
void *omp_aligned_alloc(size_t alignment, size_t bytes, uintptr_t handle);
void omp_free(void *memory, uintptr_t handle);
uintptr_t omp_init_allocator(uintptr_t space, int count, const void *traits);
void omp_destroy_allocator(uintptr_t handle);

void *__kmpc_alloc(int32_t number, size_t bytes, uintptr_t handle)
{
    (void)number;
    return omp_alloc(bytes, handle);
}

void *__kmpc_aligned_alloc(int32_t number, size_t alignment, size_t bytes, uintptr_t handle)
{
    (void)number;
    return omp_aligned_alloc(alignment, bytes, handle);
}

void __kmpc_free(int32_t number, void *memory, uintptr_t handle)
{
    (void)number;
    omp_free(memory, handle);
}

uintptr_t __kmpc_init_allocator(int32_t number, uintptr_t space, int32_t count, const void *traits)
{
    (void)number;
    return omp_init_allocator(space, count, traits);
}

void __kmpc_destroy_allocator(int32_t number, uintptr_t handle)
{
    (void)number;
    omp_destroy_allocator(handle);
}
