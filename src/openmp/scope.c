/* scope with task reductions; the error directive at run time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/reduction.h"
#include "system/say.h"

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
