/* Tasks that are put off, and then dealt to all threads of the team. Thread 0's alone are, of those that it meets outside of
 * other tasks: its stack, to which they may point, is the only one that all tasks of the program have.
 *
 *     thread 0                                    the others, at a barrier or at the region's end
 *     task: put off      a list, in shared memory
 *     task: put off
 *     taskwait: ----------- all meet ------------> each thread runs its run of the list
 *     runs its own
 *     goes on <------------ all meet -------------- wait again
 *
 * Which task is whose depends on the list's length and the number of threads alone. Tasks that depend on others of the list are
 * in a later wave of it, which is dealt when those before have run. Where a thread cannot come, because it waits for something
 * that thread 0 does later, thread 0 runs the list itself. */
#include "openmp/task.h"

#include <glib.h>
#include <string.h>

#include "openmp/icv.h"
#include "openmp/memory_openmp.h"
#include "openmp/shared.h"
#include "openmp/turn.h"

/* So many at most wait. */
enum { MOST = 1 << 14 };

/* Thread 0's. */
static struct {
    dome_omp_item *items; /* the list, in shared memory */
    unsigned count, room, waves;
    GHashTable *writers; /* by address: the first wave behind the last task that writes there */
    GHashTable *users;   /* the same of all tasks that name it */
} queue;

/* ---- putting off ---- */

static bool may_put_off(const dome_omp_thread *t)
{
    if (t != &dome__omp_threads[0] || t != dome__omp_running || t->tasks || t->final || !dome__omp_has_others(t) ||
        dome__omp_environment()->cancellation || dome__omp_tasks.at_once)
        return false;
    for (const dome_omp_taskgroup *g = t->taskgroup; g; g = g->outer)
        if (g->reductions || g->shares) /* they add to what their thread has */
            return false;
    return true;
}

static unsigned wave_at(GHashTable *table, const void *address)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(table, address));
}

static unsigned wave_of(const dome_omp_dependence *depends, unsigned count)
{
    unsigned wave = 0;
    for (unsigned k = 0; k < count; k++) {
        const unsigned after = wave_at(depends[k].writes ? queue.users : queue.writers, depends[k].address);
        wave = after > wave ? after : wave;
    }
    return wave;
}

static void note_dependences(const dome_omp_dependence *depends, unsigned count, unsigned wave)
{
    for (unsigned k = 0; k < count; k++) {
        void *address = (void *)(uintptr_t)depends[k].address;
        if (depends[k].writes)
            g_hash_table_insert(queue.writers, address, GUINT_TO_POINTER(wave + 1));
        if (wave_at(queue.users, address) < wave + 1)
            g_hash_table_insert(queue.users, address, GUINT_TO_POINTER(wave + 1));
    }
}

static dome_omp_item *next_item(void)
{
    if (queue.count == queue.room) {
        const unsigned room = queue.room ? 2 * queue.room : 64;
        dome_omp_item *more = dome__omp_allocate(room * sizeof *more, _Alignof(dome_omp_item));
        if (queue.count)
            memcpy(more, queue.items, queue.count * sizeof *more);
        dome__omp_release(queue.items);
        queue.items = more;
        queue.room = room;
    }
    return &queue.items[queue.count++];
}

bool dome__omp_task_put_off(dome_omp_thread *t, const dome_omp_put_off *task, const dome_omp_dependence *depends, unsigned count)
{
    if (!may_put_off(t))
        return false;
    if (queue.count == MOST)
        dome__omp_tasks_deal(t);
    if (!queue.writers && count) {
        queue.writers = g_hash_table_new(NULL, NULL);
        queue.users = g_hash_table_new(NULL, NULL);
    }
    const unsigned wave = wave_of(depends, count);
    note_dependences(depends, count, wave);
    *next_item() = (dome_omp_item){*task, t->taskgroup, wave};
    queue.waves = wave + 1 > queue.waves ? wave + 1 : queue.waves;
    return true;
}

bool dome__omp_task_may_wait(const dome_omp_thread *t)
{
    return may_put_off(t);
}

/* ---- running ---- */

/* Takes the list; nothing is put off any more. */
static dome_omp_item *take(unsigned *count, unsigned *waves)
{
    dome_omp_item *items = queue.items;
    *count = queue.count;
    *waves = queue.waves;
    queue.items = NULL;
    queue.count = queue.room = queue.waves = 0;
    if (queue.writers) {
        g_hash_table_remove_all(queue.writers);
        g_hash_table_remove_all(queue.users);
    }
    return items;
}

/* All have run. Thread 0 has got the memory, and is to have it again. */
static void release(dome_omp_item *items, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        dome__omp_release(items[k].task.memory);
    dome__omp_release(items);
}

void dome__omp_tasks_run_here(dome_omp_thread *t)
{
    if (t->tasks || t != &dome__omp_threads[0] || !queue.count)
        return;
    unsigned count, waves;
    dome_omp_item *items = take(&count, &waves);
    for (unsigned k = 0; k < count; k++)
        dome__omp_item_run(t, &items[k]);
    release(items, count);
}

/* ---- dealing: thread 0 ---- */

/* The waves one behind the other, each in the order in which its tasks were met. */
static void sort_by_wave(dome_omp_item *items, unsigned count, unsigned waves, uint64_t *ends)
{
    if (waves == 1) {
        ends[0] = count;
        return;
    }
    dome_omp_item *sorted = g_new(dome_omp_item, count);
    unsigned n = 0;
    for (unsigned w = 0; w < waves; w++) {
        for (unsigned k = 0; k < count; k++)
            if (items[k].wave == w)
                sorted[n++] = items[k];
        ends[w] = n;
    }
    memcpy(items, sorted, count * sizeof *items);
    g_free(sorted);
}

/* Those whose threads cannot come look again. */
static void call_others(void *unused)
{
    (void)unused;
    static uint8_t all[DOME_OMP_MAX_TASKS];
    memset(all, 1, sizeof all);
    dome__omp_tasks.enter();
    dome__omp_shared()->deal.serial++;
    dome__omp_tasks.leave(&(dome_omp_telling){all, false, -1});
}

/* [begin, end) of the list, while all other threads are at a barrier or at the region's end. */
static void deal(dome_omp_thread *t, const dome_omp_item *items, uint64_t begin, uint64_t end)
{
    dome_omp_deal *d = &dome__omp_shared()->deal;
    d->items = (uint64_t)(uintptr_t)items;
    d->begin = begin;
    d->end = end;
    d->place = (uint64_t)(uintptr_t)items[begin].task.place;
    d->after = dome__omp_deal_meetings();
    dome__omp_on_task(call_others, NULL);
    dome__omp_give_way(t, DOME_OMP_ARRIVED);
    t->has_share = false;
    if (!dome__omp_deal_refused()) {
        dome__omp_share_run(t);
        dome__omp_give_way(t, DOME_OMP_ARRIVED);
        return;
    }
    for (uint64_t k = begin; k < end; k++)
        dome__omp_item_run(t, &items[k]);
}

void dome__omp_tasks_deal(dome_omp_thread *t)
{
    if (t->tasks || t != &dome__omp_threads[0] || !queue.count)
        return;
    unsigned count, waves;
    dome_omp_item *items = take(&count, &waves);
    uint64_t *ends = g_new(uint64_t, waves);
    sort_by_wave(items, count, waves, ends);
    for (unsigned w = 0; w < waves; w++)
        deal(t, items, w ? ends[w - 1] : 0, ends[w]);
    g_free(ends);
    release(items, count);
}
