/* taskloop: its iterations in as many tasks as are asked for. */
#include "openmp/reduction.h"
#include "openmp/task.h"

typedef unsigned long long ull;

void GOMP_taskgroup_reduction_register(uintptr_t *reductions);
void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions);

typedef struct range {
    uint64_t start, end, step, count;
} range;

dome_omp_division dome__omp_taskloop_divide(uint64_t count, unsigned flags, uint64_t asked, unsigned threads)
{
    uint64_t tasks = asked ? asked : threads;
    if (flags & DOME_OMP_TASK_GRAINSIZE) {
        if (flags & DOME_OMP_TASK_STRICT)
            return (dome_omp_division){count / asked + (count % asked != 0), asked, 0};
        tasks = count / asked;
    }
    if (tasks > count)
        tasks = count;
    if (!tasks)
        tasks = 1;
    return (dome_omp_division){tasks, count / tasks, count % tasks};
}

/* The reductions' words are what the data has after the two words of the range. */
static uintptr_t *reductions_of(const dome_omp_task *task)
{
    return ((uintptr_t **)task->data)[2];
}

static void run(const dome_omp_task *task, unsigned flags, uint64_t asked, const range *r)
{
    dome_omp_thread *t = dome__omp_self();
    dome_omp_division d = dome__omp_taskloop_divide(r->count, flags, asked, t->team->size);
    bool group = !(flags & DOME_OMP_TASK_NOGROUP);
    if (group) {
        dome__omp_taskgroup_start(t);
        if (flags & DOME_OMP_TASK_REDUCTION)
            GOMP_taskgroup_reduction_register(reductions_of(task));
    }
    uint64_t from = 0;
    for (uint64_t k = 0; k < d.tasks && !(t->taskgroup && t->taskgroup->cancelled); k++) {
        uint64_t to = from + d.least + (k < d.larger);
        if (to > r->count)
            to = r->count;
        const uint64_t part[] = {r->start + from * r->step, to == r->count ? r->end : r->start + to * r->step};
        if (!(flags & DOME_OMP_TASK_IF) || !dome__omp_task_copy_off(t, task, part, NULL, 0))
            dome__omp_task_run(t, task, part);
        from = to;
    }
    if (group)
        dome__omp_taskgroup_end(t);
}

static void no_iterations(unsigned flags, const dome_omp_task *task)
{
    uintptr_t *reductions = flags & DOME_OMP_TASK_REDUCTION && !(flags & DOME_OMP_TASK_NOGROUP) ? reductions_of(task) : NULL;
    if (reductions) /* the compiler's code then does not take them out */
        *reductions = 0;
}

void GOMP_taskloop(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, unsigned flags,
                   unsigned long asked, int priority, long start, long end, long step)
{
    (void)priority;
    dome_omp_task task = {function, data, copy, bytes, alignment, flags & DOME_OMP_TASK_FINAL};
    range r = {(uint64_t)start, (uint64_t)end, (uint64_t)step, dome__omp_loop_count(start, end, step)};
    if (r.count)
        run(&task, flags, asked, &r);
    else
        no_iterations(flags, &task);
}

void GOMP_taskloop_ull(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
                       unsigned flags, unsigned long asked, int priority, ull start, ull end, ull step)
{
    (void)priority;
    dome_omp_task task = {function, data, copy, bytes, alignment, flags & DOME_OMP_TASK_FINAL};
    range r = {start, end, step, dome__omp_loop_count_ull(flags & DOME_OMP_TASK_UP, start, end, step)};
    if (r.count)
        run(&task, flags, asked, &r);
    else
        no_iterations(flags, &task);
}
