/* critical, and atomic updates that no instruction can do. */
#include "openmp/critical.h"
#include "openmp/shared.h"
#include "openmp/spin.h"
#include "openmp/team.h"
#include "openmp/turn.h"

typedef struct hold {
    uint64_t *word;
    uint64_t owner;
} hold;

static bool take(void *argument)
{
    const hold *h = argument;
    if (*h->word)
        return false;
    *h->word = h->owner;
    return true;
}

static bool drop(void *argument)
{
    *(uint64_t *)argument = 0;
    return true;
}

void dome__omp_enter(uint64_t *word, const char *what)
{
    dome_omp_thread *t = dome__omp_self();
    hold h = {word, (uint64_t)dome__omp_thread_id(t) + 1};
    dome__omp_entered(t);
    dome__omp_until(DOME_OMP_IN_TURN, take, &h, what, word);
}

void dome__omp_leave(uint64_t *word)
{
    dome__omp_try(DOME_OMP_AT_ONCE, drop, word);
}

void GOMP_critical_start(void)
{
    dome__omp_enter(&dome__omp_shared()->critical, "the critical section without a name");
}

void GOMP_critical_end(void)
{
    dome__omp_leave(&dome__omp_shared()->critical);
}

void GOMP_critical_name_start(void **word)
{
    dome__omp_enter((uint64_t *)word, "a critical section, whose variable is");
}

void GOMP_critical_name_end(void **word)
{
    dome__omp_leave((uint64_t *)word);
}

void GOMP_atomic_start(void)
{
    dome__omp_enter(&dome__omp_shared()->atomic, "an atomic update");
}

void GOMP_atomic_end(void)
{
    dome__omp_leave(&dome__omp_shared()->atomic);
}
