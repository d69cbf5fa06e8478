#include "manage/losses.h"

/* The most loop boundaries by which two losses at the same point may differ: tasks are not in step when one is lost. */
enum { NEAR = 1 };

static bool near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= NEAR;
}

static bool same_place(const dome_place *a, const dome_place *b)
{
    return a->known && b->known && a->checkpoint == b->checkpoint && near(a->loop, b->loop) &&
           (a->loop > 0 || a->sequence == b->sequence);
}

uint64_t dome__losses_add_task(uint64_t cause, int rank)
{
    return (cause < DOME_CAUSE_TASKS ? DOME_CAUSE_TASKS : cause) * 31 + (uint64_t)rank + 1;
}

bool dome__losses_note(dome_losses *l, const dome_place *here)
{
    const bool there = same_place(&l->last, here);
    l->row = there && l->last.cause == here->cause ? l->row + 1 : 1;
    l->failures = (there ? l->failures : 0) + (here->cause == DOME_CAUSE_PROGRAM);
    l->last = *here;
    return dome__losses_repeat(l);
}

bool dome__losses_repeat(const dome_losses *l)
{
    return l->row >= DOME_LOSSES_MOST || l->failures >= DOME_LOSSES_MOST;
}
