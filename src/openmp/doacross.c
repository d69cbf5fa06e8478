#include "openmp/doacross.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/shared.h"
#include "openmp/turn.h"

typedef unsigned long long ull;

void dome__omp_doacross_begin(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts)
{
    if (dimensions > DOME_OMP_DIMENSIONS)
        dome__omp_die("OpenMP: ordered(%u) is too deep; the most is %d", dimensions, DOME_OMP_DIMENSIONS);
    if (!t->doacross && !(t->doacross = malloc(sizeof *t->doacross)))
        dome__omp_die("OpenMP: no memory for a doacross loop");
    t->doacross->dimensions = dimensions;
    memcpy(t->doacross->counts, counts, dimensions * sizeof *counts);
}

/* What thread `of` has posted in this loop: the first one that comes clears what an earlier loop has left. */
static uint64_t *word_of(uint64_t construct, unsigned of)
{
    dome_omp_shared *s = dome__omp_shared();
    uint64_t slot = construct % DOME_OMP_DOACROSS_SLOTS;
    if (s->doacross_of[slot] != construct) {
        memset(s->doacross[slot], 0, sizeof s->doacross[slot]);
        s->doacross_of[slot] = construct;
    }
    return &s->doacross[slot][of];
}

typedef struct place {
    uint64_t construct, iteration;
    unsigned thread;
} place;

static bool post(void *argument)
{
    const place *p = argument;
    *word_of(p->construct, p->thread) = p->iteration + 1;
    return true;
}

static bool is_posted(void *argument)
{
    const place *p = argument;
    return *word_of(p->construct, p->thread) > p->iteration;
}

static void post_of(dome_omp_thread *t, const uint64_t *at)
{
    const dome_omp_doacross *d = t->doacross;
    place p = {.construct = t->loop.construct, .thread = t->number};
    for (unsigned k = 0; k < d->dimensions; k++)
        p.iteration = p.iteration * d->counts[k] + at[k];
    if (dome__omp_has_others(t))
        dome__omp_try(DOME_OMP_AT_ONCE, post, &p);
}

static void wait_for(dome_omp_thread *t, const uint64_t *at)
{
    const dome_omp_doacross *d = t->doacross;
    if (!dome__omp_has_others(t))
        return;
    place p = {.construct = t->loop.construct, .thread = dome__omp_loop_owner(&t->loop, at[0], t->team->size)};
    for (unsigned k = 0; k < d->dimensions; k++)
        p.iteration = p.iteration * d->counts[k] + at[k];
    if (p.thread != t->number) /* its own are done in their order */
        dome__omp_until(DOME_OMP_LOOK, is_posted, &p, "an iteration of a doacross loop; its counts are", d->counts);
}

void GOMP_doacross_post(long *at)
{
    post_of(dome__omp_self(), (uint64_t *)at);
}

void GOMP_doacross_ull_post(ull *at)
{
    post_of(dome__omp_self(), (uint64_t *)at);
}

#define WAIT(name, type)                                                                                                         \
    void name(type first, ...)                                                                                                   \
    {                                                                                                                            \
        dome_omp_thread *t = dome__omp_self();                                                                                   \
        uint64_t at[DOME_OMP_DIMENSIONS] = {(uint64_t)first};                                                                    \
        va_list rest;                                                                                                            \
        va_start(rest, first);                                                                                                   \
        for (unsigned k = 1; k < t->doacross->dimensions; k++)                                                                   \
            at[k] = (uint64_t)va_arg(rest, type);                                                                                \
        va_end(rest);                                                                                                            \
        wait_for(t, at);                                                                                                         \
    }

WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, ull)
