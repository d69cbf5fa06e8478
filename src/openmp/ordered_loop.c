#include "openmp/ordered_loop.h"

#include "openmp/barrier.h"
#include "openmp/shared.h"
#include "openmp/turn.h"

/* The word of the loop. Loops that follow each other without a barrier have different ones. */
static dome_omp_slot *word_of(const dome_omp_loop *loop)
{
    return &dome__omp_shared()->ordered[loop->slot];
}

static bool may(void *argument)
{
    const dome_omp_loop *loop = argument;
    const dome_omp_slot *word = word_of(loop);
    return word->construct == loop->construct ? word->value == loop->mine : loop->mine == 0;
}

static bool pass(void *argument)
{
    dome_omp_loop *loop = argument;
    if (!may(loop))
        return false;
    *word_of(loop) = (dome_omp_slot){loop->construct, loop->mine + 1};
    return true;
}

void dome__omp_ordered_begin(dome_omp_thread *t)
{
    if (dome__omp_has_others(t))
        t->loop.slot = dome__omp_row_next(t, &t->ordered_row, DOME_OMP_ORDERED_SLOTS);
}

void dome__omp_ordered_done(dome_omp_thread *t)
{
    if (t->loop.has_chunk && dome__omp_has_others(t))
        dome__omp_until(DOME_OMP_AT_ONCE, pass, &t->loop, "the iterations before its own of an ordered loop, whose word is",
                        word_of(&t->loop));
}

void GOMP_ordered_start(void)
{
    dome_omp_thread *t = dome__omp_self();
    if (t->loop.ordered && t->loop.has_chunk && dome__omp_has_others(t))
        dome__omp_until(DOME_OMP_LOOK, may, &t->loop, "the iterations before its own of an ordered loop, whose word is",
                        word_of(&t->loop));
}

void GOMP_ordered_end(void)
{
}
