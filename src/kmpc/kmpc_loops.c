/* Loops that are shared. Bounds are inclusive, in four types: int, unsigned, and the same of 8 bytes. */
#include "kmpc/kmpc.h"
#include "openmp/ordered_loop.h"

/* Numbers of schedules. */
enum {
    STATIC_CHUNKED = 33,
    STATIC = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    RUNTIME = 37,
    TRAPEZOIDAL = 39,
    STATIC_BALANCED_CHUNKED = 45,
    ORDERED = 32, /* is added where the loop is ordered */
    ORDERED_FIRST = 65,
    ORDERED_LAST = 70,
    DISTRIBUTE_CHUNKED = 91,
    DISTRIBUTE = 92,
    MODIFIERS = 3 << 29, /* monotonic, nonmonotonic */
};

typedef struct range {
    uint64_t lower, upper, step; /* modulo 2^64 */
    uint64_t count;
} range;

/* some: it has iterations at all. */
static range range_of(bool some, uint64_t lower, uint64_t upper, int64_t step)
{
    range r = {lower, upper, (uint64_t)step, 0};
    if (some)
        r.count = (step > 0 ? (upper - lower) / (uint64_t)step : (lower - upper) / -(uint64_t)step) + 1;
    return r;
}

static bool has_iterations(int64_t lower, int64_t upper, int64_t step)
{
    return step > 0 ? lower <= upper : lower >= upper;
}

static bool has_iterations_unsigned(uint64_t lower, uint64_t upper, int64_t step)
{
    return step > 0 ? lower <= upper : lower >= upper;
}

/* ---- the static schedules: the thread is told its first chunk, and how far the next one is ---- */

/* Of which the loop's chunks are. */
typedef struct among {
    unsigned number, threads;
} among;

static among teams_or_threads(const dome_omp_thread *t, int schedule)
{
    int omp_get_team_num(void), omp_get_num_teams(void);
    if (schedule == DISTRIBUTE || schedule == DISTRIBUTE_CHUNKED)
        return (among){(unsigned)omp_get_team_num(), (unsigned)omp_get_num_teams()};
    return (among){t->number, t->team->size};
}

static uint64_t chunk_of(int schedule, uint64_t chunk, const range *r, unsigned threads)
{
    const bool chunked = schedule == STATIC_CHUNKED || schedule == DISTRIBUTE_CHUNKED;
    if ((int64_t)chunk < 1)
        chunk = 1;
    if (schedule == STATIC_BALANCED_CHUNKED) /* one chunk each, as equal as multiples allow */
        return ((r->count + threads - 1) / threads + chunk - 1) / chunk * chunk;
    return chunked ? chunk : 0;
}

/* *stride: behind the last chunk of the thread it leads out of the loop, and no further than it must. */
static bool first_chunk(int schedule, range *r, uint64_t chunk, uint64_t *stride)
{
    dome_omp_thread *t = dome__omp_self();
    const among a = teams_or_threads(t, schedule &= ~MODIFIERS);
    const range all = *r;
    dome_omp_loop own = {.schedule = DOME_OMP_STATIC}, *loop = &own;
    own.start = all.lower, own.step = all.step, own.count = all.count;
    own.chunk = chunk_of(schedule, chunk, r, a.threads);
    if (schedule != DISTRIBUTE && schedule != DISTRIBUTE_CHUNKED) {
        dome__omp_loop_begin(t, &own);
        dome__kmpc_loop_begun(t);
        loop = &t->loop;
    }
    const uint64_t round = own.chunk && own.chunk < all.count / a.threads ? own.chunk * a.threads : all.count;
    *stride = round * all.step;
    uint64_t from, to;
    if (!all.count)
        return false;
    if (!dome__omp_loop_next(loop, a.number, a.threads, &from, &to)) {
        r->lower = all.lower + all.step; /* none: behind the end */
        r->upper = all.lower;
        return false;
    }
    r->lower = all.lower + from * all.step;
    r->upper = all.lower + (to - 1) * all.step;
    return dome__omp_loop_owner(loop, all.count - 1, a.threads) == a.number;
}

/* ---- the others: the thread asks for each chunk ---- */

static dome_omp_schedule schedule_of(int schedule)
{
    switch (schedule) {
    case DYNAMIC:
        return DOME_OMP_DYNAMIC;
    case GUIDED:
    case TRAPEZOIDAL:
        return DOME_OMP_GUIDED;
    case RUNTIME:
        return DOME_OMP_RUNTIME;
    default:
        return DOME_OMP_STATIC;
    }
}

static void dispatch(int schedule, const range *r, uint64_t chunk)
{
    dome_omp_thread *t = dome__omp_self();
    schedule &= ~MODIFIERS;
    const bool ordered = schedule >= ORDERED_FIRST && schedule <= ORDERED_LAST;
    if (ordered)
        schedule -= ORDERED;
    const bool chunked = schedule >= STATIC_CHUNKED && schedule != STATIC && schedule <= GUIDED && (int64_t)chunk > 0;
    dome__omp_loop_begin(t, &(dome_omp_loop){.start = r->lower,
                                             .step = r->step,
                                             .count = r->count,
                                             .chunk = chunked ? chunk : 0,
                                             .schedule = schedule_of(schedule),
                                             .ordered = ordered});
    if (ordered)
        dome__omp_ordered_begin(t);
    dome__kmpc_loop_begun(t);
}

static bool next_chunk(range *r, bool *last)
{
    dome_omp_thread *t = dome__omp_self();
    const dome_omp_loop *loop = &t->loop;
    uint64_t from, to;
    if (loop->ordered)
        dome__omp_ordered_done(t);
    if (!dome__omp_loop_next(&t->loop, t->number, t->team->size, &from, &to))
        return false;
    r->lower = loop->start + from * loop->step;
    r->upper = loop->start + (to - 1) * loop->step;
    r->step = loop->step;
    *last = to == loop->count;
    return true;
}

/* ---- for each type ---- */

#define LOOPS(suffix, type, signed_type, has)                                                                                    \
    void __kmpc_for_static_init_##suffix(KMPC_PLACE, int32_t schedule, int32_t *last, type *lower, type *upper,                  \
                                         signed_type *stride, signed_type step, signed_type chunk)                               \
    {                                                                                                                            \
        range r = range_of(has(*lower, *upper, step), (uint64_t)*lower, (uint64_t)*upper, step);                                 \
        uint64_t next;                                                                                                           \
        bool is_last = first_chunk(schedule, &r, (uint64_t)chunk, &next);                                                        \
        dome__kmpc_unused(place, number);                                                                                        \
        *lower = (type)r.lower;                                                                                                  \
        *upper = (type)r.upper;                                                                                                  \
        *stride = (signed_type)next;                                                                                             \
        if (last)                                                                                                                \
            *last = is_last;                                                                                                     \
    }                                                                                                                            \
    void __kmpc_dispatch_init_##suffix(KMPC_PLACE, int32_t schedule, type lower, type upper, signed_type step,                   \
                                       signed_type chunk)                                                                        \
    {                                                                                                                            \
        range r = range_of(has(lower, upper, step), (uint64_t)lower, (uint64_t)upper, step);                                     \
        dome__kmpc_unused(place, number);                                                                                        \
        dispatch(schedule, &r, (uint64_t)chunk);                                                                                 \
    }                                                                                                                            \
    int32_t __kmpc_dispatch_next_##suffix(KMPC_PLACE, int32_t *last, type *lower, type *upper, signed_type *step)                \
    {                                                                                                                            \
        range r;                                                                                                                 \
        bool is_last;                                                                                                            \
        dome__kmpc_unused(place, number);                                                                                        \
        if (!next_chunk(&r, &is_last))                                                                                           \
            return 0;                                                                                                            \
        *lower = (type)r.lower;                                                                                                  \
        *upper = (type)r.upper;                                                                                                  \
        *step = (signed_type)r.step;                                                                                             \
        if (last)                                                                                                                \
            *last = is_last;                                                                                                     \
        return 1;                                                                                                                \
    }                                                                                                                            \
    /* An iteration of an ordered loop ends: what comes after it waits for the end of its chunk. */                              \
    void __kmpc_dispatch_fini_##suffix(KMPC_PLACE)                                                                               \
    {                                                                                                                            \
        dome__kmpc_unused(place, number);                                                                                        \
    }

LOOPS(4, int32_t, int32_t, has_iterations)
LOOPS(4u, uint32_t, int32_t, has_iterations_unsigned)
LOOPS(8, int64_t, int64_t, has_iterations)
LOOPS(8u, uint64_t, int64_t, has_iterations_unsigned)

void __kmpc_for_static_fini(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
}

void GOMP_ordered_start(void);

void __kmpc_ordered(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    GOMP_ordered_start();
}

void __kmpc_end_ordered(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
}
