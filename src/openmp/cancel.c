/* cancel, where OMP_CANCELLATION allows it. */
#include "openmp/icv.h"
#include "openmp/shared.h"
#include "openmp/task.h"
#include "openmp/team.h"
#include "openmp/turn.h"

enum { PARALLEL = 1, LOOP = 2, SECTIONS = 4, TASKGROUP = 8 };

/* A construct is known by the region and the barriers that came before: no other one can be cancelled between two barriers. */
typedef struct look {
    int which;
    uint64_t region, construct;
    bool set, cancelled;
} look;

static bool look_or_set(void *argument)
{
    look *l = argument;
    dome_omp_shared *s = dome__omp_shared();
    if (l->set && l->which == PARALLEL)
        s->cancelled_region = l->region;
    else if (l->set)
        s->cancelled_sharing = l->construct;
    l->cancelled = s->cancelled_region == l->region || (l->which != PARALLEL && s->cancelled_sharing == l->construct);
    return true;
}

static bool taskgroup_is_cancelled(dome_omp_thread *t, bool set)
{
    if (!t->taskgroup)
        return false;
    t->taskgroup->cancelled |= set;
    return t->taskgroup->cancelled;
}

/* In a team of one there is nobody to tell. */
static bool alone_is_cancelled(dome_omp_thread *t, int which, bool set)
{
    if (set && which == PARALLEL)
        t->team->cancelled = true;
    else if (set)
        t->team->cancelled_sharing = t->barrier + 1;
    return t->team->cancelled || (which != PARALLEL && t->team->cancelled_sharing == t->barrier + 1);
}

static bool is_cancelled(int which, bool set)
{
    dome_omp_thread *t = dome__omp_self();
    if (!dome__omp_environment()->cancellation)
        return false;
    if (which == TASKGROUP)
        return taskgroup_is_cancelled(t, set);
    if (!dome__omp_has_others(t))
        return alone_is_cancelled(t, which, set);
    look l = {.which = which,
              .region = t->team->serial,
              .construct = (t->team->serial << DOME_OMP_SERIAL_SHIFT | t->barrier) + 1,
              .set = set};
    dome__omp_try(set ? DOME_OMP_AT_ONCE : DOME_OMP_LOOK, look_or_set, &l);
    return l.cancelled;
}

bool GOMP_cancellation_point(int which)
{
    return is_cancelled(which, false);
}

bool GOMP_cancel(int which, bool do_cancel)
{
    return is_cancelled(which, do_cancel);
}
