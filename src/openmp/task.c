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
    t->tasks++;
}

void dome__omp_task_end(dome_omp_thread *t, const dome_omp_outer *outer)
{
    dome__omp_tasks_finish(t);
    t->tasks--;
    t->events = outer->events;
    t->final = outer->final;
    t->variables = outer->variables;
}

static void copy_data(char *data, const dome_omp_task *task, const uint64_t *begins)
{
    if (task->copy)
        task->copy(data, task->data);
    else
        memcpy(data, task->data, (size_t)task->bytes);
    if (begins)
        memcpy(data, begins, 2 * sizeof *begins);
}

static char *aligned(char *room, long alignment)
{
    const uintptr_t to = alignment > 1 ? (uintptr_t)alignment : 1;
    return (char *)(((uintptr_t)room + to - 1) / to * to); // NOLINT(performance-no-int-to-ptr)
}

void dome__omp_task_run(dome_omp_thread *t, const dome_omp_task *task, const uint64_t *begins)
{
    char room[(size_t)task->bytes + (size_t)(task->alignment > 1 ? task->alignment : 1)];
    char *data = aligned(room, task->alignment);
    copy_data(data, task, begins);
    dome_omp_outer outer;
    dome__omp_task_begin(t, task->final, &outer);
    task->function(data);
    dome__omp_task_end(t, &outer);
}

/* ---- tasks that are put off ---- */

typedef struct copied {
    void (*function)(void *);
    char *data; /* behind this */
} copied;

static void run_copied(dome_omp_thread *t, void *task)
{
    const copied *c = task;
    dome_omp_outer outer;
    dome__omp_task_begin(t, false, &outer);
    c->function(c->data);
    dome__omp_task_end(t, &outer);
}

bool dome__omp_task_copy_off(dome_omp_thread *t, const dome_omp_task *task, const uint64_t *begins,
                             const dome_omp_dependence *depends, unsigned count)
{
    if (task->final || dome__omp_is_library((const void *)(uintptr_t)task->function) || !dome__omp_task_may_wait(t))
        return false;
    copied *c = dome__omp_allocate(sizeof *c + (size_t)task->bytes + (size_t)task->alignment, _Alignof(copied));
    c->function = task->function;
    c->data = aligned((char *)(c + 1), task->alignment);
    copy_data(c->data, task, begins);
    return dome__omp_task_put_off(t, &(dome_omp_put_off){run_copied, c, c, (const void *)(uintptr_t)task->function}, depends,
                                  count);
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
    dome__omp_tasks_deal(t);
    while (t->events) {
        dome_omp_event *event = t->events;
        dome__omp_until(DOME_OMP_LOOK, is_fulfilled, event, "omp_fulfill_event of a detached task, whose event is", event);
        t->events = event->next;
        dome__omp_release(event);
    }
}

static void left(dome_omp_thread *t, dome_omp_state state)
{
    if (state == DOME_OMP_READY)
        dome__omp_tasks_run_here(t);
    else
        dome__omp_tasks_finish(t);
}

__attribute__((constructor)) static void begin(void)
{
    dome__omp_tasks_left = left;
}

/* ---- what compilers call ---- */

/* So many dependences a task has at most that is put off. */
enum { DEPENDS = 256 };

/* What gcc says of dependences: their number, how many of them are written, addresses; or, where the first word is 0: the number,
 * how many are written, how many are mutually exclusive, how many are read, addresses. Returns how many, or -1: of other kinds,
 * or too many. */
static int depends_of(void **words, dome_omp_dependence *to)
{
    const bool is_long = words[0] == NULL;
    const uintptr_t all = (uintptr_t)words[is_long],
                    written = is_long ? (uintptr_t)words[2] + (uintptr_t)words[3] : (uintptr_t)words[1];
    if (all > DEPENDS || (is_long && written + (uintptr_t)words[4] != all))
        return -1;
    for (uintptr_t k = 0; k < all; k++)
        to[k] = (dome_omp_dependence){words[(is_long ? 5 : 2) + k], k < written};
    return (int)all;
}

/* Whether the task is put off; not if it may depend on a detached one, which ends with its event. Its frame is no part of
 * GOMP_task's, which is as deep as tasks are in each other. */
static __attribute__((noinline)) bool put_off(dome_omp_thread *t, const dome_omp_task *task, unsigned flags, void **words)
{
    dome_omp_dependence depends[DEPENDS];
    const int count = flags & DOME_OMP_TASK_DEPEND ? depends_of(words, depends) : 0;
    return count >= 0 && !(flags & DOME_OMP_TASK_DETACH) && !(count && t->events) &&
           dome__omp_task_copy_off(t, task, NULL, depends, (unsigned)count);
}

void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment, bool deferred,
               unsigned flags, void **dependences, int priority, void *detach)
{
    dome_omp_thread *t = dome__omp_self();
    const dome_omp_task task = {function, data, copy, bytes, alignment, flags & DOME_OMP_TASK_FINAL};
    (void)priority;
    if (dome__omp_task_is_cancelled(t) || (deferred && dome__omp_task_may_wait(t) && put_off(t, &task, flags, dependences)))
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
    dome__omp_task_run(t, &task, NULL);
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
