/* How all tasks of the program take part in what thread 0 deals (task_queue.c). */
#include "openmp/shared.h"
#include "openmp/task.h"

/* Of this task: the last deal that it has met for, whether its threads run that, and whether thread 0 is to run it alone. Of the
 * next one: in how many meetings threads could not come, and whether some of this task have got on since the last. */
static struct {
    uint64_t seen, meetings, place; /* meetings: of this region, so far */
    bool runs, refused, moved;
    unsigned again;
} here;

/* ---- shares ---- */

void dome__omp_item_run(dome_omp_thread *t, const dome_omp_item *i)
{
    dome_omp_taskgroup *group = t->taskgroup;
    t->taskgroup = i->group;
    i->task.run(t, i->task.data);
    t->taskgroup = group;
}

void dome__omp_share_run(dome_omp_thread *t)
{
    const dome_omp_deal *d = &dome__omp_shared()->deal;
    const dome_omp_item *items = (const dome_omp_item *)(uintptr_t)d->items; // NOLINT(performance-no-int-to-ptr)
    const uint64_t n = d->end - d->begin, of = t->team->size;
    const uint64_t end = d->begin + n * (t->number + 1) / of;
    for (uint64_t k = d->begin + n * t->number / of; k < end; k++)
        dome__omp_item_run(t, &items[k]);
}

/* ---- meetings ---- */

void dome__omp_deals_begin(uint64_t serial)
{
    here.seen = serial;
    here.meetings = 0;
    here.runs = here.refused = here.moved = false;
    here.again = 0;
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

bool dome__omp_deal_refused(void)
{
    return here.refused;
}

uint64_t dome__omp_deal_meetings(void)
{
    return here.meetings;
}
