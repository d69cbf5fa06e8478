/* Barriers, exclusive sections, single, reductions, cancellation. */
#include "kmpc/kmpc.h"
#include "openmp/barrier.h"
#include "openmp/critical.h"
#include "openmp/shared.h"
#include "openmp/turn.h"

void __kmpc_barrier(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_barrier();
}

void __kmpc_flush(const void *place)
{
    (void)place;
    dome__omp_flush_all();
}

void __kmpc_critical(KMPC_PLACE, void *name)
{
    dome__kmpc_unused(place, number);
    dome__omp_enter(dome__kmpc_word(name), "a critical section, whose variable is");
}

void __kmpc_critical_with_hint(KMPC_PLACE, void *name, uint32_t hint)
{
    (void)hint;
    __kmpc_critical(place, number, name);
}

void __kmpc_end_critical(KMPC_PLACE, void *name)
{
    dome__kmpc_unused(place, number);
    dome__omp_leave(dome__kmpc_word(name));
}

/* ---- one thread of a team ---- */

int32_t __kmpc_masked(KMPC_PLACE, int32_t which)
{
    dome__kmpc_unused(place, number);
    return (int32_t)dome__omp_self()->number == which;
}

int32_t __kmpc_master(KMPC_PLACE)
{
    return __kmpc_masked(place, number, 0);
}

int32_t __kmpc_single(KMPC_PLACE)
{
    return __kmpc_masked(place, number, 0);
}

#define END(name)                                                                                                                \
    void name(KMPC_PLACE)                                                                                                        \
    {                                                                                                                            \
        dome__kmpc_unused(place, number);                                                                                        \
    }
END(__kmpc_end_masked)
END(__kmpc_end_master)
END(__kmpc_end_single)

void GOMP_single_copy_end(void *data);
void *GOMP_single_copy_start(void);

/* data: the addresses of the variables, for the thread that has been in the section and for those that get its values. */
void __kmpc_copyprivate(KMPC_PLACE, size_t bytes, void *data, void (*copy)(void *to, void *from), int32_t was_in)
{
    dome__kmpc_unused(place, number);
    (void)bytes;
    if (was_in)
        GOMP_single_copy_end(data);
    else
        copy(data, GOMP_single_copy_start());
    dome__omp_barrier(); /* the variables are the thread's until then */
}

/* ---- reductions: each thread adds its part, in the order of the threads ---- */

typedef void (*combine)(void *to, void *from);

int32_t __kmpc_reduce_nowait(KMPC_PLACE, int32_t count, size_t bytes, void *data, combine f, void *name)
{
    dome__kmpc_unused(place, number);
    (void)count, (void)bytes, (void)data, (void)f;
    if (dome__omp_has_others(dome__omp_self()))
        dome__omp_enter(dome__kmpc_word(name), "a reduction, whose variable is");
    return 1; /* the compiler's code adds, and calls the next function */
}

void __kmpc_end_reduce_nowait(KMPC_PLACE, void *name)
{
    dome__kmpc_unused(place, number);
    if (dome__omp_has_others(dome__omp_self()))
        dome__omp_leave(dome__kmpc_word(name));
}

int32_t __kmpc_reduce(KMPC_PLACE, int32_t count, size_t bytes, void *data, combine f, void *name)
{
    return __kmpc_reduce_nowait(place, number, count, bytes, data, f, name);
}

void __kmpc_end_reduce(KMPC_PLACE, void *name)
{
    __kmpc_end_reduce_nowait(place, number, name);
    dome__omp_barrier();
}

/* ---- cancel ---- */

bool GOMP_cancel(int which, bool do_cancel);
bool GOMP_cancellation_point(int which);

/* parallel, loop, sections, taskgroup: numbers here, bits there. */
static int construct_of(int32_t kind)
{
    return 1 << (kind - 1);
}

int32_t __kmpc_cancel(KMPC_PLACE, int32_t kind)
{
    dome__kmpc_unused(place, number);
    return GOMP_cancel(construct_of(kind), true);
}

int32_t __kmpc_cancellationpoint(KMPC_PLACE, int32_t kind)
{
    dome__kmpc_unused(place, number);
    return GOMP_cancellation_point(construct_of(kind));
}

int32_t __kmpc_cancel_barrier(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    return dome__omp_barrier();
}
