#include "openmp/reduction.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/barrier.h"
#include "openmp/memory_openmp.h"
#include "openmp/shared.h"
#include "openmp/task.h"

/* The words of a block; see reduction.h. */
enum { HOW_MANY, BYTES, MEMORY, ALLOCATOR, NEXT, IS_FIRST, END, OF_EACH };

static uintptr_t *next_of(const uintptr_t *block)
{
    return (uintptr_t *)block[NEXT];
}

/* of: blocks of another thread, whose memory these get; or NULL: memory of their own. outer: blocks that stand behind these. */
static void enter(uintptr_t *reductions, const uintptr_t *of, unsigned threads, uintptr_t *outer)
{
    for (uintptr_t *block = reductions;; block = next_of(block)) {
        size_t bytes = block[BYTES] * threads;
        block[MEMORY] = of ? of[MEMORY] : (uintptr_t)dome__omp_allocate(bytes, block[MEMORY]);
        block[END] = of ? of[END] : block[MEMORY] + bytes;
        block[IS_FIRST] = block == reductions;
        for (uintptr_t k = 0; k < block[HOW_MANY]; k++)
            block[OF_EACH + 3 * k + 2] = (uintptr_t)block;
        of = of ? next_of(of) : NULL;
        if (!block[NEXT]) {
            block[NEXT] = (uintptr_t)outer;
            return;
        }
    }
}

void dome__omp_reductions_allocate(uintptr_t *reductions, unsigned threads)
{
    enter(reductions, NULL, threads, NULL);
}

void GOMP_taskgroup_reduction_register(uintptr_t *reductions)
{
    dome_omp_thread *t = dome__omp_self();
    if (!t->taskgroup)
        dome__omp_taskgroup_start(t);
    enter(reductions, NULL, t->team->size, t->taskgroup->reductions);
    t->taskgroup->reductions = reductions;
}

void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions)
{
    uintptr_t *block = reductions;
    do {
        dome__omp_release((void *)block[MEMORY]);
        block = next_of(block);
    } while (block && !block[IS_FIRST]);
}

void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    dome_omp_thread *t = dome__omp_self();
    uintptr_t *reductions = t->taskgroup->reductions;
    dome__omp_taskgroup_end(t);
    if (!cancelled)
        dome__omp_barrier();
    if (t->number == 0) /* nobody has it any more */
        GOMP_taskgroup_reduction_unregister(reductions);
}

/* ---- where a thread's share of a variable is ---- */

/* The words of the reduction over the variable at this address, or NULL. */
static const uintptr_t *find(const uintptr_t *block, uintptr_t variable)
{
    for (; block; block = next_of(block))
        for (uintptr_t k = 0; k < block[HOW_MANY]; k++)
            if (block[OF_EACH + 3 * k] == variable)
                return block + OF_EACH + 3 * k;
    return NULL;
}

/* The same for the address of some thread's share of it. */
static const uintptr_t *find_share(const uintptr_t *block, uintptr_t share)
{
    while (block && (share < block[MEMORY] || share >= block[END]))
        block = next_of(block);
    if (!block)
        return NULL;
    uintptr_t offset = (share - block[MEMORY]) % block[BYTES];
    for (uintptr_t k = 0; k < block[HOW_MANY]; k++)
        if (block[OF_EACH + 3 * k + 1] == offset)
            return block + OF_EACH + 3 * k;
    return NULL;
}

void GOMP_task_reduction_remap(size_t count, size_t with_original, void **addresses)
{
    dome_omp_thread *t = dome__omp_self();
    const uintptr_t *blocks = t->taskgroup ? t->taskgroup->reductions : NULL;
    for (size_t k = 0; k < count; k++) {
        uintptr_t address = (uintptr_t)addresses[k];
        const uintptr_t *of = find(blocks, address);
        if (!of)
            of = find_share(blocks, address);
        if (!of)
            dome__omp_die("OpenMP: in_reduction of a variable, %p, that no task_reduction around it has", addresses[k]);
        const uintptr_t *block = (const uintptr_t *)of[2];
        addresses[k] = (void *)(block[MEMORY] + t->number * block[BYTES] + of[1]);
        if (k < with_original)
            addresses[count + k] = (void *)of[0];
    }
}

/* ---- what the threads of a construct have in common: thread 0 makes it, and all meet before they use it ---- */

/* What thread 0 has put into the construct's slot; its own argument, for others 0. */
static uintptr_t of_first(dome_omp_thread *t, uint64_t *slots, uintptr_t made)
{
    uint64_t *slot = &slots[t->barrier % DOME_OMP_MADE_SLOTS];
    if (!dome__omp_has_others(t))
        return made;
    if (t->number == 0)
        *slot = made;
    dome__omp_barrier();
    return (uintptr_t)*slot;
}

static void enter_reductions(dome_omp_thread *t, uintptr_t *reductions)
{
    dome__omp_taskgroup_start(t);
    uintptr_t *outer = t->taskgroup->reductions;
    if (t->number == 0)
        enter(reductions, NULL, t->team->size, outer);
    const uintptr_t *first = (const uintptr_t *)of_first(t, dome__omp_shared()->reductions, (uintptr_t)reductions);
    if (t->number != 0)
        enter(reductions, first, t->team->size, outer);
    t->taskgroup->reductions = reductions;
}

static void *memory_of(dome_omp_thread *t, size_t bytes)
{
    uintptr_t made = t->number == 0 ? (uintptr_t)dome__omp_allocate(bytes, 64) : 0;
    return (void *)of_first(t, dome__omp_shared()->memory, made);
}

void dome__omp_sharing_memory(dome_omp_thread *t, uintptr_t *reductions, void **memory)
{
    if (reductions)
        enter_reductions(t, reductions);
    if (memory)
        *memory = memory_of(t, (size_t)(uintptr_t)*memory);
}
