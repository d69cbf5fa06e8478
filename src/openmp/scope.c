/* sections; single, which is thread 0's; scope with task reductions; the error directive at run time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/barrier.h"
#include "openmp/reduction.h"
#include "openmp/shared.h"
#include "openmp/team.h"
#include "system/say.h"

bool GOMP_single_start(void)
{
    return dome__omp_self()->number == 0;
}

void *GOMP_single_copy_start(void)
{
    if (dome__omp_self()->number == 0)
        return NULL;
    dome__omp_barrier();
    if (dome__omp_tasks.rank != 0)
        dome__omp_tasks.take_locals();
    return (void *)(uintptr_t)dome__omp_shared()->copyprivate;
}

void GOMP_single_copy_end(void *data)
{
    if (!dome__omp_has_others(dome__omp_self()))
        return;
    dome__omp_tasks.give_locals(); /* the data may name variables of its own */
    dome__omp_shared()->copyprivate = (uint64_t)(uintptr_t)data;
    dome__omp_barrier();
}

void GOMP_scope_start(uintptr_t *reductions)
{
    dome_omp_thread *t = dome__omp_self();
    if (!reductions)
        return;
    dome__omp_loop_begin(t, &(dome_omp_loop){.schedule = DOME_OMP_STATIC}); /* a construct of its own */
    dome__omp_sharing_memory(t, reductions, NULL);
}

static void say(const char *kind, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        length = text ? strlen(text) : 0;
    dome__say_at_once("OpenMP: %s directive encountered%s%.*s", kind, length ? ": " : "", (int)length, text ? text : "");
}

void GOMP_warning(const char *text, size_t length)
{
    say("warning", text, length);
}

void GOMP_error(const char *text, size_t length)
{
    say("error", text, length);
    exit(EXIT_FAILURE);
}

/* ---- sections: section i, counted from 1, is thread (i - 1) mod n's ---- */

static unsigned next_section(dome_omp_thread *t)
{
    uint64_t from, to;
    return dome__omp_loop_next(&t->loop, t->number, t->team->size, &from, &to) ? (unsigned)(t->loop.start + from) : 0;
}

static void begin(dome_omp_thread *t, unsigned count)
{
    dome__omp_loop_begin(
        t, &(dome_omp_loop){.start = 1, .step = 1, .count = count, .chunk = 1, .schedule = DOME_OMP_DYNAMIC, .sections = true});
}

unsigned GOMP_sections_start(unsigned count)
{
    dome_omp_thread *t = dome__omp_self();
    begin(t, count);
    return next_section(t);
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
    dome_omp_thread *t = dome__omp_self();
    begin(t, count);
    dome__omp_sharing_memory(t, reductions, memory);
    return next_section(t);
}

unsigned GOMP_sections_next(void)
{
    return next_section(dome__omp_self());
}

void GOMP_sections_end(void)
{
    dome__omp_barrier();
}

bool GOMP_sections_end_cancel(void)
{
    return dome__omp_barrier();
}

void GOMP_sections_end_nowait(void)
{
}
