/* taskloop: the task is copied for each part of the range. */
#include "kmpc/kmpc_task.h"

enum { ANY, GRAINSIZE, TASKS };

typedef void (*duplicate)(dome_kmpc_task *to, dome_kmpc_task *from, int32_t last);

/* The range of a task, at these places of its block: both ends are in it. */
typedef struct range {
    ptrdiff_t lower_at, upper_at;
    uint64_t lower, step, count;
    bool may_wait; /* `if` does not say otherwise */
} range;

static uint64_t *word_of(dome_kmpc_task *task, ptrdiff_t at)
{
    return (uint64_t *)(void *)((char *)task + at);
}

static range range_of(dome_kmpc_task *task, const uint64_t *lower, const uint64_t *upper, int64_t step)
{
    const bool some = step > 0 ? (int64_t)*lower <= (int64_t)*upper : (int64_t)*lower >= (int64_t)*upper;
    range r = {(const char *)lower - (char *)task, (const char *)upper - (char *)task, *lower, (uint64_t)step, 0, true};
    if (some)
        r.count = (step > 0 ? (*upper - *lower) / (uint64_t)step : (*lower - *upper) / -(uint64_t)step) + 1;
    return r;
}

static void run_part(dome_omp_thread *t, dome_kmpc_task *task, const range *r, uint64_t from, uint64_t to, duplicate copy)
{
    dome_kmpc_task *part = dome__kmpc_task_copy(task);
    *word_of(part, r->lower_at) = r->lower + from * r->step;
    *word_of(part, r->upper_at) = r->lower + (to - 1) * r->step;
    if (copy)
        copy(part, task, to == r->count);
    if (!r->may_wait || !dome__kmpc_task_put_off(t, part, NULL, 0))
        dome__kmpc_task_run(t, part);
}

static void run(dome_omp_thread *t, dome_kmpc_task *task, const range *r, unsigned flags, uint64_t asked, duplicate copy)
{
    const dome_omp_division d = dome__omp_taskloop_divide(r->count, flags, asked, t->team->size);
    uint64_t from = 0;
    for (uint64_t k = 0; k < d.tasks && from < r->count && !dome__omp_task_is_cancelled(t); k++) {
        uint64_t to = from + d.least + (k < d.larger);
        if (to > r->count)
            to = r->count;
        run_part(t, task, r, from, to, copy);
        from = to;
    }
}

void __kmpc_taskloop(KMPC_PLACE, dome_kmpc_task *task, int32_t condition, uint64_t *lower, uint64_t *upper, int64_t step,
                     int32_t nogroup, int32_t division, uint64_t asked, duplicate copy)
{
    dome_omp_thread *t = dome__omp_self();
    range r = range_of(task, lower, upper, step);
    r.may_wait = condition;
    dome__kmpc_unused(place, number);
    if (!nogroup)
        dome__omp_taskgroup_start(t);
    if (r.count)
        run(t, task, &r, division == GRAINSIZE ? DOME_OMP_TASK_GRAINSIZE : 0, division == ANY ? 0 : asked, copy);
    if (!nogroup)
        dome__omp_taskgroup_end(t);
    dome__kmpc_task_free(task);
}
