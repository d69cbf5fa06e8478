#include "openmp/spin.h"

enum { LOOKS_TO_GIVE_WAY = 16, ENTRIES_TO_GIVE_WAY = 16 };

void dome__omp_looked(dome_omp_thread *t, const volatile void *address, uint64_t value)
{
    if (address != t->seen_at || value != t->seen) {
        t->seen_at = address;
        t->seen = value;
        t->spins = 0;
        return;
    }
    if (++t->spins >= LOOKS_TO_GIVE_WAY && t->team->active_level && t == dome__omp_running)
        dome__omp_give_way(t, DOME_OMP_READY);
}

void dome__omp_entered(dome_omp_thread *t)
{
    if (++t->entries < ENTRIES_TO_GIVE_WAY || !t->team->active_level || t != dome__omp_running)
        return;
    t->entries = 0;
    t->passes = true; /* the turn goes on, too */
    dome__omp_give_way(t, DOME_OMP_READY);
}
