/* A region's threads begin with the variables of the thread that met it. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    int levels = 0, devices = 0, threads = 0, chunks = 0, allocators = 0, after;
    omp_set_max_active_levels(3);
    omp_set_default_device(1);
    omp_set_num_threads(5);
    omp_set_schedule(omp_sched_guided, 9);
    omp_set_default_allocator(omp_large_cap_mem_alloc);
#pragma omp parallel num_threads(4) reduction(+ : levels, devices, threads, chunks, allocators)
    {
        omp_sched_t kind;
        int chunk;
        omp_get_schedule(&kind, &chunk);
        levels += omp_get_max_active_levels();
        devices += omp_get_default_device();
        threads += omp_get_max_threads();
        chunks += chunk * (kind == omp_sched_guided);
        allocators += omp_get_default_allocator() == omp_large_cap_mem_alloc;
        omp_set_num_threads(2);
        omp_set_default_allocator(omp_default_mem_alloc);
    }
    after = omp_get_max_threads() * 10 + (omp_get_default_allocator() == omp_large_cap_mem_alloc);
    printf("%d %d %d %d %d %d\n", levels, devices, threads, chunks, allocators, after);
    return 0;
}
