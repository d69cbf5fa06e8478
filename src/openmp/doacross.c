#include "openmp/doacross.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "openmp/barrier.h"
#include "openmp/shared.h"
#include "openmp/turn.h"

typedef unsigned long long ull;

void dome__omp_doacross_begin(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts)
{
    dome__omp_doacross_set(t, dimensions, counts);
    if (dome__omp_has_others(t))
        dome__omp_doacross_take_slot(t);
}

void dome__omp_doacross_set(dome_omp_thread *t, unsigned dimensions, const uint64_t *counts)
{
    if (dimensions > DOME_OMP_DIMENSIONS)
        dome__omp_die("OpenMP: ordered(%u) is too deep; the most is %d", dimensions, DOME_OMP_DIMENSIONS);
    t->doacross.dimensions = dimensions;
    memcpy(t->doacross.counts, counts, dimensions * sizeof *counts);
}

void dome__omp_doacross_take_slot(dome_omp_thread *t)
{
    t->loop.slot = dome__omp_row_next(t, &t->doacross.row, DOME_OMP_DOACROSS_SLOTS);
}

typedef struct place {
    uint64_t construct, iteration;
    unsigned slot, thread;
} place;

/* What the thread has posted in this loop: the first one that comes clears what an earlier loop has left. */
static uint64_t *word_of(const place *p)
{
    dome_omp_shared *s = dome__omp_shared();
    if (s->doacross_of[p->slot] != p->construct) {
        memset(s->doacross[p->slot], 0, sizeof s->doacross[p->slot]);
        s->doacross_of[p->slot] = p->construct;
    }
    return &s->doacross[p->slot][p->thread];
}

static bool post(void *argument)
{
    const place *p = argument;
    *word_of(p) = p->iteration + 1;
    return true;
}

static bool is_posted(void *argument)
{
    const place *p = argument;
    return *word_of(p) > p->iteration;
}

static place place_of(const dome_omp_thread *t, unsigned thread, const uint64_t *at)
{
    const dome_omp_doacross *d = &t->doacross;
    place p = {.construct = t->loop.construct, .slot = t->loop.slot, .thread = thread};
    for (unsigned k = 0; k < d->dimensions; k++)
        p.iteration = p.iteration * d->counts[k] + at[k];
    return p;
}

void dome__omp_doacross_post(dome_omp_thread *t, const uint64_t *at)
{
    if (!dome__omp_has_others(t))
        return;
    place p = place_of(t, t->number, at);
    dome__omp_try(DOME_OMP_AT_ONCE, post, &p);
}

/* Loops of which several are collapsed are dealt by the number of the iteration among all of those. */
static uint64_t dealt_as(const dome_omp_thread *t, const uint64_t *at)
{
    uint64_t iteration = at[0], count = t->doacross.counts[0];
    for (unsigned k = 1; k < t->doacross.dimensions && count < t->loop.count; k++) {
        iteration = iteration * t->doacross.counts[k] + at[k];
        count *= t->doacross.counts[k];
    }
    return iteration;
}

void dome__omp_doacross_wait(dome_omp_thread *t, const uint64_t *at)
{
    place p = place_of(t, dome__omp_loop_owner(&t->loop, dealt_as(t, at), t->team->size), at);
    if (p.thread == t->number) /* its own are done in their order */
        return;
    if (dome__omp_tasks.size == 1 && !dome__omp_watcher && is_posted(&p))
        return;
    char what[96]; /* it stands while the thread waits */
    snprintf(what, sizeof what, "iteration %llu of a doacross loop, which is thread %u's", (ull)p.iteration, p.thread);
    dome__omp_until(DOME_OMP_LOOK, is_posted, &p, what, NULL);
}

void GOMP_doacross_post(long *at)
{
    dome__omp_doacross_post(dome__omp_self(), (uint64_t *)at);
}

void GOMP_doacross_ull_post(ull *at)
{
    dome__omp_doacross_post(dome__omp_self(), (uint64_t *)at);
}

#define WAIT(name, type)                                                                                                         \
    void name(type first, ...)                                                                                                   \
    {                                                                                                                            \
        dome_omp_thread *t = dome__omp_self();                                                                                   \
        if (!dome__omp_has_others(t))                                                                                            \
            return;                                                                                                              \
        uint64_t at[DOME_OMP_DIMENSIONS] = {(uint64_t)first};                                                                    \
        va_list rest;                                                                                                            \
        va_start(rest, first);                                                                                                   \
        for (unsigned k = 1; k < t->doacross.dimensions; k++)                                                                    \
            at[k] = (uint64_t)va_arg(rest, type);                                                                                \
        va_end(rest);                                                                                                            \
        dome__omp_doacross_wait(t, at);                                                                                          \
    }

WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, ull)
