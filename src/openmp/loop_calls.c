/* What compilers call for loops that are shared: GOMP_loop_*. */
#include "openmp/barrier.h"
#include "openmp/doacross.h"
#include "openmp/ordered_loop.h"
#include "openmp/reduction.h"
#include "openmp/shared.h"
#include "openmp/team.h"

typedef unsigned long long ull;

_Static_assert(sizeof(long) == sizeof(uint64_t) && sizeof(ull) == sizeof(uint64_t), "one kind of loop for both");

static bool next(dome_omp_thread *t, uint64_t *start, uint64_t *end)
{
    dome_omp_loop *l = &t->loop;
    uint64_t from, to;
    if (!dome__omp_loop_next(l, t->number, t->team->size, &from, &to))
        return false;
    *start = l->start + from * l->step;
    *end = l->start + to * l->step;
    return true;
}

static bool next_chunk(uint64_t *start, uint64_t *end)
{
    return next(dome__omp_self(), start, end);
}

static bool next_ordered(uint64_t *start, uint64_t *end)
{
    dome_omp_thread *t = dome__omp_self();
    dome__omp_ordered_done(t);
    return next(t, start, end);
}

typedef struct asked {
    dome_omp_schedule schedule;
    uint64_t chunk;
    bool ordered;
} asked;

static bool begin(asked a, uint64_t first, uint64_t step, uint64_t count, uint64_t *start, uint64_t *end)
{
    dome_omp_thread *t = dome__omp_self();
    dome_omp_loop loop = {.start = first,
                          .step = step,
                          .count = count,
                          .chunk = (int64_t)a.chunk > 0 ? a.chunk : 0,
                          .schedule = a.schedule,
                          .ordered = a.ordered};
    dome__omp_loop_begin(t, &loop);
    if (a.ordered)
        dome__omp_ordered_begin(t);
    return start ? next(t, start, end) : true;
}

#define WORDS(a, b) (uint64_t *)(a), (uint64_t *)(b)

/* ---- with the schedule in the name ---- */

#define LOOP(name, schedule, ordered, next)                                                                                      \
    bool GOMP_loop_##name##_start(long first, long last, long step, long chunk, long *start, long *end)                          \
    {                                                                                                                            \
        return begin((asked){schedule, (uint64_t)chunk, ordered}, (uint64_t)first, (uint64_t)step,                               \
                     dome__omp_loop_count(first, last, step), WORDS(start, end));                                                \
    }                                                                                                                            \
    bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, ull chunk, ull *start, ull *end)                   \
    {                                                                                                                            \
        return begin((asked){schedule, chunk, ordered}, first, step, dome__omp_loop_count_ull(up, first, last, step),            \
                     WORDS(start, end));                                                                                         \
    }                                                                                                                            \
    NEXT(name, next)

#define LOOP_RUNTIME(name, ordered, next)                                                                                        \
    bool GOMP_loop_##name##_start(long first, long last, long step, long *start, long *end)                                      \
    {                                                                                                                            \
        return begin((asked){DOME_OMP_RUNTIME, 0, ordered}, (uint64_t)first, (uint64_t)step,                                     \
                     dome__omp_loop_count(first, last, step), WORDS(start, end));                                                \
    }                                                                                                                            \
    bool GOMP_loop_ull_##name##_start(bool up, ull first, ull last, ull step, ull *start, ull *end)                              \
    {                                                                                                                            \
        return begin((asked){DOME_OMP_RUNTIME, 0, ordered}, first, step, dome__omp_loop_count_ull(up, first, last, step),        \
                     WORDS(start, end));                                                                                         \
    }                                                                                                                            \
    NEXT(name, next)

#define NEXT(name, next)                                                                                                         \
    bool GOMP_loop_##name##_next(long *start, long *end)                                                                         \
    {                                                                                                                            \
        return next(WORDS(start, end));                                                                                          \
    }                                                                                                                            \
    bool GOMP_loop_ull_##name##_next(ull *start, ull *end)                                                                       \
    {                                                                                                                            \
        return next(WORDS(start, end));                                                                                          \
    }

LOOP(static, DOME_OMP_STATIC, false, next_chunk)
LOOP(dynamic, DOME_OMP_DYNAMIC, false, next_chunk)
LOOP(guided, DOME_OMP_GUIDED, false, next_chunk)
LOOP(nonmonotonic_dynamic, DOME_OMP_DYNAMIC, false, next_chunk)
LOOP(nonmonotonic_guided, DOME_OMP_GUIDED, false, next_chunk)
LOOP(ordered_static, DOME_OMP_STATIC, true, next_ordered)
LOOP(ordered_dynamic, DOME_OMP_DYNAMIC, true, next_ordered)
LOOP(ordered_guided, DOME_OMP_GUIDED, true, next_ordered)
LOOP_RUNTIME(runtime, false, next_chunk)
LOOP_RUNTIME(nonmonotonic_runtime, false, next_chunk)
LOOP_RUNTIME(maybe_nonmonotonic_runtime, false, next_chunk)
LOOP_RUNTIME(ordered_runtime, true, next_ordered)

/* ---- with the schedule as an argument, and task reductions ---- */

static asked asked_of(long schedule, uint64_t chunk, bool ordered)
{
    return (asked){(dome_omp_schedule)(schedule & 7), chunk, ordered};
}

#define LOOP_ANY(name, ordered)                                                                                                  \
    bool GOMP_loop_##name(long first, long last, long step, long schedule, long chunk, long *start, long *end,                   \
                          uintptr_t *reductions, void **memory)                                                                  \
    {                                                                                                                            \
        bool any = begin(asked_of(schedule, (uint64_t)chunk, ordered), (uint64_t)first, (uint64_t)step,                          \
                         dome__omp_loop_count(first, last, step), WORDS(start, end));                                            \
        dome__omp_sharing_memory(dome__omp_self(), reductions, memory);                                                          \
        return any;                                                                                                              \
    }                                                                                                                            \
    bool GOMP_loop_ull_##name(bool up, ull first, ull last, ull step, long schedule, ull chunk, ull *start, ull *end,            \
                              uintptr_t *reductions, void **memory)                                                              \
    {                                                                                                                            \
        bool any = begin(asked_of(schedule, chunk, ordered), first, step, dome__omp_loop_count_ull(up, first, last, step),       \
                         WORDS(start, end));                                                                                     \
        dome__omp_sharing_memory(dome__omp_self(), reductions, memory);                                                          \
        return any;                                                                                                              \
    }

LOOP_ANY(start, false)
LOOP_ANY(ordered_start, true)

/* ---- doacross: iterations from 0 ---- */

static bool begin_doacross(asked a, unsigned dimensions, const uint64_t *counts, uint64_t *start, uint64_t *end)
{
    dome_omp_thread *t = dome__omp_self();
    begin(a, 0, 1, counts[0], NULL, NULL);
    dome__omp_doacross_begin(t, dimensions, counts);
    return start ? next(t, start, end) : true;
}

#define DOACROSS(name, schedule)                                                                                                 \
    bool GOMP_loop_doacross_##name##_start(unsigned dimensions, long *counts, long chunk, long *start, long *end)                \
    {                                                                                                                            \
        return begin_doacross((asked){schedule, (uint64_t)chunk, false}, dimensions, (uint64_t *)counts, WORDS(start, end));     \
    }                                                                                                                            \
    bool GOMP_loop_ull_doacross_##name##_start(unsigned dimensions, ull *counts, ull chunk, ull *start, ull *end)                \
    {                                                                                                                            \
        return begin_doacross((asked){schedule, chunk, false}, dimensions, (uint64_t *)counts, WORDS(start, end));               \
    }

DOACROSS(static, DOME_OMP_STATIC)
DOACROSS(dynamic, DOME_OMP_DYNAMIC)
DOACROSS(guided, DOME_OMP_GUIDED)

bool GOMP_loop_doacross_runtime_start(unsigned dimensions, long *counts, long *start, long *end)
{
    return begin_doacross((asked){DOME_OMP_RUNTIME, 0, false}, dimensions, (uint64_t *)counts, WORDS(start, end));
}

bool GOMP_loop_ull_doacross_runtime_start(unsigned dimensions, ull *counts, ull *start, ull *end)
{
    return begin_doacross((asked){DOME_OMP_RUNTIME, 0, false}, dimensions, (uint64_t *)counts, WORDS(start, end));
}

bool GOMP_loop_doacross_start(unsigned dimensions, long *counts, long schedule, long chunk, long *start, long *end,
                              uintptr_t *reductions, void **memory)
{
    bool any = begin_doacross(asked_of(schedule, (uint64_t)chunk, false), dimensions, (uint64_t *)counts, WORDS(start, end));
    dome__omp_sharing_memory(dome__omp_self(), reductions, memory);
    return any;
}

bool GOMP_loop_ull_doacross_start(unsigned dimensions, ull *counts, long schedule, ull chunk, ull *start, ull *end,
                                  uintptr_t *reductions, void **memory)
{
    bool any = begin_doacross(asked_of(schedule, chunk, false), dimensions, (uint64_t *)counts, WORDS(start, end));
    dome__omp_sharing_memory(dome__omp_self(), reductions, memory);
    return any;
}

/* ---- the end ---- */

void GOMP_loop_end(void)
{
    dome__omp_barrier();
}

bool GOMP_loop_end_cancel(void)
{
    return dome__omp_barrier();
}

void GOMP_loop_end_nowait(void)
{
}
