#include "manage/losses.h"

/* The most loop boundaries by which two losses at the same point may differ: tasks are not in step when one is lost. */
enum { NEAR = 1 };

static bool near(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) <= NEAR;
}

static bool same_victims(const dome_place *a, const dome_place *b)
{
    return !a->victims || !b->victims || a->victims == b->victims;
}

static bool same(const dome_place *a, const dome_place *b)
{
    return a->known && b->known && a->checkpoint == b->checkpoint && near(a->loop, b->loop) &&
           (a->loop > 0 || a->sequence == b->sequence) && same_victims(a, b);
}

bool dome__losses_note(dome_losses *l, const dome_place *here)
{
    l->times = same(&l->last, here) ? l->times + 1 : 1;
    l->last = *here;
    return l->times >= DOME_LOSSES_MOST;
}
