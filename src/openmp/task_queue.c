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

typedef struct item {
    dome_omp_put_off task;
    dome_omp_taskgroup *group;
    unsigned wave;
} item;

/* Thread 0's. */
static struct {
    item *items; /* the list, in shared memory */
    unsigned count, room, waves;
    GHashTable *writers; /* by address: the first wave behind the last task that writes there */
    GHashTable *users;   /* the same of all tasks that name it */
} queue;

/* Of this task: the last deal that it has met for, whether its threads run that, and whether thread 0 is to run it alone. Of the
 * next one: in how many meetings threads could not come, and whether some of this task have got on since the last. */
static struct {
    uint64_t seen, meetings, place; /* meetings: of this region, so far */
    bool runs, refused, moved;
    unsigned again;
} here;

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

static item *next_item(void)
{
    if (queue.count == queue.room) {
        const unsigned room = queue.room ? 2 * queue.room : 64;
        item *more = dome__omp_allocate(room * sizeof *more, _Alignof(item));
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
    *next_item() = (item){*task, t->taskgroup, wave};
    queue.waves = wave + 1 > queue.waves ? wave + 1 : queue.waves;
    return true;
}

bool dome__omp_task_may_wait(const dome_omp_thread *t)
{
    return may_put_off(t);
}

/* ---- running ---- */

static void run(dome_omp_thread *t, const item *i)
{
    dome_omp_taskgroup *group = t->taskgroup;
    t->taskgroup = i->group;
    i->task.run(t, i->task.data);
    t->taskgroup = group;
}

/* Takes the list; nothing is put off any more. */
static item *take(unsigned *count, unsigned *waves)
{
    item *items = queue.items;
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
static void release(item *items, unsigned count)
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
    item *items = take(&count, &waves);
    for (unsigned k = 0; k < count; k++)
        run(t, &items[k]);
    release(items, count);
}

static void run_share(dome_omp_thread *t)
{
    const dome_omp_deal *d = &dome__omp_shared()->deal;
    const item *items = (const item *)(uintptr_t)d->items; // NOLINT(performance-no-int-to-ptr)
    const uint64_t n = d->end - d->begin, of = t->team->size;
    const uint64_t end = d->begin + n * (t->number + 1) / of;
    for (uint64_t k = d->begin + n * t->number / of; k < end; k++)
        run(t, &items[k]);
}

void dome__omp_arrive(dome_omp_thread *t, dome_omp_state state)
{
    dome__omp_give_way(t, state);
    while (t->has_share) {
        t->has_share = false;
        run_share(t);
        dome__omp_give_way(t, state);
    }
}

/* ---- dealing: thread 0 ---- */

/* The waves one behind the other, each in the order in which its tasks were met. */
static void sort_by_wave(item *items, unsigned count, unsigned waves, uint64_t *ends)
{
    if (waves == 1) {
        ends[0] = count;
        return;
    }
    item *sorted = g_new(item, count);
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
static void deal(dome_omp_thread *t, const item *items, uint64_t begin, uint64_t end)
{
    dome_omp_deal *d = &dome__omp_shared()->deal;
    d->items = (uint64_t)(uintptr_t)items;
    d->begin = begin;
    d->end = end;
    d->place = (uint64_t)(uintptr_t)items[begin].task.place;
    d->after = here.meetings;
    dome__omp_on_task(call_others, NULL);
    dome__omp_give_way(t, DOME_OMP_ARRIVED);
    t->has_share = false;
    if (!here.refused) {
        run_share(t);
        dome__omp_give_way(t, DOME_OMP_ARRIVED);
        return;
    }
    for (uint64_t k = begin; k < end; k++)
        run(t, &items[k]);
}

void dome__omp_tasks_deal(dome_omp_thread *t)
{
    if (t->tasks || t != &dome__omp_threads[0] || !queue.count)
        return;
    unsigned count, waves;
    item *items = take(&count, &waves);
    uint64_t *ends = g_new(uint64_t, waves);
    sort_by_wave(items, count, waves, ends);
    for (unsigned w = 0; w < waves; w++)
        deal(t, items, w ? ends[w - 1] : 0, ends[w]);
    g_free(ends);
    release(items, count);
}

/* ---- for the scheduler ---- */

void dome__omp_deals_begin(uint64_t serial)
{
    here.seen = serial;
    here.meetings = 0;
    here.runs = here.refused = here.moved = false;
    here.again = 0;
    queue.count = queue.room = queue.waves = 0;
    queue.items = NULL;
}

/* Thread 0 may go on to the next deal while other tasks still look at what a meeting was. */
static bool is_called(uint64_t meetings)
{
    const dome_omp_deal *d = &dome__omp_shared()->deal;
    return !here.runs && d->serial != here.seen && meetings > d->after;
}

bool dome__omp_deal_waits(void)
{
    return is_called(here.meetings + 1);
}

void dome__omp_deal_moved(void)
{
    here.moved = true;
}

/* By which one meeting for a deal differs from another. */
static uint32_t stamp(void)
{
    return (uint32_t)(dome__omp_shared()->deal.serial << 8) | (here.again & 0xff);
}

void dome__omp_deal_come(bool stuck)
{
    dome_omp_deal *d = &dome__omp_shared()->deal;
    here.meetings++;
    if (stuck)
        d->stuck[here.again % 2][dome__omp_tasks.rank] = stamp();
    if (here.again && here.moved)
        d->moved[here.again % 2][dome__omp_tasks.rank] = stamp();
}

static bool has_stamp(const uint32_t *of_tasks)
{
    for (int r = 0; r < dome__omp_tasks.size; r++)
        if (of_tasks[r] == stamp())
            return true;
    return false;
}

/* A deal is refused if threads could not come and nobody has got on since the meeting before. */
dome_omp_met dome__omp_deal_met(void)
{
    const dome_omp_deal *d = &dome__omp_shared()->deal;
    if (here.runs) {
        here.runs = false;
        return DOME_OMP_DEAL_ENDS;
    }
    if (!is_called(here.meetings))
        return DOME_OMP_NO_DEAL;
    const bool stuck = has_stamp(d->stuck[here.again % 2]), moved = !here.again || has_stamp(d->moved[here.again % 2]);
    here.moved = false;
    if (stuck && moved) {
        here.again++;
        return DOME_OMP_DEAL_AGAIN;
    }
    here.again = 0;
    here.seen = d->serial;
    here.place = d->place;
    here.refused = stuck;
    here.runs = !stuck;
    return stuck ? DOME_OMP_DEAL_REFUSED : DOME_OMP_DEAL_BEGINS;
}

void dome__omp_deal_give_up(void)
{
    here.seen = dome__omp_shared()->deal.serial;
    here.refused = true;
}

uint64_t dome__omp_deal_place(void)
{
    return here.place;
}

bool dome__omp_has_share(const dome_omp_thread *t)
{
    const dome_omp_deal *d = &dome__omp_shared()->deal;
    const uint64_t n = d->end - d->begin, of = t->team->size;
    return n * (t->number + 1) / of > n * t->number / of;
}
