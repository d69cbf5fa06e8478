#include "process/omp_foreign.h"

#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_symbol.h"
#include "process/omp_touch.h"
#include "system/fault.h"
#include "system/say.h"

#include <glib.h>
#include <ucontext.h>

/* Lower addresses are those of NULL's members. */
enum { LEAST = 1 << 16 };

static void say(const dome_fault *fault, const char *why)
{
    static bool said;
    const ucontext_t *context = fault->context;
    char *where = dome__omp_symbol((const void *)context->uc_mcontext.gregs[REG_RIP]); // NOLINT(performance-no-int-to-ptr)
    if (!said)
        dome__say_at_once("OpenMP: thread %u, on task %d, accesses %p in %s, %s", dome__omp_running->number, dome__omp_tasks.rank,
                          (void *)fault->address, where, why);
    said = true;
    g_free(where);
}

static dome_fault_answer explain(const dome_fault *fault, void *unused)
{
    const uint64_t at = (uintptr_t)fault->address, thread = (at - DOME_OMP_STACKS) / DOME_OMP_STACK_STRIDE;
    (void)unused;
    if (!fault->access || !dome__omp_touches() || dome__omp_running->team->active_level == 0 || at < LEAST)
        return DOME_FAULT_OTHERS;
    if (at >= DOME_OMP_STACKS && thread < DOME_OMP_MAX_THREADS && dome__omp_threads[thread].elsewhere) {
        char *why = g_strdup_printf("on the stack of thread %u, which another task runs: local variables of threads other than 0 "
                                    "are not shared between tasks; use a global variable, one of main's, or malloc",
                                    (unsigned)thread);
        say(fault, why);
        g_free(why);
    } else if (fault->info->si_code == SEGV_MAPERR) {
        say(fault, "where this task has no memory: what a library has got on one task, as an open stream, is that task's alone");
    }
    return DOME_FAULT_OTHERS;
}

void dome__omp_foreign_begin(void)
{
    dome__fault_on(DOME_FAULT_OF_PROCESS, explain, NULL);
}
