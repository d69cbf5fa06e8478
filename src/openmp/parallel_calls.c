/* GOMP_parallel and what is combined with it. */
#include "openmp/reduction.h"
#include "openmp/task.h"
#include "openmp/team.h"

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    dome__omp_region(&(dome_omp_region){.function = function, .data = data, .threads = threads, .flags = flags});
}

void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads)
{
    dome__omp_region_start(&(dome_omp_region){.function = function, .data = data, .threads = threads});
}

void GOMP_parallel_end(void)
{
    dome__omp_region_end();
}

/* A region whose threads begin with reductions over tasks. */
typedef struct reduced {
    void (*function)(void *);
    void *data;
    uintptr_t *reductions;
} reduced;

static void run_reduced(void *argument)
{
    const reduced *r = argument;
    dome_omp_thread *t = dome__omp_self();
    dome__omp_taskgroup_start(t);
    t->taskgroup->reductions = r->reductions;
    r->function(r->data);
    dome__omp_taskgroup_end(t);
}

unsigned GOMP_parallel_reductions(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    reduced r = {function, data, *(uintptr_t **)data};
    const uint64_t place = (uint64_t)(uintptr_t)function;
    unsigned size = dome__omp_team_size(dome__omp_self(), threads, (const void *)(uintptr_t)place);
    dome__omp_reductions_allocate(r.reductions, size);
    dome__omp_region(&(dome_omp_region){.function = run_reduced, .data = &r, .threads = size, .flags = flags, .place = place});
    return size;
}

static dome_omp_loop loop_of(dome_omp_schedule schedule, long start, long end, long step, long chunk)
{
    return (dome_omp_loop){.start = (uint64_t)start,
                           .step = (uint64_t)step,
                           .count = dome__omp_loop_count(start, end, step),
                           .chunk = chunk > 0 ? (uint64_t)chunk : 0,
                           .schedule = schedule};
}

#define PARALLEL_LOOP(name, schedule)                                                                                            \
    void GOMP_parallel_loop_##name(void (*function)(void *), void *data, unsigned threads, long start, long end, long step,      \
                                   long chunk, unsigned flags)                                                                   \
    {                                                                                                                            \
        dome_omp_loop loop = loop_of(schedule, start, end, step, chunk);                                                         \
        dome__omp_region(                                                                                                        \
            &(dome_omp_region){.function = function, .data = data, .threads = threads, .flags = flags, .loop = &loop});          \
    }
PARALLEL_LOOP(static, DOME_OMP_STATIC)
PARALLEL_LOOP(dynamic, DOME_OMP_DYNAMIC)
PARALLEL_LOOP(guided, DOME_OMP_GUIDED)
PARALLEL_LOOP(nonmonotonic_dynamic, DOME_OMP_DYNAMIC)
PARALLEL_LOOP(nonmonotonic_guided, DOME_OMP_GUIDED)

#define PARALLEL_LOOP_RUNTIME(name)                                                                                              \
    void GOMP_parallel_loop_##name(void (*function)(void *), void *data, unsigned threads, long start, long end, long step,      \
                                   unsigned flags)                                                                               \
    {                                                                                                                            \
        dome_omp_loop loop = loop_of(DOME_OMP_RUNTIME, start, end, step, 0);                                                     \
        dome__omp_region(                                                                                                        \
            &(dome_omp_region){.function = function, .data = data, .threads = threads, .flags = flags, .loop = &loop});          \
    }
PARALLEL_LOOP_RUNTIME(runtime)
PARALLEL_LOOP_RUNTIME(nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

#define PARALLEL_LOOP_START(name, schedule)                                                                                      \
    void GOMP_parallel_loop_##name##_start(void (*function)(void *), void *data, unsigned threads, long start, long end,         \
                                           long step, long chunk)                                                                \
    {                                                                                                                            \
        dome_omp_loop loop = loop_of(schedule, start, end, step, chunk);                                                         \
        dome__omp_region_start(&(dome_omp_region){.function = function, .data = data, .threads = threads, .loop = &loop});       \
    }
PARALLEL_LOOP_START(static, DOME_OMP_STATIC)
PARALLEL_LOOP_START(dynamic, DOME_OMP_DYNAMIC)
PARALLEL_LOOP_START(guided, DOME_OMP_GUIDED)

void GOMP_parallel_loop_runtime_start(void (*function)(void *), void *data, unsigned threads, long start, long end, long step)
{
    dome_omp_loop loop = loop_of(DOME_OMP_RUNTIME, start, end, step, 0);
    dome__omp_region_start(&(dome_omp_region){.function = function, .data = data, .threads = threads, .loop = &loop});
}

void GOMP_parallel_sections(void (*function)(void *), void *data, unsigned threads, unsigned count, unsigned flags)
{
    dome_omp_loop loop = {.start = 1, .step = 1, .count = count, .chunk = 1, .schedule = DOME_OMP_DYNAMIC, .sections = true};
    dome__omp_region(&(dome_omp_region){.function = function, .data = data, .threads = threads, .flags = flags, .loop = &loop});
}

void GOMP_parallel_sections_start(void (*function)(void *), void *data, unsigned threads, unsigned count)
{
    dome_omp_loop loop = {.start = 1, .step = 1, .count = count, .chunk = 1, .schedule = DOME_OMP_DYNAMIC, .sections = true};
    dome__omp_region_start(&(dome_omp_region){.function = function, .data = data, .threads = threads, .loop = &loop});
}
