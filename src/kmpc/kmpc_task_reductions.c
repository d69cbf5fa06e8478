/* Reductions over tasks. A thread's tasks run on it one after the other, so they need no copies of their own: they add to what
 * the thread has. */
#include "kmpc/kmpc_task.h"

/* What the compiler says of each variable. */
typedef struct share {
    void *own;      /* what the tasks of this thread add to */
    void *original; /* the variable */
    size_t bytes;
    void *set, *destroy, *combine;
    uint32_t flags;
} share;

static void *init(int32_t count, const share *shares)
{
    dome_omp_thread *t = dome__omp_self();
    if (!t->taskgroup)
        return NULL;
    t->taskgroup->shares = shares;
    t->taskgroup->nshares = count;
    return t->taskgroup;
}

void *__kmpc_taskred_init(int32_t number, int32_t count, const share *shares)
{
    (void)number;
    return init(count, shares);
}

/* reduction(task, ...) of a region or a loop: its tasks are those of a group, up to the next function. */
void *__kmpc_taskred_modifier_init(KMPC_PLACE, int32_t of_loop, int32_t count, const share *shares)
{
    dome__kmpc_unused(place, number);
    (void)of_loop;
    dome__omp_taskgroup_start(dome__omp_self());
    return init(count, shares);
}

void __kmpc_task_reduction_modifier_fini(KMPC_PLACE, int32_t of_loop)
{
    dome__kmpc_unused(place, number);
    (void)of_loop;
    dome__omp_taskgroup_end(dome__omp_self());
}

/* item: the variable, or what stands for it in a task around this one. */
void *__kmpc_task_reduction_get_th_data(int32_t number, void *group, void *item)
{
    (void)number;
    (void)group;
    for (const dome_omp_taskgroup *g = dome__omp_self()->taskgroup; g; g = g->outer)
        for (int32_t k = 0; k < g->nshares; k++) {
            const share *s = (const share *)g->shares + k;
            if (s->original == item)
                return s->own;
        }
    return item;
}
