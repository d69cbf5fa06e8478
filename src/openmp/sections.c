/* sections: section i, counted from 1, is thread (i - 1) mod n's. */
#include "openmp/barrier.h"
#include "openmp/reduction.h"
#include "openmp/team.h"

static unsigned next_section(dome_omp_thread *t)
{
    uint64_t from, to;
    return dome__omp_loop_next(&t->loop, t->number, t->team->size, &from, &to) ? (unsigned)(t->loop.start + from) : 0;
}

static void begin(dome_omp_thread *t, unsigned count)
{
    dome__omp_loop_begin(
        t, &(dome_omp_loop){.start = 1, .step = 1, .count = count, .chunk = 1, .schedule = DOME_OMP_DYNAMIC, .sections = true});
}

unsigned GOMP_sections_start(unsigned count)
{
    dome_omp_thread *t = dome__omp_self();
    begin(t, count);
    return next_section(t);
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    dome_omp_thread *t = dome__omp_self();
    begin(t, count);
    dome__omp_sharing_memory(t, reductions, memory);
    return next_section(t);
}

unsigned GOMP_sections_next(void)
{
    return next_section(dome__omp_self());
}

void GOMP_sections_end(void)
{
    dome__omp_barrier();
}

bool GOMP_sections_end_cancel(void)
{
    return dome__omp_barrier();
}

void GOMP_sections_end_nowait(void)
{
}
