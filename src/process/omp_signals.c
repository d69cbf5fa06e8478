/* Signals by which this task learns that the program needs a page of another one: the program's own handlers of them get what is
 * no such page, and it cannot block them. */
#include "process/omp_names.h"

#include "openmp/tasks.h"
#include "openmp/team.h"
#include "process/omp_heap.h"
#include "process/omp_next.h"
#include "process/omp_symbol.h"
#include "process/omp_touch.h"
#include "system/fault.h"
#include "system/say.h"

#include <glib.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

typedef int action_function(int, const struct sigaction *, struct sigaction *);
typedef int mask_function(int, const sigset_t *, sigset_t *);

static action_function *next_action;
static mask_function *next_process_mask, *next_thread_mask;

__attribute__((constructor)) static void find(void)
{
    if (next_action)
        return;
    next_action = (action_function *)dome__omp_next("sigaction");
    next_process_mask = (mask_function *)dome__omp_next("sigprocmask");
    next_thread_mask = (mask_function *)dome__omp_next("pthread_sigmask");
}

/* Dome's own handlers run on the stacks of the program's threads, and must have what they ask for. */
#define IS_PROGRAMS() (dome__omp_touches() && dome__omp_is_programs(__builtin_return_address(0)))

/* The program's handlers run on the task's stack for signals: the system writes their first frame, and does not wait for pages of
 * the program's own stacks. */
static int set_action(int number, const struct sigaction *action, struct sigaction *before)
{
    if (dome__fault_hands_on(number, action, before))
        return 0;
    if (!action)
        return next_action(number, NULL, before);
    struct sigaction own = *action;
    own.sa_flags |= SA_ONSTACK;
    return next_action(number, &own, before);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    find();
    return IS_PROGRAMS() ? set_action(number, action, before) : next_action(number, action, before);
}

__sighandler_t signal(int number, __sighandler_t handler)
{
    typedef __sighandler_t function(int, __sighandler_t);
    struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    find();
    if (IS_PROGRAMS())
        return set_action(number, &action, &before) ? SIG_ERR : before.sa_handler;
    return ((function *)dome__omp_next("signal"))(number, handler);
}

/* The set without those signals. */
static const sigset_t *passing(const sigset_t *set, sigset_t *copy, bool is_programs)
{
    if (!set || !is_programs)
        return set;
    *copy = *set;
    sigdelset(copy, SIGSEGV);
    sigdelset(copy, SIGBUS);
    return copy;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy, was;
    find();
    const int result = next_process_mask(how, passing(set, &copy, IS_PROGRAMS()), &was);
    if (before && result == 0)
        *before = was;
    return result;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sigset_t copy, was;
    find();
    const int result = next_thread_mask(how, passing(set, &copy, IS_PROGRAMS()), &was);
    if (before && result == 0)
        *before = was;
    return result;
}

/* The task has a stack for signals that no other task shares: it stays. */
int sigaltstack(const stack_t *stack, stack_t *before)
{
    typedef int function(const stack_t *, stack_t *);
    if (!IS_PROGRAMS())
        return ((function *)dome__omp_next("sigaltstack"))(stack, before);
    if (before)
        memset(before, 0, sizeof *before);
    if (before)
        before->ss_flags = SS_DISABLE;
    return 0;
}

/* ---- pointers to what only another task has: the program ends, after one line that says so ---- */

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

void dome__omp_signals_begin(void)
{
    dome__fault_on(DOME_FAULT_OF_PROCESS, explain, NULL);
}
