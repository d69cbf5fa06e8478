#include "kmpc/kmpc_task.h"

#include <string.h>

#include "openmp/memory_openmp.h"

enum { ALIGNMENT = 64 };

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static size_t block_bytes(void)
{
    return round_up(sizeof(dome_kmpc_block));
}

dome_kmpc_block *dome__kmpc_block_of(dome_kmpc_task *task)
{
    return (dome_kmpc_block *)(void *)((char *)task - block_bytes());
}

static dome_kmpc_task *new_task(uint32_t flags, size_t bytes, size_t shareds_bytes)
{
    dome_kmpc_block *block = dome__omp_allocate(block_bytes() + round_up(bytes) + round_up(shareds_bytes), ALIGNMENT);
    dome_kmpc_task *task = (dome_kmpc_task *)(void *)((char *)block + block_bytes());
    *block = (dome_kmpc_block){.flags = flags, .bytes = bytes, .shareds_bytes = shareds_bytes};
    task->shareds = shareds_bytes ? (char *)task + round_up(bytes) : NULL;
    return task;
}

dome_kmpc_task *dome__kmpc_task_copy(dome_kmpc_task *task)
{
    const dome_kmpc_block *block = dome__kmpc_block_of(task);
    dome_kmpc_task *copy = new_task(block->flags, block->bytes, block->shareds_bytes);
    void *shareds = copy->shareds;
    memcpy(copy, task, block->bytes);
    copy->shareds = shareds;
    if (shareds)
        memcpy(shareds, task->shareds, block->shareds_bytes);
    return copy;
}

static void destroy(dome_kmpc_task *task)
{
    if (dome__kmpc_block_of(task)->flags & DOME_KMPC_DESTRUCTORS)
        task->first.destroy((int32_t)dome__omp_thread_id(dome__omp_self()), task);
}

void dome__kmpc_task_free(dome_kmpc_task *task)
{
    destroy(task);
    dome__omp_release(dome__kmpc_block_of(task));
}

static void begin(dome_omp_thread *t, dome_kmpc_task *task)
{
    dome_kmpc_block *block = dome__kmpc_block_of(task);
    dome__omp_task_begin(t, block->flags & DOME_KMPC_FINAL, &block->outer);
}

static void end(dome_omp_thread *t, dome_kmpc_task *task)
{
    const dome_kmpc_block *block = dome__kmpc_block_of(task);
    dome__omp_task_end(t, &block->outer);
    if (block->event)
        dome__omp_event_follow(t, block->event);
    dome__kmpc_task_free(task);
}

void dome__kmpc_task_run(dome_omp_thread *t, dome_kmpc_task *task)
{
    if (dome__omp_task_is_cancelled(t)) {
        dome__kmpc_task_free(task);
        return;
    }
    begin(t, task);
    task->entry((int32_t)dome__omp_thread_id(t), task);
    end(t, task);
}

static void run_put_off(dome_omp_thread *t, void *data)
{
    dome_kmpc_task *task = data;
    dome_kmpc_block *block = dome__kmpc_block_of(task);
    dome__omp_task_begin(t, false, &block->outer);
    task->entry((int32_t)dome__omp_thread_id(t), task);
    dome__omp_task_end(t, &block->outer);
    destroy(task);
}

bool dome__kmpc_task_put_off(dome_omp_thread *t, dome_kmpc_task *task, const dome_omp_dependence *depends, unsigned count)
{
    dome_kmpc_block *block = dome__kmpc_block_of(task);
    const dome_omp_put_off put_off = {run_put_off, task, block, (const void *)(uintptr_t)task->entry};
    if (block->flags & DOME_KMPC_FINAL || block->event || dome__omp_task_is_cancelled(t) || dome__omp_is_library(put_off.place))
        return false;
    return dome__omp_task_put_off(t, &put_off, depends, count);
}

/* ---- what the compiler calls ---- */

dome_kmpc_task *__kmpc_omp_task_alloc(KMPC_PLACE, int32_t flags, size_t bytes, size_t shareds_bytes, dome_kmpc_entry entry)
{
    dome_kmpc_task *task = new_task((uint32_t)flags, bytes, shareds_bytes);
    dome__kmpc_unused(place, number);
    task->entry = entry;
    return task;
}

dome_kmpc_task *__kmpc_omp_target_task_alloc(KMPC_PLACE, int32_t flags, size_t bytes, size_t shareds_bytes, dome_kmpc_entry entry,
                                             int64_t device)
{
    (void)device;
    return __kmpc_omp_task_alloc(place, number, flags, bytes, shareds_bytes, entry);
}

int32_t __kmpc_omp_task(KMPC_PLACE, dome_kmpc_task *task)
{
    dome__kmpc_unused(place, number);
    dome_omp_thread *t = dome__omp_self();
    if (!dome__kmpc_task_put_off(t, task, NULL, 0))
        dome__kmpc_task_run(t, task);
    return 0;
}

/* What the compiler says of a dependence. */
typedef struct dependence {
    const void *address;
    size_t bytes;
    uint8_t kind;
} dependence;

enum { DEPENDS = 256, IN = 1, OUT = 2, IN_OUT = 3, EXCLUSIVE = 4 };

/* How many; -1: of other kinds, or too many. */
static int depends_of(const dependence *from, int32_t count, dome_omp_dependence *to)
{
    for (int32_t k = 0; k < count && count <= DEPENDS; k++) {
        if (from[k].kind < IN || from[k].kind > EXCLUSIVE)
            return -1;
        to[k] = (dome_omp_dependence){from[k].address, from[k].kind != IN};
    }
    return count <= DEPENDS ? count : -1;
}

/* Not if the task may depend on a detached one, which ends with its event. Its frame is no part of the caller's, which is as deep
 * as tasks are in each other. */
static __attribute__((noinline)) bool put_off(dome_omp_thread *t, dome_kmpc_task *task, const dependence *depends, int32_t count)
{
    dome_omp_dependence all[DEPENDS];
    const int n = depends_of(depends, count, all);
    return n >= 0 && !(n && t->events) && dome__kmpc_task_put_off(t, task, all, (unsigned)n);
}

/* A task that is not put off runs when all earlier ones have; detached ones are done when their events are fulfilled. */
int32_t __kmpc_omp_task_with_deps(KMPC_PLACE, dome_kmpc_task *task, int32_t count, void *depends, int32_t more, void *others)
{
    (void)others;
    dome_omp_thread *t = dome__omp_self();
    dome__kmpc_unused(place, number);
    if (!more && dome__omp_task_may_wait(t) && put_off(t, task, depends, count))
        return 0;
    dome__omp_tasks_finish(t);
    dome__kmpc_task_run(t, task);
    return 0;
}

void __kmpc_omp_wait_deps(KMPC_PLACE, int32_t count, void *depends, int32_t more, void *others)
{
    dome__kmpc_unused(place, number);
    (void)count, (void)depends, (void)more, (void)others;
    dome__omp_tasks_finish(dome__omp_self());
}

/* if(0): the caller calls the entry itself. */
void __kmpc_omp_task_begin_if0(KMPC_PLACE, dome_kmpc_task *task)
{
    dome__kmpc_unused(place, number);
    begin(dome__omp_self(), task);
}

void __kmpc_omp_task_complete_if0(KMPC_PLACE, dome_kmpc_task *task)
{
    dome__kmpc_unused(place, number);
    end(dome__omp_self(), task);
}

int32_t __kmpc_omp_taskwait(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_tasks_finish(dome__omp_self());
    return 0;
}

void GOMP_taskyield(void);

int32_t __kmpc_omp_taskyield(KMPC_PLACE, int32_t part)
{
    dome__kmpc_unused(place, number);
    (void)part;
    GOMP_taskyield();
    return 0;
}

void *__kmpc_task_allow_completion_event(KMPC_PLACE, dome_kmpc_task *task)
{
    dome__kmpc_unused(place, number);
    return dome__kmpc_block_of(task)->event = dome__omp_event_new();
}

int32_t __kmpc_omp_reg_task_with_affinity(KMPC_PLACE, dome_kmpc_task *task, int32_t count, void *affinities)
{
    dome__kmpc_unused(place, number);
    (void)task, (void)count, (void)affinities;
    return 0;
}

void __kmpc_taskgroup(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_taskgroup_start(dome__omp_self());
}

void __kmpc_end_taskgroup(KMPC_PLACE)
{
    dome__kmpc_unused(place, number);
    dome__omp_taskgroup_end(dome__omp_self());
}
