#include "openmp/task.h"

#include <string.h>

#include "openmp/memory_openmp.h"
#include "openmp/turn.h"

/* ---- running ---- */

void dome__omp_task_begin(dome_omp_thread *t, bool final, dome_omp_outer *outer)
{
    *outer = (dome_omp_outer){t->variables, t->events, t->final};
    t->final |= final;
    t->events = NULL;
}

void dome__omp_task_end(dome_omp_thread *t, const dome_omp_outer *outer)
{
    dome__omp_tasks_finish(t);
    t->events = outer->events;
    t->final = outer->final;
    t->variables = outer->variables;
}

void dome__omp_task_run(dome_omp_thread *t, const dome_omp_task *task, const uint64_t *begins)
{
    size_t alignment = task->alignment > 1 ? (size_t)task->alignment : 1;
    char room[(size_t)task->bytes + alignment];
    char *data = (char *)(((uintptr_t)room + alignment - 1) / alignment * alignment);
    if (task->copy)
        task->copy(data, task->data);
    else
        memcpy(data, task->data, (size_t)task->bytes);
    if (begins)
        memcpy(data, begins, 2 * sizeof *begins);
    dome_omp_outer outer;
    dome__omp_task_begin(t, task->final, &outer);
    task->function(data);
    dome__omp_task_end(t, &outer);
}

bool dome__omp_task_is_cancelled(const dome_omp_thread *t)
{
    return t->taskgroup && t->taskgroup->cancelled;
}

/* ---- events ---- */

/* In memory that all tasks of the program share: the event may be fulfilled by any thread. */
struct dome_omp_event {
    uint64_t fulfilled;
    dome_omp_event *next; /* of the same thread */
};

static bool is_fulfilled(void *event)
{
    return ((dome_omp_event *)event)->fulfilled;
}

static bool fulfil(void *event)
{
    ((dome_omp_event *)event)->fulfilled = 1;
    return true;
}

void omp_fulfill_event(void *event)
{
    dome__omp_try(DOME_OMP_AT_ONCE, fulfil, event);
}

void omp_fulfill_event_(void *event) /* by value, in Fortran, too */
{
    omp_fulfill_event(event);
}

dome_omp_event *dome__omp_event_new(void)
{
    return dome__omp_allocate(sizeof(dome_omp_event), _Alignof(dome_omp_event));
}

void dome__omp_event_follow(dome_omp_thread *t, dome_omp_event *event)
{
    event->next = t->events;
    t->events = event;
}

void dome__omp_tasks_finish(dome_omp_thread *t)
{
    while (t->events) {
        dome_omp_event *event = t->events;
        dome__omp_until(DOME_OMP_LOOK, is_fulfilled, event, "omp_fulfill_event of a detached task, whose event is", event);
        t->events = event->next;
        dome__omp_release(event);
    }
}

/* ---- what compilers call ---- */

void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, bool deferred,
               unsigned flags, void **dependences, int priority, void *detach)
{
    dome_omp_thread *t = dome__omp_self();
    (void)deferred;
    (void)dependences;
    (void)priority;
    if (dome__omp_task_is_cancelled(t))
        return;
    if (flags & DOME_OMP_TASK_DEPEND) /* detached tasks are done when their events are fulfilled */
        dome__omp_tasks_finish(t);
    dome_omp_event *event = NULL;
    if (flags & DOME_OMP_TASK_DETACH) {
        event = dome__omp_event_new();
        *(void **)detach = event;
        if (data) /* the task's copy of the handle stands first in its data */
            *(void **)data = event;
    }
    dome__omp_task_run(t, &(dome_omp_task){function, data, copy, bytes, alignment, flags & DOME_OMP_TASK_FINAL}, NULL);
    if (event)
        dome__omp_event_follow(t, event);
}

void GOMP_taskwait(void)
{
    dome__omp_tasks_finish(dome__omp_self());
}

void GOMP_taskwait_depend(void **dependences)
{
    (void)dependences;
    dome__omp_tasks_finish(dome__omp_self());
}

void GOMP_taskyield(void)
{
    dome_omp_thread *t = dome__omp_self();
    if (dome__omp_has_others(t))
        dome__omp_give_way(t, DOME_OMP_READY);
}

/* ---- taskgroup ---- */

void dome__omp_taskgroup_start(dome_omp_thread *t)
{
    dome_omp_taskgroup *group = dome__omp_allocate(sizeof *group, _Alignof(dome_omp_taskgroup));
    *group = (dome_omp_taskgroup){.outer = t->taskgroup, .reductions = t->taskgroup ? t->taskgroup->reductions : NULL};
    t->taskgroup = group;
}

void dome__omp_taskgroup_end(dome_omp_thread *t)
{
    dome_omp_taskgroup *group = t->taskgroup;
    dome__omp_tasks_finish(t);
    t->taskgroup = group->outer;
    dome__omp_release(group);
}

void GOMP_taskgroup_start(void)
{
    dome__omp_taskgroup_start(dome__omp_self());
}

void GOMP_taskgroup_end(void)
{
    dome__omp_taskgroup_end(dome__omp_self());
}
